#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cmath>
#include <limits>

#include "miniapps/app/verification.hpp"
#include "tests/comm/same_on_all_ranks.hpp"

namespace steelyard::test_verification {

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::StartsWith;
using namespace steelyard::tests;

TEST_CASE("checks are due after no, the last or every repetition, warm-ups included") {
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
}

TEST_CASE("what was not verified says why and ends well") {
  RunOptions options;
  options.check = CheckLevel::none;
  CheckResult check = unchecked(options);
  CHECK_FALSE(check.performed);
  CHECK(exit_code(check) == ExitCode::good);
  CHECK(check_line(check) == "check      not done: --check none\n");
  options.check = CheckLevel::last;
  check = unchecked(options);
  CHECK(check.against.empty());
  check.against = "nothing to compare with";
  CHECK_THAT(check_line(check), ContainsSubstring("not done: nothing to compare with"));
}

TEST_CASE("an error is that of the worst rank, on every rank") {
  for (int worst = 0; worst < session().size(); ++worst) {
    const double mine = session().rank() == worst ? 3e-3 : 1e-3;
    CheckResult check;
    add_check(session(), check, {mine, 2e-3, "a reference"});
    CHECK(check.performed);
    CHECK(check.error == 3e-3);
    CHECK_FALSE(check.passed);
    CHECK(exit_code(check) == ExitCode::check_failed);
    CHECK_THAT(check_line(check), StartsWith("check      FAILED: largest error 3.00e-03 against a reference"));
    CheckResult generous;
    add_check(session(), generous, {mine, 3e-3, "a reference"});
    CHECK(generous.passed);
    CHECK(exit_code(generous) == ExitCode::good);
    CHECK_THAT(check_line(generous), StartsWith("check      passed: ") && ContainsSubstring("tolerance 3.0e-03"));
  }
}

TEST_CASE("one failure fails all checks, before and after, and the largest error is kept") {
  for (int failing = 0; failing < 3; ++failing) {
    CheckResult check;
    for (int repetition = 0; repetition < 3; ++repetition) {
      add_check(session(), check, {repetition == failing ? 5.0 : 0.5, 1.0, "a reference"});
      CHECK(check.passed == (repetition < failing));
    }
    CHECK(check.error == 5.0);
  }
}

TEST_CASE("what is not a number on any rank is no result") {
  for (const double bad : {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    for (int rank = 0; rank < session().size(); ++rank) {
      CheckResult check;
      add_check(session(), check, {session().rank() == rank ? bad : 0.0, 1.0, "a reference"});
      CHECK_FALSE(check.passed);
      CHECK(std::isinf(check.error));
    }
  }
}

}  // namespace steelyard::test_verification
