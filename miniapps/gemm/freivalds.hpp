#pragma once

#include <cstdint>
#include <vector>

#include "core/matrix.hpp"
#include "miniapps/gemm/problem.hpp"

namespace steelyard::gemm {

/// What a check of some rows of C found.
struct RowCheck {
  double error = 0.0;            ///< largest deviation, as a share of what rounding alone may amount to; infinity where
                                 ///< a NaN or Inf is missing or should not be there
  std::int64_t worst_row = -1;   ///< row (counted from the first of those checked) of that deviation
  std::int64_t masked_rows = 0;  ///< rows of which only the NaNs and Infs could be checked
};

/// Freivalds' check: C x = alpha A (B x) + beta C' x for random x of +1 and -1, in double precision, at the cost of
/// reading each matrix once for all x together. A wrong row passes one x with a probability of at most 1/2, and a row
/// with a single wrong element none. Rows and columns that NaN or Inf in A, B or C' reach are checked for being there
/// and left out of the sums. All loops run on the host unit's threads.
/// Source: R. Freivalds, Probabilistic machines can use less running time, 1977.
template <class Scalar>
class Freivalds {
 public:
  /// Takes in B and, where beta is not 0, the rows of C before they are overwritten. Matrices are those of one rank:
  /// m rows of A and C, all of B. @param vectors number of random x, from `seed`
  Freivalds(const Problem& problem, int vectors, std::uint64_t seed, const ConstMatrix<HostExecution, Scalar>& b,
            const ConstMatrix<HostExecution, Scalar>& c_before);

  /// Deviations of row i are measured in u t sqrt(k + n + 4) (|alpha| |A_i| |B|_F + |beta| |C'_i|), with Euclidean
  /// norms, Scalar's unit roundoff u and t = 8: rounding errors of inner products add up like a random walk.
  RowCheck check(const ConstMatrix<HostExecution, Scalar>& a, const ConstMatrix<HostExecution, Scalar>& c) const;

 private:
  Problem problem_;
  int vectors_;
  std::vector<double> x_;       ///< n x vectors; 0 in columns of B with NaN or Inf
  std::vector<double> bx_;      ///< k x vectors
  std::vector<double> cx_;      ///< rows x vectors, of C before
  std::vector<double> b_norm_;  // implementers: change the private part as you like
};

}  // namespace steelyard::gemm
