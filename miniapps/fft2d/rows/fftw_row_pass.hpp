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
#include "core/memory/untouched_array.hpp"
#include "core/spaces.hpp"
#include "miniapps/fft2d/rows/row_batch.hpp"
#include "miniapps/fft2d/rows/row_pass.hpp"

namespace steelyard::fft2d {

/// FFTW's planner has a memory of its own and serves one thread at a time.
inline std::mutex& planner_mutex() {
  static std::mutex mutex;
  return mutex;
}

/// FFTW has its functions and types twice.
template <class Scalar, class OfDouble, class OfFloat>
constexpr auto fftw_of(OfDouble of_double, OfFloat of_float) {
  if constexpr (std::is_same_v<Scalar, double>) {
    return of_double;
  } else {
    return of_float;
  }
}

/// FFTW's plan for one row, from one place to another. One row at a time, so that the bits of a row do not depend on
/// those it is transformed with. Any number of threads may execute a plan at the same time; FFTW's own threads have no
/// part in it. Rows begin at multiples of 16 bytes.
template <class Element>
class FftwPlan {
 public:
  using Complex = typename RowPass<Element>::Complex;

  /// Planning is done by one thread at a time. @throws InvalidArgument for rows that are too long for FFTW,
  /// RuntimeFailure where FFTW has no plan
  FftwPlan(const RowTransformation& transformation, Planner planner) {
    if (transformation.length > std::numeric_limits<int>::max()) {
      throw InvalidArgument(fmt::format("FFTW transforms rows of at most {} points, not {}",
                                        std::numeric_limits<int>::max(), transformation.length));
    }
    const int length = static_cast<int>(transformation.length);
    const auto points = static_cast<std::size_t>(length);
    // Measuring overwrites both. Memory for complex numbers is room for real ones.
    const UntouchedArray<Complex, Kokkos::HostSpace> row("steelyard::fft2d::row", points);
    const UntouchedArray<Complex, Kokkos::HostSpace> spectrum("steelyard::fft2d::spectrum", points);
    const unsigned flags = effort(planner) | FFTW_PRESERVE_INPUT;
    const std::scoped_lock lock(planner_mutex());
    Plan plan;
    if constexpr (RowPass<Element>::real) {
      constexpr auto make = fftw_of<Scalar>(fftw_plan_dft_r2c_1d, fftwf_plan_dft_r2c_1d);
      plan = make(length, reinterpret_cast<Element*>(row.data()), fftw_data(spectrum.data()), flags);
    } else {
      constexpr auto make = fftw_of<Scalar>(fftw_plan_dft_1d, fftwf_plan_dft_1d);
      const int sign = transformation.direction == Direction::forward ? FFTW_FORWARD : FFTW_BACKWARD;
      plan = make(length, fftw_data(row.data()), fftw_data(spectrum.data()), sign, flags);
    }
    if (plan == nullptr) throw RuntimeFailure(fmt::format("FFTW has no plan for rows of {} points", length));
    plan_ = {plan, [](Plan made) {
               const std::scoped_lock destroying(planner_mutex());
               fftw_of<Scalar>(fftw_destroy_plan, fftwf_destroy_plan)(made);
             }};
  }

  /// Whether rows that begin here can be transformed from where they are: FFTW's vector instructions need 16 bytes, on
  /// all processors.
  static bool takes(const void* row) { return reinterpret_cast<std::uintptr_t>(row) % 16 == 0; }

  /// Unscaled. @param spectrum as many points as are stored, not where `row` is
  void execute(const Element* row, Complex* spectrum) const {
    // FFTW takes what it only reads as if it wrote it.
    auto* const input = const_cast<Element*>(row);
    if constexpr (RowPass<Element>::real) {
      fftw_of<Scalar>(fftw_execute_dft_r2c, fftwf_execute_dft_r2c)(plan_.get(), input, fftw_data(spectrum));
    } else {
      fftw_of<Scalar>(fftw_execute_dft, fftwf_execute_dft)(plan_.get(), fftw_data(input), fftw_data(spectrum));
    }
  }

 private:
  using Scalar = typename RowPass<Element>::Scalar;
  using Plan = decltype(fftw_of<Scalar>(fftw_plan{}, fftwf_plan{}));

  static auto fftw_data(Complex* data) {
    return reinterpret_cast<std::conditional_t<std::is_same_v<Scalar, double>, fftw_complex, fftwf_complex>*>(data);
  }
  static unsigned effort(Planner planner) {
    return planner == Planner::estimate ? FFTW_ESTIMATE : planner == Planner::patient ? FFTW_PATIENT : FFTW_MEASURE;
  }

