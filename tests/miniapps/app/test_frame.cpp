#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <numeric>

#include "core/base/errors.hpp"
#include "miniapps/app/frame.hpp"
#include "tests/comm/same_on_all_ranks.hpp"
#include "tests/comm/synthetic_kernel.hpp"
#include "tests/miniapps/app/shared_folder.hpp"

namespace steelyard::test_frame {

using namespace steelyard::tests;

TEST_CASE("a region takes as long as its slowest rank, says the same everywhere and does not count who comes late") {
  const double slowest_s = 1e-3 * session().size();
  rest(session().is_root() ? 0.3 : 0.0);
  int runs = 0;
  const double start_s = now_s();
  const double seconds = timed_region(session(), "steelyard::test::region", [&] {
    rest(1e-3 * (session().rank() + 1));
    ++runs;
  });
  CHECK(runs == 1);
  CHECK(seconds >= slowest_s);
  // Rank 0 was the last to come, so nobody's region began before this.
  if (session().is_root()) CHECK(seconds <= now_s() - start_s + 1e-2);
  CHECK(same_on_all_ranks({seconds}));
}

TEST_CASE("an error of all ranks leaves a region that can be timed again") {
  const auto fail = [] { throw RuntimeFailure("no"); };
  CHECK_THROWS_AS(timed_region(session(), "steelyard::test::failing", fail), RuntimeFailure);
  CHECK(timed_region(session(), "steelyard::test::again", [] { rest(1e-3); }) >= 1e-3);
}

TEST_CASE("starting units takes a little time, the same on all ranks") {
  const RunOptions options;
  Frame frame(session(), options, started_units(), "test");
  const double seconds = frame.start_seconds();
  CHECK(seconds > 0.0);
  CHECK(seconds < 0.1);
  CHECK(same_on_all_ranks({seconds}));
}

TEST_CASE("the shares of all ranks are what was said of the slots, and nothing for units that a rank does not drive") {
  // Ranks drive all units that there are, a host unit and a companion, in turns.
  RankUnits units = started_units();
  if (session().rank() % 3 == 1) units.companion.reset();
  if (session().rank() % 3 == 2 && units.companion) units.host.reset();
  const RunOptions options;
  const Frame frame(session(), options, units, "test");
  std::vector<std::int64_t> slices;
  for (std::size_t i = 0; i < frame.slots().size(); ++i) slices.push_back(7 + 3 * static_cast<std::int64_t>(i));
  const UnitSizes mine = frame.own_share(slices);
  CHECK((mine.host > 0) == units.host.has_value());
  CHECK((mine.companion > 0) == units.companion.has_value());
  const std::vector<double> back =
      frame.gather_seconds({static_cast<double>(mine.host), static_cast<double>(mine.companion)});
  CHECK(back == std::vector<double>(slices.begin(), slices.end()));
}

TEST_CASE("a run takes the models that it is given, and says how long it measured where it is given none") {
  const SharedFolder folder;
  models::FpmFile file;
  file.points = {{1.0, 1e-3}};
  RunOptions options;
  options.models = {folder / "given.fpm.json"};
  on_root(session().comm(), [&] { models::write_fpm_file(options.models.front(), file); });
  SyntheticKernel kernel;
  kernel.on_run = [](ProcessingUnit::Kind, std::int64_t, int) { rest(1e-3); };
  Frame frame(session(), options, started_units(), "test");
  const std::vector<double> units = {frame.speed_models(kernel, 3, "geometric").files().back().points.front().units};
  CHECK(units == std::vector<double>{1.0});
  CHECK(kernel.instances().empty());
  CHECK(frame.record().figures.empty());
  // What is measured a second time, of another phase, adds to it.
  double before_s = 0.0;
  const double start_s = now_s();
  for (int phase = 0; phase < 2; ++phase) {
    CHECK(frame.speed_models(kernel, 3, "geometric", {}).files().size() == frame.slots().size());
    CHECK_FALSE(kernel.instances().empty());
    CHECK(frame.record().figures.at("model_time_s") > before_s);
    before_s = frame.record().figures.at("model_time_s");
  }
  CHECK(before_s <= now_s() - start_s + 2e-2);
}

TEST_CASE("a dynamic run starts evenly, and its slices go where their own seconds ask for, the same on all ranks") {
  RunOptions options;
  options.partition = "dynamic";
  Frame frame(session(), options, started_units(), "test");
  CHECK(frame.is_dynamic());
  const std::int64_t total = 1000;
  Plan plan = frame.even_plan(total);
  CHECK_FALSE(plan.time_s.has_value());
  const auto [least, most] = std::minmax_element(plan.distribution.begin(), plan.distribution.end());
  CHECK(*most - *least <= 1);
  StepBalancer balancer = frame.balancer(plan.distribution);
  CHECK(balancer.units() == plan.distribution);
  // Units of rank 0 are three times as slow as all others.
  const double unit_s = session().is_root() ? 3e-6 : 1e-6;
  int changes = 0;
  for (int step = 0; step < 50; ++step) {
    const UnitSizes mine = frame.own_share(balancer.units());
    const UnitSeconds seconds{unit_s * static_cast<double>(mine.host), unit_s * static_cast<double>(mine.companion)};
    changes += balancer.record(seconds, 50.0 - step) ? 1 : 0;
  }
  Outcome outcome;
  balancer.sum_up(outcome, plan);
  CHECK(outcome.figures.at("repartitions") == changes);
  CHECK(plan.distribution == balancer.units());
  CHECK(std::accumulate(plan.distribution.begin(), plan.distribution.end(), std::int64_t{0}) == total);
  CHECK(same_on_all_ranks(std::vector<double>(plan.distribution.begin(), plan.distribution.end())));
  CHECK((changes > 0) == (session().size() > 1));
  for (std::size_t i = 0; i < frame.slots().size() && session().size() > 1; ++i) {
    const auto expected = static_cast<double>(plan.distribution.back()) / (frame.slots()[i].rank == 0 ? 3.0 : 1.0);
    CHECK(std::abs(static_cast<double>(plan.distribution[i]) - expected) <= 0.05 * expected + 1.0);
  }
}

TEST_CASE("medians are of each value over the repetitions") {
  Medians medians;
  for (const double value : {3.0, 1.0, 2.0}) medians.add({value, -10.0 * value});
  CHECK(medians.values() == std::vector<double>{2.0, -20.0});
  CHECK(medians.value() == 2.0);
}

}  // namespace steelyard::test_frame
