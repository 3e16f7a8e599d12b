#include "miniapps/fft2d/rows/row_pass.hpp"

#include <fftw3.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <limits>
#include <mutex>
#include <optional>

#include "core/base/errors.hpp"
#include "core/memory/streamed_store.hpp"
#include "core/memory/untouched_array.hpp"
#include "miniapps/fft2d/rows/device_row_pass.hpp"
#include "miniapps/fft2d/rows/portable_rows.hpp"

namespace steelyard::fft2d {
namespace {

/// Lock of FFTW's planner, which serves one thread at a time.
std::mutex planner_mutex;

/// Chooses between FFTW's functions and types for double and those for float.
template <class Scalar, class OfDouble, class OfFloat>
constexpr auto fftw_of(OfDouble of_double, OfFloat of_float) {
  if constexpr (std::is_same_v<Scalar, double>) {
    return of_double;
  } else {
    return of_float;
  }
}

/// Rows by FFTW, for HostRowPass: one row at a time, so that the bits of a row do not depend on those it is transformed
/// with. Any number of threads may execute the plan at the same time; FFTW's own threads have no part in it.
template <class Element>
class FftwRows {
 public:
  using Scalar = typename RowPass<Element>::Scalar;
  using Complex = typename RowPass<Element>::Complex;
  static constexpr bool fetches_ahead = true;  ///< the next batch, while one is stored

  /// Transformed rows, row after row. Point (i, j) is point j of row i of the batch.
  struct Points {
    const Complex* data;
    std::int64_t pitch;
    Scalar scale;
    Complex operator()(std::int64_t i, std::int64_t j) const { return scale * data[i * pitch + j]; }
  };

  /// @throws InvalidArgument for rows that are too long for FFTW, RuntimeFailure where FFTW has no plan
  FftwRows(const RowTransformation& transformation, Planner planner)
      : length_(transformation.length),
        scale_(static_cast<Scalar>(transformation.scale)),
        pitch_(odd_lines(stored_points(length_, RowPass<Element>::real))) {
    if (length_ > std::numeric_limits<int>::max()) {
      throw InvalidArgument(
          fmt::format("FFTW transforms rows of at most {} points, not {}", std::numeric_limits<int>::max(), length_));
    }
    const int length = static_cast<int>(length_);
    // Measuring overwrites both. Memory for complex numbers is room for real ones.
    const auto points = static_cast<std::size_t>(length);
    const UntouchedArray<Complex, Kokkos::HostSpace> row("steelyard::fft2d::row", points);
    const UntouchedArray<Complex, Kokkos::HostSpace> spectrum("steelyard::fft2d::spectrum", points);
    constexpr unsigned efforts[] = {FFTW_ESTIMATE, FFTW_MEASURE, FFTW_PATIENT};
    const unsigned flags = efforts[static_cast<std::size_t>(planner)] | FFTW_PRESERVE_INPUT;
    const std::scoped_lock lock(planner_mutex);
    Plan plan;
    if constexpr (RowPass<Element>::real) {
      plan = fftw_of<Scalar>(fftw_plan_dft_r2c_1d, fftwf_plan_dft_r2c_1d)(
          length, reinterpret_cast<Element*>(row.data()), fftw_data(spectrum.data()), flags);
    } else {
      const int sign = transformation.direction == Direction::forward ? FFTW_FORWARD : FFTW_BACKWARD;
      plan = fftw_of<Scalar>(fftw_plan_dft_1d, fftwf_plan_dft_1d)(length, fftw_data(row.data()),
                                                                  fftw_data(spectrum.data()), sign, flags);
    }
    if (plan == nullptr) throw RuntimeFailure(fmt::format("FFTW has no plan for rows of {} points", length));
    plan_ = {plan, [](Plan made) {
               const std::scoped_lock destroying(planner_mutex);
               fftw_of<Scalar>(fftw_destroy_plan, fftwf_destroy_plan)(made);
             }};
  }

