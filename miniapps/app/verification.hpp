#pragma once

#include <string>

#include "comm/session.hpp"
#include "core/base/run_record.hpp"

namespace steelyard {

/// Error that one verification found on this rank.
struct FoundError {
  double error = 0.0;      ///< the largest; NaN and infinity are no result at all
  double tolerance = 0.0;  ///< the same on all ranks
  std::string against;     ///< what the result was compared with
};

/// Check of a record before anything has been verified: says if the user asked for none.
CheckResult unchecked(const RunOptions& options);

/// Whether a repetition's result has to be verified. @param repetition counted from 0; warm-ups are negative
bool is_check_due(const RunOptions& options, int repetition);

/// Adds a verification to the record's: the error is the largest of all ranks and all repetitions so far, and one that
/// is not within its tolerance fails them all. Collective.
void add_check(const Session& session, CheckResult& check, const FoundError& found);

/// The line `check      passed: …`, `check      FAILED: …` or `check      not done: …`.
std::string check_line(const CheckResult& check);

/// Exit code of a run that got to its end.
ExitCode exit_code(const CheckResult& check);

}  // namespace steelyard
