#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "core/spaces.hpp"
#include "miniapps/fft2d/checked_row_pass.hpp"
#include "miniapps/fft2d/fftw_plan.hpp"
#include "miniapps/fft2d/row_batch.hpp"
#include "miniapps/fft2d/shared_batches.hpp"

namespace steelyard::fft2d {

/// Rows by FFTW on a host space: every thread of the space transforms a batch of rows into scratch memory that stays in
/// its cache, from where they are if they lie in one piece, and stores from there whole cache lines of every column.
template <class Execution, class Scalar>
class FftwRowPass : public CheckedRowPass<Scalar> {
 public:
  static_assert(runs_on_host<Execution>);
  using typename CheckedRowPass<Scalar>::Complex;

  FftwRowPass(const Execution& space, const RowTransformation& transformation, std::int64_t rows, Planner planner)
      : CheckedRowPass<Scalar>(transformation, rows),
        space_(space),
        threads_(static_cast<std::int64_t>(space_.concurrency())),
        plan_(transformation, planner),
        batch_pitch_(odd_lines(transformation.stored())),
        // As complex numbers, which is room for twice as many real ones.
        row_points_(odd_lines(transformation.length)),
        batch_rows_(rows_per_batch(batch_pitch_)),
        scratch_(Kokkos::view_alloc(Kokkos::WithoutInitializing, "steelyard::fft2d::scratch"),
                 static_cast<std::size_t>(threads_ * points_per_thread() + line)) {}

 protected:
  void transform(std::int64_t first, std::int64_t count, std::span<const RowPiece<Complex>> in,
                 std::span<const StoredPiece<Complex>> out) override {
    transform_rows(first, count, in, out);
  }
  void transform(std::int64_t first, std::int64_t count, std::span<const RowPiece<Scalar>> in,
                 std::span<const StoredPiece<Complex>> out) override {
    transform_rows(first, count, in, out);
  }

 private:
  static constexpr std::int64_t line = 64 / sizeof(Complex);
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

  /// Batches begin at multiples of their rows in the slice, so that they store whole cache lines wherever they can.
  template <class Element>
  void transform_rows(std::int64_t first, std::int64_t count, std::span<const RowPiece<Element>> in,
                      std::span<const StoredPiece<Complex>> out) {
    const std::int64_t first_batch = first / batch_rows_;
    const std::int64_t end_batch = (first + count + batch_rows_ - 1) / batch_rows_;
    SharedBatches batches(end_batch - first_batch, threads_);
    const bool streamed = count * this->transformation().stored() * static_cast<std::int64_t>(sizeof(Complex)) >
                          threads_ * streamed_bytes_per_thread;
    const auto work = [&](const std::int64_t thread) {
      batches.take(thread, [&](const std::int64_t batch) {
        const std::int64_t begin = std::max(first, (first_batch + batch) * batch_rows_);
        const std::int64_t end = std::min(first + count, (first_batch + batch + 1) * batch_rows_);
        transform_batch(thread, begin, end, in, out, streamed, first + count);
      });
      finish_streamed_stores();
    };
    Kokkos::parallel_for("steelyard::fft2d::rows",
                         Kokkos::RangePolicy<Execution>(space_, 0, threads_, Kokkos::ChunkSize(1)), work);
    space_.fence();
  }

  template <class Element>
  void transform_batch(std::int64_t thread, std::int64_t begin, std::int64_t end, std::span<const RowPiece<Element>> in,
                       std::span<const StoredPiece<Complex>> out, bool streamed, std::int64_t last) const {
    Complex* const batch = scratch_of(thread);
    auto* const gathered = reinterpret_cast<Element*>(batch + batch_rows_ * batch_pitch_);
    const std::int64_t length = this->transformation().length;
    for (std::int64_t i = begin; i < end; ++i) {
      const Element* row = whole_row(in, i, length);
      if (row == nullptr || !FftwPlan<Scalar>::takes(row)) {
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

  Complex* scratch_of(std::int64_t thread) const {
    void* place = scratch_.data();
    std::size_t space = static_cast<std::size_t>(line) * sizeof(Complex) + 1;
    return static_cast<Complex*>(std::align(64, 1, place, space)) + thread * points_per_thread();
  }

  Execution space_;
  std::int64_t threads_;
  FftwPlan<Scalar> plan_;
  std::int64_t batch_pitch_;
  std::int64_t row_points_;
  std::int64_t batch_rows_;
  Kokkos::View<Complex*, DeviceOf<Execution>> scratch_;
};

}  // namespace steelyard::fft2d
