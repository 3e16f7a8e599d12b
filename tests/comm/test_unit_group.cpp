#include <atomic>
#include <memory>
#include <mutex>
#include <numeric>
#include <set>
#include <stdexcept>

#include "comm/row_exchange.hpp"
#include "comm/unit_exchange.hpp"
#include "tests/catch.hpp"
#include "tests/comm/shared_units.hpp"

namespace steelyard::test_unit_group {

using namespace steelyard::tests;
using Kind = ProcessingUnit::Kind;
using Shares = std::vector<std::int64_t>;
using Values = std::vector<std::int64_t>;

namespace {

/// What a unit adds to value `k` of a sum: large terms of both signs, so that most of it cancels, in 30 orders of size.
double term(std::size_t slot, int round, std::size_t k) {
  std::mt19937_64 random(static_cast<std::uint64_t>(round) * 1024 + slot * 16 + k);
  const double size = std::pow(10.0, static_cast<double>(random() % 31) - 15.0);
  const double part = static_cast<double>(random() % 1000003) / 1000003.0;
  return random() % 2 == 0 ? size * part : -size * part;
}

double expected_total(std::size_t slots, int round, std::size_t k) {
  CompensatedSum sum;
  for (std::size_t slot = 0; slot < slots; ++slot) sum.add(term(slot, round, k));
  return sum.value();
}

struct RandomMessage {
  int from, to, part;
  std::size_t count;
};

/// Messages between random slots, also of a unit to itself, none or many, in parts whose messages come in any order.
std::vector<RandomMessage> random_messages(std::mt19937_64& random, std::size_t slots) {
  const auto below = [&](std::uint64_t end) { return static_cast<int>(random() % end); };
  const std::uint64_t parts = 1 + random() % 2 * (random() % 5);
  std::vector<RandomMessage> messages(random() % (4 * slots + 1));
  for (RandomMessage& message : messages) {
    const std::size_t counts[] = {0, 1, 1 + random() % 100, 1 + random() % 100, random() % 20000};
    message = {below(slots), below(slots), below(parts), counts[random() % 5]};
  }
  return messages;
}

/// An exchange of random messages through buffers in turns, or one for all exchanges. Every message has a number behind
/// its end that must stay.
class RandomExchange {
 public:
  RandomExchange(UnitGroup& group, std::mt19937_64& random, bool in_turns, std::int64_t salt)
      : group_(group), salt_(salt), messages_(random_messages(random, group.slots().size())), in_turns_(in_turns) {
    std::vector<UnitMessage> unit_messages;
    for (auto& turn : values_) turn.resize(messages_.size());
    for (std::size_t i = 0; i < messages_.size(); ++i) {
      const auto& [from, to, part, count] = messages_[i];
      unit_messages.push_back({from, to, static_cast<std::int64_t>(count * sizeof(std::int64_t)), {}, part});
      for (const std::size_t turn : {0, 1}) {
        values_[turn][i] = Values(count + 1, untouched);
        if (turn == 0 || in_turns) unit_messages.back().data[turn] = values_[turn][i].data();
      }
      auto& parts = parts_.at(static_cast<std::size_t>(from));
      parts = std::max(parts, part + 1);
    }
    exchange_ = std::make_unique<UnitExchange>(group, unit_messages);
  }

  /// @return wrong messages
  template <class Execution>
  int exchange(const UnitPeer<Execution>& peer, int round, Delays& delays) {
    exchange_->begin(peer.kind());
    auto& values = values_[in_turns_ ? exchange_->exchanges(peer.kind()) % 2 : 0];
    const int parts = parts_[static_cast<std::size_t>(peer.slot())];
    for (int part = 0; part < parts; ++part) {
      for (std::size_t i = 0; i < messages_.size(); ++i) {
        // In place: the exchange knows where the values lie.
        if (messages_[i].from == peer.slot() && messages_[i].part == part) {
          std::ranges::copy(expected(i, round), values[i].begin());
        }
      }
      delays.wait();
      // What is left to finish() is sent, too.
      if (part + 1 < parts || round % 3 > 0) exchange_->packed(peer.kind(), part + 1);
    }
    if (round % 2 > 0) exchange_->await_other(peer.kind());
    delays.wait();
    exchange_->finish(peer.kind());
    delays.wait();
    int wrong = 0;
    for (std::size_t i = 0; i < messages_.size(); ++i) {
      if (messages_[i].to == peer.slot() && values[i] != expected(i, round)) ++wrong;
    }
    return wrong;
  }

 private:
  static constexpr std::int64_t untouched = -7;

  Values expected(std::size_t message, int round) const {
    Values values(messages_[message].count + 1, untouched);
    const std::int64_t start = (std::int64_t{round} * 1024 + static_cast<std::int64_t>(message)) * 2 + salt_;
    for (std::size_t i = 0; i + 1 < values.size(); ++i) values[i] = start * 1000003 + static_cast<std::int64_t>(i);
    return values;
  }

