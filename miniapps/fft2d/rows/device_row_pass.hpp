#pragma once

#include <Kokkos_Complex.hpp>
#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <vector>

#include "core/memory/matrix_copy.hpp"
#include "core/memory/unit_memory.hpp"
#include "miniapps/fft2d/rows/row_pass.hpp"

namespace steelyard::fft2d {

/// The transpose of a matrix in a device's memory, times a factor: tiles pass through scratch memory, so that rows of
/// both matrices are read and written side by side. to[j * to_pitch + i] = factor * from[i * from_pitch + j].
template <class Execution, class Scalar>
struct TiledTranspose {
  using Complex = Kokkos::complex<Scalar>;
  using Policy = Kokkos::TeamPolicy<Execution>;
  using Member = typename Policy::member_type;
  static constexpr int tile = 32;
  static constexpr int threads = 8;
  /// One more, so that the elements of a column lie in different banks.
  static constexpr int tile_pitch = tile + 1;

  const Complex* from;
  std::int64_t from_pitch;
  std::int64_t rows;
  std::int64_t columns;
  Complex* to;
  std::int64_t to_pitch;
  Scalar factor;

  /// On the space's queue; the caller fences.
  void launch(const Execution& space) const {
    if (rows == 0 || columns == 0) return;
    const std::int64_t tiles = (rows + tile - 1) / tile * ((columns + tile - 1) / tile);
    Policy policy(space, static_cast<int>(tiles), threads, tile);
    policy.set_scratch_size(0, Kokkos::PerTeam(scratch_bytes()));
    Kokkos::parallel_for("steelyard::fft2d::transpose", policy, *this);
  }

  KOKKOS_FUNCTION int scratch_bytes() const { return tile * tile_pitch * static_cast<int>(sizeof(Complex)) + 64; }

  KOKKOS_FUNCTION void operator()(const Member& member) const {
    auto* const scratch = static_cast<Complex*>(member.team_scratch(0).get_shmem(scratch_bytes()));
    const std::int64_t tiles_across = (columns + tile - 1) / tile;
    const std::int64_t i0 = member.league_rank() / tiles_across * tile, j0 = member.league_rank() % tiles_across * tile;
    // By value: a device has no address of a host's constant.
    constexpr int size = tile, pitch = tile_pitch;
    Kokkos::parallel_for(Kokkos::TeamThreadRange(member, size), [&](const int i) {
      Kokkos::parallel_for(Kokkos::ThreadVectorRange(member, size), [&](const int j) {
        if (i0 + i < rows && j0 + j < columns) scratch[i * pitch + j] = from[(i0 + i) * from_pitch + j0 + j];
      });
    });
    member.team_barrier();
    Kokkos::parallel_for(Kokkos::TeamThreadRange(member, size), [&](const int j) {
      Kokkos::parallel_for(Kokkos::ThreadVectorRange(member, size), [&](const int i) {
        if (i0 + i < rows && j0 + j < columns) to[(j0 + j) * to_pitch + i0 + i] = factor * scratch[i * pitch + j];
      });
    });
  }
};

/// Rows of a matrix in a device's memory to others there that have no gaps, times a factor. On the queue.
template <class Execution, class Scalar>
void copy_scaled(const Execution& queue, const Kokkos::complex<Scalar>* from, std::int64_t from_pitch,
                 std::int64_t rows, std::int64_t columns, Kokkos::complex<Scalar>* to, Scalar factor) {
  Kokkos::parallel_for(
      "steelyard::fft2d::copy", Kokkos::RangePolicy<Execution>(queue, 0, rows * columns),
      KOKKOS_LAMBDA(const std::int64_t at) { to[at] = factor * from[at / columns * from_pitch + at % columns]; });
}

/// Rows by the device's own library, in chunks that three queues take in turn: a chunk is copied into a matrix in the
/// device's memory, transformed there in place, and stored by way of a second matrix, in which every piece is
/// contiguous. While one chunk is copied to the device, another one is transformed and
/// a third one copied back. Chunks are so small that the device's memory holds those of slices of any size.
template <class Execution, class Element>
class DeviceRowPass : public RowPass<Element> {
 public:
  static_assert(!runs_on_host<Execution>);
  using typename RowPass<Element>::Scalar;
  using typename RowPass<Element>::Complex;
  using typename RowPass<Element>::In;
  using typename RowPass<Element>::Out;

  /// On queues of its own.
  DeviceRowPass(const RowTransformation& transformation, std::int64_t rows)
      : RowPass<Element>(transformation, rows), pitch_(this->stored()), chunk_rows_(rows_of_chunk(rows)) {
    const std::int64_t most_rows = std::min(rows, chunk_rows_);
    for (const Execution& queue : make_queues(3)) {
      chunks_.push_back({queue, allocated(queue, most_rows), allocated(queue, most_rows), {}});
      if (rows > 0) plan_for(chunks_.back(), most_rows);
    }
  }

