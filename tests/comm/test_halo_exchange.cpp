#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "comm/halo_exchange.hpp"
#include "core/base/errors.hpp"
#include "tests/comm/split_comm.hpp"
#include "tests/comm/started_session.hpp"

namespace steelyard::test_halo_exchange {

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;
using steelyard::tests::session;
using steelyard::tests::SplitComm;
using Direction = HaloLink::Direction;
using Row = std::vector<std::int64_t>;

namespace {

enum class Side { above, below };

/// One rank's buffers in a linear array of ranks, and what has to be in them.
class Rows {
 public:
  /// @param step distance to the neighbours; @param salt makes the contents of two exchanges different
  Rows(MPI_Comm comm, int rank, int size, std::size_t count, int step = 1, std::int64_t salt = 0)
      : rank_(rank), count_(count), step_(step), salt_(salt) {
    for (const Side side : {Side::above, Side::below}) {
      const int neighbour = neighbour_at(side);
      if (neighbour < 0 || neighbour >= size) continue;
      links_.push_back({side, Row(count, -1), Row(count, -1)});
    }
    std::vector<HaloLink> links;
    for (Link& link : links_) {
      const std::size_t bytes = count * sizeof(std::int64_t);
      links.push_back({Direction::send, neighbour_at(link.side), 0, link.border.data(), bytes});
      links.push_back({Direction::receive, neighbour_at(link.side), 0, link.halo.data(), bytes});
    }
    exchange_ = std::make_unique<HaloExchange>(comm, links);
  }

  /// Packs what only this round, rank and side send, and starts.
  void start(std::int64_t round) {
    for (Link& link : links_) fill(link.border, rank_, link.side, round);
    exchange_->start();
  }
  /// Waits; true when each halo is the border that the neighbour sent this way in this round.
  bool wait(std::int64_t round) {
    exchange_->wait();
    bool right = true;
    for (const Link& link : links_) {
      Row expected(count_);
      fill(expected, neighbour_at(link.side), link.side == Side::above ? Side::below : Side::above, round);
      right = right && link.halo == expected;
    }
    return right;
  }

 private:
  struct Link {
    Side side;
    Row border, halo;
  };

  int neighbour_at(Side side) const { return side == Side::above ? rank_ - step_ : rank_ + step_; }
  void fill(Row& row, int rank, Side side, std::int64_t round) const {
    const std::int64_t start = ((round * 64 + rank) * 2 + (side == Side::above ? 0 : 1)) * 2 + salt_;
    for (std::size_t i = 0; i < row.size(); ++i) row[i] = start * 1000003 + static_cast<std::int64_t>(i);
  }

  int rank_;
  std::size_t count_;
  int step_;
  std::int64_t salt_;
  std::vector<Link> links_;
  std::unique_ptr<HaloExchange> exchange_;
};

Rows make_rows(std::size_t count, std::int64_t salt = 0) {
  return {session().comm(), session().rank(), session().size(), count, 1, salt};
}

/// Messages of any sizes and tags. Every one has a number behind its end that must stay.
class Messages {
 public:
  void add(Direction direction, int neighbour, int tag, std::size_t count) {
    messages_.push_back({direction, neighbour, tag, Row(count + 1, untouched)});
  }
  void make() {
    std::vector<HaloLink> links;
    for (Message& message : messages_) {
      links.push_back({message.direction, message.neighbour, message.tag, message.row.data(),
                       (message.row.size() - 1) * sizeof(std::int64_t)});
    }
    exchange_ = std::make_unique<HaloExchange>(session().comm(), links);
  }
  /// Exchanges once; the number of messages that are not what they must be.
  int wrong(std::int64_t round) {
    const int rank = session().rank();
    for (Message& message : messages_) {
      // In place: the exchange knows where the row lies.
      if (message.direction == Direction::send) {
        std::ranges::copy(expected(message, rank, message.neighbour, round), message.row.begin());
      }
    }
    exchange_->start();
    exchange_->wait();
    int wrong = 0;
    for (const Message& message : messages_) {
      const bool sent = message.direction == Direction::send;
      const int from = sent ? rank : message.neighbour, to = sent ? message.neighbour : rank;
      wrong += message.row == expected(message, from, to, round) ? 0 : 1;
    }
    return wrong;
  }

 private:
  static constexpr std::int64_t untouched = -7;
  struct Message {
    Direction direction;
    int neighbour;
    int tag;
    Row row;
  };

  static Row expected(const Message& message, int from, int to, std::int64_t round) {
    Row row(message.row.size(), untouched);
    const std::int64_t start = ((round * 64 + from) * 64 + to) * 64 + message.tag;
    for (std::size_t i = 0; i + 1 < row.size(); ++i) row[i] = start * 1000003 + static_cast<std::int64_t>(i);
    return row;
  }

