// Laws that every algorithm of the list obeys; new ones are tested by being in it.
#include <set>

#include "partition/algorithms.hpp"
#include "tests/catch.hpp"
#include "tests/partition/brute_force.hpp"

namespace steelyard::test_algorithms {

using namespace steelyard::partition;
using namespace steelyard::tests;
using models::ConstantModel;
using Slices = std::vector<std::int64_t>;

namespace {

/// Kinds with a speed above 0 at every size, 0 included.
constexpr std::array kinds{Kind::constant, Kind::increasing_time, Kind::as_measured, Kind::akima, Kind::out_of_core};

/// A random problem that every algorithm can solve: nobody's memory is smaller than the even share.
struct Problem {
  tests::Units units;
  std::int64_t total = 0;

  explicit Problem(Random& random) {
    total = whole(random, 0, 9) == 0 ? whole(random, 0, 2) : whole(random, 0, 2000);
    const int count = whole(random, 1, 20);
    const double even_share = std::ceil(static_cast<double>(total) / count) + 1.0;
    for (int i = 0; i < count; ++i) {
      const double limit = tests::random_limit(random, even_share, 3.0 * even_share);
      const auto kind = kinds.at(static_cast<std::size_t>(whole(random, 0, static_cast<int>(kinds.size()) - 1)));
      units.add(random_model(random, kind, 2.0 * even_share, limit));
    }
  }
};

const Algorithm& each_algorithm() { return algorithms()[GENERATE(range(std::size_t{0}, algorithms().size()))]; }

const std::set<std::string> optimal = {"numerical", "hpopta", "exact"};

}  // namespace

TEST_CASE("every algorithm splits exactly and into memory, predicts by the units' models, and alike in any order") {
  const Algorithm& algorithm = each_algorithm();
  Random random(1);
  for (int trial = 0; trial < 150; ++trial) {
    INFO(algorithm.name << ", trial " << trial);
    const Problem problem(random);
    auto models = problem.units.models;
    const Distribution split = algorithm.distribute(problem.total, models);
    REQUIRE(split.units.size() == models.size());
    REQUIRE(sum(split.units) == problem.total);
    for (std::size_t i = 0; i < models.size(); ++i) {
      REQUIRE(split.units[i] >= 0);
      REQUIRE(static_cast<double>(split.units[i]) <= models[i]->max_units());
      REQUIRE(split.predicted_s[i] == models[i]->time_s(static_cast<double>(split.units[i])));
    }
    const double even_s = even(problem.total, models).makespan_s();
    if (optimal.contains(algorithm.name)) REQUIRE(split.makespan_s() <= even_s);
    if (algorithm.name == "even") {
      REQUIRE(std::ranges::is_sorted(split.units, std::greater<>()));
      REQUIRE(split.units.front() - split.units.back() <= 1);
    }
    std::ranges::shuffle(models, random);
    const double in_other_order_s = algorithm.distribute(problem.total, models).makespan_s();
    if (algorithm.name != "even") REQUIRE(in_other_order_s == split.makespan_s());
    REQUIRE(algorithm.distribute(problem.total, problem.units.models).units == split.units);
  }
}

TEST_CASE("every algorithm but even fills all memories to the brim and refuses one unit more") {
  const Algorithm& algorithm = each_algorithm();
  if (algorithm.name == "even") return;
  Random random(2);
  for (int trial = 0; trial < 60; ++trial) {
    tests::Units units;
    Slices room;
    for (int i = whole(random, 1, 6); i > 0; --i) {
      const double limit = trial % 3 == 0 ? whole(random, 1, 40) : tests::uniform(random, 0.1, 40.0);
      units.add(random_model(random, static_cast<Kind>(whole(random, 0, 2)), 30.0, limit));
      room.push_back(static_cast<std::int64_t>(limit));
    }
    const std::int64_t all = sum(room);
    REQUIRE(algorithm.distribute(all, units.models).units == room);
    REQUIRE_THROWS_AS(algorithm.distribute(all + 1, units.models), InvalidArgument);
  }
}

TEST_CASE("constant goes by the speeds at the even share, constant:N by those at N, whole proportions exactly") {
  Random random(4);
  for (int trial = 0; trial < 200; ++trial) {
    const Problem problem(random);
    const double share = static_cast<double>(problem.total) / static_cast<double>(problem.units.models.size());
    const int size = whole(random, 1, static_cast<int>(share) + 1);
    for (const auto& [name, at] : {std::pair(std::string("constant"), share),
                                   std::pair("constant:" + std::to_string(size), static_cast<double>(size))}) {
      tests::Units constants;
      for (const models::SpeedModel* model : problem.units.models) {
        constants.add(std::make_unique<ConstantModel>(model->speed(at), model->max_units()));
      }
      INFO(name << ", trial " << trial);
      const Distribution split = constant(problem.total, constants.models);
      REQUIRE(find_algorithm(name).distribute(problem.total, problem.units.models).units == split.units);
      // Nobody could take one more unit in less time.
      for (std::size_t i = 0; i < split.units.size(); ++i) {
        const double one_more_s = constants.models[i]->time_s(static_cast<double>(split.units[i] + 1));
        REQUIRE(one_more_s >= split.makespan_s() * (1.0 - 1e-12));
      }
    }
  }
  const ConstantModel one(100.0), two(200.0), seven(700.0);
  for (const std::int64_t factor : {0, 1, 13, 100000, 1000000007}) {
    CHECK(constant(10 * factor, std::vector<const models::SpeedModel*>{&one, &seven, &two}).units ==
          Slices{factor, 7 * factor, 2 * factor});
  }
}

TEST_CASE("constant needs a speed at one size only, and a unit of speed 0 gets none") {
  const models::TableModel table(std::vector<models::MeasuredPoint>{{2.0, 2.0}, {5.0, 5.0}});
  const std::vector<const models::SpeedModel*> tables{&table, &table};
  CHECK(constant(0, tables).units == Slices{0, 0});
  CHECK(constant(7, tables, 5.0).units == Slices{4, 3});
  const std::vector<double> speeds{10.0, 0.0, 20.0, 10.0}, limits{1000.0, 1000.0, 100.0, 1000.0};
  const Distribution shares = constant_speeds(400, speeds, {});
  CHECK(shares.units == Slices{100, 0, 200, 100});
  CHECK(shares.predicted_s == std::vector<double>{10.0, 0.0, 10.0, 10.0});
  CHECK(constant_speeds(400, speeds, limits).units == Slices{150, 0, 100, 150});
}

TEST_CASE("shares that come out whole are kept exactly, others rounded down or up, the lower index first") {
  Random random(5);
  for (int trial = 0; trial < 200; ++trial) {
    const Problem problem(random);
    std::string name = "shares", scaled = name;
    Slices expected;
    for (const models::SpeedModel* model : problem.units.models) {
      expected.push_back(whole(random, 0, static_cast<int>(std::min(model->max_units(), 1e6))));
      name += ":" + std::to_string(expected.back());
      scaled += ":" + std::to_string(expected.back()) + "e-3";
    }
    if (sum(expected) == 0) continue;
    for (const std::string& each : {name, scaled}) {
      const Distribution split = find_algorithm(each).distribute(sum(expected), problem.units.models);
      REQUIRE(split.units == expected);
      REQUIRE(split.predicted_s == predict(expected, problem.units.models).predicted_s);
    }
  }
  const ConstantModel model(1.0);
  const std::vector<const models::SpeedModel*> three(3, &model);
  CHECK(find_algorithm("shares:2:2:2").distribute(8, three).units == Slices{3, 3, 2});
  CHECK(find_algorithm("shares:1:0:3").distribute(5, three).units == Slices{1, 0, 4});
  CHECK(find_algorithm("shares:1e308:1e308:1e308").distribute(9, three).units == Slices{3, 3, 3});
  CHECK(find_algorithm("shares:5e-324:1e308:0").distribute(9, three).units == Slices{0, 9, 0});
}

TEST_CASE("in multiples every slice is one, within memory, and exact is as fast as the best such split") {
  Random random(6);
  for (int trial = 0; trial < 100; ++trial) {
    const std::int64_t granularity = whole(random, 1, 20), pieces = whole(random, 0, 12);
    const std::int64_t total = granularity * pieces;
    tests::Units units;
    for (int i = whole(random, 1, 4); i > 0; --i) {
      const double limit = tests::random_limit(random, static_cast<double>(total) + 1.0, 600.0);
      units.add(random_model(random, static_cast<Kind>(whole(random, 0, 2)), 200.0, limit));
    }
    std::vector<TimeTable> tables;
    for (const models::SpeedModel* model : units.models) {
      tables.push_back(tabulate(*model, total));
      std::erase_if(tables.back().entries, [&](const auto& entry) { return entry.units % granularity != 0; });
    }
    const double least_s = tests::least_makespan_s(total, tables);
    // N counts computation units, not multiples.
    const auto piece = static_cast<double>(granularity);
    const int size = whole(random, 1, static_cast<int>(total) + 1);
    const Algorithm at_size = find_algorithm("constant:" + std::to_string(size));
    tests::Units constants;
    for (const models::SpeedModel* model : units.models) {
      const double held = piece * std::floor(model->max_units() / piece);
      constants.add(std::make_unique<ConstantModel>(model->speed(std::min<double>(size, held)), model->max_units()));
    }
    REQUIRE(distribute_in_multiples(total, units.models, at_size, granularity).units ==
            distribute_in_multiples(total, constants.models, find_algorithm("constant"), granularity).units);
    std::vector<Algorithm> all(algorithms().begin(), algorithms().end());
    all.push_back(at_size);
    for (const Algorithm& algorithm : all) {
      INFO(algorithm.name << ", trial " << trial);
      const Distribution split = distribute_in_multiples(total, units.models, algorithm, granularity);
      REQUIRE(sum(split.units) == total);
      for (std::size_t i = 0; i < split.units.size(); ++i) {
        REQUIRE(split.units[i] >= 0);
        REQUIRE(split.units[i] % granularity == 0);
        REQUIRE(split.predicted_s[i] == units.models[i]->time_s(static_cast<double>(split.units[i])));
      }
      if (optimal.contains(algorithm.name)) REQUIRE(split.makespan_s() == least_s);
    }
  }
  const ConstantModel fast(100.0, 25.0), tiny(1.0, 5.0), roomy(1.0);
  const std::vector<const models::SpeedModel*> models{&fast, &tiny, &roomy};
  CHECK(distribute_in_multiples(100, models, find_algorithm("geometric"), 10).units == Slices{20, 0, 80});
}

TEST_CASE("the imbalance is the part of the makespan that the first unit with work to end waits") {
  CHECK(Distribution{}.makespan_s() == 0.0);
  CHECK(Distribution{{0, 0}, {0.0, 0.0}}.imbalance() == 0.0);
  CHECK(Distribution{{3, 0, 3, 2}, {2.0, 0.0, 1.5, 1.75}}.imbalance() == 0.25);
  CHECK(Distribution{{5, 0}, {2.0, 0.0}}.imbalance() == 0.0);
}

}  // namespace steelyard::test_algorithms
