#pragma once

#include <cstdint>

#include "core/spaces.hpp"
#include "core/sweep/vector_for.hpp"

namespace steelyard {

/// One pass over the elements of large arrays, as fast as memory gives them: body.set(i, body.value(i)) for every i
/// below `elements`, in any order; no value depends on another element's.
/// @tparam Body a functor of a type with a name, for a launch has the device's compiler make a kernel of it
template <class Execution, class Body>
struct ArrayPass {
  using Policy = Kokkos::TeamPolicy<Execution>;
  static constexpr bool on_host = runs_on_host<Execution>;
  static constexpr int team_size = on_host ? 1 : 8;
  static constexpr int vector_length = on_host ? 1 : 32;
  static constexpr std::int64_t per_thread = on_host ? 1 << 15 : 512;

  Body body;
  std::int64_t elements;

  /// Launches on the space's queue; the caller fences.
  void launch(const Execution& space, const char* label) const {
    constexpr std::int64_t per_team = per_thread * team_size;
    const auto teams = static_cast<int>((elements + per_team - 1) / per_team);
    Kokkos::parallel_for(label, Policy(space, teams, team_size, vector_length), *this);
  }

  KOKKOS_FUNCTION void operator()(const typename Policy::member_type& member) const {
    const Body of_element = body;
    const std::int64_t size = elements;
    Kokkos::parallel_for(Kokkos::TeamThreadRange(member, team_size), [&](const int thread) {
      constexpr int lanes = vector_length;
      const std::int64_t begin = (static_cast<std::int64_t>(member.league_rank()) * team_size + thread) * per_thread;
      const std::int64_t end = begin + per_thread < size ? begin + per_thread : size;
      vector_for_several<4, lanes>(member, begin, end, [=](const std::int64_t i, const auto several) {
        constexpr int count = decltype(several)::value;
        decltype(of_element.value(i)) values[count];
        for (int n = 0; n < count; ++n) values[n] = of_element.value(i + std::int64_t{lanes} * n);
        for (int n = 0; n < count; ++n) of_element.set(i + std::int64_t{lanes} * n, values[n]);
      });
    });
  }
};

}  // namespace steelyard
