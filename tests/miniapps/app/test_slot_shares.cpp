#include <catch2/catch_test_macros.hpp>

#include "miniapps/app/slot_shares.hpp"
#include "tests/comm/started_session.hpp"

namespace steelyard::test_slot_shares {

using steelyard::tests::session;
using Kind = ProcessingUnit::Kind;

namespace {

/// Ranks that drive both units, a host unit and a companion, in turns.
std::vector<Slot> mixed_slots() {
  std::vector<Slot> slots;
  for (int rank = 0; rank < session().size(); ++rank) {
    if (rank % 3 != 2) slots.push_back({rank, Kind::host});
    if (rank % 3 != 1) slots.push_back({rank, Kind::companion});
  }
  return slots;
}

}  // namespace

TEST_CASE("the shares of all ranks are what was said of the slots, and nothing for units that a rank does not drive") {
  const std::vector<Slot> slots = mixed_slots();
  std::vector<std::int64_t> units;
  for (std::size_t i = 0; i < slots.size(); ++i) units.push_back(7 + 3 * static_cast<std::int64_t>(i));
  const UnitSizes mine = own_share(session(), slots, units);
  CHECK((mine.host > 0) == (session().rank() % 3 != 2));
  CHECK((mine.companion > 0) == (session().rank() % 3 != 1));
  const std::vector<double> back =
      gather_seconds(session(), slots, {static_cast<double>(mine.host), static_cast<double>(mine.companion)});
  CHECK(back == std::vector<double>(units.begin(), units.end()));
}

}  // namespace steelyard::test_slot_shares
