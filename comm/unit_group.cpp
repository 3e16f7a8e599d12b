#include "comm/unit_group.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "comm/communicator.hpp"
#include "comm/mpi_check.hpp"
#include "core/base/errors.hpp"

namespace steelyard {
namespace {

void add_sums(void* in, void* inout, int* count, MPI_Datatype*) {
  const auto* const from = static_cast<const CompensatedSum*>(in);
  auto* const to = static_cast<CompensatedSum*>(inout);
  for (int i = 0; i < *count; ++i) to[i].add(from[i]);
}

}  // namespace

UnitGroup::UnitGroup(MPI_Comm comm, CoExecution& co_execution, const RankUnits& units, const std::vector<Slot>& slots)
    : comm_(comm), co_execution_(&co_execution), slots_(slots), may_spin_(units.may_spin()) {
  STEELYARD_MPI(MPI_Comm_rank(comm_, &rank_));
  STEELYARD_MPI(MPI_Comm_size(comm_, &size_));
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

void UnitGroup::begin_run() {
  if (given_up_ || begun_[0].open || begun_[1].open)
    throw RuntimeFailure("processing units that have lost each other in an earlier run cannot run again");
  failed_ = false;
  error_ = nullptr;
}

void UnitGroup::end_run() {
  if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
}

void UnitGroup::fail(std::exception_ptr error) {
  // Who comes second may only say that it waited in vain.
  if (!failed_.exchange(true)) error_ = std::move(error);
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

void UnitGroup::start_ranks_sum() {
  const Begun& own = begun_[0];
  if (unit_count_ == 2) {
    await(companion_has_values_, own.sums);
    const Values& others = companion_values_[own.sums % 2];
    for (std::size_t i = 0; i < own.values; ++i) own_values_[i].add(others[i]);
  }
  if (size_ > 1) {
    STEELYARD_MPI(MPI_Iallreduce(MPI_IN_PLACE, own_values_.data(), static_cast<int>(own.values), type_, operation_,
                                 comm_, &request_));
  }
  ranks_sum_started_ = true;
}

void UnitGroup::begin_sum(ProcessingUnit::Kind kind, std::span<const CompensatedSum> values) {
  if (values.size() > most_values) {
    throw InvalidArgument(fmt::format("a sum of {} values (expected at most {})", values.size(), most_values));
  }
  Begun& own = begun(kind);
  ++own.sums;
  own.values = values.size();
  own.open = true;
  if (drives(kind)) ++sync_counts_.sums;
  if (!drives(kind)) {
    std::copy(values.begin(), values.end(), companion_values_[own.sums % 2].begin());
    companion_has_values_.raise(own.sums);
    return;
  }
  std::copy(values.begin(), values.end(), own_values_.begin());
  ranks_sum_started_ = false;
  if (unit_count_ == 1 || companion_has_values_.reached(own.sums)) start_ranks_sum();
}

void UnitGroup::end_sum(ProcessingUnit::Kind kind, std::span<double> totals) {
  Begun& own = begun(kind);
  if (totals.size() != own.values) {
    throw InvalidArgument(fmt::format("{} totals of a sum of {} values", totals.size(), own.values));
  }
  Values& sums = totals_[own.sums % 2];
  if (drives(kind)) {
    if (!ranks_sum_started_) start_ranks_sum();
    if (size_ > 1) wait_all({&request_, 1}, may_spin_);
    sums = own_values_;
    totals_are_known_.raise(own.sums);
  } else {
    await(totals_are_known_, own.sums);
  }
  own.open = false;
  for (std::size_t i = 0; i < totals.size(); ++i) totals[i] = sums[i].value();
}

}  // namespace steelyard
