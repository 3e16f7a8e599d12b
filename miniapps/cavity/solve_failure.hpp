#pragma once

#include <string>

#include "core/base/errors.hpp"
#include "miniapps/cavity/solve_report.hpp"

namespace steelyard::cavity {

/// A linear system was not solved: how that ended, after how many iterations, its residual and what was expected.
class SolveFailure : public Error {
 public:
  /// @param system what was to be solved and by what, for the message
  SolveFailure(const std::string& system, const SolveReport& report);
};

/// Reports are the same on all units, so that all of them throw or none.
/// @throws SolveFailure where the solver did not converge
void require_solved(const std::string& system, const SolveReport& report);

}  // namespace steelyard::cavity
