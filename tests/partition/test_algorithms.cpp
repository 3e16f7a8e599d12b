// Laws that every algorithm of the list obeys; new ones are tested by being in it.
#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/generators/catch_generators_range.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cmath>
#include <numeric>
#include <set>

#include "core/base/errors.hpp"
#include "models/kinds/piecewise_linear_model.hpp"
#include "partition/algorithms.hpp"
#include "tests/models/random_models.hpp"

namespace steelyard::test_algorithms {

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;
using namespace steelyard::partition;
using models::ConstantModel;
using tests::Kind;
using tests::Random;
using tests::whole;

namespace {

/// A random problem that every algorithm can solve: nobody's memory is smaller than the even share.
struct Problem {
  tests::Units units;
  std::int64_t total = 0;

  explicit Problem(Random& random, int most_units = 20) {
    total = whole(random, 0, 2000);
    const int count = whole(random, 1, most_units);
    const double even_share = std::ceil(static_cast<double>(total) / count) + 1.0;
    for (int i = 0; i < count; ++i) {
      const double limit = tests::random_limit(random, even_share, 3.0 * even_share);
      units.add(random_model(random, static_cast<Kind>(whole(random, 0, 2)), 2.0 * even_share, limit));
    }
  }
};

}  // namespace

TEST_CASE("slices of every algorithm sum exactly to the total and fit into memory") {
  const Algorithm& algorithm = algorithms()[GENERATE(range(std::size_t{0}, algorithms().size()))];
  INFO(algorithm.name);
  Random random(1);
  for (int trial = 0; trial < 300; ++trial) {
    const Problem problem(random);
    const Distribution split = algorithm.distribute(problem.total, problem.units.models);
    REQUIRE(split.units.size() == problem.units.models.size());
    REQUIRE(std::accumulate(split.units.begin(), split.units.end(), std::int64_t{0}) == problem.total);
    for (std::size_t i = 0; i < split.units.size(); ++i) {
      REQUIRE(split.units[i] >= 0);
      REQUIRE(static_cast<double>(split.units[i]) <= problem.units.models[i]->max_units());
    }
  }
}

TEST_CASE("every algorithm predicts each slice with the unit's own model") {
  const Algorithm& algorithm = algorithms()[GENERATE(range(std::size_t{0}, algorithms().size()))];
  INFO(algorithm.name);
  Random random(2);
  for (int trial = 0; trial < 100; ++trial) {
    const Problem problem(random);
    const Distribution split = algorithm.distribute(problem.total, problem.units.models);
    REQUIRE(split.predicted_s == predict(split.units, problem.units.models).predicted_s);
  }
}

TEST_CASE("every algorithm gives the same split for the same models") {
  const Algorithm& algorithm = algorithms()[GENERATE(range(std::size_t{0}, algorithms().size()))];
  INFO(algorithm.name);
  Random random(3);
  for (int trial = 0; trial < 50; ++trial) {
    const Problem problem(random);
    const Distribution first = algorithm.distribute(problem.total, problem.units.models);
    algorithm.distribute(problem.total / 2, problem.units.models);
    REQUIRE(algorithm.distribute(problem.total, problem.units.models).units == first.units);
  }
}

TEST_CASE("the order of the units does not change the makespan of an algorithm that looks at models") {
  const Algorithm& algorithm = find_algorithm(GENERATE("constant", "geometric", "numerical", "hpopta", "exact"));
  INFO(algorithm.name);
  Random random(4);
  for (int trial = 0; trial < 100; ++trial) {
    const Problem problem(random, 8);
    auto models = problem.units.models;
    const double makespan = algorithm.distribute(problem.total, models).makespan_s();
    for (int i = 0; i < 5; ++i) {
      std::shuffle(models.begin(), models.end(), random);
      REQUIRE(algorithm.distribute(problem.total, models).makespan_s() == makespan);
    }
  }
}

TEST_CASE("every algorithm gives one unit everything and equal units even slices") {
  const Algorithm& algorithm = algorithms()[GENERATE(range(std::size_t{0}, algorithms().size()))];
  INFO(algorithm.name);
  const ConstantModel model(7.0);
  for (const std::int64_t total : {0, 1, 2, 17, 1000003}) {
    CHECK(algorithm.distribute(total, std::vector<const models::SpeedModel*>{&model}).units ==
          std::vector<std::int64_t>{total});
    const Distribution split = algorithm.distribute(total, std::vector<const models::SpeedModel*>(4, &model));
    const auto [least, most] = std::minmax_element(split.units.begin(), split.units.end());
    CHECK(*most - *least <= 1);
  }
}

TEST_CASE("every algorithm splits nothing into nothing that takes no time") {
  const Algorithm& algorithm = algorithms()[GENERATE(range(std::size_t{0}, algorithms().size()))];
  INFO(algorithm.name);
  Random random(5);
  const Problem problem(random);
  const Distribution split = algorithm.distribute(0, problem.units.models);
  CHECK(split.units == std::vector<std::int64_t>(problem.units.models.size(), 0));
  CHECK(split.makespan_s() == 0.0);
  CHECK(split.imbalance() == 0.0);
}

TEST_CASE("every algorithm refuses what nobody can hold and a negative total and no units") {
  const Algorithm& algorithm = algorithms()[GENERATE(range(std::size_t{0}, algorithms().size()))];
  INFO(algorithm.name);
  const ConstantModel model(1.0, 10.5);
  const std::vector<const models::SpeedModel*> models(2, &model);
  CHECK_NOTHROW(algorithm.distribute(20, models));
  CHECK_THROWS_MATCHES(algorithm.distribute(21, models), InvalidArgument,
                       MessageMatches(ContainsSubstring("21") && ContainsSubstring("20")));
  CHECK_THROWS_MATCHES(algorithm.distribute(-3, models), InvalidArgument, MessageMatches(ContainsSubstring("-3")));
  CHECK_THROWS_AS(algorithm.distribute(1, {}), InvalidArgument);
}

TEST_CASE("algorithms have different names and are found by them") {
  std::set<std::string> names;
  for (const Algorithm& algorithm : algorithms()) {
    CHECK(names.insert(algorithm.name).second);
    CHECK_FALSE(algorithm.description.empty());
    CHECK(algorithm.description.find('\n') == std::string::npos);
    CHECK(find_algorithm(algorithm.name).description == algorithm.description);
  }
  for (const char* name : {"even", "constant", "geometric", "numerical", "hpopta", "exact"})
    CHECK(names.count(name) == 1);
}

TEST_CASE("an unknown algorithm is refused with all the names that there are") {
  CHECK_THROWS_MATCHES(find_algorithm("Even"), InvalidArgument,
                       MessageMatches(ContainsSubstring("\"Even\"") &&
                                      ContainsSubstring("even, constant, geometric, numerical, hpopta, exact")));
  CHECK_THROWS_AS(find_algorithm(""), InvalidArgument);
}

TEST_CASE("constant:N goes by the speeds at N computation units, and shares:A:B by these numbers alone") {
  const ConstantModel slow(1.0), limited(1.0, 10.0);
  const models::PiecewiseLinearModel rising(
      std::vector<models::MeasuredPoint>{{10.0, 10.0}, {40.0, 20.0}, {200.0, 40.0}});
  const std::vector<const models::SpeedModel*> both{&slow, &rising};
  // 1, 2 and 5 units per second at these sizes.
  CHECK(find_algorithm("constant:10").distribute(66, both).units == std::vector<std::int64_t>{33, 33});
  CHECK(find_algorithm("constant:40").distribute(66, both).units == std::vector<std::int64_t>{22, 44});
  CHECK(find_algorithm("constant:200").distribute(66, both).units == std::vector<std::int64_t>{11, 55});
  CHECK(find_algorithm("constant:1e9").distribute(66, both).units == std::vector<std::int64_t>{11, 55});
  for (const char* shares : {"shares:1:2", "shares:0.5:1", "shares:22:44"}) {
    const Distribution split = find_algorithm(shares).distribute(66, both);
    CHECK(split.units == std::vector<std::int64_t>{22, 44});
    CHECK(split.predicted_s == predict({22, 44}, both).predicted_s);
  }
  CHECK(find_algorithm("shares:0:7").distribute(66, both).units == std::vector<std::int64_t>{0, 66});
  CHECK_THROWS_MATCHES(find_algorithm("shares:1:2:3").distribute(66, both), InvalidArgument,
                       MessageMatches(ContainsSubstring("3 shares for 2 processing units")));
  CHECK_THROWS_MATCHES(
      find_algorithm("shares:1:1").distribute(66, std::vector<const models::SpeedModel*>{&slow, &limited}),
      InvalidArgument, MessageMatches(ContainsSubstring("holds 10")));
  for (const char* name : {"shares:", "shares:0:0", "shares:1:x", "shares:-1:2", "constant:", "constant:0",
                           "constant:1:2", "constant:nan", "even:1"}) {
    INFO(name);
    CHECK_THROWS_AS(find_algorithm(name), InvalidArgument);
  }
}

TEST_CASE("whole shares of the total are kept exactly") {
  Random random(9);
  for (int trial = 0; trial < 200; ++trial) {
    const Problem problem(random);
    std::string name = "shares";
    std::vector<std::int64_t> expected;
    std::int64_t total = 0;
    for (const models::SpeedModel* model : problem.units.models) {
      expected.push_back(whole(random, 0, static_cast<int>(std::min(model->max_units(), 1e6))));
      total += expected.back();
      name += ":" + std::to_string(expected.back());
    }
    if (total > 0) REQUIRE(find_algorithm(name).distribute(total, problem.units.models).units == expected);
  }
}

}  // namespace steelyard::test_algorithms
