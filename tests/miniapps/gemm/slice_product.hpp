#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include "core/memory/matrix.hpp"
#include "miniapps/gemm/options.hpp"
#include "miniapps/gemm/unit_gemm.hpp"
#include "tests/core/naive_gemm.hpp"

namespace steelyard::tests {

inline std::int64_t any_of(std::mt19937_64& random, std::int64_t low, std::int64_t high) {
  return std::uniform_int_distribution<std::int64_t>(low, high)(random);
}

/// A unit, and how much memory of its own a companion is given.
struct Where {
  ProcessingUnit::Kind kind = ProcessingUnit::Kind::host;
  double cap_bytes = std::numeric_limits<double>::infinity();
};

/// Both units, the companion with as much memory as it needs at least, up to more than it can use.
inline std::vector<Where> wheres(double least_bytes, double most_bytes) {
  constexpr auto host = ProcessingUnit::Kind::host, companion = ProcessingUnit::Kind::companion;
  std::vector<Where> all{{host}, {host, least_bytes}, {companion}};
  for (double cap = least_bytes; cap < most_bytes; cap *= 1.7) all.push_back({companion, cap});
  for (const double cap : {most_bytes - 1.0, most_bytes, 3.0 * most_bytes}) {
    if (cap >= least_bytes) all.push_back({companion, cap});
  }
  return all;
}

/// As many rows or columns as a device's buffer for `extent` of them has.
inline double padded(std::int64_t extent) {
  return 32.0 * static_cast<double>(std::max<std::int64_t>(1, (extent + 31) / 32));
}

/// Small whole numbers: no sum of their products is rounded.
inline auto whole_numbers(std::mt19937_64& random) {
  return [&random] { return std::uniform_int_distribution<std::int64_t>(-4, 4)(random); };
}
inline auto real_numbers(std::mt19937_64& random) {
  return [&random] { return std::uniform_real_distribution<double>(-1.0, 1.0)(random); };
}

/// A matrix in pinned host memory, with something between its rows.
template <class Scalar>
class PinnedMatrix {
 public:
  PinnedMatrix(std::int64_t rows, std::int64_t columns, std::int64_t room, Scalar between)
      : rows_(rows),
        columns_(columns),
        leading_(columns + room),
        between_(between),
        elements_("pinned", static_cast<std::size_t>(rows * leading_)) {
    std::fill_n(elements_.data(), elements_.size(), between);
  }

  std::int64_t rows() const { return rows_; }
  std::int64_t columns() const { return columns_; }
  Scalar& at(std::int64_t i, std::int64_t j) const { return elements_(static_cast<std::size_t>(i * leading_ + j)); }
  Matrix<HostExecution, Scalar> view() const {
    return matrix_at<HostExecution>(elements_.data(), rows_, columns_, leading_);
  }

  /// Every element from `next()`.
  template <class Next>
  void fill(const Next& next) const {
    for (std::int64_t i = 0; i < rows_; ++i) {
      for (std::int64_t j = 0; j < columns_; ++j) at(i, j) = static_cast<Scalar>(next());
    }
  }
  bool untouched_between_rows() const {
    for (std::int64_t i = 0; i < rows_; ++i) {
      for (std::int64_t j = columns_; j < leading_; ++j) {
        if (at(i, j) != between_) return false;
      }
    }
    return true;
  }

 private:
  std::int64_t rows_, columns_, leading_;
  Scalar between_;
  Kokkos::View<Scalar*, PinnedMemory> elements_;
};

/// The operands of a slice, what C was before and what it should become. Between the rows of A and B is NaN; so is all
/// that must not be read: C where beta is 0, A and B where alpha is.
template <class Scalar>
class SliceProduct {
 public:
  template <class Next>
  SliceProduct(const gemm::Problem& problem, std::int64_t rows, std::int64_t room, const Next& next)
      : problem_(problem),
        a_(rows, problem.k, room, unread),
        b_(problem.k, problem.n, 2 * room, unread),
        c_(rows, problem.n, 3 * room, Scalar{-12345}) {
    for (const PinnedMatrix<Scalar>* matrix : {&a_, &b_}) {
      if (problem.alpha == 0.0) {
        matrix->fill([] { return unread; });
      } else {
        matrix->fill(next);
      }
    }
    if (problem.reads_c()) {
      c_.fill(next);
    } else {
      c_.fill([] { return unread; });
    }
    expected_ = naive_gemm(rows, problem.n, problem.k, static_cast<Scalar>(problem.alpha), a_, b_,
                           static_cast<Scalar>(problem.beta), c_);
    before_ = result();
  }

  gemm::Operands<Scalar> operands() const { return {a_.view(), b_.view(), c_.view()}; }

  void put_c_back() const {
    auto next = before_.begin();
    c_.fill([&next] { return *next++; });
  }
  std::vector<Scalar> result() const {
    std::vector<Scalar> elements;
    for (std::int64_t i = 0; i < c_.rows(); ++i) {
      for (std::int64_t j = 0; j < c_.columns(); ++j) elements.push_back(c_.at(i, j));
    }
    return elements;
  }
  /// How many elements of C are not the product within what rounding explains.
  std::size_t wrong_elements() const {
    std::size_t wrong = 0;
    auto expected = expected_.begin();
    for (const Scalar found : result()) wrong += agrees(found, *expected++) ? 0 : 1;
    return wrong;
  }
  /// How many are not exactly the product.
  std::size_t inexact_elements() const {
    std::size_t inexact = 0;
    auto expected = expected_.begin();
    for (const Scalar found : result()) inexact += static_cast<long double>(found) == (expected++)->value ? 0 : 1;
    return inexact;
  }
  bool untouched_between_rows() const { return c_.untouched_between_rows(); }

 private:
  static constexpr Scalar unread = std::numeric_limits<Scalar>::quiet_NaN();

  gemm::Problem problem_;
  PinnedMatrix<Scalar> a_, b_, c_;
  std::vector<NaiveElement> expected_;
  std::vector<Scalar> before_;
};

}  // namespace steelyard::tests
