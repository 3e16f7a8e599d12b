#include <catch2/catch_test_macros.hpp>

#include "comm/session.hpp"
#include "tests/comm/started_session.hpp"

namespace steelyard::test_slots {

using steelyard::tests::session;
using Kind = ProcessingUnit::Kind;

namespace {

/// Units of a rank by the bits of a number: 1 for the host, 2 for the companion.
RankUnits units_of(int bits) {
  RankUnits units;
  if ((bits & 1) != 0) units.host = ProcessingUnit{};
  if ((bits & 2) != 0) units.companion = ProcessingUnit{Kind::companion, "Companion", {0}, -1, 1.0};
  return units;
}

}  // namespace

TEST_CASE("slots are by rank, the host first, whatever each rank drives, and the same on all ranks") {
  for (int shift = 0; shift < 3; ++shift) {
    const auto bits_of = [&](int rank) { return 1 + (rank + shift) % 3; };
    const std::vector<Slot> slots = gather_slots(session(), units_of(bits_of(session().rank())));
    std::size_t next = 0;
    for (int rank = 0; rank < session().size(); ++rank) {
      for (const Kind kind : {Kind::host, Kind::companion}) {
        if ((bits_of(rank) & (kind == Kind::host ? 1 : 2)) == 0) continue;
        CHECK(next < slots.size());
        if (next >= slots.size()) continue;
        CHECK(slots[next].rank == rank);
        CHECK(slots[next].kind == kind);
        ++next;
      }
    }
    CHECK(next == slots.size());
  }
}

}  // namespace steelyard::test_slots
