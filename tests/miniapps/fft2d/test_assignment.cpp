#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_floating_point.hpp>
#include <numeric>
#include <vector>

#include "core/base/errors.hpp"
#include "miniapps/fft2d/assignment.hpp"
#include "models/constant_model.hpp"
#include "partition/algorithms.hpp"

namespace steelyard::test_assignment {

using namespace steelyard::fft2d;
using Catch::Matchers::WithinRel;

namespace {

std::int64_t sum(const std::vector<std::int64_t>& units) {
  return std::accumulate(units.begin(), units.end(), std::int64_t{0});
}

TEST_CASE("Rows and columns of the spectrum are shared out whole, each pass by its own models") {
  const models::ConstantModel slow(1.0), fast(3.0);
  for (const partition::Algorithm& algorithm : partition::algorithms()) {
    for (const bool real : {false, true}) {
      CAPTURE(algorithm.name, real);
      const Problem problem{48, 60, Direction::forward, real, false};
      const Assignment assignment = assign(problem, {&slow, &fast}, {&fast, &slow}, algorithm.name, 16);
      CHECK(sum(assignment.rows.units) == 48);
      CHECK(sum(assignment.columns.units) == (real ? 31 : 60));
      REQUIRE(assignment.rows.predicted_s.size() == 2);
      CHECK_THAT(assignment.rows.predicted_s[0], WithinRel(static_cast<double>(assignment.rows.units[0]), 1e-9));
      CHECK_THAT(assignment.columns.predicted_s[1], WithinRel(static_cast<double>(assignment.columns.units[1]), 1e-9));
      if (algorithm.name == "geometric" || algorithm.name == "exact") {
        CHECK(assignment.rows.units == std::vector<std::int64_t>{12, 36});
        CHECK(assignment.columns.units[0] > 2 * assignment.columns.units[1]);
      }
    }
  }
}

TEST_CASE("Slices begin where cache lines do, as far as the total allows") {
  CHECK(slice_granularity(1024, 16) == 4);
  CHECK(slice_granularity(1024, 8) == 8);
  CHECK(slice_granularity(1030, 16) == 2);
  CHECK(slice_granularity(1031, 16) == 1);
  const models::ConstantModel slow(1.0), fast(2.3);
  for (const std::int64_t point_bytes : {8, 16}) {
    for (const std::int64_t rows : {40, 100, 126, 1031}) {
      CAPTURE(rows, point_bytes);
      const Assignment assignment = assign({rows, 24}, {&slow, &fast}, {&fast, &slow}, "exact", point_bytes);
      CHECK(sum(assignment.rows.units) == rows);
      CHECK(assignment.rows.units[0] % slice_granularity(rows, point_bytes) == 0);
      CHECK(assignment.columns.units[0] % slice_granularity(24, point_bytes) == 0);
    }
  }
}

TEST_CASE("A unit without a model gets nothing") {
  const models::ConstantModel speed(1.0);
  const Assignment assignment = assign({5, 5}, {nullptr, &speed}, {&speed, nullptr}, "geometric", 16);
  CHECK(assignment.rows.units == std::vector<std::int64_t>{0, 5});
  CHECK(assignment.columns.units == std::vector<std::int64_t>{5, 0});
  CHECK(assignment.rows.predicted_s[0] == 0.0);
}

TEST_CASE("Unknown algorithms are refused") {
  const models::ConstantModel speed(1.0);
  CHECK_THROWS_AS(assign({5, 5}, {&speed}, {&speed}, "fair", 16), InvalidArgument);
}

}  // namespace

}  // namespace steelyard::test_assignment
