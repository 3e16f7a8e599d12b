#include "core/processing_unit.hpp"

#include <fmt/format.h>

#include "core/base/errors.hpp"
#include "core/device/back_end.hpp"

namespace steelyard {

UnitChoice parse_unit_choice(const std::string& text) {
  if (text == "host") return UnitChoice::host;
  if (text == "device") return UnitChoice::device;
  if (text == "host+device") return UnitChoice::host_and_device;
  throw InvalidArgument(fmt::format("units \"{}\" (expected host, device or host+device)", text));
}

std::string format_unit_choice(UnitChoice choice) {
  switch (choice) {
    case UnitChoice::host:
      return "host";
    case UnitChoice::device:
      return "device";
    case UnitChoice::host_and_device:
      break;
  }
  return "host+device";
}

bool RankUnits::may_spin() const { return !oversubscribed && !device_works_on_cores; }

}  // namespace steelyard
