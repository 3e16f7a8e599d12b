#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/matrix.hpp"
#include "miniapps/app/verification.hpp"
#include "miniapps/gemm/freivalds.hpp"
#include "miniapps/gemm/problem.hpp"

namespace steelyard::gemm {

/// Verifies a rank's rows of C: Freivalds' check, and for small problems every element.
template <class Scalar>
class ResultCheck {
 public:
  /// @param problem all of it, of which this rank has some rows @param c before the multiplication; A and B stay where
  /// and what they are as long as this lives
  ResultCheck(const Problem& problem, std::uint64_t seed, const ConstMatrix<HostExecution, Scalar>& a,
              const ConstMatrix<HostExecution, Scalar>& b, const ConstMatrix<HostExecution, Scalar>& c);

  /// @param c as the multiplication has left it
  FoundError check(const ConstMatrix<HostExecution, Scalar>& c) const;

 private:
  Problem problem_;
  ConstMatrix<HostExecution, Scalar> a_, b_;
  Freivalds<Scalar> freivalds_;
  std::optional<std::vector<Scalar>> c_before_;  ///< of a problem that is small enough for the full comparison
};

}  // namespace steelyard::gemm
