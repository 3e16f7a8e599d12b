#include <atomic>
#include <catch2/catch_test_macros.hpp>
#include <stdexcept>
#include <vector>

#include "comm/row_exchange.hpp"
#include "core/base/errors.hpp"
#include "tests/comm/group_units.hpp"

namespace steelyard::test_row_gather {

using namespace steelyard::tests;

namespace {

/// Rows [begin, end) of a round's grid.
std::vector<double> grid_rows(int round, std::int64_t begin, std::int64_t end, std::int64_t elements) {
  std::vector<double> values;
  for (std::int64_t k = begin * elements; k < end * elements; ++k) {
    values.push_back(static_cast<double>(round) * 1e6 + static_cast<double>(k));
  }
  return values;
}

/// @return rounds in which some unit of this rank did not get the whole grid
int wrong_rounds(GroupUnits& units, const std::vector<std::int64_t>& shares, std::int64_t elements, int rounds) {
  RowGather gather(units.group(), shares, elements);
  const std::int64_t total = std::accumulate(shares.begin(), shares.end(), std::int64_t{0});
  std::atomic<int> wrong = 0;
  units.group().run([&](const auto& peer) {
    const auto slot = static_cast<std::size_t>(peer.slot());
    const std::int64_t begin = std::accumulate(shares.begin(), shares.begin() + peer.slot(), std::int64_t{0});
    const UnitRows own(peer.space(), static_cast<std::size_t>(shares[slot] * elements));
    const UnitRows whole(peer.space(), static_cast<std::size_t>(total * elements));
    Delays delays(peer.slot());
    for (int round = 0; round < rounds; ++round) {
      own.write(grid_rows(round, begin, begin + shares[slot], elements));
      delays.wait();
      gather.gather(peer, own.data(), whole.data());
      delays.wait();
      if (whole.read() != grid_rows(round, 0, total, elements)) ++wrong;
    }
  });
  return wrong;
}

}  // namespace

TEST_CASE("every unit gets the whole grid, whoever owns its rows") {
  for (const Choice choice : choices) {
    GroupUnits units(choice);
    for (const std::int64_t rows : {std::int64_t{0}, std::int64_t{1}, std::int64_t{5}, std::int64_t{23}}) {
      for (const auto& shares : units.shares(rows)) {
        CAPTURE(static_cast<int>(choice), rows, shares);
        CHECK(wrong_rounds(units, shares, 1 + rows % 7, 3) == 0);
      }
    }
  }
}

TEST_CASE("grids of one gather are never those of another, whoever is late") {
  for (const Choice choice : choices) {
    GroupUnits units(choice);
    CHECK(wrong_rounds(units, units.shares(29)[2], 40, many_rounds(500)) == 0);
    CHECK(wrong_rounds(units, units.shares(7).back(), 3, many_rounds(500)) == 0);
  }
}

TEST_CASE("a unit that fails before it has handed in its rows leaves nobody waiting for them") {
  if (started_units().count() < 2) SKIP("one unit on this rank");
  for (const auto failing : {ProcessingUnit::Kind::host, ProcessingUnit::Kind::companion}) {
    GroupUnits units = GroupUnits::alone();
    RowGather gather(units.group(), std::vector<std::int64_t>{2, 3}, 4);
    CHECK_THROWS_AS(units.group().run([&](const auto& peer) {
      const UnitRows own(peer.space(), 12), whole(peer.space(), 20);
      own.write(std::vector<double>(12, 1.0));
      gather.gather(peer, own.data(), whole.data());
      if (peer.kind() == failing) throw std::out_of_range("no more rows");
      gather.gather(peer, own.data(), whole.data());
    }),
                    std::out_of_range);
  }
}

TEST_CASE("grids of another number of units, or too large for a gather, are refused") {
  GroupUnits units(Choice::all);
  CHECK_THROWS_AS(RowGather(units.group(), std::vector<std::int64_t>(units.size() + 1, 4), 4), InvalidArgument);
  std::vector<std::int64_t> shares(units.size(), 0);
  shares.back() = std::int64_t{1} << 20;
  CHECK_THROWS_AS(RowGather(units.group(), shares, 2048), InvalidArgument);
}

}  // namespace steelyard::test_row_gather
