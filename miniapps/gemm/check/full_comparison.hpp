#pragma once

#include "miniapps/gemm/check/row_check.hpp"
#include "miniapps/gemm/problem.hpp"

namespace steelyard::gemm {

/// Whether the full comparison takes well below a second on one core.
inline bool worth_full_comparison(const Problem& problem) { return problem.flops() <= 2e8; }

/// Compares every element of some rows of C with its own inner product, computed in double for float and in long double
/// for double. Deviations are measured in (u + w) (k + 3) (|alpha| sum_l |A_il B_lj| + |beta C'_ij|) and
/// losses to underflow, with the unit roundoffs u of Scalar and w of the comparison: the worst case for sums in any
/// order.
///
/// NaN must be NaN and Inf the same Inf. Only where the order of operations decides which of them it is are they
/// equally right: where alpha or beta is Inf, and where a sum on the way may leave the range of Scalar; and there, too,
/// a number. A and B are not read where alpha or k is 0, nor C' where beta is. No row is masked, for elements are
/// checked one by one. All loops run on the host unit's threads.
/// @param a, b, c_before, c rows x k, k x n, rows x n, rows x n in host memory; c_before: before the multiplication
/// @throws InvalidArgument for extents that do not fit, of matrices that are read
template <class Scalar>
RowCheck full_comparison(const Problem& problem, const ConstHostMatrix<Scalar>& a, const ConstHostMatrix<Scalar>& b,
                         const ConstHostMatrix<Scalar>& c_before, const ConstHostMatrix<Scalar>& c);

}  // namespace steelyard::gemm
