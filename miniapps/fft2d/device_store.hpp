#pragma once

#include <Kokkos_Complex.hpp>
#include <cstdint>

#include "core/spaces.hpp"

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

/// Rows of a matrix in a device's memory to other ones there, times a factor.
template <class Execution, class Element, class Scalar>
struct ScaledCopy {
  const Element* from;
  std::int64_t from_pitch;
  std::int64_t rows;
  std::int64_t columns;
  Element* to;
  std::int64_t to_pitch;
  Scalar factor;

  /// On the space's queue; the caller fences.
  void launch(const Execution& space) const {
    Kokkos::parallel_for("steelyard::fft2d::copy", Kokkos::RangePolicy<Execution>(space, 0, rows * columns), *this);
  }
  KOKKOS_FUNCTION void operator()(const std::int64_t at) const {
    const std::int64_t i = at / columns, j = at % columns;
    to[i * to_pitch + j] = factor * from[i * from_pitch + j];
  }
};

}  // namespace steelyard::fft2d