 protected:
  void transform(std::int64_t first, std::int64_t count, In in, Out out) override {
    std::size_t turn = 0;
    for (std::int64_t begin = first; begin < first + count; begin += chunk_rows_) {
      const std::int64_t rows = std::min(chunk_rows_, first + count - begin);
      transform_chunk(chunks_[turn++ % chunks_.size()], begin, rows, in, out);
    }
    for (const Chunk& chunk : chunks_) chunk.queue.fence();
  }

 private:
  using Memory = Kokkos::View<Complex*, DeviceOf<Execution>>;

  /// Memory for some rows, and the queue that works there.
  struct Chunk {
    Execution queue;
    Memory matrix;
    Memory leaving;                                   ///< results in the order in which they are copied to the host
    std::map<std::int64_t, DeviceFft<Scalar>> plans;  ///< by number of rows; there are few different ones
  };

  /// Four chunks at least, so that most copies have something to hide behind, unless they were too small for a device
  /// to be busy; of at most 32 MiB or as many rows as make a transposed chunk's rows 32 KiB long, for copies of shorter
  /// ones take up to twice as long. Two passes have three chunks each, a chunk two matrices and the library a work area
  /// as large; the rest of the memory is left to others.
  std::int64_t rows_of_chunk(std::int64_t rows) const {
    constexpr double worth_a_launch = 4.0 * 1024 * 1024, worth_a_chunk = 32.0 * 1024 * 1024;
    constexpr std::int64_t long_rows = std::int64_t{32} * 1024 / static_cast<std::int64_t>(sizeof(Complex));
    const double limit = device_memory_bytes(std::numeric_limits<double>::infinity()) / 24.0;
    const auto fitting = [&](double bytes) {
      const double row_bytes = static_cast<double>(pitch_) * sizeof(Complex);
      return std::max<std::int64_t>(1, static_cast<std::int64_t>(bytes / row_bytes));
    };
    const std::int64_t most = std::max(fitting(worth_a_chunk), long_rows);
    return std::min({std::max((rows + 3) / 4, fitting(worth_a_launch)), most, fitting(limit)});
  }

  Memory allocated(const Execution& queue, std::int64_t rows) const {
    return Memory(Kokkos::view_alloc(queue, Kokkos::WithoutInitializing, "steelyard::fft2d::chunk"),
                  static_cast<std::size_t>(rows * pitch_));
  }

  const DeviceFft<Scalar>& plan_for(Chunk& chunk, std::int64_t count) {
    const auto found = chunk.plans.find(count);
    if (found != chunk.plans.end()) return found->second;
    const RowTransformation& what = this->transformation();
    const DeviceFftRows rows{what.length, count, pitch_, what.direction == Direction::inverse, RowPass<Element>::real};
    return chunk.plans.emplace(count, DeviceFft<Scalar>(chunk.queue, rows)).first->second;
  }

  void transform_chunk(Chunk& chunk, std::int64_t first, std::int64_t count, In in, Out out) {
    const DeviceFft<Scalar>& plan = plan_for(chunk, count);
    auto* const matrix = reinterpret_cast<Element*>(chunk.matrix.data());
    const std::int64_t pitch = pitch_ * static_cast<std::int64_t>(sizeof(Complex) / sizeof(Element));
    for (const RowPiece<Element>& piece : in) {
      const Element* const from = piece.data + first * piece.pitch;
      copy_matrix_from_host<Execution, Element>(chunk.queue,
                                                matrix_at<Execution>(matrix + piece.first, count, piece.count, pitch),
                                                matrix_at<HostExecution>(from, count, piece.count, piece.pitch));
    }
    plan.run(chunk.matrix.data());
    for (const StoredPiece<Complex>& piece : out) store(chunk, piece, first, count);
  }

  void store(const Chunk& chunk, const StoredPiece<Complex>& piece, std::int64_t first, std::int64_t count) const {
    const bool transpose = this->transformation().transpose;
    const auto scale = static_cast<Scalar>(this->transformation().scale);
    // As the piece lies where it is stored.
    const std::int64_t rows = transpose ? piece.count : count, columns = transpose ? count : piece.count;
    const Complex* const from = chunk.matrix.data() + piece.first;
    Complex* const leaving = chunk.leaving.data() + piece.first * count;
    if (transpose) {
      TiledTranspose<Execution, Scalar>{from, pitch_, count, piece.count, leaving, columns, scale}.launch(chunk.queue);
    } else {
      copy_scaled(chunk.queue, from, pitch_, rows, columns, leaving, scale);
    }
    Complex* const end = piece.data + (transpose ? first : first * piece.pitch);
    copy_matrix_to_host<Execution, Complex>(
        chunk.queue, matrix_at<HostExecution>(end, rows, columns, piece.pitch),
        matrix_at<Execution>(static_cast<const Complex*>(leaving), rows, columns, columns));
  }

  std::int64_t pitch_;
  std::int64_t chunk_rows_;
  std::vector<Chunk> chunks_;
};

}  // namespace steelyard::fft2d
