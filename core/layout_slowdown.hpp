#pragma once

#include <string>

#include "core/layout.hpp"

namespace steelyard {

/// Emulated slowness of a rank's units, >= 1.
struct UnitSlowdowns {
  double host = 1.0;
  double companion = 1.0;
};

/// What a layout's line says with `slowdown=F` (both units), `host_slowdown=F` and `device_slowdown=F`, multiplied.
/// @throws InvalidArgument for a factor below 1 and for suboptions that no layout has
UnitSlowdowns unit_slowdowns(const LayoutEntry& entry);

/// A factor of `what` from text. @throws InvalidArgument unless it is a finite number of at least 1
double parse_slowdown(const std::string& what, const std::string& text);

}  // namespace steelyard
