#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <numeric>
#include <random>
#include <thread>
#include <utility>
#include <vector>

#include "comm/mpi_check.hpp"
#include "comm/session.hpp"
#include "comm/unit_group.hpp"
#include "core/co_execution.hpp"
#include "core/memory/host_copy.hpp"
#include "tests/comm/started_session.hpp"

namespace steelyard::tests {

/// Part of a communicator: the ranks of the same colour, ordered by key. Collective.
class SplitComm {
 public:
  SplitComm(int colour, int key) { STEELYARD_MPI(MPI_Comm_split(session().comm(), colour, key, &comm_)); }
  ~SplitComm() { MPI_Comm_free(&comm_); }
  SplitComm(const SplitComm&) = delete;
  SplitComm& operator=(const SplitComm&) = delete;

  MPI_Comm comm() const { return comm_; }

 private:
  MPI_Comm comm_ = MPI_COMM_NULL;
};

/// Units that the ranks drive of those that the test has started; mixed: in turns both, the host unit, the companion.
enum class Choice { all, hosts, companions, mixed };
inline constexpr Choice choices[] = {Choice::all, Choice::hosts, Choice::companions, Choice::mixed};

inline RankUnits chosen_units(Choice choice) {
  RankUnits units = started_units();
  if (!units.host || !units.companion) return units;
  const int rank = session().rank();
  if (choice == Choice::hosts || (choice == Choice::mixed && rank % 3 == 1)) units.companion.reset();
  if (choice == Choice::companions || (choice == Choice::mixed && rank % 3 == 2)) units.host.reset();
  return units;
}

/// The units that the test's ranks drive, and ways to share out rows among them.
class TestUnits {
 public:
  explicit TestUnits(Choice choice = Choice::all)
      : TestUnits(session().comm(), chosen_units(choice), gather_slots(session(), chosen_units(choice))) {}
  TestUnits(MPI_Comm comm, const RankUnits& units, std::vector<Slot> slots)
      : co_execution_(session().machine(), units),
        slots_(std::move(slots)),
        group_(comm, co_execution_, units, slots_) {}

  /// Both units of this rank, without the other ranks.
  static TestUnits alone() {
    std::vector<Slot> slots;
    if (started_units().host) slots.push_back({0, ProcessingUnit::Kind::host});
    if (started_units().companion) slots.push_back({0, ProcessingUnit::Kind::companion});
    return TestUnits(MPI_COMM_SELF, started_units(), slots);
  }

  UnitGroup& group() { return group_; }
  CoExecution& co_execution() { return co_execution_; }
  const std::vector<Slot>& slots() const { return slots_; }
  std::size_t size() const { return slots_.size(); }

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

  /// shares() and others at random, the first of which leave every other unit without rows.
  std::vector<std::vector<std::int64_t>> many_shares(std::int64_t rows) const {
    std::vector<std::vector<std::int64_t>> all = shares(rows);
    std::mt19937_64 random(static_cast<std::uint64_t>(rows));
    for (int round = 0; round < 4; ++round) {
      all.emplace_back(size(), 0);
      for (std::int64_t row = 0; row < rows; ++row) {
        const std::size_t slot = random() % size();
        ++all.back()[round == 0 ? slot / 2 * 2 : slot];
      }
    }
    return all;
  }

 private:
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

/// A sum over all units of the group.
template <class Peer>
double sum_one(const Peer& peer, double value) {
  std::array<CompensatedSum, 1> values;
  values[0].add(value);
  std::array<double, 1> totals = {};
  peer.sum(values, totals);
  return totals[0];
}

}  // namespace steelyard::tests
