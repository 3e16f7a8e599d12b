#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/memory/host_copy.hpp"
#include "core/spaces.hpp"
#include "core/sweep/row_pointer.hpp"

namespace steelyard {

/// A table in a unit's memory, of which nothing changes.
template <class Execution, class Element>
class UnitTable {
 public:
  UnitTable() = default;
  /// To be called by the unit's own thread; fences. @param padding entries more at both ends, copies of the first and
  /// the last
  UnitTable(const Execution& space, const std::vector<Element>& values, std::size_t padding = 0) : padding_(padding) {
    if (values.empty()) return;
    std::vector<Element> padded(padding, values.front());
    padded.insert(padded.end(), values.begin(), values.end());
    padded.resize(padded.size() + padding, values.back());
    memory_ = Memory(Kokkos::view_alloc(space, Kokkos::WithoutInitializing, "steelyard::sweep::table"), padded.size());
    copy_from_host(space, memory_.data(), padded.data(), padded.size());
    space.fence();
  }

  /// Where the values begin, behind the padding.
  RowPointer<const Element> data() const {
    const auto padding = static_cast<std::int64_t>(padding_);
    const auto size = static_cast<std::int64_t>(memory_.extent(0));
    return row_pointer(static_cast<const Element*>(memory_.data()) + padding, -padding, size - padding);
  }

 private:
  using Memory = Kokkos::View<Element*, DeviceOf<Execution>>;
  std::size_t padding_ = 0;
  Memory memory_;
};

}  // namespace steelyard
