#pragma once

#include <mpi.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "comm/session.hpp"
#include "core/base/errors.hpp"
#include "core/co_execution.hpp"
#include "core/spaces.hpp"
#include "core/sweep/compensated_sum.hpp"

namespace steelyard {

/// Returns when MPI has completed the requests. @param may_spin whether nothing else needs the thread's core; otherwise
/// it soon sleeps between two looks, since threads that poll take the core from those that work. @throws MpiError
void wait_all(std::span<MPI_Request> requests, bool may_spin);

template <class Execution>
class UnitPeer;

/// The processing units of all ranks that run one program together, each on its own slice of the data (SPMD): the units
/// of a rank on their own threads, the first of which also drives MPI. Units meet in sums (here), in exchanges of
/// messages (comm/unit_exchange) and in those and gathers of rows (comm/row_exchange), which all call in the same
/// order.
class UnitGroup {
 public:
  /// Values of one sum at most.
  static constexpr std::size_t most_values = 8;

  /// Collective. @param slots of all ranks; `co_execution` of this one
  /// @throws InvalidArgument where the slots do not have this rank's units; MpiError
  UnitGroup(MPI_Comm comm, CoExecution& co_execution, const RankUnits& units, const std::vector<Slot>& slots);
  /// Makes a group of one unit alone, which is measured without communication: run() then runs the program on the
  /// calling thread, which is to be the unit's own, with timed sections of the work that CoExecution::run() may have
  /// given to this thread. Never calls MPI.
  explicit UnitGroup(ProcessingUnit::Kind kind);
  ~UnitGroup();
  UnitGroup(const UnitGroup&) = delete;
  UnitGroup& operator=(const UnitGroup&) = delete;

  /// Runs `program(peer)` on every unit of this rank at once; `peer` is a UnitPeer of its execution space. Collective.
  /// Where a unit throws, the other of this rank stops waiting for what it has not done, and the first error is thrown
  /// again; other ranks are not told. What all units throw at the same place leaves a group that can run again.
  /// @throws RuntimeFailure for a group of which one unit has given up waiting in an earlier run
  /// @return seconds that each unit spent in UnitPeer::compute(), with what an emulated slowdown adds; 0 of a unit
  /// alone
  template <class Program>
  UnitSeconds run(const Program& program);

  MPI_Comm comm() const { return comm_; }
  int rank() const { return rank_; }
  int size() const { return size_; }
  const std::vector<Slot>& slots() const { return slots_; }
  /// Whether no core of this rank serves two threads: then threads that wait may keep theirs.
  bool may_spin() const { return may_spin_; }
  /// Index among all slots of this rank's unit; -1 for one that it does not drive.
  int slot(ProcessingUnit::Kind kind) const { return slot_of_[unit_index(kind)]; }
  int unit_count() const { return unit_count_; }
  /// Whether this unit's thread drives MPI.
  bool drives(ProcessingUnit::Kind kind) const {
    return kind == ProcessingUnit::Kind::host || slot(ProcessingUnit::Kind::host) < 0;
  }

  /// How often this group has met so far, as the unit that drives MPI has counted: for predictions.
  struct SyncCounts {
    std::uint64_t sums = 0;
    std::uint64_t exchanges = 0;
    std::uint64_t halo_bytes = 0;  ///< of all exchanges, to one neighbour
  };
  const SyncCounts& sync_counts() const { return sync_counts_; }
  /// Counts an exchange of halos of `bytes` bytes to a neighbour, whether there is one or not.
  void count_exchange(ProcessingUnit::Kind kind, std::int64_t halo_bytes) {
    if (!drives(kind)) return;
    ++sync_counts_.exchanges;
    sync_counts_.halo_bytes += static_cast<std::uint64_t>(halo_bytes);
  }

  /// Two cache lines, since processors fetch the next one as well: what one thread writes while another one looks at
  /// what lies beside it costs both of them.
  static constexpr std::size_t apart = 128;

  /// Counts events that one thread tells another of this rank, which then sees what was written before.
  class alignas(apart) Signal {
   public:
    /// By one thread only, with counts that grow.
    void raise(std::uint64_t count) { count_.store(count, std::memory_order_release); }
    bool reached(std::uint64_t count) const { return count_.load(std::memory_order_acquire) >= count; }

