#include "core/base/plot/png_file.hpp"

#include <fmt/format.h>
#include <png.h>

#include <string>

#include "core/base/errors.hpp"
#include "core/base/text_file.hpp"

namespace steelyard {

void write_png_file(const std::filesystem::path& path, std::int64_t columns, std::span<const Rgb> pixels) {
  const auto count = static_cast<std::int64_t>(pixels.size());
  if (columns < 1 || count < 1 || count % columns != 0 || count > PNG_UINT_31_MAX) {
    throw InvalidArgument(fmt::format("{}: picture of {} pixels in rows of {} (expected whole rows, at most {} pixels)",
                                      path.string(), count, columns, PNG_UINT_31_MAX));
  }
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  image.format = PNG_FORMAT_RGB;
  image.width = static_cast<png_uint_32>(columns);
  image.height = static_cast<png_uint_32>(count / columns);
  // Without filters, which are made for photographs: a map has few colours, and filters hide from deflate that equal
  // bytes repeat. Deflate looks less far too: the file is half as large again, and written sooner.
  image.flags = PNG_IMAGE_FLAG_FAST;
  png_alloc_size_t size = PNG_IMAGE_PNG_SIZE_MAX(image);
  std::string bytes(size, '\0');
  if (png_image_write_to_memory(&image, bytes.data(), &size, 0, pixels.data(), 0, nullptr) == 0) {
    throw RuntimeFailure(fmt::format("{}: libpng: {}", path.string(), image.message));
  }
  bytes.resize(size);
  write_text_file(path, bytes);
}

}  // namespace steelyard
