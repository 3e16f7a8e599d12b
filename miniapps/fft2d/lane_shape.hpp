#pragma once

#include <algorithm>
#include <cstdint>

#include "core/device/device.hpp"

namespace steelyard::fft2d {
namespace detail {

/// Several numbers that processors compute with at once.
template <class Scalar>
struct VectorOf {
#if defined(STEELYARD_HAS_VECTOR_TYPES)
  static constexpr int width = 32 / sizeof(Scalar);
  using Type [[gnu::vector_size(32), gnu::may_alias]] = Scalar;
#else
  static constexpr int width = 1;
  using Type = Scalar;
#endif
};

}  // namespace detail

/// How a back end shares out rows and their points: a team transforms `lanes` rows at a time, whose equal points lie
/// side by side. On a host a thread computes with `width` of them at once; on a device every thread with one.
template <class Execution, class Scalar>
struct LaneShape {
  static constexpr bool on_host = runs_on_host<Execution>;
  /// Points that are stored side by side: two cache lines on a host, on a device what its memory moves at a time.
  static constexpr int lanes = (on_host ? 64 : 32) / static_cast<int>(sizeof(Scalar));
  static constexpr int width = on_host ? detail::VectorOf<Scalar>::width : 1;
  static constexpr int team_size = on_host ? 1 : 256 / lanes;
  static constexpr int vector_length = on_host ? 1 : lanes;
  /// Bytes that a team may have in scratch memory; longer rows go through memory of the unit. On a host that is cache.
  static std::int64_t most_scratch_bytes() {
    return on_host ? 0 : std::min<std::int64_t>(40 << 10, team_scratch_bytes(team_size));
  }
  /// Teams that have such memory at the same time, on a device.
  static constexpr int teams_at_once = 528;
};

/// What a thread computes with at once.
template <class Execution, class Scalar>
struct PackOf {
  using Type = Scalar;
};
template <class Execution, class Scalar>
requires(LaneShape<Execution, Scalar>::width > 1) struct PackOf<Execution, Scalar> {
  using Type = typename detail::VectorOf<Scalar>::Type;
};

}  // namespace steelyard::fft2d
