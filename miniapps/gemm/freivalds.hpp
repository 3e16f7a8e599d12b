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
/// The root mean square of a row's deviations over the vectors estimates the Euclidean norm of its errors, the row of
/// C - (alpha A B + beta C'). A single wrong element deviates by its whole error in every vector; of other errors, a
/// vector misses at most half. An error in tiny elements is not seen beside rounding errors of large ones in their row.
///
/// A and B are not read where alpha or k is 0, nor C' where beta is. NaN or Inf must be all over the row of C that
/// belongs to a row of A with one, all over the column of a column of B with one, in the place of each in C', and
/// nowhere else. Such columns are left out of the sums, and of such rows nothing else is checked; neither is it of rows
/// in which sums may leave the range of Scalar and there is an Inf, which is no error then.
///
/// Source: R. Freivalds, Probabilistic machines can use less running time, 1977.
template <class Scalar>
class Freivalds {
 public:
  /// Predicts C x from the matrices of one process: some rows of A and C, all of B. They are not needed afterwards.
  /// @param c_before C before the multiplication
  /// @param vectors number of random x, made from `seed`, the same on all processes
  /// @throws InvalidArgument for extents that do not fit, of matrices that are read, or without a vector
  Freivalds(const HostExecution& space, const Problem& problem, int vectors, std::uint64_t seed,
            const ConstMatrix<HostExecution, Scalar>& a, const ConstMatrix<HostExecution, Scalar>& b,
            const ConstMatrix<HostExecution, Scalar>& c_before);

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
  RowCheck check(const ConstMatrix<HostExecution, Scalar>& c) const;

 private:
  void predict_product(const ConstMatrix<HostExecution, Scalar>& a, const ConstMatrix<HostExecution, Scalar>& b);
  void look_for_special_columns(const ConstMatrix<HostExecution, Scalar>& b, const std::vector<unsigned char>& finite);

  HostExecution space_;
  Problem problem_;
  double alpha_, beta_;  ///< as they are in Scalar
  bool reads_product_, reads_before_;
  VectorBundle x_;
  std::vector<unsigned char> skipped_;  ///< for each column, whether B has NaN or Inf there; empty: none
  double b_norm_ = 0.0;
  RowProducts product_;                               ///< of A with B x
  RowProducts before_;                                ///< of C'
  std::vector<std::vector<bool>> not_finite_before_;  ///< elements of those rows of C' that have NaN or Inf
};

}  // namespace steelyard::gemm
