#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <limits>
#include <numeric>
#include <random>
#include <vector>

#include "core/base/errors.hpp"
#include "miniapps/fft2d/exchange_plan.hpp"

namespace steelyard::test_exchange_plan {

using namespace steelyard::fft2d;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;

namespace {

using Counts = std::vector<std::int64_t>;
using Random = std::mt19937;

/// Units of ranks: some with one, some with two.
struct RandomSplit {
  Counts rows, columns;
  std::vector<int> ranks;
};

RandomSplit random_split(Random& random) {
  RandomSplit split;
  const int ranks = 1 + static_cast<int>(random() % 5);
  for (int rank = 0; rank < ranks; ++rank) {
    for (unsigned unit = 0; unit <= random() % 2; ++unit) {
      // Many have nothing.
      split.rows.push_back(random() % 3 == 0 ? 0 : static_cast<std::int64_t>(random() % 40));
      split.columns.push_back(random() % 3 == 0 ? 0 : static_cast<std::int64_t>(random() % 9));
      split.ranks.push_back(rank);
    }
  }
  return split;
}

/// How often each point of the matrix is sent, or stays on the rank that has made it.
std::vector<int> owners(const PassPlan& plan, std::int64_t rows, std::int64_t columns) {
  std::vector<int> count(static_cast<std::size_t>(rows * columns));
  const auto add = [&](const Range& of_rows, const Range& of_columns) {
    for (std::int64_t i = of_rows.first; i < of_rows.end(); ++i) {
      for (std::int64_t j = of_columns.first; j < of_columns.end(); ++j) {
        ++count[static_cast<std::size_t>(i * columns + j)];
      }
    }
  };
  for (const BlockMessage& message : plan.messages) add(message.rows, message.columns);
  for (std::size_t unit = 0; unit < plan.rows.size(); ++unit) {
    add(plan.rows[unit], plan.columns_of_rank(plan.rank_of_unit[unit]));
  }
  return count;
}

TEST_CASE("Every point goes to its owner once, in messages between ranks") {
  Random random(5);
  for (int round = 0; round < 300; ++round) {
    const RandomSplit split = random_split(random);
    const PassPlan plan = plan_pass(split.rows, split.columns, split.ranks, 1 + static_cast<int>(random() % 12));
    const std::int64_t rows = std::accumulate(split.rows.begin(), split.rows.end(), std::int64_t{0});
    const std::int64_t columns = std::accumulate(split.columns.begin(), split.columns.end(), std::int64_t{0});
    const std::vector<int> count = owners(plan, rows, columns);
    REQUIRE(std::all_of(count.begin(), count.end(), [](int times) { return times == 1; }));
    for (const BlockMessage& message : plan.messages) {
      const auto from = static_cast<std::size_t>(message.from);
      REQUIRE(plan.from_rank(message) == split.ranks[from]);
      REQUIRE(plan.from_rank(message) != message.to_rank);
      REQUIRE(message.points() > 0);
      REQUIRE(message.rows == plan.batches[from][static_cast<std::size_t>(message.batch)]);
      REQUIRE(message.columns == plan.columns_of_rank(message.to_rank));
    }
  }
}

TEST_CASE("Batches are the unit's rows in order, about even, of cache lines where there are many") {
  const std::vector<int> two{0, 1};
  const PassPlan plan = plan_pass(Counts{1000, 5}, Counts{3, 4}, two, 7);
  REQUIRE(plan.batches[0].size() == 7);
  REQUIRE(plan.batches[1].size() == 5);
  std::int64_t next = 0;
  for (const Range& batch : plan.batches[0]) {
    CHECK(batch.first == next);
    CHECK(batch.first % 8 == 0);
    CHECK(batch.count >= 1000 / 7 - 8);
    CHECK(batch.count <= 1000 / 7 + 16);
    next = batch.end();
  }
  CHECK(next == 1000);
  CHECK(plan.batches[1].front().first == 1000);
}

TEST_CASE("A unit without messages goes over its rows at once") {
  CHECK(plan_pass(Counts{100, 50}, Counts{7, 8}, std::vector<int>{0, 0}, 9).batches[0].size() == 1);
  // The other rank owns nothing.
  const PassPlan plan = plan_pass(Counts{100, 50}, Counts{7, 0}, std::vector<int>{0, 1}, 9);
  CHECK(plan.batches[0].size() == 1);
  CHECK(plan.messages.size() == 9);
}

TEST_CASE("No message is longer than MPI can count, and ranges of any length are cut right") {
  std::int64_t points = 0;
  for (const BlockMessage& message :
       plan_pass(Counts{70000, 70000}, Counts{70000, 60000}, std::vector<int>{0, 1}, 1).messages) {
    CHECK(message.points() <= std::numeric_limits<int>::max());
    points += message.points();
  }
  CHECK(points == std::int64_t{70000} * 60000 + std::int64_t{70000} * 70000);
}

TEST_CASE("The next rank's block is sent first, so that not all send to the same one") {
  const PassPlan plan = plan_pass(Counts{1, 1, 1, 1}, Counts{1, 1, 1, 1}, std::vector<int>{0, 1, 2, 3}, 1);
  for (std::size_t i = 0; i < plan.messages.size(); ++i) {
    CHECK(plan.messages[i].to_rank == (plan.messages[i].from + 1 + static_cast<int>(i % 3)) % 4);
  }
}

TEST_CASE("Splits that make no sense are refused") {
  const auto [rows, columns, ranks, batches] =
      GENERATE(table<Counts, Counts, std::vector<int>, int>({{{1, 2}, {3}, {0, 1}, 1},
                                                             {{1, 2}, {3, 4}, {0}, 1},
                                                             {{1, -2}, {3, 4}, {0, 1}, 1},
                                                             {{1, 2}, {-3, 4}, {0, 1}, 1},
                                                             {{1, 2}, {3, 4}, {1, 0}, 1},
                                                             {{1, 2}, {3, 4}, {0, 1}, 0}}));
  CHECK_THROWS_MATCHES(plan_pass(rows, columns, ranks, batches), InvalidArgument,
                       MessageMatches(ContainsSubstring("expected one each")));
}

}  // namespace

}  // namespace steelyard::test_exchange_plan
