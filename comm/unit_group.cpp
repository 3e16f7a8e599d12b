#include "comm/unit_group.hpp"

#include <algorithm>
#include <thread>

#include "comm/mpi_check.hpp"
#include "core/base/errors.hpp"

namespace steelyard {
namespace {

/// Looks at a signal before the thread lets others have its core.
constexpr int looks = 10000;

void add_sums(void* in, void* inout, int* count, MPI_Datatype*) {
  const auto* const from = static_cast<const CompensatedSum*>(in);
  auto* const to = static_cast<CompensatedSum*>(inout);
  for (int i = 0; i < *count; ++i) to[i].add(from[i]);
}

std::size_t index(ProcessingUnit::Kind kind) { return kind == ProcessingUnit::Kind::host ? 0 : 1; }

}  // namespace

UnitGroup::UnitGroup(MPI_Comm comm, CoExecution& co_execution, const RankUnits& units, const std::vector<Slot>& slots)
    : comm_(comm), co_execution_(co_execution), slots_(slots), may_spin_(!units.oversubscribed) {
  STEELYARD_MPI(MPI_Comm_rank(comm_, &rank_));
  STEELYARD_MPI(MPI_Comm_size(comm_, &size_));
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    if (slots_[i].rank != rank_) continue;
    slot_of_[index(slots_[i].kind)] = static_cast<int>(i);
    ++unit_count_;
  }
  if (size_ == 1) return;
  STEELYARD_MPI(MPI_Type_contiguous(static_cast<int>(sizeof(CompensatedSum)), MPI_BYTE, &type_));
  STEELYARD_MPI(MPI_Type_commit(&type_));
  STEELYARD_MPI(MPI_Op_create(&add_sums, 1, &operation_));
}

UnitGroup::~UnitGroup() {
  if (operation_ != MPI_OP_NULL) MPI_Op_free(&operation_);
  if (type_ != MPI_DATATYPE_NULL) MPI_Type_free(&type_);
}

void UnitGroup::begin_run() {
  failed_ = false;
  error_ = nullptr;
}

void UnitGroup::end_run() {
  if (error_) std::rethrow_exception(error_);
}

void UnitGroup::fail(std::exception_ptr error) {
  // Who comes second only says that it waited in vain.
  if (!failed_.exchange(true)) error_ = std::move(error);
}

void UnitGroup::await(const Signal& signal, std::uint64_t count) const {
  for (int look = 0; !signal.reached(count); ++look) {
    if (failed_.load(std::memory_order_relaxed)) {
      throw RuntimeFailure("another processing unit of this rank has failed");
    }
    if (!may_spin_ || look >= looks) std::this_thread::yield();
  }
}

void UnitGroup::start_ranks_sum(std::size_t count) {
  if (unit_count_ == 2) {
    await(companion_has_values_, sums_begun_[0]);
    const Values& others = companion_values_[sums_begun_[0] % 2];
    for (std::size_t i = 0; i < count; ++i) own_values_[i].add(others[i]);
  }
  if (size_ > 1) {
    STEELYARD_MPI(MPI_Iallreduce(MPI_IN_PLACE, own_values_.data(), static_cast<int>(count), type_, operation_, comm_,
                                 &request_));
  }
  ranks_sum_started_ = true;
}

void UnitGroup::begin_sum(ProcessingUnit::Kind kind, std::span<const CompensatedSum> values) {
  std::uint64_t& begun = sums_begun_[drives(kind) ? 0 : 1];
  ++begun;
  if (!drives(kind)) {
    std::copy(values.begin(), values.end(), companion_values_[begun % 2].begin());
    companion_has_values_.raise();
    return;
  }
  std::copy(values.begin(), values.end(), own_values_.begin());
  ranks_sum_started_ = false;
  if (unit_count_ == 1 || companion_has_values_.reached(begun)) start_ranks_sum(values.size());
}

void UnitGroup::end_sum(ProcessingUnit::Kind kind, std::span<double> totals) {
  const std::uint64_t begun = sums_begun_[drives(kind) ? 0 : 1];
  Values& sums = totals_[begun % 2];
  if (drives(kind)) {
    if (!ranks_sum_started_) start_ranks_sum(totals.size());
    if (size_ > 1) STEELYARD_MPI(MPI_Wait(&request_, MPI_STATUS_IGNORE));
    sums = own_values_;
    totals_are_known_.raise();
  } else {
    await(totals_are_known_, begun);
  }
  for (std::size_t i = 0; i < totals.size(); ++i) totals[i] = sums[i].value();
}

}  // namespace steelyard
