#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <span>
#include <vector>

#include "core/matrix_copy.hpp"
#include "core/unit_memory.hpp"
#include "miniapps/fft2d/checked_row_pass.hpp"
#include "miniapps/fft2d/device_store.hpp"

namespace steelyard::fft2d {

/// Rows by the device's own library, in chunks that three queues take in turn: a chunk is copied into a matrix in the
/// device's memory, transformed there in place, and stored from there; what goes to host memory by way of a second
/// matrix, in which every piece is contiguous. While one chunk is copied to the device, another one is transformed and
/// a third one copied back. Chunks are so small that the device's memory holds those of slices of any size.
template <class Execution, class Scalar>
class DeviceRowPass : public CheckedRowPass<Scalar> {
 public:
  static_assert(!runs_on_host<Execution>);
  using typename CheckedRowPass<Scalar>::Complex;

  /// On queues of its own.
  DeviceRowPass(const RowTransformation& transformation, std::int64_t rows)
      : CheckedRowPass<Scalar>(transformation, rows),
        pitch_(transformation.stored()),
        chunk_rows_(rows_of_chunk(rows)) {
    const std::int64_t most_rows = std::min(rows, chunk_rows_);
    for (const Execution& queue : make_queues(3)) {
      chunks_.push_back({queue, allocated(queue, most_rows), {}, {}});
      if (rows > 0) plan_for(chunks_.back(), most_rows);
    }
  }

 protected:
  void transform(std::int64_t first, std::int64_t count, std::span<const RowPiece<Complex>> in,
                 std::span<const StoredPiece<Complex>> out) override {
    transform_rows<Complex>(first, count, in, out);
  }
  void transform(std::int64_t first, std::int64_t count, std::span<const RowPiece<Scalar>> in,
                 std::span<const StoredPiece<Complex>> out) override {
    transform_rows<Scalar>(first, count, in, out);
  }

 private:
  using Memory = Kokkos::View<Complex*, DeviceOf<Execution>>;

  /// Memory for some rows, and the queue that works there.
  struct Chunk {
    Execution queue;
    Memory matrix;
    Memory leaving;
    std::map<std::int64_t, DeviceFft<Scalar>> plans;  ///< by number of rows; there are few different ones
  };

  /// Four chunks at least, so that most copies have something to hide behind, unless they were too small for a device
  /// to be busy; of at most 32 MiB. Two passes have three chunks each, a chunk two matrices and the library a work area
  /// as large; the rest is left to others.
  std::int64_t rows_of_chunk(std::int64_t rows) const {
    constexpr double worth_a_launch = 4.0 * 1024 * 1024, most = 32.0 * 1024 * 1024;
    const double limit = device_memory_bytes(std::numeric_limits<double>::infinity()) / 24.0;
    const auto fitting = [&](double bytes) {
      return static_cast<std::int64_t>(std::min(bytes, limit) / static_cast<double>(pitch_ * sizeof(Complex)));
    };
    const std::int64_t least = std::max<std::int64_t>(1, fitting(worth_a_launch));
    return std::clamp((rows + 3) / 4, least, std::max(least, fitting(most)));
  }

  Memory allocated(const Execution& queue, std::int64_t rows) const {
    return Memory(Kokkos::view_alloc(queue, Kokkos::WithoutInitializing, "steelyard::fft2d::chunk"),
                  static_cast<std::size_t>(rows * pitch_));
  }

  const DeviceFft<Scalar>& plan_for(Chunk& chunk, std::int64_t count) {
    const auto found = chunk.plans.find(count);
    if (found != chunk.plans.end()) return found->second;
    const RowTransformation& what = this->transformation();
    const DeviceFftRows rows{what.length, count, pitch_, what.direction == Direction::inverse, what.real};
    return chunk.plans.emplace(count, DeviceFft<Scalar>(chunk.queue, rows)).first->second;
  }

  template <class Element>
  void transform_rows(std::int64_t first, std::int64_t count, std::span<const RowPiece<Element>> in,
                      std::span<const StoredPiece<Complex>> out) {
    std::size_t turn = 0;
    for (std::int64_t begin = first; begin < first + count; begin += chunk_rows_) {
      const std::int64_t rows = std::min(chunk_rows_, first + count - begin);
      transform_chunk<Element>(chunks_[turn++ % chunks_.size()], begin, rows, in, out);
    }
    for (const Chunk& chunk : chunks_) chunk.queue.fence();
  }

  template <class Element>
  void transform_chunk(Chunk& chunk, std::int64_t first, std::int64_t count, std::span<const RowPiece<Element>> in,
                       std::span<const StoredPiece<Complex>> out) {
    const DeviceFft<Scalar>& plan = plan_for(chunk, count);
    auto* const matrix = reinterpret_cast<Element*>(chunk.matrix.data());
    const std::int64_t pitch = pitch_ * static_cast<std::int64_t>(sizeof(Complex) / sizeof(Element));
    for (const RowPiece<Element>& piece : in) {
      const Element* const from = piece.data + first * piece.pitch;
      if (piece.home == Home::host) {
        copy_matrix_from_host<Execution, Element>(chunk.queue,
                                                  matrix_at<Execution>(matrix + piece.first, count, piece.count, pitch),
                                                  matrix_at<HostExecution>(from, count, piece.count, piece.pitch));
      } else {
        ScaledCopy<Execution, Element, Scalar>{from,  piece.pitch, count, piece.count, matrix + piece.first,
                                               pitch, Scalar(1)}
            .launch(chunk.queue);
      }
    }
    plan.run(chunk.matrix.data());
    for (const StoredPiece<Complex>& piece : out) store(chunk, piece, first, count);
  }

  void store(Chunk& chunk, const StoredPiece<Complex>& piece, std::int64_t first, std::int64_t count) {
    const bool transpose = this->transformation().transpose;
    // As the piece lies where it is stored.
    const std::int64_t rows = transpose ? piece.count : count, columns = transpose ? count : piece.count;
    Complex* const end = piece.data + (transpose ? first : first * piece.pitch);
    if (piece.home == Home::unit) {
      store_here(chunk, piece, count, end, piece.pitch);
      return;
    }
    if (chunk.leaving.extent(0) == 0) chunk.leaving = allocated(chunk.queue, std::min(this->most_rows(), chunk_rows_));
    Complex* const leaving = chunk.leaving.data() + piece.first * count;
    store_here(chunk, piece, count, leaving, columns);
    copy_matrix_to_host<Execution, Complex>(
        chunk.queue, matrix_at<HostExecution>(end, rows, columns, piece.pitch),
        matrix_at<Execution>(static_cast<const Complex*>(leaving), rows, columns, columns));
  }

  void store_here(const Chunk& chunk, const StoredPiece<Complex>& piece, std::int64_t count, Complex* to,
                  std::int64_t to_pitch) const {
    const Complex* const from = chunk.matrix.data() + piece.first;
    const auto scale = static_cast<Scalar>(this->transformation().scale);
    if (this->transformation().transpose) {
      TiledTranspose<Execution, Scalar>{from, pitch_, count, piece.count, to, to_pitch, scale}.launch(chunk.queue);
    } else {
      ScaledCopy<Execution, Complex, Scalar>{from, pitch_, count, piece.count, to, to_pitch, scale}.launch(chunk.queue);
    }
  }

  std::int64_t pitch_;
  std::int64_t chunk_rows_;
  std::vector<Chunk> chunks_;
};

}  // namespace steelyard::fft2d
