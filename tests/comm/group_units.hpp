#pragma once

#include <chrono>
#include <cstdint>
#include <random>
#include <thread>
#include <vector>

#include "comm/mpi_check.hpp"
#include "core/memory/host_copy.hpp"
#include "tests/comm/shared_units.hpp"

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

/// Which of the units that the test has started its ranks drive; in a mixed choice they take turns: both, the host
/// unit, the companion.
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

/// A group of all ranks' chosen units, or of this rank's alone.
class GroupUnits : public TestUnits {
 public:
  explicit GroupUnits(Choice choice)
      : TestUnits(session().comm(), chosen_units(choice), gather_slots(session(), chosen_units(choice))) {}

  /// Both units of this rank, without the other ranks.
  static TestUnits alone() {
    std::vector<Slot> slots;
    if (started_units().host) slots.push_back({0, ProcessingUnit::Kind::host});
    if (started_units().companion) slots.push_back({0, ProcessingUnit::Kind::companion});
    return TestUnits(MPI_COMM_SELF, started_units(), slots);
  }

  std::size_t size() const { return slots().size(); }

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
