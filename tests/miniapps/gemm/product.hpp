#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <random>
#include <utility>
#include <vector>

#include "core/gemm.hpp"
#include "core/memory/matrix.hpp"
#include "core/memory/unit_memory.hpp"
#include "miniapps/gemm/problem.hpp"
#include "miniapps/gemm/unit_gemm.hpp"
#include "tests/core/naive_gemm.hpp"

namespace steelyard::tests {

template <class Scalar>
constexpr Scalar nan_of = std::numeric_limits<Scalar>::quiet_NaN();
template <class Scalar>
constexpr Scalar infinity_of = std::numeric_limits<Scalar>::infinity();

inline std::int64_t any_of(std::mt19937_64& random, std::int64_t low, std::int64_t high) {
  return std::uniform_int_distribution<std::int64_t>(low, high)(random);
}

/// A matrix in pinned host memory with NaN between its rows.
template <class Scalar>
class PinnedMatrix {
 public:
  PinnedMatrix(std::int64_t rows, std::int64_t columns, std::int64_t room = 3)
      : rows_(rows),
        columns_(columns),
        leading_(columns + room),
        elements_("pinned", static_cast<std::size_t>(rows * leading_)) {
    std::fill_n(elements_.data(), elements_.size(), nan_of<Scalar>);
    fill([](std::int64_t, std::int64_t) { return Scalar{0}; });
  }
  PinnedMatrix(const PinnedMatrix& other) : PinnedMatrix(other.rows_, other.columns_, other.leading_ - other.columns_) {
    *this = other;
  }
  /// From one of the same extents.
  PinnedMatrix& operator=(const PinnedMatrix& other) {
    fill([&](std::int64_t i, std::int64_t j) { return other.at(i, j); });
    return *this;
  }

  std::int64_t rows() const { return rows_; }
  std::int64_t columns() const { return columns_; }
  Scalar& at(std::int64_t i, std::int64_t j) { return elements_(static_cast<std::size_t>(i * leading_ + j)); }
  Scalar at(std::int64_t i, std::int64_t j) const { return elements_(static_cast<std::size_t>(i * leading_ + j)); }
  Matrix<HostExecution, Scalar> view() { return matrix_at<HostExecution>(elements_.data(), rows_, columns_, leading_); }
  ConstMatrix<HostExecution, Scalar> view() const {
    return matrix_at<HostExecution>(static_cast<const Scalar*>(elements_.data()), rows_, columns_, leading_);
  }
  template <class Element>
  void fill(const Element& element) {
    for (std::int64_t i = 0; i < rows_; ++i) {
      for (std::int64_t j = 0; j < columns_; ++j) at(i, j) = static_cast<Scalar>(element(i, j));
    }
  }
  bool untouched_between_rows() const {
    for (std::int64_t i = 0; i < rows_; ++i) {
      for (std::int64_t j = columns_; j < leading_; ++j) {
        if (!std::isnan(at(i, j))) return false;
      }
    }
    return true;
  }

 private:
  std::int64_t rows_, columns_, leading_;
  Kokkos::View<Scalar*, PinnedMemory> elements_;
};

/// Uniform elements.
inline auto uniform_elements(std::mt19937_64& random, double low, double high) {
  return [&random, low, high](std::int64_t, std::int64_t) {
    return std::uniform_real_distribution<double>(low, high)(random);
  };
}

/// Small whole numbers: no sum of their products is rounded.
inline auto whole_numbers(std::mt19937_64& random) {
  return [&random](std::int64_t, std::int64_t) { return any_of(random, -4, 4); };
}

/// In which order a plain program adds up an inner product, all in Scalar.
enum class Order { forward, backward, blocks };

/// A multiplication and its result.
template <class Scalar>
struct Product {
  gemm::Problem problem;
  PinnedMatrix<Scalar> a, b, before, c;

  explicit Product(const gemm::Problem& which, std::int64_t room = 3)
      : problem(which),
        a(which.m, which.k, room),
        b(which.k, which.n, 2 * room),
        before(which.m, which.n),
        c(which.m, which.n, 3 * room) {}
  Product(const gemm::Problem& which, std::mt19937_64& random, double low = -1.0, double high = 1.0) : Product(which) {
    for (PinnedMatrix<Scalar>* matrix : {&a, &b, &before}) matrix->fill(uniform_elements(random, low, high));
  }

  /// A and B where alpha is 0, and C before where beta is.
  void spoil_what_is_not_read() {
    const auto unread = [](std::int64_t, std::int64_t) { return nan_of<Scalar>; };
    if (problem.alpha == 0.0) a.fill(unread);
    if (problem.alpha == 0.0) b.fill(unread);
    if (problem.beta == 0.0) before.fill(unread);
  }
  gemm::Operands<Scalar> operands() { return {std::as_const(a).view(), std::as_const(b).view(), c.view()}; }
  std::vector<NaiveElement> expected() const {
    return naive_gemm(problem.m, problem.n, problem.k, static_cast<Scalar>(problem.alpha), a, b,
                      static_cast<Scalar>(problem.beta), before);
  }
  /// Elements of C that are not exactly those.
  std::int64_t inexact_elements(const std::vector<NaiveElement>& right) const {
    std::int64_t inexact = 0;
    auto next = right.begin();
    for (std::int64_t i = 0; i < c.rows(); ++i) {
      for (std::int64_t j = 0; j < c.columns(); ++j) inexact += c.at(i, j) == (next++)->value ? 0 : 1;
    }
    return inexact;
  }

