#pragma once

#include <cstdint>
#include <vector>

#include "core/matrix.hpp"
#include "miniapps/gemm/problem.hpp"
#include "miniapps/gemm/row_check.hpp"
#include "miniapps/gemm/row_products.hpp"

namespace steelyard::gemm {

/// Freivalds' check: C x = alpha A (B x) + beta C' x for random vectors x of +1 and -1, in double precision, at the
/// cost of reading each matrix once for all of them. All loops run on the space's threads.
///
/// The root mean square of a row's deviations over the vectors estimates the Euclidean norm of the row of errors
/// C - (alpha A B + beta C'). A single wrong element deviates by its whole error in every vector; of other errors, each
/// vector misses at most half.
///
/// A and B are not read where alpha or k is 0, nor C' where beta is. NaN or Inf must be all over the row of C that
/// belongs to a row of A with one, all over the column of a column of B with one, in the place of each in C', and
/// nowhere else; such columns are left out of the sums, and of such a row nothing else is checked. That goes, too, for
/// rows whose sums may leave the range of Scalar, in which an Inf is no error. An error in tiny elements of a row is
/// not seen beside rounding errors of its large ones. Source: R. Freivalds, Probabilistic machines can use less running
/// time, 1977.
template <class Scalar>
class Freivalds {
 public:
  /// Takes in B and, where beta is not 0, the rows of C before they are overwritten. Matrices are those of one process:
  /// any number of rows of A and C, all of B. @param vectors number of random x, from `seed`, the same on all processes
  /// @throws InvalidArgument for extents that do not fit, or without a vector
  Freivalds(const HostExecution& space, const Problem& problem, int vectors, std::uint64_t seed,
            const ConstMatrix<HostExecution, Scalar>& b, const ConstMatrix<HostExecution, Scalar>& c_before);

  /// Compares the root mean square deviation of each row i with t = 1 + 8 / sqrt(vectors) times the largest norm that
  /// its rounding errors can have: by Laurent's and Massart's bound a row of that norm exceeds t with probability e^-32
  /// at most. With Scalar's unit roundoff u and R_i = |alpha| |A_i| |B|_F + |beta| |C'_i|, Euclidean norms, this is
  ///   double: u (2 k + 2 n + 6) R_i, the worst case of the product and of this check's own sums. It is far below any
  ///           error of interest.
  ///   float:  u (3 + sqrt(k) / 2) R_i + u k / 2 |alpha| P_i. The worst case would hide a missing panel. Independent
  ///           roundings add up like a random walk, which the first term bounds for sums in any order. But equal
  ///           products round the same way over and over, by half the unit on average at worst, and what they lose is a
  ///           share of the partial sums: P_i, their root mean square norm, is seen in the sums of A (B x).
  /// plus what is lost to underflow.
  /// @throws InvalidArgument for extents that do not fit
  RowCheck check(const ConstMatrix<HostExecution, Scalar>& a, const ConstMatrix<HostExecution, Scalar>& c) const;

 private:
  void take_in(const ConstMatrix<HostExecution, Scalar>& b);
  void skip_columns_not_finite(const ConstMatrix<HostExecution, Scalar>& b, const std::vector<unsigned char>& finite);

  HostExecution space_;
  Problem problem_;
  double alpha_, beta_;  ///< as they are in Scalar
  VectorBundle x_;
  std::vector<unsigned char> skipped_;  ///< for each column, whether B has NaN or Inf there; empty: none
  VectorBundle bx_;
  double b_norm_ = 0.0;
  std::int64_t rows_before_ = 0;
  RowProducts before_;
  std::vector<std::vector<bool>> not_finite_before_;  ///< elements of those rows of C' that have NaN or Inf
};

}  // namespace steelyard::gemm
