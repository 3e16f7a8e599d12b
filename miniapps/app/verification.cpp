#include "miniapps/app/verification.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "comm/collective.hpp"

namespace steelyard {

CheckResult unchecked(const RunOptions& options) {
  CheckResult check;
  if (options.check == CheckLevel::none) check.against = "--check none";
  return check;
}

bool is_check_due(const RunOptions& options, int repetition) {
  const bool last = repetition + 1 == options.repetitions;
  return options.check == CheckLevel::all || (options.check == CheckLevel::last && last);
}

void add_check(const Session& session, CheckResult& check, const FoundError& found) {
  // A NaN compares as nothing, least of all as large.
  const double mine = std::isfinite(found.error) ? found.error : std::numeric_limits<double>::infinity();
  const double error = all_max(session.comm(), mine);
  check.passed = (!check.performed || check.passed) && error <= found.tolerance;
  check.error = check.performed ? std::max(check.error, error) : error;
  check.tolerance = found.tolerance;
  check.performed = true;
  check.against = found.against;
}

std::string check_line(const CheckResult& check) {
  if (!check.performed) return fmt::format("check      not done: {}\n", check.against);
  return fmt::format("check      {}: largest error {:.2e} against {} (tolerance {:.2g})\n",
                     check.passed ? "passed" : "FAILED", check.error, check.against, check.tolerance);
}

ExitCode exit_code(const CheckResult& check) {
  return check.performed && !check.passed ? ExitCode::check_failed : ExitCode::good;
}

}  // namespace steelyard
