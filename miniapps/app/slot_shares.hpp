#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "comm/kernel_measurement.hpp"
#include "comm/slots.hpp"

namespace steelyard {

/// This rank's part of what is said of all slots: computation units of its host unit and its companion, 0 for a unit
/// that it does not drive. @param units of every slot
UnitSizes own_share(const Session& session, const std::vector<Slot>& slots, std::span<const std::int64_t> units);

/// The other way round: seconds of every slot, on every rank, from what each rank says of its own units. Collective.
std::vector<double> gather_seconds(const Session& session, const std::vector<Slot>& slots, const UnitSeconds& own);

}  // namespace steelyard
