#include <catch2/catch_test_macros.hpp>
#include <cmath>

#include "core/base/errors.hpp"
#include "partition/balancing/load_balancer.hpp"
#include "tests/partition/balancing/synthetic_units.hpp"

namespace steelyard::test_partial_models {

using namespace steelyard::partition;
using Slices = std::vector<std::int64_t>;

namespace {

Algorithm by_lines() { return find_algorithm("geometric"); }

std::vector<double> sizes(const PartialModels& models, std::size_t unit) {
  std::vector<double> sizes;
  for (const models::MeasuredPoint& point : models.points(unit)) sizes.push_back(point.units);
  return sizes;
}

}  // namespace

TEST_CASE("exact points stay apart however close") {
  PartialModels models(1);
  models.renew(0, {100, 1.0}, 8);
  models.renew(0, {101, 1.1}, 8);
  CHECK(sizes(models, 0) == std::vector<double>{100, 101});
}

TEST_CASE("a point within the noise of another one takes its place") {
  PartialModels models(1);
  models.renew(0, {100, 1.0, 5, 0.02}, 8);
  models.renew(0, {103, 1.0, 5, 0.02}, 8);
  models.renew(0, {110, 1.1, 5, 0.02}, 8);
  CHECK(sizes(models, 0) == std::vector<double>{103, 110});
}

TEST_CASE("the newest time replaces what it disproves") {
  PartialModels models(1);
  CHECK_FALSE(models.renew(0, {100, 1.0}, 8));
  CHECK_FALSE(models.renew(0, {200, 2.0}, 8));
  CHECK_FALSE(models.renew(0, {300, 1.5}, 8));  // 200 cannot take longer
  CHECK(sizes(models, 0) == std::vector<double>{100, 300});
  CHECK(models.renew(0, {300, 3.0}, 8));  // the speed has changed: 100 is old, too
  CHECK(sizes(models, 0) == std::vector<double>{300});
}

TEST_CASE("a time that says less than what is known changes nothing") {
  PartialModels models(1);
  models.renew(0, {100, 1.0, 5, 0.01}, 8);
  CHECK_FALSE(models.renew(0, {100, 1.4, 5, 0.5}, 8));
  CHECK(models.points(0).front().time_s == 1.0);
  CHECK_FALSE(models.renew(0, {100, 1.005, 5, 0.01}, 8));
  CHECK(models.points(0).front().time_s == 1.005);
}

TEST_CASE("the oldest points are forgotten first") {
  PartialModels models(1);
  for (const double size : {300.0, 100.0, 200.0, 400.0}) models.renew(0, {size, 0.01 * size}, 3);
  CHECK(sizes(models, 0) == std::vector<double>{100, 200, 400});
}

TEST_CASE("units without a point are predicted nothing for no work and not predicted otherwise") {
  PartialModels models(2);
  models.renew(0, {10, 1.0}, 8);
  CHECK(models.predict({20, 0}).predicted_s == std::vector<double>{2.0, 0.0});
  CHECK(std::isnan(models.predict({20, 1}).predicted_s[1]));
}

TEST_CASE("units without a point get nothing, or a probe where it is asked for, and sums stay exact") {
  PartialModels models(3, {1000.0, 1000.0, 2.5});
  models.renew(0, {600, 1.0}, 8);
  CHECK(models.unknown() == std::vector<std::size_t>{1, 2});
  CHECK(models.distribute(600, by_lines()) == Slices{600, 0, 0});
  CHECK(models.distribute_and_probe(600, by_lines()) == Slices{586, 12, 2});
  CHECK(models.distribute_and_probe(2, by_lines()) == Slices{0, 1, 1});
  CHECK(models.distribute_and_probe(1, by_lines()) == Slices{0, 1, 0});
  CHECK_THROWS_AS(models.distribute(1001, by_lines()), InvalidArgument);
  CHECK_THROWS_AS(PartialModels(2).distribute(1, by_lines()), InvalidArgument);
}

TEST_CASE("a unit that large sizes overwhelmed is asked for the smallest size once") {
  PartialModels models(2);
  models.renew(0, {50, 1.0}, 8);
  models.renew(1, {50, 1e6}, 8);
  CHECK(models.distribute(100, by_lines()) == Slices{100, 0});
  CHECK(models.distribute_and_probe(100, by_lines()) == Slices{99, 1});
  models.renew(1, {1, 100.0}, 8);
  CHECK(models.distribute_and_probe(100, by_lines()) == Slices{100, 0});
}

TEST_CASE("partial models refuse what they cannot be of") {
  CHECK_THROWS_AS(PartialModels(0), InvalidArgument);
  CHECK_THROWS_AS(PartialModels(2, {1.0}), InvalidArgument);
  CHECK_THROWS_AS(PartialModels(2, {}, "no such kind"), InvalidArgument);
}

}  // namespace steelyard::test_partial_models
