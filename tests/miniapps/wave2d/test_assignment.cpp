#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cmath>
#include <numeric>
#include <optional>

#include "core/base/errors.hpp"
#include "miniapps/wave2d/assignment.hpp"
#include "partition/algorithms.hpp"
#include "partition/rectangles/column.hpp"
#include "tests/models/random_models.hpp"

namespace steelyard::test_assignment {

using namespace steelyard::wave2d;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;
using models::ConstantModel;
using partition::Rectangle;
using tests::Random;
using tests::whole;

namespace {

using Rectangles = std::vector<Rectangle>;
using Models = std::vector<const models::SpeedModel*>;

Problem grid_of(std::int64_t rows, std::int64_t columns) { return {rows, columns}; }

std::vector<std::string> partition_names() {
  std::vector<std::string> names{"column"};
  for (const partition::Algorithm& algorithm : partition::algorithms()) names.push_back(algorithm.name);
  return names;
}

/// Point by point: every one in exactly one rectangle, and no rectangle beyond the grid.
bool covers(const Rectangles& rectangles, const Problem& problem) {
  std::vector<int> owners(static_cast<std::size_t>(problem.rows * problem.columns));
  for (const Rectangle& r : rectangles) {
    if (r.empty() ? r != Rectangle{} : partition::common_part(r, {0, 0, problem.rows, problem.columns}) != r) {
      return false;
    }
    for_points(r, [&](std::int64_t i, std::int64_t j) { ++owners[static_cast<std::size_t>(i * problem.columns + j)]; });
  }
  return std::ranges::all_of(owners, [](int count) { return count == 1; });
}

/// What a rectangle is in whole rows of the grid.
double rows_of(const Rectangle& rectangle, const Problem& problem) {
  return static_cast<double>(rectangle.area()) / static_cast<double>(problem.columns);
}

std::int64_t sum(const std::vector<std::int64_t>& values) {
  return std::accumulate(values.begin(), values.end(), std::int64_t{0});
}

}  // namespace

TEST_CASE("rectangles cover the grid once, slices with the rows that the algorithm gives, whatever the models") {
  Random random(1);
  for (int trial = 0; trial < 60; ++trial) {
    tests::Units units;
    const tests::Kind kind = trial % 2 == 0 ? tests::Kind::constant : tests::Kind::increasing_time;
    for (int i = whole(random, 1, 9); i > 0; --i) units.add(tests::random_model(random, kind, 40.0));
    const Problem problem = grid_of(whole(random, 3, 60), whole(random, 3, 60));
    for (const std::string& name : partition_names()) {
      INFO(name << ", " << units.models.size() << " units, " << problem.rows << " x " << problem.columns);
      const Assignment assignment = assign(problem, units.models, name);
      REQUIRE(assignment.rectangles.size() == units.models.size());
      REQUIRE(assignment.pass_s.size() == units.models.size());
      REQUIRE(covers(assignment.rectangles, problem));
      if (name != "column") {
        const auto distribution = partition::find_algorithm(name).distribute(problem.rows, units.models);
        REQUIRE(assignment.rectangles == row_slices(problem, distribution.units));
      }
      double longest_s = 0.0;
      for (std::size_t i = 0; i < units.models.size(); ++i) {
        const Rectangle& own = assignment.rectangles[i];
        REQUIRE(assignment.pass_s[i] == (own.empty() ? 0.0 : units.models[i]->time_s(rows_of(own, problem))));
        longest_s = std::max(longest_s, assignment.pass_s[i]);
      }
      REQUIRE(assignment.makespan_s() == longest_s);
      const bool whole_rows = std::ranges::all_of(
          assignment.rectangles, [&](const Rectangle& r) { return r.empty() || r.columns == problem.columns; });
      const std::vector<std::int64_t> shares = assignment.shares(problem);
      REQUIRE(shares.size() == units.models.size());
      REQUIRE(sum(shares) == (whole_rows ? problem.rows : problem.rows * problem.columns));
    }
  }
}

TEST_CASE("areas of column are those of the geometric algorithm, arranged in columns") {
  const ConstantModel slow(1.0), fast(6.0);
  const Problem problem = grid_of(16, 24);
  const Assignment assignment = assign(problem, {&fast, &slow, &slow}, "column");
  CHECK(assignment.rectangles == partition::column(std::vector<double>{12, 2, 2}, {16, 24}).rectangles);
  CHECK(assignment.rectangles[0].area() == 288);
  CHECK(assignment.rectangles[0].columns < 24);
  CHECK(assignment.pass_s == std::vector<double>{2.0, 2.0, 2.0});
  CHECK(assignment.makespan_s() == 2.0);
  CHECK(assignment.shares(problem) == std::vector<std::int64_t>{288, 48, 48});
}

TEST_CASE("shares are rows as long as all are whole, and otherwise points; slices of no rows are nowhere") {
  CHECK(row_slices(grid_of(9, 5), {4, 0, 2, 3}) == Rectangles{{0, 0, 4, 5}, {}, {4, 0, 2, 5}, {6, 0, 3, 5}});
  const Problem problem = grid_of(6, 10);
  const auto shares = [&](const Rectangles& rectangles) { return Assignment{rectangles, {}}.shares(problem); };
  CHECK(shares({{0, 0, 4, 10}, {}, {4, 0, 2, 10}}) == std::vector<std::int64_t>{4, 0, 2});
  CHECK(shares({{0, 0, 6, 3}, {}, {0, 3, 6, 7}}) == std::vector<std::int64_t>{18, 0, 42});
  CHECK(shares({{0, 0, 4, 10}, {4, 0, 2, 5}, {4, 5, 2, 5}}) == std::vector<std::int64_t>{40, 10, 10});
  // One below the other is both.
  const ConstantModel model(1.0);
  CHECK(assign(grid_of(90, 3), {&model}, "column").shares(grid_of(90, 3)) == std::vector<std::int64_t>{90});
}

TEST_CASE("a partition that there is not is refused with those that there are") {
  const ConstantModel model(1.0);
  for (const std::string name : {"fair", "columns", "Column", ""}) {
    const auto refused = [&](const auto& call) {
      CHECK_THROWS_MATCHES(call(), InvalidArgument,
                           MessageMatches(ContainsSubstring("\"" + name + "\"") && ContainsSubstring("even") &&
                                          ContainsSubstring("hpopta") && ContainsSubstring("column")));
    };
    refused([&] { row_algorithm(name); });
    refused([&] { assign(grid_of(9, 9), {&model}, name); });
  }
}

TEST_CASE("what the units do not hold together is refused") {
  const ConstantModel small(1.0, 4.0);
  for (const std::string& name : partition_names()) {
    INFO(name);
    CHECK(covers(assign(grid_of(8, 5), {&small, &small}, name).rectangles, grid_of(8, 5)));
    CHECK_THROWS_MATCHES(assign(grid_of(9, 5), {&small, &small}, name), InvalidArgument,
                         MessageMatches(ContainsSubstring("9") && ContainsSubstring("8")));
    CHECK_THROWS_AS(assign(grid_of(9, 5), {}, name), InvalidArgument);
  }
}

TEST_CASE("no unit gets more than it holds, or the partition is refused") {
  Random random(3);
  for (int trial = 0; trial < 300; ++trial) {
    const Problem problem = grid_of(whole(random, 3, 40), whole(random, 3, 40));
    tests::Units units;
    const int count = whole(random, 1, 6);
    const double even = std::ceil(static_cast<double>(problem.rows) / count);
    for (int i = 0; i < count; ++i) {
      units.add(
          tests::random_model(random, tests::Kind::constant, 40.0, tests::random_limit(random, even, 2.0 * even)));
    }
    for (const std::string& name : partition_names()) {
      INFO(name << ", " << count << " units, " << problem.rows << " x " << problem.columns);
      std::optional<Assignment> assignment;
      try {
        assignment = assign(problem, units.models, name);
      } catch (const InvalidArgument&) {
        continue;
      }
      for (std::size_t i = 0; i < units.models.size(); ++i) {
        REQUIRE(rows_of(assignment->rectangles[i], problem) <= units.models[i]->max_units() * (1.0 + 1e-12));
        REQUIRE(std::isfinite(assignment->pass_s[i]));
      }
    }
  }
}

TEST_CASE("more units than rows leave some without") {
  const ConstantModel slow(1.0);
  for (const std::string& name : partition_names()) {
    INFO(name);
    CHECK(std::ranges::count(assign(grid_of(3, 3), Models(12, &slow), name).rectangles, Rectangle{}) >= 3);
  }
}

}  // namespace steelyard::test_assignment
