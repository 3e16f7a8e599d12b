#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <numeric>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "comm/session.hpp"
#include "comm/unit_group.hpp"
#include "core/co_execution.hpp"
#include "core/memory/host_copy.hpp"
#include "tests/comm/split_comm.hpp"
#include "tests/comm/started_session.hpp"

namespace steelyard::tests {

/// Which of the units that the test has started its ranks drive.
enum class Choice { all, hosts, companions, mixed };
inline constexpr Choice choices[] = {Choice::all, Choice::hosts, Choice::companions, Choice::mixed};

/// In a mixed choice ranks take turns: both units, the host unit, the companion.
inline RankUnits chosen_units(Choice choice) {
  RankUnits units = started_units();
  if (!units.host || !units.companion) return units;
  const int rank = session().rank();
  if (choice == Choice::hosts || (choice == Choice::mixed && rank % 3 == 1)) units.companion.reset();
  if (choice == Choice::companions || (choice == Choice::mixed && rank % 3 == 2)) units.host.reset();
  return units;
}

/// A group of all ranks' chosen units, or of this rank's alone.
class GroupUnits {
 public:
  explicit GroupUnits(Choice choice)
      : GroupUnits(session().comm(), chosen_units(choice), gather_slots(session(), chosen_units(choice))) {}

  /// Both units of this rank, without the other ranks.
  static GroupUnits alone() {
    std::vector<Slot> slots;
    if (started_units().host) slots.push_back({0, ProcessingUnit::Kind::host});
    if (started_units().companion) slots.push_back({0, ProcessingUnit::Kind::companion});
    return GroupUnits(MPI_COMM_SELF, started_units(), slots);
  }

  UnitGroup& group() { return group_; }
  std::size_t size() const { return slots_.size(); }

  /// Ways to share out rows: everything to the first or the last unit, even, single rows for all but the first, every
  /// other unit without rows, and at random; the same on all ranks.
  std::vector<std::vector<std::int64_t>> shares(std::int64_t rows) const {
    const std::size_t n = slots_.size();
    const auto count = static_cast<std::int64_t>(n);
    std::vector<std::vector<std::int64_t>> all(4, std::vector<std::int64_t>(n, 0));
    all[0].front() = rows;
    all[1].back() = rows;
    for (std::size_t i = 0; i < n; ++i) {
      const auto k = static_cast<std::int64_t>(i);
      all[2][i] = rows * (k + 1) / count - rows * k / count;
      all[3][i / 2 * 2] += all[2][i];
    }
    if (rows >= count) {
      all.emplace_back(n, 1);
      all.back().front() = rows - count + 1;
    }
    std::mt19937_64 random(static_cast<std::uint64_t>(rows));
    for (int round = 0; round < 3; ++round) {
      all.emplace_back(n, 0);
      for (std::int64_t row = 0; row < rows; ++row) ++all.back()[random() % n];
    }
    return all;
  }

 private:
  GroupUnits(MPI_Comm comm, const RankUnits& units, std::vector<Slot> slots)
      : co_execution_(session().machine(), units),
        slots_(std::move(slots)),
        group_(comm, co_execution_, units, slots_) {}

  CoExecution co_execution_;
  std::vector<Slot> slots_;
  UnitGroup group_;
};

/// A group of all ranks' units, within a communicator of the ranks in reverse order.
class BackwardUnits {
 public:
  BackwardUnits()
      : comm_(session().comm(), 0, -session().rank()),
        co_execution_(session().machine(), started_units()),
        slots_(gather_slots(session(), started_units())),
        group_(comm_.comm(), co_execution_, started_units(), turned_around()) {}

  UnitGroup& group() { return group_; }

 private:
  std::vector<Slot> turned_around() {
    for (Slot& slot : slots_) slot.rank = session().size() - 1 - slot.rank;
    std::ranges::stable_sort(slots_, {}, &Slot::rank);
    return slots_;
  }

  SplitComm comm_;
  CoExecution co_execution_;
  std::vector<Slot> slots_;
  UnitGroup group_;
};

/// Makes one unit late for what it does with the others, now and then: a moment, or for as long as the system likes.
class Delays {
 public:
  explicit Delays(int slot) : random_(static_cast<std::uint64_t>(slot + 1)) {}

  void wait() {
    const std::uint64_t choice = random_() % 16;
    if (choice == 0) std::this_thread::sleep_for(std::chrono::microseconds(random_() % 50));
    if (choice == 1) std::this_thread::yield();
    if (choice > 11) {
      const auto end = std::chrono::steady_clock::now() + std::chrono::nanoseconds(random_() % 3000);
      while (std::chrono::steady_clock::now() < end) {
      }
    }
  }

 private:
  std::mt19937_64 random_;
};

/// Rounds enough for races to show where units run side by side, fewer where ranks wait for cores.
inline int many_rounds(int most) { return session().size() == 1 ? most : most / (4 * session().size()); }

/// Rows of a unit's own memory, and what a test puts in and finds there.
template <class Execution>
class UnitRows {
 public:
  UnitRows(Execution space, std::size_t elements)
      : space_(space),
        memory_(Kokkos::view_alloc(space, Kokkos::WithoutInitializing, "steelyard::tests::rows"), elements) {
    space_.fence();
  }

  double* data() const { return memory_.data(); }
  void write(const std::vector<double>& values) const {
    copy_from_host(space_, memory_.data(), values.data(), values.size());
    space_.fence();
  }
  std::vector<double> read() const {
    std::vector<double> values(memory_.size());
    copy_to_host(space_, values.data(), memory_.data(), values.size());
    space_.fence();
    return values;
  }

 private:
  Execution space_;
  Kokkos::View<double*, DeviceOf<Execution>> memory_;
};

}  // namespace steelyard::tests
