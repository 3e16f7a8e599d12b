#pragma once

#include <cstddef>
#include <vector>

#include "core/host_copy.hpp"
#include "core/spaces.hpp"

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
  const Element* data() const { return memory_.data() + padding_; }

 private:
  using Memory = Kokkos::View<Element*, DeviceOf<Execution>>;
  std::size_t padding_ = 0;
  Memory memory_;
};

}  // namespace steelyard
