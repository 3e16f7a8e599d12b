#pragma once

#include <vector>

#include "comm/session.hpp"
#include "core/processing_unit.hpp"

namespace steelyard {

/// A processing unit among those of all ranks, in the order of their slices: by rank, the host unit first.
struct Slot {
  int rank = 0;
  ProcessingUnit::Kind kind = ProcessingUnit::Kind::host;
};

/// Slots of all ranks. Collective.
std::vector<Slot> gather_slots(const Session& session, const RankUnits& units);

}  // namespace steelyard
