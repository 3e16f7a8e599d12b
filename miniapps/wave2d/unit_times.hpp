#pragma once

#include <algorithm>

namespace steelyard::wave2d {

/// Seconds of one unit's part of its passes, by phase. A device's kernels run beside its copies, so what the host waits
/// for in one phase may be another's work; exact when phases are run apart (see Overlap).
struct UnitTimes {
  double unpacking_s = 0.0;  ///< halos into the unit's memory
  double border_s = 0.0;
  double packing_s = 0.0;  ///< borders out of the unit's memory
  double interior_s = 0.0;

  /// Until others have what they wait for.
  double begin_s() const { return unpacking_s + border_s + packing_s; }

  UnitTimes& operator+=(const UnitTimes& other) {
    unpacking_s += other.unpacking_s;
    border_s += other.border_s;
    packing_s += other.packing_s;
    interior_s += other.interior_s;
    return *this;
  }
  UnitTimes& operator*=(double factor) {
    unpacking_s *= factor;
    border_s *= factor;
    packing_s *= factor;
    interior_s *= factor;
    return *this;
  }
};

/// Phase by phase, the longer one.
inline UnitTimes slower(const UnitTimes& a, const UnitTimes& b) {
  return {std::max(a.unpacking_s, b.unpacking_s), std::max(a.border_s, b.border_s), std::max(a.packing_s, b.packing_s),
          std::max(a.interior_s, b.interior_s)};
}

}  // namespace steelyard::wave2d
