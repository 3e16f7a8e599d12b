#include "core/layout_slowdown.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstdlib>

#include "core/base/errors.hpp"

namespace steelyard {
double parse_slowdown(const std::string& what, const std::string& text) {
  char* end = nullptr;
  const double factor = std::strtod(text.c_str(), &end);
  if (text.empty() || *end != '\0' || !(factor >= 1.0) || !std::isfinite(factor)) {
    throw InvalidArgument(fmt::format("{} is \"{}\" (expected a factor of at least 1)", what, text));
  }
  return factor;
}

UnitSlowdowns unit_slowdowns(const LayoutEntry& entry) {
  UnitSlowdowns slowdowns;
  for (const auto& [key, value] : entry.suboptions) {
    if (key == "slowdown" || key == "host_slowdown" || key == "device_slowdown") {
      const double factor = parse_slowdown(key, value);
      if (key != "device_slowdown") slowdowns.host *= factor;
      if (key != "host_slowdown") slowdowns.companion *= factor;
    } else if (key != "threads" && key != "OMP_NUM_THREADS" && key != "device") {
      throw InvalidArgument(fmt::format(
          "suboption \"{}\" is unknown (expected slowdown, host_slowdown, device_slowdown, threads or device)", key));
    }
  }
  return slowdowns;
}

}  // namespace steelyard
