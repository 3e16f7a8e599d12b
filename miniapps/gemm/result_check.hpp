#pragma once

#include <cstdint>
#include <optional>

#include "core/matrix.hpp"
#include "miniapps/app/verification.hpp"
#include "miniapps/gemm/freivalds.hpp"
#include "miniapps/gemm/full_comparison.hpp"
#include "miniapps/gemm/problem.hpp"

namespace steelyard::gemm {

/// Verifies a rank's rows of C: Freivalds' check, and for small problems every element.
template <class Scalar>
class ResultCheck {
 public:
  static constexpr int vectors = 8;

  /// @param c as it is before the multiplication; @param problem all of it, of which this rank has some rows. A and B
  /// stay where they are as long as this lives.
  ResultCheck(const Problem& problem, std::uint64_t seed, const ConstMatrix<HostExecution, Scalar>& a,
              const ConstMatrix<HostExecution, Scalar>& b, const ConstMatrix<HostExecution, Scalar>& c);

  /// @param c as the multiplication has left it
  FoundError check(const ConstMatrix<HostExecution, Scalar>& c) const;
};

}  // namespace steelyard::gemm
