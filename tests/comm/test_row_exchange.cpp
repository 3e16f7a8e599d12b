#include <atomic>
#include <catch2/catch_test_macros.hpp>
#include <stdexcept>
#include <vector>

#include "comm/row_exchange.hpp"
#include "core/base/errors.hpp"
#include "tests/comm/group_units.hpp"

namespace steelyard::test_row_exchange {

using namespace steelyard::tests;

namespace {

constexpr double untouched = -1.0;

/// What all units hold in a round, another number everywhere.
double value(int round, std::int64_t row, std::int64_t i) {
  return static_cast<double>(round) * 1e6 + static_cast<double>(row) * 1e3 + static_cast<double>(i);
}

/// A unit's rows with `depth` ghost rows on both sides.
struct Slice {
  std::int64_t begin = 0, end = 0, total = 0;
  std::int64_t depth = 1, elements = 1;

  std::int64_t first() const { return begin - depth; }
  std::size_t size() const { return static_cast<std::size_t>((end - begin + 2 * depth) * elements); }

  /// Own rows of a round; ghost rows as they are `before` the exchange or as they must be after it.
  std::vector<double> values(int round, bool before) const {
    std::vector<double> all;
    for (std::int64_t row = first(); row < end + depth; ++row) {
      const bool own = row >= begin && row < end;
      const bool arrives = !before && begin < end && row >= 0 && row < total;
      for (std::int64_t i = 0; i < elements; ++i) all.push_back(own || arrives ? value(round, row, i) : untouched);
    }
    return all;
  }
};

Slice slice_of(const std::vector<std::int64_t>& shares, int slot, std::int64_t depth, std::int64_t elements) {
  Slice slice{0, 0, 0, depth, elements};
  for (std::size_t i = 0; i < shares.size(); ++i) {
    if (static_cast<int>(i) < slot) slice.begin += shares[i];
    slice.total += shares[i];
  }
  slice.end = slice.begin + shares[static_cast<std::size_t>(slot)];
  return slice;
}

/// Exchanges again and again; `step` is called between start() and finish().
/// @return rounds in which some unit of this rank did not hold what it must
template <class Step>
int wrong_rounds(GroupUnits& units, const std::vector<std::int64_t>& shares, std::int64_t depth, std::int64_t elements,
                 int rounds, const Step& step) {
  RowExchange exchange(units.group(), shares, depth, elements);
  std::atomic<int> wrong = 0;
  units.group().run([&](const auto& peer) {
    const Slice slice = slice_of(shares, peer.slot(), depth, elements);
    const UnitRows rows(peer.space(), slice.size());
    double* const origin = rows.data() - slice.first() * elements;
    Delays delays(peer.slot());
    for (int round = 0; round < rounds; ++round) {
      rows.write(slice.values(round, true));
      delays.wait();
      exchange.start(peer, origin);
      step(peer);
      delays.wait();
      exchange.finish(peer, origin);
      delays.wait();
      if (rows.read() != slice.values(round, false)) ++wrong;
    }
  });
  return wrong;
}

constexpr auto nothing = [](const auto&) {};

}  // namespace

TEST_CASE("all ghost rows arrive, from whoever owns them") {
  for (const Choice choice : choices) {
    GroupUnits units(choice);
    for (const std::int64_t rows : {std::int64_t{0}, std::int64_t{1}, std::int64_t{5}, std::int64_t{23}}) {
      for (const auto& shares : units.shares(rows)) {
        for (const std::int64_t depth : {1, 2, 3}) {
          CAPTURE(static_cast<int>(choice), rows, shares, depth);
          CHECK(wrong_rounds(units, shares, depth, 1 + rows % 7, 3, nothing) == 0);
        }
      }
    }
  }
}

TEST_CASE("rows of one exchange are never those of another, whoever is late") {
  for (const Choice choice : choices) {
    GroupUnits units(choice);
    for (const std::int64_t depth : {1, 2}) {
      CHECK(wrong_rounds(units, units.shares(29)[2], depth, 96, many_rounds(1000), nothing) == 0);
      CHECK(wrong_rounds(units, units.shares(7).back(), depth, 3, many_rounds(1000), nothing) == 0);
    }
  }
}

TEST_CASE("sums are taken while rows are on their way") {
  GroupUnits units(Choice::all);
  const double slots = static_cast<double>(units.size());
  std::atomic<int> wrong_sums = 0;
  const auto sum = [&](const auto& peer) {
    std::array<CompensatedSum, 1> one;
    one[0].add(1.0);
    std::array<double, 1> total = {};
    peer.sum(one, total);
    if (total[0] != slots) ++wrong_sums;
  };
  CHECK(wrong_rounds(units, units.shares(20)[2], 2, 16, many_rounds(1000), sum) == 0);
  CHECK(wrong_sums == 0);
}

TEST_CASE("exchanges of different depths follow each other") {
  GroupUnits units(Choice::all);
  const auto shares = units.shares(17).back();
  RowExchange first(units.group(), shares, 1, 5), second(units.group(), shares, 2, 5);
  std::atomic<int> wrong = 0;
  units.group().run([&](const auto& peer) {
    const Slice near = slice_of(shares, peer.slot(), 1, 5), far = slice_of(shares, peer.slot(), 2, 5);
    const UnitRows near_rows(peer.space(), near.size()), far_rows(peer.space(), far.size());
    Delays delays(peer.slot());
    for (int round = 0; round < many_rounds(1000); ++round) {
      near_rows.write(near.values(round, true));
      far_rows.write(far.values(round, true));
      first.exchange(peer, near_rows.data() - near.first() * 5);
      delays.wait();
      if (round % 3 != 0) second.exchange(peer, far_rows.data() - far.first() * 5);
      if (near_rows.read() != near.values(round, false)) ++wrong;
      if (far_rows.read() != far.values(round, round % 3 == 0)) ++wrong;
    }
  });
  CHECK(wrong == 0);
}

TEST_CASE("whether anything is exchanged is known to all") {
  for (const Choice choice : choices) {
    GroupUnits units(choice);
    for (const auto& shares : units.shares(11)) {
      const auto owners = std::count_if(shares.begin(), shares.end(), [](std::int64_t rows) { return rows > 0; });
      CHECK(RowExchange(units.group(), shares, 1, 4).any() == (owners > 1));
    }
  }
}

TEST_CASE("a unit that fails before its rows are packed leaves nobody waiting for them") {
  if (started_units().count() < 2) SKIP("one unit on this rank");
  const std::vector<std::int64_t> shares = {3, 3};
  for (const auto failing : {ProcessingUnit::Kind::host, ProcessingUnit::Kind::companion}) {
    GroupUnits units = GroupUnits::alone();
    RowExchange exchange(units.group(), shares, 1, 4);
    CHECK_THROWS_AS(units.group().run([&](const auto& peer) {
      const Slice slice = slice_of(shares, peer.slot(), 1, 4);
      const UnitRows rows(peer.space(), slice.size());
      double* const origin = rows.data() - slice.first() * 4;
      exchange.exchange(peer, origin);
      if (peer.kind() == failing) throw std::out_of_range("no more rows");
      exchange.exchange(peer, origin);
    }),
                    std::out_of_range);
  }
}

TEST_CASE("rows of another number of units are not exchanged") {
  GroupUnits units(Choice::all);
  const std::vector<std::int64_t> shares(units.size() + 1, 4);
  CHECK_THROWS_AS(RowExchange(units.group(), shares, 1, 4), InvalidArgument);
}

}  // namespace steelyard::test_row_exchange