  void multiply() {
    c = before;
    blas::gemm(HostExecution(), static_cast<Scalar>(problem.alpha), operands().a, operands().b,
               static_cast<Scalar>(problem.beta), c.view());
    HostExecution().fence();
  }

  /// Without a BLAS.
  void multiply(Order order) {
    const auto alpha = static_cast<Scalar>(problem.alpha), beta = static_cast<Scalar>(problem.beta);
    c.fill([&](std::int64_t i, std::int64_t j) {
      Scalar element{0};
      if (alpha != Scalar{0} && problem.k > 0) element = alpha * inner_product(i, j, order);
      if (beta != Scalar{0}) element += beta * before.at(i, j);
      return element;
    });
  }

 private:
  Scalar inner_product(std::int64_t i, std::int64_t j, Order order) const {
    const std::int64_t k = problem.k;
    const std::int64_t block = order == Order::blocks ? 192 : k;
    Scalar sum{0};
    for (std::int64_t first = 0; first < k; first += block) {
      Scalar part{0};
      for (std::int64_t l = first; l < std::min(first + block, k); ++l) {
        const std::int64_t at = order == Order::backward ? k - 1 - l : l;
        part += a.at(i, at) * b.at(at, j);
      }
      sum += part;
    }
    return sum;
  }
};

/// Matrices on which rounding errors behave in different ways, and what they are.
template <class Scalar>
struct MatrixKind {
  const char* name;
  std::function<void(Product<Scalar>&, std::mt19937_64&)> fill;
};

template <class Scalar>
std::vector<MatrixKind<Scalar>> kinds_of_matrices() {
  using P = Product<Scalar>;
  using Random = std::mt19937_64;
  constexpr bool is_float = sizeof(Scalar) == sizeof(float);
  const double unit = is_float ? 0x1p-24 : 0x1p-53;
  const double large = is_float ? 1e16 : 1e152, far = is_float ? 1e30 : 1e300, tiny = is_float ? 1e-20 : 1e-155;
  const auto all = [](P& p, const auto& element) {
    for (PinnedMatrix<Scalar>* matrix : {&p.a, &p.b, &p.before}) matrix->fill(element);
  };
  // From 1 / most to most.
  const auto magnitude = [](std::int64_t i, std::int64_t count, double most) {
    return std::pow(most,
                    2.0 * static_cast<double>(i) / static_cast<double>(std::max<std::int64_t>(count - 1, 1)) - 1.0);
  };
  return {
      {"both signs", [=](P& p, Random& random) { all(p, uniform_elements(random, -1.0, 1.0)); }},
      {"nearly equal", [=](P& p, Random& random) { all(p, uniform_elements(random, 0.7, 0.7001)); }},
      {"nearly cancelling",
       [=](P& p, Random& random) {
         all(p, uniform_elements(random, 0.5, 1.0));
         p.a.fill([](auto, std::int64_t l) { return l % 2 == 0 ? 0.7 : -0.7001; });
         p.b.fill([](std::int64_t l, std::int64_t j) { return 0.3 + 0.01 * static_cast<double>(l / 2 % 13 + j); });
       }},
      {"one large row in B, among small ones that are all lost",
       [=](P& p, Random&) {
         all(p, [=](auto, auto) { return 0.99 * unit; });
         p.a.fill([](auto, auto) { return 1.0; });
         for (std::int64_t j = 0; j < p.problem.n; ++j) p.b.at(0, j) = 1;
       }},
      {"one large row in A and C",
       [=](P& p, Random& random) {
         all(p, uniform_elements(random, -1.0, 1.0));
         for (std::int64_t l = 0; l < p.problem.k; ++l) p.a.at(p.problem.m / 2, l) *= static_cast<Scalar>(large);
         for (std::int64_t j = 0; j < p.problem.n; ++j) p.before.at(p.problem.m / 2, j) *= static_cast<Scalar>(large);
       }},
      {"rows of B and columns of A of all magnitudes",
       [=](P& p, Random& random) {
         const auto any = uniform_elements(random, 0.5, 1.0);
         all(p, uniform_elements(random, -1.0, 1.0));
         p.a.fill([&](auto, std::int64_t l) { return magnitude(l, p.problem.k, far) * any(0, 0); });
         p.b.fill([&](std::int64_t l, auto) { return any(0, 0) / magnitude(l, p.problem.k, far); });
       }},
      {"products that underflow",
       [=](P& p, Random& random) {
         all(p, uniform_elements(random, 0.0, tiny));
         p.before.fill([](auto, auto) { return 0.0; });
       }},
  };
}

}  // namespace steelyard::tests