  /// Rows of a batch: a power of two, at least a cache line of a column, and of long rows no more than half of the
  /// second-level cache of most cores holds.
  std::int64_t batch_rows() const {
    auto rows = static_cast<std::int64_t>(256 / sizeof(Complex));
    while (rows > line && rows * pitch_ * static_cast<std::int64_t>(sizeof(Complex)) > 1 << 20) rows /= 2;
    return rows;
  }
  /// Complex numbers that a thread needs: a batch and a row of the input.
  std::int64_t scratch_points() const { return batch_rows() * pitch_ + odd_lines(length_); }

  /// Transforms rows [begin, end), from where they are if they lie in one piece and at multiples of 16 bytes, which
  /// FFTW's vector instructions need.
  Points transform(Complex* scratch, typename RowPass<Element>::In in, std::int64_t begin, std::int64_t end) const {
    auto* const gathered = reinterpret_cast<Element*>(scratch + batch_rows() * pitch_);
    for (std::int64_t i = begin; i < end; ++i) {
      const Element* row = in.front().data + i * in.front().pitch;
      if (in.size() > 1 || reinterpret_cast<std::uintptr_t>(row) % 16 != 0) {
        for (const RowPiece<Element>& piece : in) {
          std::copy_n(piece.data + i * piece.pitch, piece.count, gathered + piece.first);
        }
        row = gathered;
      }
      Complex* const spectrum = scratch + (i - begin) * pitch_;
      // FFTW takes what it only reads as if it wrote it.
      auto* const input = const_cast<Element*>(row);
      if constexpr (RowPass<Element>::real) {
        fftw_of<Scalar>(fftw_execute_dft_r2c, fftwf_execute_dft_r2c)(plan_.get(), input, fftw_data(spectrum));
      } else {
        fftw_of<Scalar>(fftw_execute_dft, fftwf_execute_dft)(plan_.get(), fftw_data(input), fftw_data(spectrum));
      }
    }
    return {scratch, pitch_, scale_};
  }

 private:
  using Plan = decltype(fftw_of<Scalar>(fftw_plan{}, fftwf_plan{}));
  static constexpr std::int64_t line = cache_line_bytes / sizeof(Complex);

  /// An odd number of cache lines from row to row: else the same column of many rows may have one place in a cache.
  static std::int64_t odd_lines(std::int64_t points) { return ((points + line - 1) / line | 1) * line; }
  static auto fftw_data(Complex* data) {
    return reinterpret_cast<std::conditional_t<std::is_same_v<Scalar, double>, fftw_complex, fftwf_complex>*>(data);
  }

  std::int64_t length_;
  Scalar scale_;
  std::int64_t pitch_;
  std::shared_ptr<std::remove_pointer_t<Plan>> plan_;
};

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
  std::ranges::sort(cover, {}, &Piece::first);
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
std::unique_ptr<RowPass<Element>> make_pass(const RowTransformation& what, std::int64_t rows,
                                            const RowFftChoice& choice) {
  const std::string library = row_fft_library<Execution>(choice);
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
  throw InvalidArgument(fmt::format("unknown FFT library '{}'; this unit has: {}", library,
                                    fmt::join(row_fft_libraries<Execution>(), ", ")));
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
std::unique_ptr<RowPass<Element>> RowPass<Element>::make(ProcessingUnit::Kind kind,
                                                         const RowTransformation& transformation, std::int64_t rows,
                                                         const RowFftChoice& choice) {
  if (transformation.length < 1 || rows < 0) {
    throw InvalidArgument(
        fmt::format("{} rows of {} points (expected at least 0, of at least 1)", rows, transformation.length));
  }
  if (real && transformation.direction == Direction::inverse) {
    throw InvalidArgument("rows of real numbers are transformed forward only");
  }
  return kind == ProcessingUnit::Kind::host ? make_pass<HostExecution, Element>(transformation, rows, choice)
                                            : make_pass<CompanionExecution, Element>(transformation, rows, choice);
}

template class RowPass<double>;
template class RowPass<float>;
template class RowPass<Kokkos::complex<double>>;
template class RowPass<Kokkos::complex<float>>;

}  // namespace steelyard::fft2d
