#pragma once

#include <cstdint>
#include <memory>

#include "comm/session.hpp"
#include "core/matrix.hpp"
#include "miniapps/app/verification.hpp"
#include "miniapps/summa/problem.hpp"

namespace steelyard::summa {

/// Freivalds' check (see gemm::Freivalds) of C = A B + C' where every rank has one tile of each matrix: vectors are
/// summed over the ranks, matrices stay where they are.
template <class Scalar>
class ResultCheck {
 public:
  /// Predicts C x. The matrices are not needed afterwards. Collective.
  /// @param tile of this rank, in all three matrices; may be empty @param c before the multiplication
  /// @throws CollectiveError, MpiError
  ResultCheck(const Session& session, const Problem& problem, std::uint64_t seed, const Tile& tile,
              const ConstMatrix<HostExecution, Scalar>& a, const ConstMatrix<HostExecution, Scalar>& b,
              const ConstMatrix<HostExecution, Scalar>& c);
  ~ResultCheck();

  /// What is wrong with this rank's tile. Collective. @param c as the multiplication has left it
  FoundError check(const ConstMatrix<HostExecution, Scalar>& c) const;

 private:
  class State;
  std::unique_ptr<State> state_;
};

}  // namespace steelyard::summa
