#include "comm/row_gather.hpp"

#include <fmt/format.h>

#include <limits>

#include "comm/mpi_check.hpp"
#include "core/base/errors.hpp"

namespace steelyard {
RowGather::RowGather(UnitGroup& group, std::span<const std::int64_t> rows, std::int64_t row_elements)
    : group_(group), row_elements_(row_elements), begins_{0} {
  const std::vector<Slot>& slots = group.slots();
  if (rows.size() != slots.size()) {
    throw InvalidArgument(fmt::format("rows of {} units (expected {})", rows.size(), slots.size()));
  }
  for (const std::int64_t count : rows) begins_.push_back(begins_.back() + count);
  const std::int64_t elements = begins_.back() * row_elements;
  if (elements > std::numeric_limits<int>::max()) {
    throw InvalidArgument(fmt::format("a grid of {} elements to be gathered (expected less than 2^31)", elements));
  }
  counts_.assign(static_cast<std::size_t>(group.size()), 0);
  for (std::size_t i = 0; i < slots.size(); ++i) {
    counts_[static_cast<std::size_t>(slots[i].rank)] += static_cast<int>(rows[i] * row_elements);
  }
  places_.assign(1, 0);
  for (const int count : counts_) places_.push_back(places_.back() + count);
  for (auto& memory : memory_) memory = {"steelyard::comm::row_gather", static_cast<std::size_t>(elements)};
}

double* RowGather::begin(ProcessingUnit::Kind kind) {
  std::uint64_t& gathers = gathers_[unit_index(kind)];
  ++gathers;
  return memory_[gathers % 2].data();
}

void RowGather::meet(ProcessingUnit::Kind kind) {
  const std::uint64_t gathers = gathers_[unit_index(kind)];
  if (!group_.drives(kind)) {
    packed_[unit_index(kind)].raise(gathers);
    group_.await(gathered_, gathers);
    return;
  }
  if (group_.unit_count() == 2) group_.await(packed_[1 - unit_index(kind)], gathers);
  if (counts_.size() > 1) {
    STEELYARD_MPI(MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_DOUBLE, memory_[gathers % 2].data(), counts_.data(),
                                 places_.data(), MPI_DOUBLE, group_.comm()));
  }
  gathered_.raise(gathers);
}

}  // namespace steelyard
