#include <catch2/catch_test_macros.hpp>
#include <limits>
#include <string>
#include <vector>

#include "miniapps/cavity/solvers/solve_monitor.hpp"

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
  CHECK(monitor.should_iterate(2000.0, 1000.0));
  CHECK(monitor.tolerance() == 2.0);
  CHECK(monitor.should_continue(2.5));
  CHECK_FALSE(monitor.should_continue(2.0));
  CHECK(monitor.seems_solved());
  CHECK_FALSE(monitor.should_restart(2.1));
  CHECK(monitor.report().outcome == SolveOutcome::converged);
  CHECK(monitor.report().iterations == 2);
  CHECK(monitor.report().residual == 2.1);
  CHECK(monitor.report().history == std::vector<double>{2000.0, 2.5, 2.0});
}

TEST_CASE("a solve does not begin where there is nothing to do") {
  SolveMonitor monitor(settings(), 4, 5);
  CHECK_FALSE(monitor.should_iterate(1.5, 1000.0));
  CHECK(monitor.report().outcome == SolveOutcome::converged);
  CHECK(monitor.report().iterations == 0);
}

TEST_CASE("a residual that is not the true one makes a solve restart while that helps") {
  SolveMonitor monitor(settings(), 4, 5);
  CHECK(monitor.should_iterate(2000.0, 1000.0));
  CHECK_FALSE(monitor.should_continue(1.0));
  CHECK(monitor.should_restart(500.0));
  CHECK(monitor.should_iterate(500.0, 1000.0));
  CHECK_FALSE(monitor.should_continue(1.0));
  SECTION("it has helped") {
    CHECK(monitor.should_restart(100.0));
    CHECK(monitor.report().restarts == 2);
    CHECK(monitor.should_iterate(100.0, 1000.0));
    CHECK_FALSE(monitor.should_continue(1.0));
    SECTION("and solved") {
      CHECK_FALSE(monitor.should_restart(1.9));
      CHECK(monitor.report().outcome == SolveOutcome::converged);
      CHECK(monitor.report().iterations == 3);
    }
    SECTION("but too often") {
      CHECK_FALSE(monitor.should_restart(10.0));
      CHECK(monitor.report().outcome == SolveOutcome::stagnated);
    }
  }
  SECTION("it has not") {
    CHECK_FALSE(monitor.should_restart(490.0));
    CHECK(monitor.report().outcome == SolveOutcome::stagnated);
    CHECK(monitor.report().residual == 490.0);
  }
}

TEST_CASE("a residual that does not come down for long is stagnation") {
  SolveMonitor monitor(settings(), 4, 5);
  CHECK(monitor.should_iterate(2000.0, 1000.0));
  int iterations = 1;
  while (monitor.should_continue(1999.0 - 0.1 * iterations)) ++iterations;
  CHECK(monitor.report().outcome == SolveOutcome::stagnated);
  CHECK(iterations == monitor.patience());

  SolveMonitor slow(settings(), 4, 5);
  CHECK(slow.should_iterate(2000.0, 1000.0));
  double residual = 2000.0;
  while (slow.should_continue(residual *= 0.998)) continue;
  CHECK(slow.seems_solved());
}

TEST_CASE("a solve ends where iterations or restarts are used up") {
  SolveSettings few = settings();
  few.most_iterations = 2;
  SolveMonitor monitor(few, 4, 5);
  CHECK(monitor.should_iterate(2000.0, 1000.0));
  CHECK(monitor.should_continue(100.0));
  CHECK_FALSE(monitor.should_continue(50.0));
  CHECK(monitor.report().outcome == SolveOutcome::too_many_iterations);
  CHECK_FALSE(monitor.seems_solved());

  SolveMonitor breaking(settings(), 4, 5);
  CHECK(breaking.should_iterate(2000.0, 1000.0));
  CHECK(breaking.should_restart_after_breakdown(0.0));
  CHECK(breaking.should_restart_after_breakdown(1e-20));
  CHECK_FALSE(breaking.should_restart_after_breakdown(0.0));
  CHECK(breaking.report().outcome == SolveOutcome::broke_down);
}

TEST_CASE("numbers that are not finite end a solve") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  SolveMonitor first(settings(), 4, 5);
  CHECK_FALSE(first.should_iterate(nan, 1000.0));
  CHECK(first.report().outcome == SolveOutcome::not_finite);
  SolveMonitor right_side(settings(), 4, 5);
  CHECK_FALSE(right_side.should_iterate(1.0, std::numeric_limits<double>::infinity()));
  CHECK(right_side.report().outcome == SolveOutcome::not_finite);
  SolveMonitor later(settings(), 4, 5);
  CHECK(later.should_iterate(2000.0, 1000.0));
  CHECK_FALSE(later.should_continue(nan));
  CHECK(later.report().outcome == SolveOutcome::not_finite);
  SolveMonitor checked(settings(), 4, 5);
  CHECK(checked.should_iterate(2000.0, 1000.0));
  CHECK_FALSE(checked.should_continue(1.0));
  CHECK_FALSE(checked.should_restart(nan));
  CHECK(checked.report().outcome == SolveOutcome::not_finite);
  SolveMonitor broken(settings(), 4, 5);
  CHECK(broken.should_iterate(2000.0, 1000.0));
  CHECK_FALSE(broken.should_restart_after_breakdown(nan));
  CHECK(broken.report().outcome == SolveOutcome::not_finite);
}

TEST_CASE("where b is 0 only 0 solves") {
  SolveSettings exact = settings();
  exact.absolute = 0.0;
  SolveMonitor monitor(exact, 4, 5);
  CHECK(monitor.should_iterate(1.0, 0.0));
  CHECK(monitor.solution_is_zero());
  monitor.end_with_zero();
  CHECK(monitor.report().outcome == SolveOutcome::converged);
  CHECK(monitor.report().residual == 0.0);
}

TEST_CASE("a solve that failed says what was expected and ends the program as failed") {
  SolveReport report;
  CHECK_NOTHROW(require_solved("pressure (conjugate gradients)", report));
  report.outcome = SolveOutcome::stagnated;
  report.iterations = 321;
  report.restarts = 2;
  report.residual = 1.25e-5;
  report.tolerance = 2.5e-9;
  try {
    require_solved("pressure (conjugate gradients)", report);
    FAIL("no error");
  } catch (const Error& error) {
    CHECK(error.code() == ExitCode::failed);
    const std::string message = error.what();
    for (const char* const part :
         {"pressure (conjugate gradients)", "stagnated", "321", "restarts 2", "1.250e-05", "2.500e-09"}) {
      CHECK(message.find(part) != std::string::npos);
    }
  }
}

}  // namespace steelyard::test_solve_monitor
