#include "core/base/plot/png_file.hpp"

#include <fmt/format.h>
#include <png.h>

#include <array>
#include <limits>
#include <new>
#include <string>

#include "core/base/errors.hpp"
#include "core/base/text_file.hpp"

namespace steelyard {
namespace {

constexpr std::int64_t longest_side = std::numeric_limits<std::int32_t>::max();

}  // namespace

/// libpng's side of it. Errors leave libpng by longjmp and become exceptions here, because exceptions must not pass
/// through C: libpng encodes into `bytes_`, which is written to the file between its calls.
class PngFile::Encoder {
 public:
  Encoder(const std::filesystem::path& path, std::int64_t rows, std::int64_t columns)
      : file_(path), rows_(rows), columns_(columns) {
    handles_.png = png_create_write_struct(PNG_LIBPNG_VER_STRING, this, on_error, on_warning);
    if (png() != nullptr) handles_.info = png_create_info_struct(png());
    if (handles_.info == nullptr) {
      throw RuntimeFailure(fmt::format("{}: libpng {} cannot be used", path.string(), PNG_LIBPNG_VER_STRING));
    }
    encode([&] {
      png_set_write_fn(png(), this, on_write, on_flush);
      png_set_user_limits(png(), PNG_UINT_31_MAX, PNG_UINT_31_MAX);  // its own are a million
      png_set_IHDR(png(), handles_.info, static_cast<png_uint_32>(columns_), static_cast<png_uint_32>(rows_), 8,
                   PNG_COLOR_TYPE_RGB, PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
      png_set_sRGB(png(), handles_.info, PNG_sRGB_INTENT_PERCEPTUAL);
      // A map has few colours, so that equal bytes repeat: filters, made for photographs, hide that from deflate.
      // Fields of waves took three times as long and up to a third more bytes with libpng's choice of filters.
      png_set_filter(png(), PNG_FILTER_TYPE_BASE, PNG_FILTER_NONE);
      png_write_info(png(), handles_.info);
    });
  }
  Encoder(const Encoder&) = delete;
  Encoder& operator=(const Encoder&) = delete;

  void write_rows(std::span<const Rgb> pixels) {
    const auto count = static_cast<std::int64_t>(pixels.size());
    if (count % columns_ != 0 || count / columns_ > rows_ - written_) {
      throw InvalidArgument(fmt::format("{}: {} pixels behind {} rows (expected whole rows of the {} x {} pixels)",
                                        file_.path().string(), count, written_, rows_, columns_));
    }
    const Rgb* row = pixels.data();
    for (const std::int64_t last = written_ + count / columns_; written_ < last; ++written_, row += columns_) {
      encode([&] { png_write_row(png(), reinterpret_cast<png_const_bytep>(row)); });
    }
  }

  void finish() {
    if (written_ < rows_) {
      throw InvalidArgument(
          fmt::format("{}: finished after {} rows (expected {})", file_.path().string(), written_, rows_));
    }
    encode([&] { png_write_end(png(), nullptr); });
    file_.finish();
  }

 private:
  struct Handles {
    png_structp png = nullptr;
    png_infop info = nullptr;

    Handles() = default;
    Handles(const Handles&) = delete;
    Handles& operator=(const Handles&) = delete;
    ~Handles() { png_destroy_write_struct(&png, &info); }
  };

  png_structp png() const { return handles_.png; }

  /// Calls libpng and writes what it has encoded. `call` must own nothing: an error leaves it without destructors.
  template <class Call>
  void encode(const Call& call) {
    if (!returns(call)) throw RuntimeFailure(fmt::format("{}: libpng: {}", file_.path().string(), problem_.data()));
    file_.write(bytes_);
    bytes_.clear();
  }

  template <class Call>
  bool returns(const Call& call) {
    if (setjmp(png_jmpbuf(png())) != 0) return false;
    call();
    return true;
  }

  static void on_write(png_structp png, png_bytep bytes, std::size_t size) {
    bool kept = true;
    try {
      static_cast<Encoder*>(png_get_io_ptr(png))->bytes_.append(reinterpret_cast<const char*>(bytes), size);
    } catch (const std::bad_alloc&) {
      kept = false;
    }
    if (!kept) png_error(png, "out of memory");
  }
  static void on_flush(png_structp /*png*/) {}
  static void on_error(png_structp png, png_const_charp message) {
    auto& problem = static_cast<Encoder*>(png_get_error_ptr(png))->problem_;
    fmt::format_to_n(problem.data(), problem.size() - 1, "{}", message);
    png_longjmp(png, 1);
  }
  static void on_warning(png_structp /*png*/, png_const_charp /*message*/) {}

  NewFile file_;
  std::int64_t rows_, columns_;
  std::int64_t written_ = 0;
  Handles handles_;
  std::string bytes_;
  std::array<char, 128> problem_{};
};

PngFile::PngFile(const std::filesystem::path& path, std::int64_t rows, std::int64_t columns) {
  if (rows < 1 || columns < 1 || rows > longest_side || columns > longest_side) {
    throw InvalidArgument(fmt::format("{}: picture of {} x {} pixels (expected 1 to {} rows and columns)",
                                      path.string(), rows, columns, longest_side));
  }
  encoder_ = std::make_unique<Encoder>(path, rows, columns);
}

PngFile::~PngFile() = default;

void PngFile::write_rows(std::span<const Rgb> pixels) { encoder_->write_rows(pixels); }

void PngFile::finish() { encoder_->finish(); }

}  // namespace steelyard
