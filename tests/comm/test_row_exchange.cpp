#include <atomic>
#include <numeric>
#include <stdexcept>

#include "comm/row_exchange.hpp"
#include "tests/catch.hpp"
#include "tests/comm/group_units.hpp"

namespace steelyard::test_row_exchange {

using namespace steelyard::tests;
using Kind = ProcessingUnit::Kind;
using Shares = std::vector<std::int64_t>;

namespace {

/// What all units hold in a round, another number everywhere.
double value(int round, std::int64_t row, std::int64_t i) {
  return static_cast<double>(round) * 1e6 + static_cast<double>(row) * 1e3 + static_cast<double>(i);
}

/// A unit's rows with `depth` ghost rows on both sides.
class Slice {
 public:
  Slice(const Shares& shares, int slot, std::int64_t depth, std::int64_t elements)
      : begin_(std::accumulate(shares.begin(), shares.begin() + slot, std::int64_t{0})),
        end_(begin_ + shares[static_cast<std::size_t>(slot)]),
        total_(std::accumulate(shares.begin(), shares.end(), std::int64_t{0})),
        depth_(depth),
        elements_(elements) {}

  /// Elements before the slice in memory, from where row 0 of the grid would be.
  std::int64_t first() const { return (begin_ - depth_) * elements_; }
  std::size_t size() const { return static_cast<std::size_t>((end_ - begin_ + 2 * depth_) * elements_); }

  /// Own rows of a round; ghost rows as they are `before` the exchange or as they must be after it.
  std::vector<double> values(int round, bool before) const {
    std::vector<double> all;
    for (std::int64_t row = begin_ - depth_; row < end_ + depth_; ++row) {
      const bool own = row >= begin_ && row < end_;
      const bool arrives = !before && begin_ < end_ && row >= 0 && row < total_;
      for (std::int64_t i = 0; i < elements_; ++i) all.push_back(own || arrives ? value(round, row, i) : -1.0);
    }
    return all;
  }

