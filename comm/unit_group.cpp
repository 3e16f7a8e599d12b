#include "comm/unit_group.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "comm/mpi_check.hpp"

namespace steelyard {
namespace {

/// Looks of a thread that may spin before it lets others have its core: some 100 us.
constexpr int looks = 10000;
/// Times that a thread whose core has other threads yields before it sleeps: threads that only yield take their share
/// of the core from those that work and, with a scheduler that makes them pay for it (Linux 6.18), from everything
/// else.
constexpr int yields = 100;
constexpr std::chrono::microseconds nap{20};

/// Leaves the core's pipeline, and what another thread shares of it, alone for a few cycles.
void relax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

/// Rests between two looks at what a thread waits for. @param look how often it has looked before
void rest_between_looks(int look, bool may_spin) {
  if (may_spin && look < looks) {
    relax();
  } else if (may_spin || look < yields) {
    std::this_thread::yield();
  } else {
    std::this_thread::sleep_for(nap);
  }
}

void add_sums(void* in, void* inout, int* count, MPI_Datatype*) {
  const auto* const from = static_cast<const CompensatedSum*>(in);
  auto* const to = static_cast<CompensatedSum*>(inout);
  for (int i = 0; i < *count; ++i) to[i].add(from[i]);
}

}  // namespace

void wait_all(std::span<MPI_Request> requests, bool may_spin) {
  const int count = static_cast<int>(requests.size());
  if (may_spin) {
    STEELYARD_MPI(MPI_Waitall(count, requests.data(), MPI_STATUSES_IGNORE));
    return;
  }
  int done = 0;
  for (int look = 0; done == 0; ++look) {
    if (look > 0) rest_between_looks(look - 1, may_spin);
    STEELYARD_MPI(MPI_Testall(count, requests.data(), &done, MPI_STATUSES_IGNORE));
  }
}

UnitGroup::UnitGroup(MPI_Comm comm, CoExecution& co_execution, const RankUnits& units, const std::vector<Slot>& slots)
    : comm_(comm),
      rank_(rank_in(comm)),
      size_(size_of(comm)),
      co_execution_(&co_execution),
      slots_(slots),
      may_spin_(units.may_spin()) {
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    if (slots_[i].rank != rank_) continue;
    slot_of_[unit_index(slots_[i].kind)] = static_cast<int>(i);
    ++unit_count_;
  }
  for (const auto kind : {ProcessingUnit::Kind::host, ProcessingUnit::Kind::companion}) {
    const bool has_unit = (kind == ProcessingUnit::Kind::host ? units.host : units.companion).has_value();
    if (has_unit != (slot(kind) >= 0)) throw InvalidArgument("slots that do not have this rank's processing units");
  }
  if (size_ == 1) return;
  STEELYARD_MPI(MPI_Type_contiguous(static_cast<int>(sizeof(CompensatedSum)), MPI_BYTE, &type_));
  STEELYARD_MPI(MPI_Type_commit(&type_));
  STEELYARD_MPI(MPI_Op_create(&add_sums, 1, &operation_));
}

UnitGroup::UnitGroup(ProcessingUnit::Kind kind) : comm_(MPI_COMM_SELF), slots_{{0, kind}}, unit_count_(1) {
  slot_of_[unit_index(kind)] = 0;
}

UnitGroup::~UnitGroup() {
  if (operation_ != MPI_OP_NULL) MPI_Op_free(&operation_);
  if (type_ != MPI_DATATYPE_NULL) MPI_Type_free(&type_);
}

void UnitGroup::await(const Signal& signal, std::uint64_t count, const CoExecution::Work& meanwhile) {
  for (int look = 0; !signal.reached(count); ++look) {
    // What a unit told before it failed counts: where all fail at the same place, all get there.
    if (failed_.load(std::memory_order_acquire) && !signal.reached(count)) {
      given_up_ = true;
      throw RuntimeFailure("another processing unit of this rank has failed");
    }
    if (meanwhile) meanwhile();
    rest_between_looks(look, may_spin_);
  }
}

void UnitGroup::sum(ProcessingUnit::Kind kind, std::span<const CompensatedSum> values, std::span<double> totals) {
  if (values.size() > most_values || totals.size() != values.size()) {
    throw InvalidArgument(fmt::format("a sum of {} values into {} (expected as many, at most {})", values.size(),
                                      totals.size(), most_values));
  }
  const std::uint64_t number = drives(kind) ? ++sums_ : ++companion_sums_;  // the same on both units
  Values& sums = totals_[number % 2];
  if (drives(kind)) {
    ++sync_counts_.sums;
    std::ranges::copy(values, sums.begin());
    if (unit_count_ == 2) {
      await(companion_has_values_, number);
      for (std::size_t i = 0; i < values.size(); ++i) sums[i].add(companion_values_[i]);
    }
    if (size_ > 1) {
      MPI_Request request = MPI_REQUEST_NULL;
      STEELYARD_MPI(MPI_Iallreduce(MPI_IN_PLACE, sums.data(), static_cast<int>(values.size()), type_, operation_, comm_,
                                   &request));
      wait_all({&request, 1}, may_spin_);
    }
    totals_are_known_.raise(number);
  } else {
    std::ranges::copy(values, companion_values_.begin());
    companion_has_values_.raise(number);
    await(totals_are_known_, number);
  }
  for (std::size_t i = 0; i < totals.size(); ++i) totals[i] = sums[i].value();
}

}  // namespace steelyard
