#include <algorithm>
#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cmath>
#include <string>

#include "comm/measurement/model_builder.hpp"
#include "core/memory/unit_memory.hpp"
#include "tests/comm/eventually.hpp"
#include "tests/comm/synthetic_kernel.hpp"

namespace steelyard::test_model_builder {

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;
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

/// A kernel of which this rank's host unit holds `units` at most, if it drives nothing else.
KernelFacts facts_that_fit(double units) {
  KernelFacts facts;
  const double bytes =
      unit_memory_bytes(session().machine(), host_alone(), Kind::host, session().nodes().ranks_on_node);
  facts.memory_bytes_per_unit = bytes / (units + 0.5);
  return facts;
}

bool memory_is_known() {
  return std::isfinite(
      unit_memory_bytes(session().machine(), host_alone(), Kind::host, session().nodes().ranks_on_node));
}

}  // namespace

TEST_CASE("each size is measured once a round with the others in between, in the order that was asked for") {
  for (const bool solo : {false, true}) {
    for (const int rounds : {1, solo ? 2 : 3}) {
      const SyntheticKernel kernel;
      BuildPlan plan = plan_of({4, 20, 9}, rounds);
      plan.solo = solo;
      Sizes visited;
      const BuiltModels built = build(kernel, plan, started_units(), &visited);
      Sizes expected;
      Sizes allocated;
      for (int round = 0; round < rounds; ++round) {
        for (const std::int64_t size : plan.sizes) {
          expected.push_back(size);
          allocated.insert(allocated.end(), solo ? 2 : 1, size);
        }
      }
      CHECK(visited == expected);
      CHECK(kernel.sizes(Kind::host) == allocated);
      if (started_units().companion) CHECK(kernel.sizes(Kind::companion) == allocated);
      CHECK(kernel.alive() == 0);
    }
  }
}

TEST_CASE("a model has a point for each size, by size, with the repetitions of all rounds") {
  const SyntheticKernel kernel;
  BuildPlan plan = plan_of({20, 4, 9}, 2);
  plan.solo = true;
  const BuiltModels built = build(kernel, plan, started_units());
  const auto check = [](const models::FpmFile& file, bool solo) {
    CHECK(units_of(file.points) == std::vector<double>{4.0, 9.0, 20.0});
    CHECK(file.imprecise.empty());
    CHECK(file.solo == solo);
    for (const models::MeasuredPoint& point : file.points) {
      CHECK(point.repetitions == 6);
      CHECK(point.time_s > 0.0);
      CHECK(point.confidence_s >= 0.0);
    }
  };
  CHECK(built.host.has_value());
  CHECK(built.companion.has_value() == started_units().companion.has_value());
  for (const std::optional<UnitModels>* unit : {&built.host, &built.companion}) {
    if (!*unit) continue;
    check((*unit)->group, false);
    CHECK((*unit)->solo.has_value());
    if ((*unit)->solo) check(*(*unit)->solo, true);
  }
  CHECK_FALSE(built.uncertain.has_value());
  // Solo models are made where they are asked for, and models of units where there are units.
  plan.solo = false;
  const BuiltModels few = build(kernel, plan, host_alone());
  CHECK(few.host.has_value());
  CHECK_FALSE(few.companion.has_value());
  if (few.host) CHECK_FALSE(few.host->solo.has_value());
}

TEST_CASE("the time of a measurement holds that of its kernels, and its parts") {
  SyntheticKernel kernel;
  kernel.on_run = [](Kind, std::int64_t units, int) { rest(1e-3 * static_cast<double>(units)); };
  BuildPlan plan = plan_of({1, 12}, 2);
  plan.solo = true;
  const MeasuringTime time = build(kernel, plan, host_alone()).time;
  // Two rounds of three repetitions, together and alone.
  CHECK(time.kernels_s >= 2 * 2 * 3 * (1e-3 + 12e-3));
  CHECK(time.overhead_s >= 0.0);
  CHECK(time.total_s >= time.kernels_s + time.overhead_s);
  CHECK(time.long_kernels_s >= 2 * 2 * 3 * 12e-3);
  CHECK(time.long_kernels_s <= time.kernels_s);
  CHECK(time.long_overhead_s <= time.overhead_s);
}

