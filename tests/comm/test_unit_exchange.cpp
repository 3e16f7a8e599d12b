#include <atomic>
#include <memory>
#include <stdexcept>

#include "comm/unit_exchange.hpp"
#include "tests/catch.hpp"
#include "tests/comm/group_units.hpp"

namespace steelyard::test_unit_exchange {

using namespace steelyard::tests;
using Kind = ProcessingUnit::Kind;
using Values = std::vector<std::int64_t>;

namespace {

struct RandomMessage {
  int from, to, part;
  std::size_t count;
};

/// Messages between random slots, none of them or many, in parts whose messages come in any order; also several between
/// the same two units, and from a unit to itself.
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

}  // namespace

TEST_CASE("messages of any number and size arrive whole, however they are cut into parts and whoever is late") {
  for (const Choice choice : choices) {
    GroupUnits units(choice);
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

TEST_CASE("a unit that fails between two parts leaves nobody waiting for the others") {
  if (started_units().count() < 2) SKIP("one unit on this rank");
  std::int64_t values[2] = {};
  for (const Kind failing : {Kind::host, Kind::companion}) {
    TestUnits units = GroupUnits::alone();
    UnitExchange exchange(units.group(), std::vector<UnitMessage>{{0, 1, 8, {values}, 1}, {1, 0, 8, {values + 1}, 1}});
    CHECK_THROWS_AS(units.group().run([&](const auto& peer) {
      exchange.begin(peer.kind());
      exchange.packed(peer.kind(), 1);
      if (peer.kind() == failing) throw std::out_of_range("no more parts");
      exchange.await_other(peer.kind());
      exchange.finish(peer.kind());
    }),
                    std::out_of_range);
  }
}

}  // namespace steelyard::test_unit_exchange