  std::shared_ptr<std::remove_pointer_t<Plan>> plan_;
};

/// Rows by FFTW on a host space: every thread of the space transforms a batch of rows into scratch memory that stays in
/// its cache, from where they are if they lie in one piece, and stores from there whole cache lines of every column.
template <class Execution, class Element>
class FftwRowPass : public RowPass<Element> {
 public:
  static_assert(runs_on_host<Execution>);
  using typename RowPass<Element>::Scalar;
  using typename RowPass<Element>::Complex;
  using typename RowPass<Element>::In;
  using typename RowPass<Element>::Out;

  FftwRowPass(const RowTransformation& transformation, std::int64_t rows, Planner planner)
      : RowPass<Element>(transformation, rows),
        threads_(static_cast<std::int64_t>(space_.concurrency())),
        plan_(transformation, planner),
        batch_pitch_(odd_lines(this->stored())),
        // As complex numbers, which is room for twice as many real ones.
        row_points_(odd_lines(transformation.length)),
        batch_rows_(rows_per_batch(batch_pitch_)),
        scratch_(Kokkos::view_alloc(Kokkos::WithoutInitializing, "steelyard::fft2d::scratch"),
                 static_cast<std::size_t>(threads_ * points_per_thread())) {}

 protected:
  void transform(std::int64_t first, std::int64_t count, In in, Out out) override {
    const bool streamed =
        count * this->stored() * static_cast<std::int64_t>(sizeof(Complex)) > threads_ * streamed_bytes_per_thread;
    for_each_batch(space_, first, first + count, batch_rows_,
                   [&](std::int64_t thread, std::int64_t begin, std::int64_t end) {
                     transform_batch(thread, begin, end, in, out, streamed, first + count);
                   });
  }

 private:
  static constexpr std::int64_t line = cache_line_bytes / sizeof(Complex);
  /// Half of the second-level cache of most cores.
  static constexpr std::int64_t most_batch_bytes = 1 << 20;
  static constexpr std::int64_t most_chunk_bytes = 256;

  /// An odd number of cache lines from row to row: else the same column of many rows may have one place in a cache.
  static std::int64_t odd_lines(std::int64_t points) { return ((points + line - 1) / line | 1) * line; }

  /// A power of two, and at least a cache line of a column.
  static std::int64_t rows_per_batch(std::int64_t pitch) {
    auto rows = static_cast<std::int64_t>(most_chunk_bytes / sizeof(Complex));
    while (rows > line && rows * pitch * static_cast<std::int64_t>(sizeof(Complex)) > most_batch_bytes) rows /= 2;
    return rows;
  }

  std::int64_t points_per_thread() const { return batch_rows_ * batch_pitch_ + row_points_; }

  void transform_batch(std::int64_t thread, std::int64_t begin, std::int64_t end, In in, Out out, bool streamed,
                       std::int64_t last) const {
    Complex* const batch = scratch_.data() + thread * points_per_thread();
    auto* const gathered = reinterpret_cast<Element*>(batch + batch_rows_ * batch_pitch_);
    const std::int64_t length = this->transformation().length;
    for (std::int64_t i = begin; i < end; ++i) {
      const Element* row = whole_row(in, i, length);
      if (row == nullptr || !plan_.takes(row)) {
        gather_row(in, i, gathered);
        row = gathered;
      }
      plan_.execute(row, batch + (i - begin) * batch_pitch_);
    }
    const RowBatch<Scalar> rows{batch, batch_pitch_, begin, end - begin};
    RowsAhead<Element> ahead(in, end, std::min(end + batch_rows_, last));
    const auto scale = static_cast<Scalar>(this->transformation().scale);
    for (const StoredPiece<Complex>& piece : out) {
      this->transformation().transpose ? store_transposed(rows, piece, scale, streamed, ahead)
                                       : store_rows(rows, piece, scale);
    }
  }

  Execution space_;
  std::int64_t threads_;
  FftwPlan<Element> plan_;
  std::int64_t batch_pitch_;
  std::int64_t row_points_;
  std::int64_t batch_rows_;
  Kokkos::View<Complex*, DeviceOf<Execution>> scratch_;  ///< begins with a cache line, as Kokkos allocates on hosts
};

}  // namespace steelyard::fft2d
