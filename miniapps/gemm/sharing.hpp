#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "miniapps/gemm/problem.hpp"
#include "miniapps/gemm/row_products.hpp"

namespace steelyard::gemm {

/// Rows or columns of a matrix.
struct IndexRange {
  std::int64_t first = 0;
  std::int64_t count = 0;
};

/// Which part of A, B and C a process has, and how it comes by what only all processes together know. The functions are
/// collective among them; `work` is the process's own and must not communicate: what it throws on one, all throw.
class Sharing {
 public:
  /// Says of rows of a matrix what a process's own part of them says.
  using RowWork = std::function<RowProducts()>;

  virtual ~Sharing() = default;

  virtual IndexRange a_columns() const = 0;  ///< of A that this process has
  virtual IndexRange b_rows() const = 0;
  virtual IndexRange columns() const = 0;  ///< of B and C

  virtual void together(const std::function<void()>& work) const = 0;
  /// What is true of this process's rows of A or C as a whole.
  virtual RowProducts whole_rows(const RowWork& work) const = 0;
  /// The same of all rows of B, those of other processes too.
  virtual RowProducts whole_b(const RowWork& work) const = 0;
  /// Which of this process's columns of B any process marks with 1. @param work marks them by what it has of them
  virtual std::vector<unsigned char> marked_by_any(const std::function<std::vector<unsigned char>()>& work) const = 0;
};

/// A process that has whole rows of A and C and all of B needs nobody.
class WholeRows final : public Sharing {
 public:
  explicit WholeRows(const Problem& problem) : n_(problem.n), k_(problem.k) {}

  IndexRange a_columns() const override { return {0, k_}; }
  IndexRange b_rows() const override { return {0, k_}; }
  IndexRange columns() const override { return {0, n_}; }
  void together(const std::function<void()>& work) const override { work(); }
  RowProducts whole_rows(const RowWork& work) const override { return work(); }
  RowProducts whole_b(const RowWork& work) const override { return work(); }
  std::vector<unsigned char> marked_by_any(const std::function<std::vector<unsigned char>()>& work) const override {
    return work();
  }

 private:
  std::int64_t n_, k_;
};

}  // namespace steelyard::gemm
