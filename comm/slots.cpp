#include "comm/slots.hpp"

#include "comm/collective.hpp"

namespace steelyard {

std::vector<Slot> gather_slots(const Session& session, const RankUnits& units) {
  const std::vector<double> have = all_gather(session.comm(), {units.host ? 1.0 : 0.0, units.companion ? 1.0 : 0.0});
  std::vector<Slot> slots;
  for (int rank = 0; rank < session.size(); ++rank) {
    const std::size_t at = 2 * static_cast<std::size_t>(rank);
    if (have[at] > 0.0) slots.push_back({rank, ProcessingUnit::Kind::host});
    if (have[at + 1] > 0.0) slots.push_back({rank, ProcessingUnit::Kind::companion});
  }
  return slots;
}

}  // namespace steelyard
