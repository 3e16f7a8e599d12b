#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "comm/unit_group.hpp"
#include "core/memory/host_copy.hpp"
#include "core/memory/untouched_array.hpp"

namespace steelyard {

/// Gathers the slices of all units into a whole grid that every unit gets, for grids whose rows are shared out in the
/// slots' order. One object of a rank serves both of its units.
class RowGather {
 public:
  /// @param rows of every slot; they may own none
  /// @param row_elements from one row to the next, all of which are gathered
  /// @throws InvalidArgument for another number of slots, or 2^31 elements and more
  RowGather(UnitGroup& group, std::span<const std::int64_t> rows, std::int64_t row_elements);

  /// @param slice row 0 of the unit's own slice, `whole` row 0 of the grid; both in the unit's memory. Fences
  template <class Execution>
  void gather(const UnitPeer<Execution>& peer, const double* slice, double* whole) {
    const std::size_t slot = static_cast<std::size_t>(peer.slot());
    double* const buffer = begin(peer.kind());
    const auto first = static_cast<std::size_t>(begins_[slot] * row_elements_);
    const auto count = static_cast<std::size_t>((begins_[slot + 1] - begins_[slot]) * row_elements_);
    if (count > 0) copy_to_host(peer.space(), buffer + first, slice, count);
    if constexpr (!runs_on_host<Execution>) peer.space().fence();
    meet(peer.kind());
    copy_from_host(peer.space(), whole, buffer, static_cast<std::size_t>(begins_.back() * row_elements_));
    if constexpr (!runs_on_host<Execution>) peer.space().fence();
  }

 private:
  double* begin(ProcessingUnit::Kind kind);
  void meet(ProcessingUnit::Kind kind);

  UnitGroup& group_;
  std::int64_t row_elements_;
  std::vector<std::int64_t> begins_;  ///< of every slot's rows, and their end
  std::vector<int> counts_;           ///< elements of every rank
  std::vector<int> places_;
  std::array<UntouchedArray<double, PinnedMemory>, 2> memory_;  ///< take turns
  std::array<std::uint64_t, 2> gathers_ = {0, 0};               ///< by kind
  std::array<UnitGroup::Signal, 2> packed_;                     ///< by kind
  UnitGroup::Signal gathered_;
};

}  // namespace steelyard
