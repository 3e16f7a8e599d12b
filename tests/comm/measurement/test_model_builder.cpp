#include <numeric>

#include "comm/measurement/kernel_measurement.hpp"
#include "core/memory/unit_memory.hpp"
#include "tests/catch.hpp"
#include "tests/comm/eventually.hpp"
#include "tests/comm/synthetic_kernel.hpp"

namespace steelyard::test_model_builder {

using namespace steelyard::tests;
using Kind = ProcessingUnit::Kind;
using Sizes = std::vector<std::int64_t>;

namespace {

RankUnits host_alone() {
  RankUnits units = started_units();
  units.companion.reset();
  return units;
}

BuildPlan plan_of(Sizes sizes, int rounds = 1) {
  BuildPlan plan;
  plan.sizes = std::move(sizes);
  plan.rounds = rounds;
  plan.precision = easily_precise(3);
  return plan;
}

BuiltModels build(const SyntheticKernel& kernel, const BuildPlan& plan, const RankUnits& units,
                  Sizes* visited = nullptr) {
  CoExecution co_execution(session().machine(), units);
  return build_models(session(), session().comm(), co_execution, units, kernel, plan,
                      [&](std::int64_t size, const BuiltModels&) {
                        if (visited != nullptr) visited->push_back(size);
                      });
}

std::vector<double> units_of(const std::vector<models::MeasuredPoint>& points) {
  std::vector<double> units;
  for (const models::MeasuredPoint& point : points) units.push_back(point.units);
  return units;
}

/// What this rank's host unit holds, if it drives nothing else; infinite where the machine does not tell.
double memory_bytes() {
  return unit_memory_bytes(session().machine(), host_alone(), Kind::host, session().nodes().ranks_on_node);
}

}  // namespace

TEST_CASE(
    "each size is measured once a round in the order asked for, and its point has the repetitions of all rounds") {
  for (const bool solo : {false, true}) {
    for (const bool precise : {false, true}) {
      const SyntheticKernel kernel;
      BuildPlan plan = plan_of({20, 4, 9}, solo ? 2 : 3);
      plan.solo = solo;
      if (!precise) plan.precision = never_precise(3);
      const RankUnits& units = precise ? started_units() : host_alone();
      Sizes visited, expected, allocated;
      const BuiltModels built = build(kernel, plan, units, &visited);
      for (int round = 0; round < plan.rounds; ++round) {
        for (const std::int64_t size : plan.sizes) {
          expected.push_back(size);
          allocated.insert(allocated.end(), solo ? 2 : 1, size);
        }
      }
      CHECK(visited == expected);
      CHECK(kernel.sizes(Kind::host) == allocated);
      CHECK(kernel.sizes(Kind::companion) == (units.companion ? allocated : Sizes{}));
      CHECK(kernel.alive() == 0);
      CHECK(built.host.has_value());
      CHECK(built.companion.has_value() == units.companion.has_value());
      CHECK_FALSE(built.uncertain.has_value());
      for (const std::optional<UnitModels>* unit : {&built.host, &built.companion}) {
        if (!*unit) continue;
        CHECK((*unit)->solo.has_value() == solo);
        std::vector<models::FpmFile> files{(*unit)->group};
        if ((*unit)->solo) files.push_back(*(*unit)->solo);
        for (std::size_t i = 0; i < files.size(); ++i) {
          CHECK(files[i].solo == (i == 1));
          CHECK((precise ? files[i].imprecise : files[i].points).empty());
          // Imprecise ones are kept, and count for no unit.
          const auto& points = precise ? files[i].points : files[i].imprecise;
          CHECK(units_of(points) == std::vector<double>{4.0, 9.0, 20.0});
          for (const models::MeasuredPoint& point : points) {
            CHECK(point.repetitions == 3 * plan.rounds);
            CHECK(point.time_s > 0.0);
            CHECK(point.confidence_s >= 0.0);
          }
        }
      }
    }
  }
}

TEST_CASE("a size at which one unit was restless in one round counts for no unit of the group, the others do") {
  const bool last = session().rank() == session().size() - 1;
  for (int bad_round = 0; bad_round < 2; ++bad_round) {
    SyntheticKernel kernel;
    int round = 0;
    kernel.on_allocate = [&](Kind kind, std::int64_t units) {
      if (kind == Kind::host && units == 9) ++round;
    };
    kernel.on_run = [&](Kind kind, std::int64_t units, int run) {
      rest(2e-3);
      // Once, in the middle of the repetitions.
      if (last && kind == Kind::host && units == 9 && round == bad_round + 1 && run == 8) rest(0.25);
    };
    BuildPlan plan = plan_of({4, 9, 20}, 2);
    plan.precision = easily_precise(6);
    plan.precision.relative = 0.5;
    CHECK(eventually([&] {
      round = 0;
      const BuiltModels built = build(kernel, plan, started_units());
      bool good = true;
      for (const std::optional<UnitModels>* unit : {&built.host, &built.companion}) {
        if (!*unit) continue;
        good = good && units_of((*unit)->group.points) == std::vector<double>{4.0, 20.0} &&
               units_of((*unit)->group.imprecise) == std::vector<double>{9.0};
      }
      return good;
    }));
  }
}

TEST_CASE("a size that does not fit a unit leaves it idle, and one that fits none is refused before any is measured") {
  if (!std::isfinite(memory_bytes())) SKIP("this machine does not tell how much memory it has");
  // The last rank holds more than the others.
  const double largest = session().rank() == session().size() - 1 ? 100.0 : 10.0;
  SyntheticKernel kernel;
  kernel.known.memory_bytes_per_unit = memory_bytes() / (largest + 0.5);
  Sizes visited;
  CHECK_THROWS_MATCHES(build(kernel, plan_of({5, 101}), host_alone(), &visited), InvalidArgument,
                       MessageMatches(ContainsSubstring("101") && ContainsSubstring("at most 100")));
  CHECK(visited.empty());
  CHECK(kernel.instances().empty());
  const BuiltModels built = build(kernel, plan_of({5, 10, 11, 100}, 2), host_alone());
  CHECK(built.host->group.max_units == largest);
  CHECK(units_of(built.host->group.points) ==
        (largest > 10.0 ? std::vector<double>{5.0, 10.0, 11.0, 100.0} : std::vector<double>{5.0, 10.0}));
}

TEST_CASE("an adaptive selection finds a cliff and stops, or keeps to its most sizes and says what is left") {
  constexpr double cliff = 700.0;
  SyntheticKernel kernel;
  kernel.on_run = [](Kind, std::int64_t units, int) {
    const double size = static_cast<double>(units);
    rest(size * (size < cliff ? 4e-6 : 12e-6));
  };
  for (const int more : {0, 2, 40}) {
    BuildPlan plan = plan_of({}, more < 40 ? 2 : 1);
    plan.adaptive = models::AdaptiveGoal{250, 2000, more < 40 ? 0.05 : 0.3};
    plan.sizes = models::first_sizes(*plan.adaptive);
    plan.most_sizes = static_cast<int>(plan.sizes.size()) + more;
    CHECK(eventually([&] {
      Sizes visited;
      const BuiltModels built = build(kernel, plan, host_alone(), &visited);
      const std::vector<double> sizes = units_of(built.host->group.points);
      CHECK(std::is_sorted(sizes.begin(), sizes.end()));
      CHECK(sizes.front() == 250.0);
      CHECK(sizes.back() == 2000.0);
      // Later rounds come back to those that were added.
      CHECK(visited.size() == sizes.size() * static_cast<std::size_t>(plan.rounds));
      CHECK(std::equal(visited.begin() + static_cast<std::ptrdiff_t>(sizes.size()), visited.end(), visited.begin()));
      CHECK(static_cast<int>(sizes.size()) <= plan.most_sizes);
      // All ranks chose the same.
      const double sum = std::accumulate(sizes.begin(), sizes.end(), 0.0);
      CHECK(all_max(session().comm(), sum) == -all_max(session().comm(), -sum));
      const auto right = std::lower_bound(sizes.begin(), sizes.end(), cliff);
      if (more == 40) return !built.uncertain && *right - *(right - 1) <= 0.05 * cliff;
      return static_cast<int>(sizes.size()) == plan.most_sizes && built.uncertain && built.uncertain->error > 0.05;
    }));
  }
}

TEST_CASE("a selection of one size, or of none, ends") {
  const SyntheticKernel kernel;
  BuildPlan plan = plan_of({5});
  plan.adaptive = models::AdaptiveGoal{5, 5, 0.05};
  CHECK(units_of(build(kernel, plan, host_alone()).host->group.points) == std::vector<double>{5.0});
  CHECK(build(kernel, plan_of({}), host_alone()).host->group.points.empty());
}

}  // namespace steelyard::test_model_builder
