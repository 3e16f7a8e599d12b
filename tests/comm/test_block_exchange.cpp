#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cstdint>
#include <limits>
#include <vector>

#include "comm/block_exchange.hpp"
#include "core/base/errors.hpp"
#include "tests/comm/started_session.hpp"

namespace steelyard::test_block_exchange {

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;
using steelyard::tests::session;

namespace {

using Element = std::int64_t;
constexpr Element untouched = -7;

/// Elements of a block between two ranks: none for some, many for others.
std::int64_t length(int from, int to, int batch) {
  const int number = 7 * from + 3 * to + batch;
  return number % 4 == 0 ? 0 : number % 5 == 0 ? 100000 : 11 * number;
}

Element element(int round, int from, int to, int batch, std::int64_t i) {
  return (((Element{round} * 64 + from) * 64 + to) * 64 + batch) * 1000003 + i;
}

struct Block {
  int rank, batch;
  std::vector<Element> elements;
};

/// Blocks of all batches to and from all other ranks, with an element behind each end that must stay.
class Blocks {
 public:
  explicit Blocks(int batches) {
    for (int rank = 0; rank < session().size(); ++rank) {
      if (rank == session().rank()) continue;
      for (int batch = 0; batch < batches; ++batch) {
        const auto make = [&](std::int64_t elements) {
          return Block{rank, batch, std::vector<Element>(static_cast<std::size_t>(elements + 1), untouched)};
        };
        sent_.push_back(make(length(session().rank(), rank, batch)));
        received_.push_back(make(length(rank, session().rank(), batch)));
      }
    }
  }

  std::vector<ExchangedBlock> sends() { return of(sent_); }
  std::vector<ExchangedBlock> receives() { return of(received_); }

  void fill(int round, int batch) {
    for (Block& block : sent_) {
      for (std::size_t i = 0; block.batch == batch && i + 1 < block.elements.size(); ++i) {
        block.elements[i] = element(round, session().rank(), block.rank, batch, static_cast<std::int64_t>(i));
      }
    }
  }
  int wrong(int round) const {
    int wrong = 0;
    for (const Block& block : received_) {
      for (std::size_t i = 0; i + 1 < block.elements.size(); ++i) {
        const Element right = element(round, block.rank, session().rank(), block.batch, static_cast<std::int64_t>(i));
        wrong += block.elements[i] == right ? 0 : 1;
      }
      wrong += block.elements.back() == untouched ? 0 : 1;
    }
    return wrong;
  }

 private:
  static std::vector<ExchangedBlock> of(std::vector<Block>& blocks) {
    std::vector<ExchangedBlock> exchanged;
    for (Block& block : blocks) {
      exchanged.push_back({block.rank, block.batch, block.elements.data(),
                           static_cast<std::int64_t>(block.elements.size()) - 1, block.batch});
    }
    return exchanged;
  }

  std::vector<Block> sent_, received_;
};

}  // namespace

TEST_CASE("blocks of any size arrive where they belong, batch by batch, again and again") {
  for (const int batches : {1, 3}) {
    Blocks blocks(batches);
    BlockExchange exchange(session().comm(), sizeof(Element), blocks.sends(), blocks.receives());
    int wrong = 0;
    for (int round = 0; round < 5; ++round) {
      exchange.start_receives();
      for (int batch = 0; batch < batches; ++batch) {
        blocks.fill(round, batch);
        // Any order.
        exchange.send(batch);
        exchange.progress();
      }
      exchange.wait();
      wrong += blocks.wrong(round);
    }
    CHECK(wrong == 0);
  }
}

TEST_CASE("two exchanges between the same ranks do not mix, and batches may be sent in any order") {
  Blocks a(2), b(2);
  BlockExchange first(session().comm(), sizeof(Element), a.sends(), a.receives());
  BlockExchange second(session().comm(), sizeof(Element), b.sends(), b.receives());
  first.start_receives();
  second.start_receives();
  for (const int batch : {1, 0}) {
    b.fill(9, batch);
    second.send(batch);
  }
  for (const int batch : {0, 1}) {
    a.fill(4, batch);
    first.send(batch);
  }
  second.wait();
  first.wait();
  CHECK(a.wrong(4) == 0);
  CHECK(b.wrong(9) == 0);
}

TEST_CASE("an exchange of nothing ends at once") {
  BlockExchange exchange(session().comm(), 16, {}, {});
  exchange.start_receives();
  exchange.send(0);
  exchange.send(5);
  exchange.progress();
  exchange.wait();
  CHECK(true);
}

TEST_CASE("blocks that MPI cannot count are refused") {
  std::vector<ExchangedBlock> blocks{{0, 0, nullptr, std::int64_t{1} << 31, 0}};
  const auto expected = MessageMatches(ContainsSubstring("expected 0 to 2^31 - 1 elements"));
  CHECK_THROWS_MATCHES(BlockExchange(session().comm(), 16, blocks, {}), InvalidArgument, expected);
  CHECK_THROWS_MATCHES(BlockExchange(session().comm(), 16, {}, blocks), InvalidArgument, expected);
  blocks.front().elements = -1;
  CHECK_THROWS_MATCHES(BlockExchange(session().comm(), 16, blocks, {}), InvalidArgument, expected);
  blocks.front() = {0, 0, nullptr, 1, -1};
  CHECK_THROWS_MATCHES(BlockExchange(session().comm(), 16, blocks, {}), InvalidArgument, expected);
}

}  // namespace steelyard::test_block_exchange
