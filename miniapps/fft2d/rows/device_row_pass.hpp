#pragma once

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <vector>

#include "core/device/device.hpp"
#include "core/memory/host_copy.hpp"
#include "core/memory/unit_memory.hpp"
#include "miniapps/fft2d/rows/row_pass.hpp"

namespace steelyard::fft2d {

/// Copy of a matrix in a device's memory to another one there without gaps, times a factor, transposed or as it is:
/// tiles pass through scratch memory, so that rows of both matrices are read and written side by side.
template <class Execution, class Complex>
struct TiledCopy {
  using Policy = Kokkos::TeamPolicy<Execution>;
  using Member = typename Policy::member_type;
  static constexpr int tile = 32;
  static constexpr int threads = 8;
  /// One more, so that the elements of a column lie in different banks.
  static constexpr int tile_pitch = tile + 1;

  const Complex* from;
  std::int64_t pitch;
  std::int64_t rows, columns;  ///< of what is read
  bool transpose;
  Complex* to;
  typename Complex::value_type factor;

  /// On the space's queue; the caller fences.
  void launch(const Execution& space) const {
    const std::int64_t tiles = (rows + tile - 1) / tile * ((columns + tile - 1) / tile);
    Policy policy(space, static_cast<int>(tiles), threads, tile);
    policy.set_scratch_size(0, Kokkos::PerTeam(scratch_bytes()));
    Kokkos::parallel_for("steelyard::fft2d::copy", policy, *this);
  }

  KOKKOS_FUNCTION int scratch_bytes() const { return tile * tile_pitch * static_cast<int>(sizeof(Complex)) + 64; }

  KOKKOS_FUNCTION void operator()(const Member& member) const {
    auto* const scratch = static_cast<Complex*>(member.team_scratch(0).get_shmem(scratch_bytes()));
    const std::int64_t tiles_across = (columns + tile - 1) / tile;
    const std::int64_t i0 = member.league_rank() / tiles_across * tile, j0 = member.league_rank() % tiles_across * tile;
    // By value: a device has no address of a host's constant.
    constexpr int size = tile, scratch_pitch = tile_pitch;
    Kokkos::parallel_for(Kokkos::TeamThreadRange(member, size), [&](const int i) {
      Kokkos::parallel_for(Kokkos::ThreadVectorRange(member, size), [&](const int j) {
        if (i0 + i < rows && j0 + j < columns) scratch[i * scratch_pitch + j] = from[(i0 + i) * pitch + j0 + j];
      });
    });
    member.team_barrier();
    Kokkos::parallel_for(Kokkos::TeamThreadRange(member, size), [&](const int a) {
      Kokkos::parallel_for(Kokkos::ThreadVectorRange(member, size), [&](const int b) {
        const int i = transpose ? b : a, j = transpose ? a : b;
        if (i0 + i >= rows || j0 + j >= columns) return;
        const std::int64_t place = transpose ? (j0 + j) * rows + i0 + i : (i0 + i) * columns + j0 + j;
        to[place] = factor * scratch[i * scratch_pitch + j];
      });
    });
  }
};

/// Rows of a matrix in a device's memory by the device's own library, for DeviceRowPass.
template <class Execution, class Element>
class VendorRows {
 public:
  using Complex = typename RowPass<Element>::Complex;

  /// @param pitch complex numbers from row to row @param rows the most that are transformed at a time
  VendorRows(const Execution& queue, const RowTransformation& what, std::int64_t pitch, std::int64_t rows)
      : shape_{what.length, rows, pitch, what.direction == Direction::inverse, RowPass<Element>::real} {
    if (rows > 0) plans_.emplace(rows, device_fft<Scalar>(queue, shape_));
  }
  /// In place and unscaled, on the queue that the plans are for.
  void run(const Execution& queue, Complex* matrix, std::int64_t rows) {
    shape_.rows = rows;
    if (!plans_.contains(rows)) plans_.emplace(rows, device_fft<Scalar>(queue, shape_));
    plans_.at(rows)(matrix);
  }

 private:
  using Scalar = typename RowPass<Element>::Scalar;
  DeviceFftRows shape_;
  std::map<std::int64_t, DeviceFft<Scalar>> plans_;  ///< by number of rows; there are few different ones
};

/// Rows on a device, in chunks that three queues take in turn: a chunk is copied into a matrix in the device's memory,
/// transformed there in place, and stored by way of a second matrix, in which every piece is contiguous. While one
/// chunk is copied to the device, another one is transformed and a third one copied back. Chunks are so small that the
/// device's memory holds those of slices of any size.
/// @tparam Rows a library's transform of a chunk: VendorRows, PortableRows
template <class Execution, class Element, class Rows>
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
      chunks_.push_back(
          {queue, memory(queue, most_rows), memory(queue, most_rows), {queue, transformation, pitch_, most_rows}});
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
    Memory leaving;  ///< results in the order in which they are copied to the host
    Rows rows;
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

  Memory memory(const Execution& queue, std::int64_t rows) const {
    return Memory(Kokkos::view_alloc(queue, Kokkos::WithoutInitializing, "steelyard::fft2d::chunk"),
                  static_cast<std::size_t>(rows * pitch_));
  }

  void transform_chunk(Chunk& chunk, std::int64_t first, std::int64_t count, In in, Out out) {
    auto* const matrix = reinterpret_cast<Element*>(chunk.matrix.data());
    const std::int64_t pitch = pitch_ * static_cast<std::int64_t>(sizeof(Complex) / sizeof(Element));
    for (const RowPiece<Element>& piece : in) {
      const Element* const from = piece.data + first * piece.pitch;
      copy_matrix_from_host<Execution, Element>(chunk.queue,
                                                matrix_at<Execution>(matrix + piece.first, count, piece.count, pitch),
                                                matrix_at<HostExecution>(from, count, piece.count, piece.pitch));
    }
    chunk.rows.run(chunk.queue, chunk.matrix.data(), count);
    const auto& [length, direction, scale, transpose] = this->transformation();
    for (const StoredPiece<Complex>& piece : out) {
      Complex* const leaving = chunk.leaving.data() + piece.first * count;
      TiledCopy<Execution, Complex>{chunk.matrix.data() + piece.first, pitch_, count, piece.count, transpose, leaving,
                                    static_cast<Scalar>(scale)}
          .launch(chunk.queue);
      // As the piece lies where it is stored.
      const std::int64_t rows = transpose ? piece.count : count, columns = transpose ? count : piece.count;
      Complex* const to = piece.data + (transpose ? first : first * piece.pitch);
      copy_matrix_to_host<Execution, Complex>(
          chunk.queue, matrix_at<HostExecution>(to, rows, columns, piece.pitch),
          matrix_at<Execution>(static_cast<const Complex*>(leaving), rows, columns, columns));
    }
  }

  std::int64_t pitch_;
  std::int64_t chunk_rows_;
  std::vector<Chunk> chunks_;
};

}  // namespace steelyard::fft2d