 private:
  std::int64_t begin_, end_, total_, depth_, elements_;
};

template <class Peer>
double slots_by_sum(const Peer& peer) {
  std::array<CompensatedSum, 1> one;
  one[0].add(1.0);
  std::array<double, 1> total = {};
  peer.sum(one, total);
  return total[0];
}

/// Exchanges again and again, some rounds without anything between, some with sums while rows are on their way, and
/// some with an exchange of another depth in between.
/// @return rounds in which some unit of this rank did not hold what it must
int wrong_exchanges(GroupUnits& units, const Shares& shares, std::int64_t depth, std::int64_t elements, int rounds) {
  RowExchange exchange(units.group(), shares, depth, elements), other(units.group(), shares, depth + 1, elements);
  std::atomic<int> wrong = 0;
  units.group().run([&](const auto& peer) {
    const Slice near(shares, peer.slot(), depth, elements), far(shares, peer.slot(), depth + 1, elements);
    const UnitRows rows(peer.space(), near.size()), other_rows(peer.space(), far.size());
    double* const origin = rows.data() - near.first();
    Delays delays(peer.slot());
    for (int round = 0; round < rounds; ++round) {
      const int block = round / 16 % 3;
      rows.write(near.values(round, true));
      other_rows.write(far.values(round, true));
      delays.wait();
      exchange.start(peer, origin);
      if (block == 1 && slots_by_sum(peer) != static_cast<double>(units.size())) ++wrong;
      delays.wait();
      exchange.finish(peer, origin);
      delays.wait();
      if (block == 2) other.exchange(peer, other_rows.data() - far.first());
      if (rows.read() != near.values(round, false)) ++wrong;
      if (other_rows.read() != far.values(round, block != 2)) ++wrong;
    }
  });
  return wrong;
}

/// @return rounds in which some unit of this rank did not get the whole grid
int wrong_gathers(GroupUnits& units, const Shares& shares, std::int64_t elements, int rounds) {
  RowGather gather(units.group(), shares, elements);
  const std::int64_t total = std::accumulate(shares.begin(), shares.end(), std::int64_t{0});
  const Slice grid({total}, 0, 0, elements);
  std::atomic<int> wrong = 0;
  units.group().run([&](const auto& peer) {
    const Slice slice(shares, peer.slot(), 0, elements);
    const UnitRows own(peer.space(), slice.size()), whole(peer.space(), grid.size());
    Delays delays(peer.slot());
    for (int round = 0; round < rounds; ++round) {
      own.write(slice.values(round, true));
      delays.wait();
      gather.gather(peer, own.data(), whole.data());
      delays.wait();
      if (whole.read() != grid.values(round, false)) ++wrong;
    }
  });
  return wrong;
}

}  // namespace

TEST_CASE("every unit gets its ghost rows, and by a gather the whole grid, whoever owns them") {
  for (const Choice choice : choices) {
    GroupUnits units(choice);
    for (const std::int64_t rows : {0, 1, 5, 23}) {
      for (const Shares& shares : units.many_shares(rows)) {
        CAPTURE(static_cast<int>(choice), rows, shares);
        for (const std::int64_t depth : {1, 2, 3}) {
          CAPTURE(depth);
          CHECK(wrong_exchanges(units, shares, depth, 1 + rows % 7, 3) == 0);
        }
        CHECK(wrong_gathers(units, shares, 1 + rows % 7, 3) == 0);
        const auto owners = std::count_if(shares.begin(), shares.end(), [](std::int64_t own) { return own > 0; });
        CHECK(RowExchange(units.group(), shares, 1, 4).any() == (owners > 1));
      }
    }
  }
}

TEST_CASE("rows of one exchange or gather are never those of another, whoever is late") {
  for (const Choice choice : choices) {
    GroupUnits units(choice);
    const Shares even = units.shares(29)[1], random = units.many_shares(7).back();
    for (const std::int64_t depth : {1, 2}) {
      CHECK(wrong_exchanges(units, even, depth, 96, many_rounds(1500)) == 0);
      CHECK(wrong_exchanges(units, random, depth, 3, many_rounds(1500)) == 0);
    }
    CHECK(wrong_gathers(units, even, 40, many_rounds(500)) == 0);
    CHECK(wrong_gathers(units, random, 3, many_rounds(500)) == 0);
  }
}

TEST_CASE("a unit that fails before its rows are handed out leaves nobody waiting for them") {
  if (started_units().count() < 2) SKIP("one unit on this rank");
  const Shares shares = {3, 3};
  for (const Kind failing : {Kind::host, Kind::companion}) {
    for (const bool gathers : {false, true}) {
      TestUnits units = GroupUnits::alone();
      RowExchange exchange(units.group(), shares, 1, 4);
      RowGather gather(units.group(), shares, 4);
      CHECK_THROWS_AS(units.group().run([&](const auto& peer) {
        const Slice slice(shares, peer.slot(), 1, 4);
        const UnitRows rows(peer.space(), slice.size()), whole(peer.space(), 24);
        rows.write(slice.values(0, true));
        for (const bool first : {true, false}) {
          if (!first && peer.kind() == failing) throw std::out_of_range("no more rows");
          if (gathers) {
            gather.gather(peer, rows.data() + 4, whole.data());
          } else {
            exchange.exchange(peer, rows.data() - slice.first());
          }
        }
      }),
                      std::out_of_range);
    }
  }
}

TEST_CASE("rows of another number of units, and grids too large for a gather, are refused") {
  GroupUnits units(Choice::all);
  const Shares more(units.size() + 1, 4);
  CHECK_THROWS_AS(RowExchange(units.group(), more, 1, 4), InvalidArgument);
  CHECK_THROWS_AS(RowGather(units.group(), more, 4), InvalidArgument);
  Shares large(units.size(), 0);
  large.back() = std::int64_t{1} << 20;
  CHECK_THROWS_AS(RowGather(units.group(), large, 2048), InvalidArgument);
}

}  // namespace steelyard::test_row_exchange
