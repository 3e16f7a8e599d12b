#include <catch2/catch_test_macros.hpp>
#include <limits>
#include <vector>

#include "miniapps/cavity/solve_monitor.hpp"

namespace steelyard::test_solve_monitor {

using namespace steelyard::cavity;

namespace {

SolveSettings settings() {
  SolveSettings chosen;
  chosen.relative = 1e-3;
  chosen.absolute = 1.0;
  chosen.most_iterations = 5000;
  chosen.most_restarts = 2;
  chosen.keep_history = true;
  return chosen;
}

}  // namespace

TEST_CASE("a solve ends where the residual is down to the tolerance, relative to b and absolute") {
  SolveMonitor monitor(settings(), 4, 5);
  CHECK(monitor.begins(2000.0, 1000.0));
  CHECK(monitor.tolerance() == 2.0);
  CHECK(monitor.goes_on(2.5));
  CHECK_FALSE(monitor.goes_on(2.0));
  CHECK(monitor.seems_solved());
  CHECK_FALSE(monitor.begins_again(2.1));
  CHECK(monitor.report().outcome == SolveOutcome::converged);
  CHECK(monitor.report().iterations == 2);
  CHECK(monitor.report().residual == 2.1);
  CHECK(monitor.report().history == std::vector<double>{2000.0, 2.5, 2.0});
}

TEST_CASE("a solve does not begin where there is nothing to do") {
  SolveMonitor monitor(settings(), 4, 5);
  CHECK_FALSE(monitor.begins(1.5, 1000.0));
  CHECK(monitor.report().outcome == SolveOutcome::converged);
  CHECK(monitor.report().iterations == 0);
}

TEST_CASE("a residual that is not the true one makes a solve begin again while that helps") {
  SolveMonitor monitor(settings(), 4, 5);
  CHECK(monitor.begins(2000.0, 1000.0));
  CHECK_FALSE(monitor.goes_on(1.0));
  CHECK(monitor.begins_again(500.0));
  CHECK(monitor.begins(500.0, 1000.0));
  CHECK_FALSE(monitor.goes_on(1.0));
  SECTION("it has helped") {
    CHECK(monitor.begins_again(100.0));
    CHECK(monitor.report().restarts == 2);
    CHECK(monitor.begins(100.0, 1000.0));
    CHECK_FALSE(monitor.goes_on(1.0));
    SECTION("and solved") {
      CHECK_FALSE(monitor.begins_again(1.9));
      CHECK(monitor.report().outcome == SolveOutcome::converged);
      CHECK(monitor.report().iterations == 3);
    }
    SECTION("but too often") {
      CHECK_FALSE(monitor.begins_again(10.0));
      CHECK(monitor.report().outcome == SolveOutcome::stagnated);
    }
  }
  SECTION("it has not") {
    CHECK_FALSE(monitor.begins_again(490.0));
    CHECK(monitor.report().outcome == SolveOutcome::stagnated);
    CHECK(monitor.report().residual == 490.0);
  }
}

TEST_CASE("a residual that does not come down for long is stagnation") {
  SolveMonitor monitor(settings(), 4, 5);
  CHECK(monitor.begins(2000.0, 1000.0));
  int iterations = 1;
  while (monitor.goes_on(1999.0 - 0.1 * iterations)) ++iterations;
  CHECK(monitor.report().outcome == SolveOutcome::stagnated);
  CHECK(iterations == monitor.patience());

  SolveMonitor slow(settings(), 4, 5);
  CHECK(slow.begins(2000.0, 1000.0));
  double residual = 2000.0;
  while (slow.goes_on(residual *= 0.998)) continue;
  CHECK(slow.seems_solved());
}

TEST_CASE("a solve ends where iterations or restarts are used up") {
  SolveSettings few = settings();
  few.most_iterations = 2;
  SolveMonitor monitor(few, 4, 5);
  CHECK(monitor.begins(2000.0, 1000.0));
  CHECK(monitor.goes_on(100.0));
  CHECK_FALSE(monitor.goes_on(50.0));
  CHECK(monitor.report().outcome == SolveOutcome::too_many_iterations);
  CHECK_FALSE(monitor.seems_solved());

  SolveMonitor breaking(settings(), 4, 5);
  CHECK(breaking.begins(2000.0, 1000.0));
  CHECK(breaking.begins_again_after_breakdown(0.0));
  CHECK(breaking.begins_again_after_breakdown(1e-20));
  CHECK_FALSE(breaking.begins_again_after_breakdown(0.0));
  CHECK(breaking.report().outcome == SolveOutcome::broke_down);
}

TEST_CASE("numbers that are not finite end a solve") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  SolveMonitor first(settings(), 4, 5);
  CHECK_FALSE(first.begins(nan, 1000.0));
  CHECK(first.report().outcome == SolveOutcome::not_finite);
  SolveMonitor right_side(settings(), 4, 5);
  CHECK_FALSE(right_side.begins(1.0, std::numeric_limits<double>::infinity()));
  CHECK(right_side.report().outcome == SolveOutcome::not_finite);
  SolveMonitor later(settings(), 4, 5);
  CHECK(later.begins(2000.0, 1000.0));
  CHECK_FALSE(later.goes_on(nan));
  CHECK(later.report().outcome == SolveOutcome::not_finite);
  SolveMonitor checked(settings(), 4, 5);
  CHECK(checked.begins(2000.0, 1000.0));
  CHECK_FALSE(checked.goes_on(1.0));
  CHECK_FALSE(checked.begins_again(nan));
  CHECK(checked.report().outcome == SolveOutcome::not_finite);
  SolveMonitor broken(settings(), 4, 5);
  CHECK(broken.begins(2000.0, 1000.0));
  CHECK_FALSE(broken.begins_again_after_breakdown(nan));
  CHECK(broken.report().outcome == SolveOutcome::not_finite);
}

TEST_CASE("where b is 0 only 0 solves") {
  SolveSettings exact = settings();
  exact.absolute = 0.0;
  SolveMonitor monitor(exact, 4, 5);
  CHECK(monitor.begins(1.0, 0.0));
  CHECK(monitor.solution_is_zero());
  monitor.has_zeroed();
  CHECK(monitor.report().outcome == SolveOutcome::converged);
  CHECK(monitor.report().residual == 0.0);
}

}  // namespace steelyard::test_solve_monitor
