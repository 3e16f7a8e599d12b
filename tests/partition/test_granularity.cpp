#include <catch2/catch_test_macros.hpp>
#include <numeric>

#include "core/base/errors.hpp"
#include "models/kinds/piecewise_linear_model.hpp"
#include "partition/granularity.hpp"
#include "tests/models/random_models.hpp"

namespace steelyard::test_granularity {

using namespace steelyard::partition;
using tests::Random;
using tests::whole;

TEST_CASE("every slice is a multiple of the granularity, and they sum to the total") {
  Random random(1);
  for (int trial = 0; trial < 200; ++trial) {
    const std::int64_t granularity = whole(random, 1, 20);
    const std::int64_t total = granularity * whole(random, 0, 30);
    tests::Units units;
    for (int i = whole(random, 1, 4); i > 0; --i) units.add(random_model(random, tests::Kind::increasing_time, 600.0));
    std::vector<Algorithm> all(algorithms().begin(), algorithms().end());
    all.push_back(find_algorithm("constant:100"));
    for (const Algorithm& algorithm : all) {
      const Distribution distribution = distribute_in_multiples(total, units.models, algorithm, granularity);
      INFO(algorithm.name << ", trial " << trial);
      REQUIRE(std::accumulate(distribution.units.begin(), distribution.units.end(), std::int64_t{0}) == total);
      for (std::size_t i = 0; i < distribution.units.size(); ++i) {
        REQUIRE(distribution.units[i] >= 0);
        REQUIRE(distribution.units[i] % granularity == 0);
        REQUIRE(distribution.predicted_s[i] == units.models[i]->time_s(static_cast<double>(distribution.units[i])));
      }
    }
  }
}

TEST_CASE("in multiples the exact algorithm is as fast as the best split into multiples") {
  Random random(2);
  for (int trial = 0; trial < 100; ++trial) {
    const std::int64_t granularity = whole(random, 2, 6);
    const std::int64_t pieces = whole(random, 1, 12);
    tests::Units units;
    for (int i = 0; i < 3; ++i) units.add(random_model(random, tests::Kind::as_measured, 60.0));
    double least_s = std::numeric_limits<double>::infinity();
    for (std::int64_t a = 0; a <= pieces; ++a) {
      for (std::int64_t b = 0; a + b <= pieces; ++b) {
        least_s = std::min(
            least_s,
            predict({a * granularity, b * granularity, (pieces - a - b) * granularity}, units.models).makespan_s());
      }
    }
    const Distribution found =
        distribute_in_multiples(pieces * granularity, units.models, find_algorithm("exact"), granularity);
    REQUIRE(found.makespan_s() == least_s);
  }
}

TEST_CASE("in multiples too, constant:N goes by the speeds at N computation units") {
  tests::Units units;
  units.add(std::make_unique<models::ConstantModel>(1.0));
  units.add(std::make_unique<models::PiecewiseLinearModel>(
      std::vector<models::MeasuredPoint>{{10.0, 10.0}, {40.0, 20.0}, {200.0, 40.0}}));
  for (const std::int64_t granularity : {1, 2, 11}) {
    CHECK(distribute_in_multiples(66, units.models, find_algorithm("constant:40"), granularity).units ==
          std::vector<std::int64_t>{22, 44});
  }
}

TEST_CASE("limits that are no multiple are rounded down, and a granularity that does not divide is refused") {
  tests::Units units;
  units.add(std::make_unique<models::ConstantModel>(100.0, 25.0));
  units.add(std::make_unique<models::ConstantModel>(1.0, 5.0));
  units.add(std::make_unique<models::ConstantModel>(1.0));
  const Distribution distribution = distribute_in_multiples(100, units.models, find_algorithm("geometric"), 10);
  CHECK(distribution.units == std::vector<std::int64_t>{20, 0, 80});
  CHECK_THROWS_AS(distribute_in_multiples(101, units.models, find_algorithm("even"), 10), InvalidArgument);
  CHECK_THROWS_AS(distribute_in_multiples(100, units.models, find_algorithm("even"), 0), InvalidArgument);
}

}  // namespace steelyard::test_granularity
