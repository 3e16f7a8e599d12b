#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "miniapps/cavity/flow.hpp"
#include "tests/comm/shared_units.hpp"
#include "tests/comm/started_session.hpp"

namespace steelyard::cavity::tests {

using steelyard::tests::TestUnits;

/// A flow whose rows are shared out among the test's units; even shares unless told otherwise.
class FlowRun {
 public:
  FlowRun(TestUnits& units, const Problem& problem, const Numerics& numerics = {})
      : FlowRun(units, problem, numerics, units.shares(problem.rows)[1]) {}
  FlowRun(TestUnits& units, const Problem& problem, const Numerics& numerics, const std::vector<std::int64_t>& shares)
      : flow(std::make_unique<UnitGroup>(steelyard::tests::session().comm(), units.co_execution(),
                                         steelyard::tests::started_units(), units.slots()),
             problem, numerics, shares) {}

  StepReport step() { return flow.step(phases); }
  StepReport steps(int count) {
    StepReport last;
    for (int i = 0; i < count; ++i) last = step();
    return last;
  }
  /// Goes on until no velocity changes faster than `change`, or for `most` steps.
  StepReport until_steady(double change, int most) {
    StepReport last = step();
    for (int i = 1; i < most && last.change >= change; ++i) last = step();
    return last;
  }

  Flow flow;
  PerUnit<StepPhases> phases;
};

}  // namespace steelyard::cavity::tests
