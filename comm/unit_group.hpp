#pragma once

#include <mpi.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <span>
#include <vector>

#include "comm/slots.hpp"
#include "core/co_execution.hpp"
#include "core/compensated_sum.hpp"
#include "core/spaces.hpp"

namespace steelyard {

template <class Execution>
class UnitPeer;

/// The processing units of all ranks that run one program together, each on its own slice of the data (SPMD): the units
/// of a rank on their own threads, the first of which also drives MPI. Units meet in sums (here), in exchanges of halos
/// (comm/row_exchange) and in gathers (comm/row_gather), which all call in the same order.
class UnitGroup {
 public:
  /// Values of one sum at most.
  static constexpr std::size_t most_values = 8;

  /// Collective. @param slots of all ranks; `co_execution` of this one. @throws MpiError
  UnitGroup(MPI_Comm comm, CoExecution& co_execution, const RankUnits& units, const std::vector<Slot>& slots);
  ~UnitGroup();
  UnitGroup(const UnitGroup&) = delete;
  UnitGroup& operator=(const UnitGroup&) = delete;

  /// Runs `program(peer)` on every unit of this rank at once; `peer` is a UnitPeer of its execution space. Collective.
  /// Where a unit throws, the others of this rank stop waiting for it and the first error is thrown again; other ranks
  /// are not told.
  /// @return seconds that each unit spent in UnitPeer::compute(), with what an emulated slowdown adds
  template <class Program>
  UnitSeconds run(const Program& program) {
    begin_run();
    const auto guarded = [&](auto peer) {
      try {
        program(peer);
      } catch (...) {
        fail(std::current_exception());
      }
    };
    const UnitSeconds seconds =
        co_execution_.run([&] { guarded(UnitPeer<HostExecution>(*this, ProcessingUnit::Kind::host)); },
                          [&] { guarded(UnitPeer<CompanionExecution>(*this, ProcessingUnit::Kind::companion)); });
    end_run();
    return seconds;
  }

  MPI_Comm comm() const { return comm_; }
  int rank() const { return rank_; }
  const std::vector<Slot>& slots() const { return slots_; }
  CoExecution& co_execution() { return co_execution_; }
  /// Index among all slots of this rank's unit; -1 for one that it does not drive.
  int slot(ProcessingUnit::Kind kind) const { return slot_of_[kind == ProcessingUnit::Kind::host ? 0 : 1]; }
  int unit_count() const { return unit_count_; }
  /// Whether this unit's thread drives MPI.
  bool drives(ProcessingUnit::Kind kind) const {
    return kind == ProcessingUnit::Kind::host || slot(ProcessingUnit::Kind::host) < 0;
  }

  /// Counts events that one thread tells another of this rank.
  class Signal {
   public:
    void raise() { count_.fetch_add(1, std::memory_order_release); }
    bool reached(std::uint64_t count) const { return count_.load(std::memory_order_acquire) >= count; }

   private:
    std::atomic<std::uint64_t> count_{0};
  };
  /// Returns when the signal has been raised so often. @throws RuntimeFailure where another unit has failed meanwhile
  void await(const Signal& signal, std::uint64_t count) const;

  /// The two halves of a sum over all units; work may be done in between. One sum at a time.
  /// @param values as many from every unit, at most `most_values`
  void begin_sum(ProcessingUnit::Kind kind, std::span<const CompensatedSum> values);
  /// @param totals the same on all units, bit by bit
  void end_sum(ProcessingUnit::Kind kind, std::span<double> totals);

 private:
  using Values = std::array<CompensatedSum, most_values>;

  void begin_run();
  void end_run();
  void fail(std::exception_ptr error);
  void start_ranks_sum(std::size_t count);

  MPI_Comm comm_;
  int rank_ = 0;
  int size_ = 1;
  CoExecution& co_execution_;
  std::vector<Slot> slots_;
  std::array<int, 2> slot_of_ = {-1, -1};
  int unit_count_ = 0;
  bool may_spin_ = true;

  std::atomic<bool> failed_{false};
  std::exception_ptr error_;

  std::array<std::uint64_t, 2> sums_begun_ = {0, 0};  ///< by kind
  Signal companion_has_values_;
  Signal totals_are_known_;
  std::array<Values, 2> companion_values_;  ///< by parity of the sum
  Values own_values_;
  std::array<Values, 2> totals_;
  bool ranks_sum_started_ = false;
  MPI_Request request_ = MPI_REQUEST_NULL;
  MPI_Datatype type_ = MPI_DATATYPE_NULL;
  MPI_Op operation_ = MPI_OP_NULL;
};

/// A unit as its program sees it.
template <class Execution>
class UnitPeer {
 public:
  UnitPeer(UnitGroup& group, ProcessingUnit::Kind kind) : group_(&group), kind_(kind) {}

  const Execution& space() const { return space_; }
  ProcessingUnit::Kind kind() const { return kind_; }
  UnitGroup& group() const { return *group_; }
  /// Index among the slots of all ranks.
  int slot() const { return group_->slot(kind_); }

  /// Runs kernels, which count as this unit's work, and fences.
  template <class Work>
  void compute(const Work& work) const {
    group_->co_execution().part(kind_, [&] {
      work();
      space_.fence();
    });
  }

  void begin_sum(std::span<const CompensatedSum> values) const { group_->begin_sum(kind_, values); }
  void end_sum(std::span<double> totals) const { group_->end_sum(kind_, totals); }
  void sum(std::span<const CompensatedSum> values, std::span<double> totals) const {
    begin_sum(values);
    end_sum(totals);
  }

 private:
  UnitGroup* group_;
  ProcessingUnit::Kind kind_;
  Execution space_{};
};

}  // namespace steelyard
