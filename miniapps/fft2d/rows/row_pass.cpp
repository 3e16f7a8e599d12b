#include "miniapps/fft2d/rows/row_pass.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <optional>

#include "core/base/errors.hpp"
#include "core/memory/streamed_store.hpp"
#include "miniapps/fft2d/rows/device_row_pass.hpp"
#include "miniapps/fft2d/rows/fftw_rows.hpp"
#include "miniapps/fft2d/rows/portable_rows.hpp"

namespace steelyard::fft2d {
namespace {

/// Brings rows [row, end) of a slice into the cache, a line at a time, while a core is busy with stores.
template <class Element>
class RowsAhead {
 public:
  RowsAhead(std::span<const RowPiece<Element>> pieces, std::int64_t row, std::int64_t end)
      : pieces_(pieces), row_(row), end_(end) {}

  void fetch_line() {
    if (next_ >= last_ && !enter_piece()) return;
    prefetch_line(next_);
    next_ += cache_line_bytes;
  }

 private:
  bool enter_piece() {
    if (piece_ == pieces_.size()) {
      piece_ = 0;
      ++row_;
    }
    if (row_ >= end_) return false;
    const RowPiece<Element>& piece = pieces_[piece_++];
    next_ = reinterpret_cast<const char*>(piece.data + row_ * piece.pitch);
    last_ = next_ + static_cast<std::size_t>(piece.count) * sizeof(Element);
    return true;
  }

  std::span<const RowPiece<Element>> pieces_;
  std::int64_t row_, end_;
  std::size_t piece_ = 0;
  const char *next_ = nullptr, *last_ = nullptr;
};

/// Rows on a host space. Every thread transforms a batch of rows in scratch memory that stays in its cache, and stores
/// them from there, whole cache lines of every column. Threads take neighbouring batches from a part of their own, and
/// when that is done those that others have left.
/// @tparam Rows a library's transform of a batch: FftwRows, PortableRows
template <class Execution, class Element, class Rows>
class HostRowPass : public RowPass<Element> {
 public:
  static_assert(runs_on_host<Execution>);
  using typename RowPass<Element>::Complex;
  using typename RowPass<Element>::In;
  using typename RowPass<Element>::Out;

  HostRowPass(const RowTransformation& transformation, std::int64_t most_rows, const Rows& rows)
      : RowPass<Element>(transformation, most_rows),
        rows_(rows),
        scratch_(Kokkos::view_alloc(Kokkos::WithoutInitializing, "steelyard::fft2d::scratch"),
                 static_cast<std::size_t>(space_.concurrency() * rows.scratch_points())) {}

 protected:
  void transform(std::int64_t first, std::int64_t count, In in, Out out) override {
    using Policy = Kokkos::TeamPolicy<Execution, Kokkos::Schedule<Kokkos::Dynamic>>;
    // What stays in a thread's caches may be read from there.
    constexpr std::int64_t cached_bytes = 1 << 20;
    const auto stored_bytes = count * this->stored() * static_cast<std::int64_t>(sizeof(Complex));
    const bool streamed = stored_bytes > space_.concurrency() * cached_bytes;
    // Batches begin at multiples of their rows, so that they store whole cache lines wherever they can.
    const std::int64_t end = first + count, batch_rows = rows_.batch_rows(), first_batch = first / batch_rows;
    Policy policy(space_, static_cast<int>((end + batch_rows - 1) / batch_rows - first_batch), 1);
    policy.set_chunk_size(1);
    const Kokkos::Experimental::UniqueToken<Execution> threads(space_);
    Kokkos::parallel_for("steelyard::fft2d::rows", policy, [&](const typename Policy::member_type& member) {
      const std::int64_t batch = (first_batch + member.league_rank()) * batch_rows, next = batch + batch_rows;
      const std::int64_t begin = std::max(first, batch), batch_end = std::min(end, next);
      const auto thread = threads.acquire();
      const auto points = rows_.transform(scratch_.data() + thread * rows_.scratch_points(), in, begin, batch_end);
      RowsAhead<Element> ahead(in, batch_end, Rows::fetches_ahead ? std::min(end, next + batch_rows) : batch_end);
      for (const StoredPiece<Complex>& piece : out) store(points, piece, begin, batch_end - begin, streamed, ahead);
      finish_streamed_stores();
      threads.release(thread);
    });
    space_.fence();
  }

 private:
  /// Stores columns of a batch whose first row is row `first` of the slice.
  /// @param streamed whole cache lines past the caches
  template <class Points>
  void store(const Points point, const StoredPiece<Complex> piece, std::int64_t first, std::int64_t count,
             bool streamed, RowsAhead<Element>& ahead) const {
    constexpr auto line = static_cast<std::int64_t>(cache_line_bytes / sizeof(Complex));
    if (!this->transformation().transpose) {
      for (std::int64_t i = 0; i < count; ++i) {
        Complex* const to = piece.data + (first + i) * piece.pitch;
        for (std::int64_t j = 0; j < piece.count; ++j) to[j] = point(i, piece.first + j);
      }
      return;
    }
    for (std::int64_t j = 0; j < piece.count; ++j) {
      Complex* const to = piece.data + j * piece.pitch + first;
      std::int64_t i = 0;
      if (streamed) {
        for (; i < count && !begins_cache_line(to + i); ++i) to[i] = point(i, piece.first + j);
        for (; i + line <= count; i += line) {
          alignas(cache_line_bytes) Complex points[line];
          for (std::int64_t k = 0; k < line; ++k) points[k] = point(i + k, piece.first + j);
          store_streamed(to + i, points);
          ahead.fetch_line();
        }
      }
      for (; i < count; ++i) to[i] = point(i, piece.first + j);
    }
  }

