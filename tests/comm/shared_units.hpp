#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "comm/session.hpp"
#include "comm/unit_group.hpp"
#include "core/co_execution.hpp"
#include "tests/comm/started_session.hpp"

namespace steelyard::tests {

/// The units that the test's ranks drive, and ways to share out rows among them.
class TestUnits {
 public:
  TestUnits() : TestUnits(session().comm(), started_units(), gather_slots(session(), started_units())) {}
  TestUnits(MPI_Comm comm, const RankUnits& units, std::vector<Slot> slots)
      : co_execution_(session().machine(), units),
        slots_(std::move(slots)),
        group_(comm, co_execution_, units, slots_) {}

  UnitGroup& group() { return group_; }
  CoExecution& co_execution() { return co_execution_; }
  const std::vector<Slot>& slots() const { return slots_; }

  /// Everything to the first unit; even; everything to the last; growing shares; and single rows for all but the first.
  std::vector<std::vector<std::int64_t>> shares(std::int64_t rows) const {
    const std::size_t n = slots_.size();
    std::vector<std::vector<std::int64_t>> all(5, std::vector<std::int64_t>(n, 0));
    all[0].front() = rows;
    all[2].back() = rows;
    const auto triangle = static_cast<std::int64_t>(n * (n + 1) / 2);
    for (std::size_t i = 0; i < n; ++i) {
      const auto k = static_cast<std::int64_t>(i);
      const auto count = static_cast<std::int64_t>(n);
      all[1][i] = rows * (k + 1) / count - rows * k / count;
      all[3][i] = rows * (k + 1) * (k + 2) / 2 / triangle - rows * k * (k + 1) / 2 / triangle;
      all[4][i] = i == 0 ? std::max<std::int64_t>(0, rows - count + 1) : k + rows - count >= 0 ? 1 : 0;
    }
    if (std::accumulate(all[4].begin(), all[4].end(), std::int64_t{0}) != rows) all.pop_back();
    return all;
  }

 private:
  CoExecution co_execution_;
  std::vector<Slot> slots_;
  UnitGroup group_;
};

}  // namespace steelyard::tests
