#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "comm/unit_exchange.hpp"
#include "core/memory/host_copy.hpp"

namespace steelyard {

/// Elements that one unit owns and another one reads; slots.
struct RowMessage {
  int from = 0;
  int to = 0;
  std::int64_t first = 0;  ///< of the whole grid's
  std::int64_t count = 0;

  std::int64_t points() const { return count; }
};

/// Exchange of halo rows between the units of a group, for grids whose rows are shared out in the slots' order and
/// lie one after the other in each unit's memory: every unit gets the `depth` rows before its slice and those after it,
/// as far as there are any, from whoever owns them. Source: 000, Algorithms 2 and 3 (LC).
///
/// One object of a rank serves both of its units, and any number of fields, one after the other.
class RowExchange {
 public:
  /// @param rows of every slot; they may own none
  /// @param row_elements from one row to the next, all of which are exchanged
  /// @throws InvalidArgument for another number of slots
  RowExchange(UnitGroup& group, std::span<const std::int64_t> rows, std::int64_t depth, std::int64_t row_elements);

  /// Hands out the rows at the ends of the unit's slice, which must be complete; the slice may be read, but ghost rows
  /// not yet. @param origin where row 0 of the whole grid would be in the unit's memory
  template <class Execution>
  void start(const UnitPeer<Execution>& peer, const double* origin) {
    exchange_.begin(peer.kind());
    for (const auto& [message, data, home] : exchange_.leaving(peer.kind())) {
      copy_to_host(peer.space(), data, origin + message->first, static_cast<std::size_t>(message->count));
    }
    if constexpr (!runs_on_host<Execution>) peer.space().fence();
    exchange_.packed(peer.kind());
  }

  /// Returns when the unit's ghost rows have arrived.
  template <class Execution>
  void finish(const UnitPeer<Execution>& peer, double* origin) {
    exchange_.finish(peer.kind());
    for (const auto& [message, data, home] : exchange_.arrived(peer.kind())) {
      copy_from_host(peer.space(), origin + message->first, data, static_cast<std::size_t>(message->count));
    }
    if constexpr (!runs_on_host<Execution>) peer.space().fence();
  }

  template <class Execution>
  void exchange(const UnitPeer<Execution>& peer, double* origin) {
    start(peer, origin);
    finish(peer, origin);
  }

  /// Whether units exchange anything at all.
  bool any() const { return !exchange_.messages().empty(); }

 private:
  BufferedExchange<double, RowMessage> exchange_;
};

/// Gathers the slices of all units into a whole grid that every unit gets, for grids whose rows are shared out in the
/// slots' order. One object of a rank serves both of its units. Ranks gather by MPI_Allgatherv, whose pattern of
/// messages the library chooses for their size.
class RowGather {
 public:
  /// @param rows of every slot; they may own none
  /// @param row_elements from one row to the next, all of which are gathered
  /// @throws InvalidArgument for another number of slots, or 2^31 elements and more
  RowGather(UnitGroup& group, std::span<const std::int64_t> rows, std::int64_t row_elements);

  /// @param slice row 0 of the unit's own slice, `whole` row 0 of the grid; both in the unit's memory. Fences
  template <class Execution>
  void gather(const UnitPeer<Execution>& peer, const double* slice, double* whole) {
    const auto slot = static_cast<std::size_t>(peer.slot());
    const std::int64_t first = begins_[slot], count = begins_[slot + 1] - first;
    exchange_.begin(peer.kind());
    double* const buffer = memory_[exchange_.exchanges(peer.kind()) % 2].data();
    if (count > 0) copy_to_host(peer.space(), buffer + first, slice, static_cast<std::size_t>(count));
    if constexpr (!runs_on_host<Execution>) peer.space().fence();
    if (group_.drives(peer.kind())) gather_ranks(peer.kind(), buffer);
    exchange_.finish(peer.kind());
    copy_from_host(peer.space(), whole, static_cast<const double*>(buffer), static_cast<std::size_t>(begins_.back()));
    if constexpr (!runs_on_host<Execution>) peer.space().fence();
  }

 private:
  void gather_ranks(ProcessingUnit::Kind kind, double* buffer);

  UnitGroup& group_;
  std::vector<std::int64_t> begins_;                            ///< of every slot's elements, and their end
  std::vector<int> counts_, places_;                            ///< elements of every rank
  UnitExchange exchange_;                                       ///< of the rank's units, without messages
  std::array<UntouchedArray<double, PinnedMemory>, 2> memory_;  ///< take turns
};

}  // namespace steelyard