  UnitGroup& group_;
  std::int64_t salt_;
  std::vector<RandomMessage> messages_;
  bool in_turns_;
  std::vector<int> parts_ = std::vector<int>(group_.slots().size(), 1);
  std::array<std::vector<Values>, 2> values_;
  std::unique_ptr<UnitExchange> exchange_;
};

void check_random_exchanges(UnitGroup& group, std::uint64_t seed) {
  CAPTURE(seed, group.slots().size());
  std::mt19937_64 random(seed);
  RandomExchange first(group, random, true, 0), second(group, random, true, 1), one_buffer(group, random, false, 0);
  std::atomic<int> wrong = 0;
  group.run([&](const auto& peer) {
    Delays delays(peer.slot());
    std::mt19937_64 order(seed);
    for (int round = 0; round < 12; ++round) wrong += (order() % 2 ? first : second).exchange(peer, round, delays);
  });
  for (int round = 0; round < 4; ++round) {
    group.run([&](const auto& peer) {
      Delays delays(peer.slot());
      wrong += one_buffer.exchange(peer, round, delays);
    });
  }
  CHECK(wrong == 0);
}

/// Value of an element in a round, a different one for each.
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

/// Exchanges again and again, in some rounds with sums while rows are on their way, or an exchange of another depth.
/// @return rounds in which some unit of this rank did not hold what it must
int wrong_exchanges(TestUnits& units, const Shares& shares, std::int64_t depth, std::int64_t elements, int rounds) {
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
      if (block == 1 && sum_one(peer, 1.0) != static_cast<double>(units.size())) ++wrong;
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
int wrong_gathers(TestUnits& units, const Shares& shares, std::int64_t elements, int rounds) {
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

TEST_CASE("a program runs once on every unit of a group, each on a thread of its own") {
  for (const Choice choice : choices) {
    TestUnits units(choice);
    UnitGroup& group = units.group();
    std::mutex mutex;
    std::vector<int> slots;
    std::set<std::thread::id> threads;
    int driving = 0;
    const UnitSeconds seconds = group.run([&](const auto& peer) {
      peer.compute([] { std::this_thread::sleep_for(std::chrono::milliseconds(1)); });
      const std::scoped_lock lock(mutex);
      slots.push_back(peer.slot());
      threads.insert(std::this_thread::get_id());
      if (group.drives(peer.kind())) ++driving;
    });
    CHECK(static_cast<int>(slots.size()) == group.unit_count());
    CHECK(static_cast<int>(threads.size()) == group.unit_count());
    CHECK(driving == 1);
    for (const int slot : slots) CHECK(group.slots()[static_cast<std::size_t>(slot)].rank == group.rank());
    CHECK((seconds.host_s >= 1e-3) == (group.slot(Kind::host) >= 0));
    CHECK((seconds.companion_s >= 1e-3) == (group.slot(Kind::companion) >= 0));
  }
}

TEST_CASE("sums are the same bits on all units, whoever is late") {
  for (const Choice choice : choices) {
    TestUnits units(choice);
    std::atomic<int> wrong = 0;
    units.group().run([&](const auto& peer) {
      Delays delays(peer.slot());
      for (int round = 0; round < many_rounds(3000); ++round) {
        const std::size_t count = 1 + static_cast<std::size_t>(round) % UnitGroup::most_values;
        std::array<CompensatedSum, UnitGroup::most_values> values;
        std::array<double, UnitGroup::most_values> totals = {};
        for (std::size_t k = 0; k < count; ++k) values[k].add(term(static_cast<std::size_t>(peer.slot()), round, k));
        delays.wait();
        peer.sum({values.data(), count}, {totals.data(), count});
        for (std::size_t k = 0; k < count; ++k) {
          if (totals[k] != expected_total(units.size(), round, k)) ++wrong;
        }
      }
    });
    CHECK(wrong == 0);
  }
}

TEST_CASE("a group runs any number of programs, also after units that failed at the same place") {
  TestUnits units(Choice::all);
  const double slots = static_cast<double>(units.size());
  std::atomic<int> wrong = 0;
  int thrown = 0;
  const int runs = many_rounds(2000);
  for (int run = 0; run < runs; ++run) {
    try {
      units.group().run([&](const auto& peer) {
        for (int round = 0; round < run % 4; ++round) {
          if (sum_one(peer, run) != run * slots) ++wrong;
        }
        if (run % 3 == 0) throw std::out_of_range("all of us");
      });
    } catch (const std::out_of_range&) {
      ++thrown;
    }
  }
  CHECK(thrown == (runs + 2) / 3);
  CHECK(wrong == 0);
}

TEST_CASE("any number of messages of any size arrive whole, in any parts and whichever unit is late") {
  for (const Choice choice : choices) {
    TestUnits units(choice);
    for (std::uint64_t seed = 1; seed <= (session().size() > 2 ? 5 : 15); ++seed) {
      check_random_exchanges(units.group(), seed);
    }
  }
}

TEST_CASE("an exchange runs within its group's communicator, in the order of its ranks") {
  const SplitComm backward(0, -session().rank());
  std::vector<Slot> slots = gather_slots(session(), started_units());
  for (Slot& slot : slots) slot.rank = session().size() - 1 - slot.rank;
  std::ranges::stable_sort(slots, {}, &Slot::rank);
  TestUnits units(backward.comm(), started_units(), slots);
  check_random_exchanges(units.group(), 3);
}

TEST_CASE("every unit gets its ghost rows, and by a gather the whole grid, for any owners and whichever unit is late") {
  for (const Choice choice : choices) {
    TestUnits units(choice);
    for (const std::int64_t rows : {0, 1, 5, 23}) {
      for (const Shares& shares : units.many_shares(rows)) {
        CAPTURE(static_cast<int>(choice), rows, shares);
        for (const std::int64_t depth : {1, 2, 3}) {
          CHECK(wrong_exchanges(units, shares, depth, 1 + rows % 7, 3) == 0);
        }
        CHECK(wrong_gathers(units, shares, 1 + rows % 7, 3) == 0);
        const auto owners = std::count_if(shares.begin(), shares.end(), [](std::int64_t own) { return own > 0; });
        CHECK(RowExchange(units.group(), shares, 1, 4).any() == (owners > 1));
      }
    }
    // Many rounds, in which rows of one must never be those of another.
    const Shares even = units.shares(29)[1], random = units.many_shares(7).back();
    for (const std::int64_t depth : {1, 2}) {
      CHECK(wrong_exchanges(units, even, depth, 96, many_rounds(1500)) == 0);
      CHECK(wrong_exchanges(units, random, depth, 3, many_rounds(1500)) == 0);
    }
    CHECK(wrong_gathers(units, even, 40, many_rounds(500)) == 0);
    CHECK(wrong_gathers(units, random, 3, many_rounds(500)) == 0);
  }
}

TEST_CASE("rows of another number of units, and grids too large for a gather, are refused") {
  TestUnits units(Choice::all);
  const Shares more(units.size() + 1, 4);
  CHECK_THROWS_AS(RowExchange(units.group(), more, 1, 4), InvalidArgument);
  CHECK_THROWS_AS(RowGather(units.group(), more, 4), InvalidArgument);
  Shares large(units.size(), 0);
  large.back() = std::int64_t{1} << 20;
  CHECK_THROWS_AS(RowGather(units.group(), large, 2048), InvalidArgument);
}

TEST_CASE(
    "a unit that fails ends the waiting of the other, wherever they meet, and its error is the one that is thrown") {
  if (started_units().count() < 2) SKIP("one unit on this rank");
  enum class Meeting { sum, parts, rows, gather };
  const Shares shares = {3, 3};
  for (int round = 0; round < 20; ++round) {
    for (const Kind failing : {Kind::host, Kind::companion}) {
      for (const Meeting meeting : {Meeting::sum, Meeting::parts, Meeting::rows, Meeting::gather}) {
        CAPTURE(static_cast<int>(failing), static_cast<int>(meeting));
        TestUnits units = TestUnits::alone();
        std::int64_t values[2] = {};
        const std::vector<UnitMessage> messages = {{0, 1, 8, {values}, 1}, {1, 0, 8, {values + 1}, 1}};
        UnitExchange in_parts(units.group(), messages);
        RowExchange exchange(units.group(), shares, 1, 4);
        RowGather gather(units.group(), shares, 4);
        const auto meet = [&](const auto& peer, bool again) {
          const Slice slice(shares, peer.slot(), 1, 4);
          const UnitRows rows(peer.space(), slice.size()), whole(peer.space(), 24);
          if (meeting == Meeting::sum) sum_one(peer, 1.0);
          if (meeting == Meeting::rows) exchange.exchange(peer, rows.data() - slice.first());
          if (meeting == Meeting::gather) gather.gather(peer, rows.data() + 4, whole.data());
          if (meeting == Meeting::parts && !again) {
            in_parts.begin(peer.kind());
            in_parts.packed(peer.kind(), 1);
          } else if (meeting == Meeting::parts) {
            in_parts.await_other(peer.kind());
            in_parts.finish(peer.kind());
          }
        };
        const auto run = [&] {
          units.group().run([&](const auto& peer) {
            meet(peer, false);
            if (peer.kind() == failing) {
              Delays(peer.slot()).wait();
              throw std::out_of_range("the first error");
            }
            meet(peer, true);
          });
        };
        CHECK_THROWS_MATCHES(run(), std::out_of_range, MessageMatches(ContainsSubstring("the first error")));
        CHECK_THROWS_MATCHES(run(), RuntimeFailure, MessageMatches(ContainsSubstring("cannot run again")));
      }
    }
  }
}

}  // namespace steelyard::test_unit_group
