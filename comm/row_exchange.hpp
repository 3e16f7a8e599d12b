#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "comm/halo_exchange.hpp"
#include "comm/unit_group.hpp"
#include "core/memory/host_copy.hpp"
#include "core/memory/untouched_array.hpp"

namespace steelyard {

/// Exchange of halo rows between the units of a group, for grids whose rows are shared out in the slots' order and
/// lie one after the other in each unit's memory: every unit gets the `depth` rows before its slice and those after it,
/// as far as there are any, from whoever owns them. Source: 000, Algorithms 2 and 3 (LC).
///
/// One object of a rank serves both of its units, and any number of fields, one after the other. Only one exchange of a
/// group may be under way.
class RowExchange {
 public:
  /// @param rows of every slot; they may own none
  /// @param row_elements from one row to the next, all of which are exchanged
  /// @throws InvalidArgument for another number of slots or a row too large for a message
  RowExchange(UnitGroup& group, std::span<const std::int64_t> rows, std::int64_t depth, std::int64_t row_elements);

  /// Hands out the rows at the ends of the unit's slice, which must be complete; the slice may be read, but ghost rows
  /// not yet. @param origin where row 0 of the whole grid would be in the unit's memory
  template <class Execution>
  void start(const UnitPeer<Execution>& peer, const double* origin) {
    const UnitRows& unit = begin(peer.kind());
    for (const Message& message : unit.leaving) {
      copy_to_host(peer.space(), buffer(unit, message), origin + message.first * row_elements_, elements(message));
    }
    if constexpr (!runs_on_host<Execution>) peer.space().fence();
    send(peer.kind());
  }

  /// Returns when the unit's ghost rows have arrived.
  template <class Execution>
  void finish(const UnitPeer<Execution>& peer, double* origin) {
    const UnitRows& unit = receive(peer.kind());
    for (const Message& message : unit.arriving) {
      copy_from_host(peer.space(), origin + message.first * row_elements_, buffer(unit, message), elements(message));
    }
    if constexpr (!runs_on_host<Execution>) peer.space().fence();
  }

  template <class Execution>
  void exchange(const UnitPeer<Execution>& peer, double* origin) {
    start(peer, origin);
    finish(peer, origin);
  }

  /// Whether units exchange anything at all.
  bool any() const { return any_; }

 private:
  /// Rows that one unit owns and another one reads.
  struct Message {
    int from = 0;  ///< slot
    int to = 0;
    std::int64_t first = 0;
    std::int64_t count = 0;
    std::array<std::int64_t, 2> place = {0, 0};  ///< in the buffers, by parity of the exchange
  };
  struct UnitRows {
    std::vector<Message> leaving;
    std::vector<Message> arriving;
    std::uint64_t exchanges = 0;
    UnitGroup::Signal packed;
  };

  const UnitRows& begin(ProcessingUnit::Kind kind);
  void send(ProcessingUnit::Kind kind);
  const UnitRows& receive(ProcessingUnit::Kind kind);
  UnitRows& rows_of(ProcessingUnit::Kind kind) { return units_[unit_index(kind)]; }
  /// The buffers take turns, for the other unit may still be reading those of the exchange before.
  double* buffer(const UnitRows& unit, const Message& message) {
    return memory_.data() + message.place[unit.exchanges % 2];
  }
  std::size_t elements(const Message& message) const { return static_cast<std::size_t>(message.count * row_elements_); }

  UnitGroup& group_;
  std::int64_t row_elements_;
  bool any_ = false;
  std::array<UnitRows, 2> units_;  ///< by kind
  UntouchedArray<double, PinnedMemory> memory_;
  std::vector<HaloExchange> own_messages_;    ///< what arrives, and what the unit that drives MPI sends; by parity
  std::vector<HaloExchange> other_messages_;  ///< what the other unit sends, once it has packed; by parity
  bool has_messages_ = false;
  UnitGroup::Signal arrived_;
};

}  // namespace steelyard