  Execution space_;
  Rows rows_;
  Kokkos::View<Complex*, DeviceOf<Execution>> scratch_;  ///< begins with a cache line, as Kokkos allocates on hosts
};

/// The pieces that have columns, in ascending order; the others may lie anywhere.
/// @param least_pitch elements that lie side by side; without, those of a piece's columns
/// @throws InvalidArgument unless they cover points [0, points), each once
template <class Piece>
std::vector<Piece> sorted_cover(std::span<const Piece> pieces, std::int64_t points,
                                std::optional<std::int64_t> least_pitch) {
  std::vector<Piece> cover(pieces.begin(), pieces.end());
  std::erase_if(cover, [](const Piece& piece) { return piece.count == 0; });
  std::sort(cover.begin(), cover.end(), [](const Piece& a, const Piece& b) { return a.first < b.first; });
  std::int64_t covered = 0;
  for (const auto& [data, pitch, first, count] : cover) {
    if (data == nullptr || first != covered || count < 0 || pitch < least_pitch.value_or(count)) {
      throw InvalidArgument(fmt::format(
          "piece{} of columns {} to {} with a pitch of {} (expected one from {} on whose rows do not overlap)",
          data == nullptr ? " without data" : "", first, first + count, pitch, covered));
    }
    covered += count;
  }
  if (covered != points) throw InvalidArgument(fmt::format("pieces cover {} points of {}", covered, points));
  return cover;
}

/// On the space's default instance.
template <class Execution, class Element>
std::unique_ptr<RowPass<Element>> make(const RowTransformation& what, std::int64_t rows, const RowFftChoice& choice) {
  const std::vector<std::string> libraries = row_fft_libraries<Execution>();
  const std::string library = choice.library.empty() ? libraries.front() : choice.library;
  if constexpr (runs_on_host<Execution>) {
    const auto pass = [&]<class Rows>(const Rows& of_library) {
      return std::make_unique<HostRowPass<Execution, Element, Rows>>(what, rows, of_library);
    };
    if (library == "fftw") return pass(FftwRows<Element>(what, choice.planner));
    if (library == "portable") return pass(PortableRows<Execution, Element>(Execution(), what));
  } else {
    using Portable = DeviceRowPass<Execution, Element, PortableRows<Execution, Element>>;
    using Vendor = DeviceRowPass<Execution, Element, VendorRows<Execution, Element>>;
    if (library == "portable") return std::make_unique<Portable>(what, rows);
    if (library == "vendor" && has_device_libraries) return std::make_unique<Vendor>(what, rows);
  }
  throw InvalidArgument(
      fmt::format("unknown FFT library '{}'; this unit has: {}", library, fmt::join(libraries, ", ")));
}

}  // namespace

template <class Element>
void RowPass<Element>::run(std::int64_t first, std::int64_t count, In in, Out out) {
  if (first < 0 || count < 0 || count > rows_) {
    throw InvalidArgument(fmt::format("{} rows from {} on; the pass was made for at most {}", count, first, rows_));
  }
  const std::vector rows = sorted_cover(in, transformation_.length, std::nullopt);
  const std::vector columns =
      sorted_cover(out, stored(), transformation_.transpose ? std::optional(count) : std::nullopt);
  if (count > 0) transform(first, count, rows, columns);
}

template <class Element>
std::unique_ptr<RowPass<Element>> make_row_pass(ProcessingUnit::Kind kind, const RowTransformation& transformation,
                                                std::int64_t rows, const RowFftChoice& choice) {
  if (transformation.length < 1 || rows < 0) {
    throw InvalidArgument(
        fmt::format("{} rows of {} points (expected at least 0, of at least 1)", rows, transformation.length));
  }
  if (RowPass<Element>::real && transformation.direction == Direction::inverse) {
    throw InvalidArgument("rows of real numbers are transformed forward only");
  }
  return kind == ProcessingUnit::Kind::host ? make<HostExecution, Element>(transformation, rows, choice)
                                            : make<CompanionExecution, Element>(transformation, rows, choice);
}

template class RowPass<double>;
template class RowPass<float>;
template class RowPass<Kokkos::complex<double>>;
template class RowPass<Kokkos::complex<float>>;
template std::unique_ptr<RowPass<double>> make_row_pass(ProcessingUnit::Kind, const RowTransformation&, std::int64_t,
                                                        const RowFftChoice&);
template std::unique_ptr<RowPass<float>> make_row_pass(ProcessingUnit::Kind, const RowTransformation&, std::int64_t,
                                                       const RowFftChoice&);
template std::unique_ptr<RowPass<Kokkos::complex<double>>> make_row_pass(ProcessingUnit::Kind, const RowTransformation&,
                                                                         std::int64_t, const RowFftChoice&);
template std::unique_ptr<RowPass<Kokkos::complex<float>>> make_row_pass(ProcessingUnit::Kind, const RowTransformation&,
                                                                        std::int64_t, const RowFftChoice&);

}  // namespace steelyard::fft2d