TEST_CASE("a machine that changes speed between rounds shows in the interval") {
  SyntheticKernel kernel;
  int allocated = 0;
  kernel.on_allocate = [&](Kind, std::int64_t) { ++allocated; };
  // Each round allocates the only size once.
  kernel.on_run = [&](Kind, std::int64_t, int) { rest(allocated == 1 ? 2e-3 : 20e-3); };
  const bool covered = eventually([&] {
    allocated = 0;
    kernel.forget();
    const BuiltModels built = build(kernel, plan_of({5}, 2), host_alone());
    const models::MeasuredPoint& point = built.host->group.points.front();
    // At this level Student's interval of two rounds reaches to both.
    return point.confidence_s >= 7e-3 && point.time_s - point.confidence_s <= 4e-3 &&
           point.time_s + point.confidence_s >= 18e-3;
  });
  CHECK(covered);
}

TEST_CASE("sizes at which some unit is never precise count for no unit of the group, and are kept") {
  const SyntheticKernel kernel;
  BuildPlan plan = plan_of({4, 9}, 2);
  plan.precision = never_precise(3);
  plan.solo = true;
  const BuiltModels built = build(kernel, plan, started_units());
  for (const std::optional<UnitModels>* unit : {&built.host, &built.companion}) {
    if (!*unit) continue;
    for (const models::FpmFile* file : {&(*unit)->group, &*(*unit)->solo}) {
      CHECK(file->points.empty());
      CHECK(units_of(file->imprecise) == std::vector<double>{4.0, 9.0});
    }
  }
}

TEST_CASE("one restless unit takes a size from all units of the group, and leaves them the others") {
  SyntheticKernel kernel;
  const bool restless = session().rank() == session().size() - 1;
  kernel.on_run = [&](Kind kind, std::int64_t units, int run) {
    rest(2e-3);
    // Once, in the middle of the repetitions.
    if (restless && kind == Kind::host && units == 9 && run == 8) rest(0.25);
  };
  BuildPlan plan = plan_of({4, 9, 20});
  plan.precision = easily_precise(6);
  plan.precision.relative = 0.5;
  const bool split = eventually([&] {
    const BuiltModels built = build(kernel, plan, started_units());
    bool good = true;
    for (const std::optional<UnitModels>* unit : {&built.host, &built.companion}) {
      if (!*unit) continue;
      good = good && units_of((*unit)->group.points) == std::vector<double>{4.0, 20.0} &&
             units_of((*unit)->group.imprecise) == std::vector<double>{9.0};
    }
    return good;
  });
  CHECK(split);
}

TEST_CASE("a size is precise only if it was in every round") {
  SyntheticKernel kernel;
  int allocated = 0;
  kernel.on_allocate = [&](Kind, std::int64_t) { ++allocated; };
  kernel.on_run = [&](Kind, std::int64_t, int run) {
    rest(2e-3);
    if (allocated == 3 && run == 8) rest(0.25);  // the first size's second round
  };
  BuildPlan plan = plan_of({4, 9}, 3);
  plan.precision = easily_precise(6);
  plan.precision.relative = 0.5;
  const bool split = eventually([&] {
    allocated = 0;
    const BuiltModels built = build(kernel, plan, host_alone());
    return units_of(built.host->group.points) == std::vector<double>{9.0} &&
           units_of(built.host->group.imprecise) == std::vector<double>{4.0};
  });
  CHECK(split);
}

TEST_CASE("a size that does not fit a unit leaves it idle while the others are measured") {
  if (!memory_is_known()) SKIP("this machine does not tell how much memory it has");
  // The last rank holds more than the others.
  const bool large = session().rank() == session().size() - 1;
  SyntheticKernel kernel;
  kernel.known = facts_that_fit(large ? 100.0 : 10.0);
  const BuiltModels built = build(kernel, plan_of({5, 10, 11, 100}, 2), host_alone());
  CHECK(built.host->group.max_units == (large ? 100.0 : 10.0));
  CHECK(units_of(built.host->group.points) ==
        (large ? std::vector<double>{5.0, 10.0, 11.0, 100.0} : std::vector<double>{5.0, 10.0}));
}

TEST_CASE("a size that fits no unit is refused by number before any other is measured") {
  if (!memory_is_known()) SKIP("this machine does not tell how much memory it has");
  SyntheticKernel kernel;
  kernel.known = facts_that_fit(10.0 + session().rank());
  const std::int64_t largest = 10 + session().size() - 1;
  Sizes visited;
  CHECK_THROWS_MATCHES(
      build(kernel, plan_of({5, largest + 1}), host_alone(), &visited), InvalidArgument,
      MessageMatches(ContainsSubstring(std::to_string(largest + 1)) && ContainsSubstring(std::to_string(largest))));
  CHECK(visited.empty());
  CHECK(kernel.instances().empty());
  const BuiltModels built = build(kernel, plan_of({5, largest}), host_alone());
  CHECK_FALSE(built.host->group.points.empty());
}

