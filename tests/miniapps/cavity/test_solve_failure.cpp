#include <catch2/catch_test_macros.hpp>
#include <string>

#include "miniapps/cavity/solve_failure.hpp"

namespace steelyard::test_solve_failure {

using namespace steelyard::cavity;

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

}  // namespace steelyard::test_solve_failure