   private:
    std::atomic<std::uint64_t> count_{0};
  };
  /// Returns when the signal has been raised so far. @param meanwhile called again and again until then; may be empty
  /// @throws RuntimeFailure where another unit has failed before that
  void await(const Signal& signal, std::uint64_t count, const CoExecution::Work& meanwhile = {});

  /// Sums up over all units. @param values as many from every unit, at most `most_values`
  /// @param totals as many; the same on all units, bit by bit @throws InvalidArgument for other numbers of them
  void sum(ProcessingUnit::Kind kind, std::span<const CompensatedSum> values, std::span<double> totals);

 private:
  using Values = std::array<CompensatedSum, most_values>;

  MPI_Comm comm_;
  int rank_ = 0;
  int size_ = 1;
  CoExecution* co_execution_ = nullptr;  ///< none for a unit alone
  std::vector<Slot> slots_;
  std::array<int, 2> slot_of_ = {-1, -1};
  int unit_count_ = 0;
  bool may_spin_ = true;
  SyncCounts sync_counts_;

  std::atomic<bool> failed_{false};
  std::atomic<bool> given_up_{false};  ///< a unit has not waited for another to the end
  std::exception_ptr error_;

  alignas(apart) std::uint64_t sums_ = 0;            ///< that the unit that drives MPI has begun
  alignas(apart) std::uint64_t companion_sums_ = 0;  ///< that the other unit has begun
  Signal companion_has_values_;
  Signal totals_are_known_;
  alignas(apart) Values companion_values_;
  alignas(apart) std::array<Values, 2> totals_;  ///< by parity of the sum: one may be read when the next one begins
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
    CoExecution::timed_section([&] {
      work();
      space_.fence();
    });
  }

  void sum(std::span<const CompensatedSum> values, std::span<double> totals) const {
    group_->sum(kind_, values, totals);
  }

 private:
  UnitGroup* group_;
  ProcessingUnit::Kind kind_;
  Execution space_{};
};

/// An object of each of a rank's units, of a type for its execution space, for programs that a UnitGroup runs.
template <template <class> class Of>
class UnitData {
 public:
  /// Makes the unit's object anew, by its own thread: Of<Execution>(space, arguments…).
  template <class Execution, class... Arguments>
  void emplace(const UnitPeer<Execution>& peer, const Arguments&... arguments) {
    auto& object = data<Execution>(peer.kind());
    object.reset();  // there may not be memory for two
    object = std::make_unique<Of<Execution>>(peer.space(), arguments...);
  }
  /// @pre emplace() of the same unit
  template <class Execution>
  Of<Execution>& operator[](const UnitPeer<Execution>& peer) {
    return *data<Execution>(peer.kind());
  }
  /// Calls `use(object)` for each that there is, one after the other on the calling thread.
  template <class Use>
  void for_each(const Use& use) const {
    if (host_) use(*host_);
    if (companion_) use(*companion_);
  }

 private:
  template <class Execution>
  auto& data(ProcessingUnit::Kind kind) {
    // A build without companions has one execution space for both.
    if constexpr (std::is_same_v<HostExecution, CompanionExecution>) {
      return kind == ProcessingUnit::Kind::host ? host_ : companion_;
    } else if constexpr (std::is_same_v<Execution, HostExecution>) {
      return host_;
    } else {
      return companion_;
    }
  }
  std::unique_ptr<Of<HostExecution>> host_;
  std::unique_ptr<Of<CompanionExecution>> companion_;
};

template <class Program>
UnitSeconds UnitGroup::run(const Program& program) {
  if (given_up_) throw RuntimeFailure("the unit group is out of step after a failed run and cannot run again");
  failed_ = false;
  error_ = nullptr;
  const auto guarded = [&](auto peer) {
    try {
      program(peer);
    } catch (...) {
      // The second error may be no more than the consequence of the first.
      if (!failed_.exchange(true)) error_ = std::current_exception();
    }
  };
  const auto host = [&] { guarded(UnitPeer<HostExecution>(*this, ProcessingUnit::Kind::host)); };
  const auto companion = [&] { guarded(UnitPeer<CompanionExecution>(*this, ProcessingUnit::Kind::companion)); };
  UnitSeconds seconds;
  if (co_execution_ != nullptr) {
    seconds = co_execution_->run(host, companion);
  } else if (slot(ProcessingUnit::Kind::host) >= 0) {
    host();
  } else {
    companion();
  }
  if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
  return seconds;
}

}  // namespace steelyard