TEST_CASE("memory that runs out all the same is everyone's error") {
  for (const int poor : {0, session().size() - 1}) {
    for (const bool solo : {false, true}) {
      SyntheticKernel kernel;
      int large = 0;
      kernel.on_allocate = [&](Kind kind, std::int64_t units) {
        if (kind != Kind::host || units != 9) return;
        // With `solo` only once it is alone.
        if (session().rank() == poor && ++large == (solo ? 2 : 1)) throw RuntimeFailure("out of memory");
      };
      BuildPlan plan = plan_of({4, 9, 20}, 2);
      plan.solo = solo;
      Sizes visited;
      CHECK_THROWS_MATCHES(build(kernel, plan, started_units(), &visited), CollectiveError,
                           MessageMatches(ContainsSubstring("out of memory")));
      CHECK(visited == Sizes{4});
      CHECK(kernel.alive() == 0);
    }
  }
}

TEST_CASE("an adaptive selection finds a cliff and stops") {
  constexpr double cliff = 700.0;
  SyntheticKernel kernel;
  kernel.on_run = [](Kind, std::int64_t units, int) {
    const double size = static_cast<double>(units);
    rest(size * (size < cliff ? 4e-6 : 12e-6));
  };
  BuildPlan plan = plan_of({});
  plan.adaptive = models::AdaptiveGoal{250, 2000, 0.3};
  plan.sizes = models::first_sizes(*plan.adaptive);
  plan.most_sizes = 40;
  const bool found = eventually([&] {
    Sizes visited;
    const BuiltModels built = build(kernel, plan, host_alone(), &visited);
    const std::vector<double> sizes = units_of(built.host->group.points);
    CHECK(std::is_sorted(sizes.begin(), sizes.end()));
    CHECK(sizes.size() == visited.size());
    CHECK(static_cast<int>(sizes.size()) <= plan.most_sizes);
    CHECK(sizes.front() == 250.0);
    CHECK(sizes.back() == 2000.0);
    // All ranks chose the same.
    double sum = 0.0;
    for (const double size : sizes) sum += size;
    CHECK(all_max(session().comm(), sum) == -all_max(session().comm(), -sum));
    const auto right = std::lower_bound(sizes.begin(), sizes.end(), cliff);
    return !built.uncertain && *right - *(right - 1) <= 0.05 * cliff;
  });
  CHECK(found);
}

TEST_CASE("an adaptive selection keeps to the most sizes that it was given, and says what is left") {
  SyntheticKernel kernel;
  kernel.on_run = [](Kind, std::int64_t units, int) {
    const double size = static_cast<double>(units);
    rest(size * (size < 700.0 ? 2e-6 : 10e-6));
  };
  for (const int more : {0, 2}) {
    BuildPlan plan = plan_of({}, 2);
    plan.adaptive = models::AdaptiveGoal{250, 2000, 0.05};
    plan.sizes = models::first_sizes(*plan.adaptive);
    const std::size_t most = plan.sizes.size() + static_cast<std::size_t>(more);
    plan.most_sizes = static_cast<int>(most);
    const bool told = eventually([&] {
      Sizes visited;
      const BuiltModels built = build(kernel, plan, host_alone(), &visited);
      // Later rounds come back to those that were added.
      CHECK(visited.size() <= 2 * most);
      CHECK(visited.size() % 2 == 0);
      const auto half = static_cast<std::ptrdiff_t>(visited.size() / 2);
      CHECK(std::equal(visited.begin(), visited.begin() + half, visited.begin() + half));
      return visited.size() == 2 * most && built.uncertain && built.uncertain->error > 0.05;
    });
    CHECK(told);
  }
}

TEST_CASE("a selection of one size, or of none, ends") {
  const SyntheticKernel kernel;
  BuildPlan plan = plan_of({});
  plan.adaptive = models::AdaptiveGoal{5, 5, 0.05};
  plan.sizes = models::first_sizes(*plan.adaptive);
  const BuiltModels one = build(kernel, plan, host_alone());
  CHECK(units_of(one.host->group.points) == std::vector<double>{5.0});
  CHECK_FALSE(one.uncertain.has_value());
  CHECK(build(kernel, plan_of({}), host_alone()).host->group.points.empty());
}

}  // namespace steelyard::test_model_builder
