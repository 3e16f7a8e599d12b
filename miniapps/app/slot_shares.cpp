#include "miniapps/app/slot_shares.hpp"

#include "comm/collective.hpp"

namespace steelyard {

UnitSizes own_share(const Session& session, const std::vector<Slot>& slots, std::span<const std::int64_t> units) {
  UnitSizes share;
  for (std::size_t i = 0; i < slots.size(); ++i) {
    if (slots[i].rank != session.rank()) continue;
    share[slots[i].kind] = units[i];
  }
  return share;
}

std::vector<double> gather_seconds(const Session& session, const std::vector<Slot>& slots, const UnitSeconds& own) {
  const std::vector<double> all = all_gather(session.comm(), {own.host_s, own.companion_s});
  std::vector<double> seconds;
  for (const Slot& slot : slots) {
    seconds.push_back(all[2 * static_cast<std::size_t>(slot.rank) + unit_index(slot.kind)]);
  }
  return seconds;
}

}  // namespace steelyard
