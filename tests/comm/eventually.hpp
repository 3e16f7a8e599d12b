#pragma once

#include "comm/collective.hpp"
#include "tests/comm/started_session.hpp"

namespace steelyard::tests {

/// True once `attempt` is true on all ranks: other programs may spoil a measurement, but not one after the other.
/// Collective.
template <class Attempt>
bool eventually(const Attempt& attempt, int attempts = 6) {
  for (int i = 0; i < attempts; ++i) {
    const bool good = attempt();
    if (all_max(session().comm(), good ? 0.0 : 1.0) == 0.0) return true;
  }
  return false;
}

}  // namespace steelyard::tests
