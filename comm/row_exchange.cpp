#include "comm/row_exchange.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/errors.hpp"

namespace steelyard {
RowExchange::RowExchange(UnitGroup& group, std::span<const std::int64_t> rows, std::int64_t depth,
                         std::int64_t row_elements)
    : group_(group), row_elements_(row_elements) {
  const std::vector<Slot>& slots = group.slots();
  if (rows.size() != slots.size()) {
    throw InvalidArgument(fmt::format("rows of {} units (expected {})", rows.size(), slots.size()));
  }
  std::vector<std::int64_t> begins = {0};
  for (const std::int64_t count : rows) begins.push_back(begins.back() + count);

  std::array<std::vector<HaloLink>, 2> own_links, other_links;
  std::vector<Message> messages;
  std::int64_t room = 0;
  for (std::size_t from = 0; from < slots.size(); ++from) {
    for (std::size_t to = 0; to < slots.size(); ++to) {
      if (from == to || rows[from] == 0 || rows[to] == 0) continue;
      // What `to` reads beside its slice, on the side where `from` is.
      const std::int64_t wanted = from < to ? begins[to] - depth : begins[to + 1];
      const std::int64_t first = std::max(begins[from], wanted);
      const std::int64_t end = std::min(begins[from + 1], wanted + depth);
      if (first >= end) continue;
      any_ = true;
      if (slots[from].rank != group.rank() && slots[to].rank != group.rank()) continue;
      Message message{static_cast<int>(from), static_cast<int>(to), first, end - first};
      for (std::int64_t& place : message.place) {
        place = room;
        room += message.count * row_elements;
      }
      messages.push_back(message);
    }
  }
  memory_ = {"steelyard::comm::row_exchange", static_cast<std::size_t>(room)};
  for (const Message& message : messages) {
    const Slot& from = slots[static_cast<std::size_t>(message.from)];
    const Slot& to = slots[static_cast<std::size_t>(message.to)];
    const int tag = static_cast<int>(2 * unit_index(from.kind) + unit_index(to.kind));
    const std::size_t bytes = elements(message) * sizeof(double);
    for (const std::size_t parity : {std::size_t{0}, std::size_t{1}}) {
      double* const data = memory_.data() + message.place[parity];
      if (from.rank == to.rank) continue;
      if (to.rank == group.rank()) {
        own_links[parity].push_back({HaloLink::Direction::receive, from.rank, tag, data, bytes});
      } else {
        auto& links = group.drives(from.kind) ? own_links : other_links;
        links[parity].push_back({HaloLink::Direction::send, to.rank, tag, data, bytes});
      }
    }
    if (from.rank == group.rank()) units_[unit_index(from.kind)].leaving.push_back(message);
    if (to.rank == group.rank()) units_[unit_index(to.kind)].arriving.push_back(message);
  }
  has_messages_ = !own_links[0].empty() || !other_links[0].empty();
  for (const std::size_t parity : {std::size_t{0}, std::size_t{1}}) {
    own_messages_.emplace_back(group.comm(), own_links[parity]);
    other_messages_.emplace_back(group.comm(), other_links[parity]);
  }
}

const RowExchange::UnitRows& RowExchange::begin(ProcessingUnit::Kind kind) {
  UnitRows& unit = units_[unit_index(kind)];
  ++unit.exchanges;
  return unit;
}

void RowExchange::send(ProcessingUnit::Kind kind) {
  UnitRows& unit = units_[unit_index(kind)];
  unit.packed.raise(unit.exchanges);
  if (group_.drives(kind)) own_messages_[unit.exchanges % 2].start();
}

const RowExchange::UnitRows& RowExchange::receive(ProcessingUnit::Kind kind) {
  UnitRows& unit = units_[unit_index(kind)];
  UnitRows& other = units_[1 - unit_index(kind)];
  if (group_.drives(kind)) {
    if (group_.unit_count() == 2) {
      group_.await(other.packed, unit.exchanges);
      other_messages_[unit.exchanges % 2].start();
      other_messages_[unit.exchanges % 2].wait(group_.may_spin());
    }
    own_messages_[unit.exchanges % 2].wait(group_.may_spin());
    arrived_.raise(unit.exchanges);
  } else {
    group_.await(has_messages_ ? arrived_ : other.packed, unit.exchanges);
  }
  return unit;
}

}  // namespace steelyard
