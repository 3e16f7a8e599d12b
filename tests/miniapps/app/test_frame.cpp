#include <numeric>

#include "miniapps/app/frame.hpp"
#include "miniapps/app/outputs.hpp"
#include "tests/catch.hpp"
#include "tests/comm/same_on_all_ranks.hpp"
#include "tests/comm/synthetic_kernel.hpp"

namespace steelyard::test_frame {

using namespace steelyard::tests;

TEST_CASE("a region takes as long as its slowest rank, says the same everywhere and does not count who comes late") {
  const auto fail = [] { throw RuntimeFailure("no"); };
  CHECK_THROWS_AS(timed_region(session(), "steelyard::test::failing", fail), RuntimeFailure);
  rest(session().is_root() ? 0.3 : 0.0);
  int runs = 0;
  const double start_s = now_s();
  const double seconds = timed_region(session(), "steelyard::test::region", [&] {
    rest(1e-3 * (session().rank() + 1));
    ++runs;
  });
  CHECK(runs == 1);
  CHECK(seconds >= 1e-3 * session().size());
  // Rank 0 was the last to come, so nobody's region began before this.
  if (session().is_root()) CHECK(seconds <= now_s() - start_s + 1e-2);
  CHECK(same_on_all_ranks({seconds}));
}

TEST_CASE("the shares of all ranks are what was said of the slots, and nothing for units that a rank does not drive") {
  // Ranks drive all units that there are, a host unit and a companion, in turns.
  RankUnits units = started_units();
  if (session().rank() % 3 == 1) units.companion.reset();
  if (session().rank() % 3 == 2 && units.companion) units.host.reset();
  const RunOptions options;
  Frame frame(session(), options, units, "test");
  std::vector<std::int64_t> slices;
  for (std::size_t i = 0; i < frame.slots().size(); ++i) slices.push_back(7 + 3 * static_cast<std::int64_t>(i));
  const UnitSizes mine = frame.own_share(slices);
  CHECK((mine.host > 0) == units.host.has_value());
  CHECK((mine.companion > 0) == units.companion.has_value());
  const std::vector<double> back =
      frame.gather_seconds({static_cast<double>(mine.host), static_cast<double>(mine.companion)});
  CHECK(back == std::vector<double>(slices.begin(), slices.end()));
  const double seconds = frame.start_s();
  CHECK(seconds > 0.0);
  CHECK(same_on_all_ranks({seconds}));
}

TEST_CASE("a dynamic run starts evenly, and its slices go where their own seconds ask for, the same on all ranks") {
  RunOptions options;
  options.partition = "dynamic";
  Frame frame(session(), options, started_units(), "test");
  CHECK(frame.is_dynamic());
  Plan plan = frame.even_plan(1000);
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
  CHECK(std::accumulate(plan.distribution.begin(), plan.distribution.end(), std::int64_t{0}) == 1000);
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
}

TEST_CASE("checks are due after no, the last or every repetition, warm-ups included; what is not checked ends well") {
  RunOptions options;
  options.repetitions = 3;
  for (int repetition = -2; repetition < 3; ++repetition) {
    options.check = CheckLevel::none;
    CHECK_FALSE(is_check_due(options, repetition));
    options.check = CheckLevel::last;
    CHECK(is_check_due(options, repetition) == (repetition == 2));
    options.check = CheckLevel::all;
    CHECK(is_check_due(options, repetition));
  }
  options.check = CheckLevel::none;
  const CheckResult check = Frame(session(), options, started_units(), "test").record().check;
  CHECK_FALSE(check.performed);
  CHECK(exit_code(check) == ExitCode::good);
  CHECK(check_line(check) == "check      not done: --check none\n");
}

TEST_CASE("a check is as wrong as its worst rank and repetition, on every rank, and what is no number is wrong") {
  const double infinity = std::numeric_limits<double>::infinity();
  for (const double worst : {3e-3, infinity, std::numeric_limits<double>::quiet_NaN()}) {
    for (int rank = 0; rank < session().size(); ++rank) {
      for (int failing = 0; failing < 3; ++failing) {
        CheckResult check, generous;
        for (int repetition = 0; repetition < 3; ++repetition) {
          const double error = session().rank() == rank && repetition == failing ? worst : 1e-3;
          add_check(session(), check, {error, 2e-3, "a reference"});
          add_check(session(), generous, {error, 3e-3, "a reference"});
          CHECK(check.passed == (repetition < failing));
          CHECK(exit_code(check) == (check.passed ? ExitCode::good : ExitCode::check_failed));
        }
        CHECK(check.error == (worst == 3e-3 ? worst : infinity));
        CHECK(generous.passed == (worst == 3e-3));
        CHECK(check_line(check).find("FAILED") != std::string::npos);
        CHECK((check_line(generous).find("passed") != std::string::npos) == generous.passed);
      }
    }
  }
}

}  // namespace steelyard::test_frame
