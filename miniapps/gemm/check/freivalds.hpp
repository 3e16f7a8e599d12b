#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "miniapps/gemm/check/row_products.hpp"
#include "miniapps/gemm/problem.hpp"

namespace steelyard::gemm {

/// Rows or columns of a matrix.
struct IndexRange {
  std::int64_t first = 0;
  std::int64_t count = 0;
};

/// The part of A, B and C that a process has, and sums over the parts of all processes: here, of a process that has
/// whole rows of A and C and all of B. The functions are collective; `work` computes on the process's own part and must
/// not communicate. An exception on one process is thrown on all.
class Sharing {
 public:
  /// Computes products and norms of a process's own part of some rows.
  using RowWork = std::function<RowProducts()>;
  /// Marks columns of this process's own part of B with 1.
  using ColumnWork = std::function<std::vector<unsigned char>()>;

  explicit Sharing(const Problem& problem) : problem_(problem) {}
  virtual ~Sharing() = default;

  virtual IndexRange a_columns() const { return {0, problem_.k}; }  ///< of A that this process has
  virtual IndexRange b_rows() const { return {0, problem_.k}; }
  virtual IndexRange columns() const { return {0, problem_.n}; }  ///< of B and C

  virtual void together(const std::function<void()>& work) const { work(); }
  /// Products and norms of this process's rows of A or C as a whole.
  virtual RowProducts whole_rows(const RowWork& work) const { return work(); }
  /// The same of all rows of B, those of other processes too.
  virtual RowProducts whole_b(const RowWork& work) const { return work(); }
  /// Which of this process's columns of B any process marks.
  virtual std::vector<unsigned char> marked_by_any(const ColumnWork& work) const { return work(); }

 private:
  Problem problem_;
};

/// Freivalds' check: C x = alpha A (B x) + beta C' x for random vectors x of +1 and -1, in double precision, at the
/// cost of reading each matrix once for all of them. All loops run on the host unit's threads.
///
/// The root mean square of a row's deviations over the vectors estimates the Euclidean norm of its errors, the row of
/// C - (alpha A B + beta C'). A single wrong element deviates by its whole error in every vector; of other errors, a
/// vector misses at most half. An error in tiny elements is not seen beside rounding errors of large ones in their row.
///
/// A and B are not read where alpha or k is 0, nor C' where beta is. NaN or Inf must be all over the row of C that
/// belongs to a row of A with one, all over the column of a column of B with one, in the place of each in C', and
/// nowhere else. Such columns are left out of the sums, and of such rows nothing else is checked. Neither is it of rows
/// where an Inf comes from sums that may leave the range of Scalar, or where the norms below leave that of double.
///
/// Source: R. Freivalds, Probabilistic machines can use less running time, 1977.
template <class Scalar>
class Freivalds {
 public:
  /// Predicts C x from this process's parts of the matrices, which are not needed afterwards. Where processes share
  /// rows, sums over their parts are the rows' sums, and NaN or Inf in one part count in all. Collective, as `sharing`
  /// is. @param problem all of it @param seed of the random x, the same on all processes
  /// @param c_before C before the multiplication
  /// @throws InvalidArgument for extents that do not fit, of matrices that are read
  Freivalds(const Problem& problem, std::uint64_t seed, std::shared_ptr<const Sharing> sharing,
            const ConstHostMatrix<Scalar>& a, const ConstHostMatrix<Scalar>& b,
            const ConstHostMatrix<Scalar>& c_before);

  /// The error of row i is the root mean square of its deviations, as a share of t = 1 + 8 / sqrt(vectors) times the
  /// largest norm of its rounding errors and of losses to underflow. Random signs make more than t of
  /// that norm with a probability of at most e^-32 (Laurent's and Massart's bound). With Scalar's unit roundoff u,
  /// Euclidean norms and R_i = |alpha| |A_i| |B|_F + |beta| |C'_i|, the largest norm is for double
  /// u (2 k + 2 n + 6) R_i, the worst case of the product and of this check's sums, which is far below any error of
  /// interest. In float it would hide a missing panel; there it is u (3 + sqrt(k) / 4) R_i + u k / 2 |alpha| P_i:
  /// independent roundings add up like a random walk, for which the first term has room in any order of summation. But
  /// equal products round the same way again and again, half a unit on average at worst, and lose a share of the
  /// partial sums; P_i is the root mean square norm of those, which the sums of A (B x) show.
  /// Collective where processes share rows; each checks its own columns of C for NaN and Inf.
  /// @return the largest error of this process's rows, which are right up to 1; infinity where a NaN or Inf is missing
  /// or should not be there
  /// @throws InvalidArgument for extents that do not fit
  double check(const ConstHostMatrix<Scalar>& c) const;

 private:
  void expect_fit(const ConstHostMatrix<Scalar>& a, const ConstHostMatrix<Scalar>& b,
                  const ConstHostMatrix<Scalar>& c_before) const;
  void predict_product(const ConstHostMatrix<Scalar>& a, const ConstHostMatrix<Scalar>& b);
  void predict_before(const ConstHostMatrix<Scalar>& c_before);
  struct RowError;

  Problem problem_;
  std::shared_ptr<const Sharing> sharing_;
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
