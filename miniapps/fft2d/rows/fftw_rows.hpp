#pragma once

#include <fftw3.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <mutex>
#include <type_traits>

#include "core/base/errors.hpp"
#include "core/memory/streamed_store.hpp"
#include "core/memory/untouched_array.hpp"
#include "miniapps/fft2d/rows/row_pass.hpp"

namespace steelyard::fft2d {

/// Lock of FFTW's planner, which serves one thread at a time.
inline std::mutex& planner_mutex() {
  static std::mutex mutex;
  return mutex;
}

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
    const unsigned effort = planner == Planner::estimate  ? FFTW_ESTIMATE
                            : planner == Planner::patient ? FFTW_PATIENT
                                                          : FFTW_MEASURE;
    const unsigned flags = effort | FFTW_PRESERVE_INPUT;
    const std::scoped_lock lock(planner_mutex());
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
               const std::scoped_lock destroying(planner_mutex());
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

}  // namespace steelyard::fft2d
