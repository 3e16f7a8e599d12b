#include "comm/row_exchange.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "comm/mpi_check.hpp"
#include "core/base/errors.hpp"

namespace steelyard {
namespace {

/// Where every slot's elements begin, and the last one's end.
std::vector<std::int64_t> begins_of(const UnitGroup& group, std::span<const std::int64_t> rows,
                                    std::int64_t row_elements) {
  if (rows.size() != group.slots().size()) {
    throw InvalidArgument(fmt::format("rows of {} units (expected {})", rows.size(), group.slots().size()));
  }
  std::vector<std::int64_t> begins = {0};
  for (const std::int64_t count : rows) begins.push_back(begins.back() + count * row_elements);
  return begins;
}

std::vector<RowMessage> halo_messages(const std::vector<std::int64_t>& begins, std::int64_t depth) {
  std::vector<RowMessage> messages;
  const auto slots = begins.size() - 1;
  for (std::size_t from = 0; from < slots; ++from) {
    for (std::size_t to = 0; to < slots; ++to) {
      if (from == to || begins[to] == begins[to + 1]) continue;
      // What `to` reads beside its slice, on the side where `from` is.
      const std::int64_t wanted = from < to ? begins[to] - depth : begins[to + 1];
      const std::int64_t first = std::max(begins[from], wanted);
      const std::int64_t end = std::min(begins[from + 1], wanted + depth);
      if (first < end) messages.push_back({static_cast<int>(from), static_cast<int>(to), first, end - first});
    }
  }
  return messages;
}

}  // namespace

RowExchange::RowExchange(UnitGroup& group, std::span<const std::int64_t> rows, std::int64_t depth,
                         std::int64_t row_elements)
    : exchange_(group, halo_messages(begins_of(group, rows, row_elements), depth * row_elements)) {}

RowGather::RowGather(UnitGroup& group, std::span<const std::int64_t> rows, std::int64_t row_elements)
    : group_(group), begins_(begins_of(group, rows, row_elements)), exchange_(group, {}) {
  if (begins_.back() > std::numeric_limits<int>::max()) {
    throw InvalidArgument(
        fmt::format("a grid of {} elements to be gathered (expected less than 2^31)", begins_.back()));
  }
  counts_.assign(static_cast<std::size_t>(group.size()), 0);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    counts_[static_cast<std::size_t>(group.slots()[i].rank)] += static_cast<int>(rows[i] * row_elements);
  }
  places_.assign(1, 0);
  for (const int count : counts_) places_.push_back(places_.back() + count);
  for (auto& memory : memory_) memory = {"steelyard::comm::row_gather", static_cast<std::size_t>(begins_.back())};
}

/// On the unit that drives MPI, behind which the other one waits in finish().
void RowGather::gather_ranks(ProcessingUnit::Kind kind, double* buffer) {
  exchange_.await_other(kind);
  if (counts_.size() == 1) return;
  STEELYARD_MPI(
      MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_DOUBLE, buffer, counts_.data(), places_.data(), MPI_DOUBLE, group_.comm()));
}

}  // namespace steelyard