  std::vector<Message> messages_;
  std::unique_ptr<HaloExchange> exchange_;
};

int wrong_in(Messages& messages, int rounds) {
  int wrong = 0;
  for (int round = 0; round < rounds; ++round) wrong += messages.wrong(round);
  return wrong;
}

/// The other rank of a pair; the last one of an odd number stays alone.
int partner() { return session().rank() ^ 1; }
bool has_partner() { return partner() < session().size(); }

}  // namespace

TEST_CASE("after each exchange every rank has its neighbours' borders of that round") {
  const struct {
    std::size_t count;
    int rounds;
  } cases[] = {{0, 10}, {1, 500}, {100, 300}, {1000, 100}, {200000, 5}};
  for (const auto& [count, rounds] : cases) {
    CAPTURE(count);
    Rows rows = make_rows(count);
    int wrong = 0;
    for (int round = 0; round < rounds; ++round) {
      rows.start(round);
      wrong += rows.wait(round) ? 0 : 1;
    }
    CHECK(wrong == 0);
  }
}

TEST_CASE("two exchanges that take turns do not mix up their rows") {
  Rows even = make_rows(50, 0), odd = make_rows(50, 1);
  int wrong = 0;
  for (int round = 0; round < 400; ++round) {
    Rows& rows = round % 2 == 0 ? even : odd;
    rows.start(round);
    wrong += rows.wait(round) ? 0 : 1;
  }
  CHECK(wrong == 0);
}

TEST_CASE("two exchanges under way at once do not mix up their rows") {
  Rows first = make_rows(50, 0), second = make_rows(50, 1);
  int wrong = 0;
  for (int round = 0; round < 200; ++round) {
    first.start(round);
    second.start(round);
    wrong += second.wait(round) ? 0 : 1;
    wrong += first.wait(round) ? 0 : 1;
  }
  CHECK(wrong == 0);
}

TEST_CASE("neighbours need not be next to each other: ranks without rows are left out") {
  Rows every_other(session().comm(), session().rank(), session().size(), 20, 2);
  for (int round = 0; round < 50; ++round) {
    every_other.start(round);
    CHECK(every_other.wait(round));
  }
}

TEST_CASE("an exchange runs within its communicator, in the order of its ranks") {
  const SplitComm backward(session().comm(), 0, -session().rank());
  Rows rows(backward.comm(), backward.rank(), backward.size(), 20);
  for (int round = 0; round < 50; ++round) {
    rows.start(round);
    CHECK(rows.wait(round));
  }
}

TEST_CASE("a rank without neighbours exchanges nothing and waits for nobody") {
  HaloExchange exchange(session().comm(), {});
  for (int round = 0; round < 3; ++round) {
    CHECK_NOTHROW(exchange.start());
    CHECK_NOTHROW(exchange.wait());
  }
}

TEST_CASE("an exchange that was made but never started goes away quietly") {
  for (int i = 0; i < 100; ++i) make_rows(10);
  Rows rows = make_rows(10);
  rows.start(1);
  CHECK(rows.wait(1));
}

TEST_CASE("messages between the same two ranks arrive where their tags say, in whatever order they are named") {
  for (const std::size_t count : {std::size_t{1}, std::size_t{30}, std::size_t{20000}}) {
    Messages messages;
    const bool first = session().rank() < partner();
    for (int i = 0; has_partner() && i < 4; ++i) {
      messages.add(Direction::send, partner(), first ? i : 3 - i, count);
      messages.add(Direction::receive, partner(), (i + 1) % 4, count);
    }
    messages.make();
    CHECK(wrong_in(messages, 100) == 0);
  }
}

TEST_CASE("a message's size may differ from that of the other direction, and from that of the next tag") {
  Messages messages;
  const auto count = [](int from, int to, int tag) {
    const int numbers = 1 + 500 * from + 20 * to + 3000 * tag;
    return static_cast<std::size_t>(numbers);
  };
  const int rank = session().rank();
  for (int other = 0; other < session().size(); ++other) {
    for (int tag = 0; other != rank && tag < 3; ++tag) {
      messages.add(Direction::receive, other, tag, count(other, rank, tag));
      messages.add(Direction::send, other, tag, count(rank, other, tag));
    }
  }
  messages.make();
  CHECK(wrong_in(messages, 30) == 0);
}

TEST_CASE("a rank may only send or only receive") {
  for (const bool even_sends : {true, false}) {
    Messages messages;
    const bool sends = (session().rank() % 2 == 0) == even_sends;
    if (has_partner()) messages.add(sends ? Direction::send : Direction::receive, partner(), 2, 100);
    messages.make();
    CHECK(wrong_in(messages, 100) == 0);
  }
  // From rank to rank, the first only sends and the last only receives.
  Messages messages;
  if (session().rank() > 0) messages.add(Direction::receive, session().rank() - 1, 0, 1000);
  if (session().rank() + 1 < session().size()) messages.add(Direction::send, session().rank() + 1, 0, 1000);
  messages.make();
  CHECK(wrong_in(messages, 100) == 0);
}

TEST_CASE("an exchange that was moved works where it went and does nothing where it was") {
  const int rank = session().rank();
  std::int64_t sent = 10 + rank, received = -1;
  std::vector<HaloLink> links;
  if (has_partner()) {
    links.push_back({Direction::receive, partner(), 0, &received, sizeof(received)});
    links.push_back({Direction::send, partner(), 0, &sent, sizeof(sent)});
  }
  HaloExchange origin(session().comm(), links);
  HaloExchange exchange(std::move(origin));
  exchange.start();
  exchange.wait();
  CHECK(received == (has_partner() ? 10 + partner() : -1));
  received = -1;
  origin.start();  // NOLINT(bugprone-use-after-move): that is what is tested
  origin.wait();
  CHECK(received == -1);
}

TEST_CASE("a message that is too long for MPI is refused with its size, and leaves nothing behind") {
  std::int64_t value = 0;
  const std::size_t bytes = std::size_t{1} << 31;
  for (const Direction direction : {Direction::send, Direction::receive}) {
    const std::vector<HaloLink> links{{Direction::send, 0, 0, &value, sizeof(value)}, {direction, 0, 1, &value, bytes}};
    CHECK_THROWS_MATCHES(HaloExchange(session().comm(), links), InvalidArgument,
                         MessageMatches(ContainsSubstring("2147483648") && ContainsSubstring("expected")));
  }
  Rows rows = make_rows(10);
  rows.start(1);
  CHECK(rows.wait(1));
}

}  // namespace steelyard::test_halo_exchange
