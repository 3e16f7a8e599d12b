#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <random>
#include <vector>

#include "core/gemm.hpp"
#include "core/memory/matrix.hpp"
#include "miniapps/gemm/options.hpp"

namespace steelyard::tests {

template <class Scalar>
constexpr Scalar nan_of = std::numeric_limits<Scalar>::quiet_NaN();
template <class Scalar>
constexpr Scalar infinity_of = std::numeric_limits<Scalar>::infinity();

/// A matrix in host memory with some room between its rows, which is NaN.
template <class Scalar>
class RoomyMatrix {
 public:
  RoomyMatrix(std::int64_t rows, std::int64_t columns, std::int64_t room = 3)
      : rows_(rows), columns_(columns), leading_(columns + room) {
    elements_.assign(static_cast<std::size_t>(rows * leading_), std::numeric_limits<Scalar>::quiet_NaN());
    fill([](std::int64_t, std::int64_t) { return Scalar{0}; });
  }
  std::int64_t rows() const { return rows_; }
  std::int64_t columns() const { return columns_; }
  Scalar& at(std::int64_t i, std::int64_t j) { return elements_[static_cast<std::size_t>(i * leading_ + j)]; }
  const Scalar& at(std::int64_t i, std::int64_t j) const {
    return elements_[static_cast<std::size_t>(i * leading_ + j)];
  }
  Matrix<HostExecution, Scalar> view() { return matrix_at<HostExecution>(elements_.data(), rows_, columns_, leading_); }
  ConstMatrix<HostExecution, Scalar> view() const {
    return matrix_at<HostExecution>(elements_.data(), rows_, columns_, leading_);
  }
  template <class Element>
  void fill(const Element& element) {
    for (std::int64_t i = 0; i < rows_; ++i) {
      for (std::int64_t j = 0; j < columns_; ++j) at(i, j) = static_cast<Scalar>(element(i, j));
    }
  }

 private:
  std::int64_t rows_, columns_, leading_;
  std::vector<Scalar> elements_;
};

/// Uniform elements.
inline auto uniform(std::mt19937_64& random, double low, double high) {
  return [&random, low, high](std::int64_t, std::int64_t) {
    return std::uniform_real_distribution<double>(low, high)(random);
  };
}

inline gemm::Problem problem_of(std::int64_t m, std::int64_t n, std::int64_t k, double alpha = 1.0, double beta = 0.0) {
  gemm::Problem problem;
  problem.m = m;
  problem.n = n;
  problem.k = k;
  problem.alpha = alpha;
  problem.beta = beta;
  return problem;
}

/// In which order a plain program adds up an inner product, all in Scalar.
enum class Order { forward, backward, blocks };

/// A multiplication and its result.
template <class Scalar>
struct Product {
  gemm::Problem problem;
  RoomyMatrix<Scalar> a, b, before, c;

  explicit Product(const gemm::Problem& which)
      : problem(which), a(which.m, which.k), b(which.k, which.n), before(which.m, which.n), c(which.m, which.n) {}
  Product(const gemm::Problem& which, std::mt19937_64& random, double low = -1.0, double high = 1.0) : Product(which) {
    for (RoomyMatrix<Scalar>* matrix : {&a, &b, &before}) matrix->fill(uniform(random, low, high));
  }

  void multiply() {
    c = before;
    blas::gemm(HostExecution(), static_cast<Scalar>(problem.alpha), a.view(), b.view(),
               static_cast<Scalar>(problem.beta), c.view());
    HostExecution().fence();
  }

  /// Without a BLAS.
  void multiply(Order order) {
    const auto alpha = static_cast<Scalar>(problem.alpha);
    const auto beta = static_cast<Scalar>(problem.beta);
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
struct Kind {
  const char* name;
  std::function<void(Product<Scalar>&, std::mt19937_64&)> fill;
};

template <class Scalar>
std::vector<Kind<Scalar>> kinds_of_matrices() {
  using P = Product<Scalar>;
  using Random = std::mt19937_64;
  constexpr bool is_float = sizeof(Scalar) == sizeof(float);
  const auto all = [](P& p, const auto& element) {
    for (RoomyMatrix<Scalar>* matrix : {&p.a, &p.b, &p.before}) matrix->fill(element);
  };
  const double unit = is_float ? 0x1p-24 : 0x1p-53;
  const double large = is_float ? 1e16 : 1e152, far = is_float ? 1e30 : 1e300;
  return {
      {"ones", [=](P& p, Random&) { all(p, [](auto, auto) { return 1.0; }); }},
      {"tenths", [=](P& p, Random&) { all(p, [](auto, auto) { return 0.1; }); }},
      {"thirds and sevenths",
       [=](P& p, Random&) {
         all(p, [](auto, auto) { return 1.0 / 3.0; });
         p.b.fill([](auto, auto) { return 1.0 / 7.0; });
       }},
      {"equal rows of B",
       [=](P& p, Random& random) {
         all(p, [](auto, auto) { return 0.1; });
         p.b.fill([&](auto, std::int64_t j) { return 0.1 + 0.01 * static_cast<double>((j * 37 + 5) % 61); });
         p.a.fill([&](std::int64_t i, auto) { return 0.3 + 0.01 * static_cast<double>(i); });
         (void)random;
       }},
      {"positive", [=](P& p, Random& random) { all(p, uniform(random, 0.0, 1.0)); }},
      {"nearly equal", [=](P& p, Random& random) { all(p, uniform(random, 0.7, 0.7001)); }},
      {"negative", [=](P& p, Random& random) { all(p, uniform(random, -2.0, -1.0)); }},
      {"both signs", [=](P& p, Random& random) { all(p, uniform(random, -1.0, 1.0)); }},
      {"alternating",
       [=](P& p, Random&) {
         all(p, [](auto, auto) { return 0.1; });
         p.a.fill([](auto, std::int64_t l) { return l % 2 == 0 ? 0.1 : -0.1; });
       }},
      {"nearly cancelling",
       [=](P& p, Random& random) {
         all(p, uniform(random, 0.5, 1.0));
         p.a.fill([](auto, std::int64_t l) { return l % 2 == 0 ? 0.7 : -0.7001; });
         p.b.fill([](std::int64_t l, std::int64_t j) { return 0.3 + 0.01 * static_cast<double>(l / 2 % 13 + j); });
       }},
      {"sines",
       [=](P& p, Random&) {
         all(p, [](std::int64_t i, std::int64_t j) {
           return std::sin(static_cast<double>(37 * i * j + 100 * i) / 100.0);
         });
       }},
      {"one large row in B",
       [=](P& p, Random& random) {
         all(p, uniform(random, 0.0, unit));
         p.a.fill(uniform(random, 0.5, 1.0));
         for (std::int64_t j = 0; j < p.problem.n; ++j) p.b.at(p.problem.k / 3, j) = 1;
       }},
      {"one large row in B, the last",
       [=](P& p, Random& random) {
         all(p, uniform(random, 0.0, unit));
         p.a.fill(uniform(random, 0.5, 1.0));
         for (std::int64_t j = 0; j < p.problem.n; ++j) p.b.at(p.problem.k - 1, j) = 1;
       }},
      {"one large row in B, among small ones that are all lost",
       [=](P& p, Random&) {
         all(p, [=](auto, auto) { return 0.99 * unit; });
         p.a.fill([](auto, auto) { return 1.0; });
         for (std::int64_t j = 0; j < p.problem.n; ++j) p.b.at(0, j) = 1;
       }},
      {"one large row in A and C",
       [=](P& p, Random& random) {
         all(p, uniform(random, -1.0, 1.0));
         for (std::int64_t l = 0; l < p.problem.k; ++l) p.a.at(p.problem.m / 2, l) *= static_cast<Scalar>(large);
         for (std::int64_t j = 0; j < p.problem.n; ++j) p.before.at(p.problem.m / 2, j) *= static_cast<Scalar>(large);
       }},
      {"large times small",
       [=](P& p, Random& random) {
         all(p, uniform(random, -1.0, 1.0));
         p.a.fill([&](auto, auto) { return far * uniform(random, 0.0, 1.0)(0, 0); });
         p.b.fill([&](auto, auto) { return uniform(random, 0.0, 1.0)(0, 0) / far; });
       }},
      {"rows of B and columns of A of all magnitudes",
       [=](P& p, Random& random) {
         const auto power = [&](std::int64_t l) {
           return std::pow(
               far,
               2.0 * static_cast<double>(l) / static_cast<double>(std::max<std::int64_t>(p.problem.k, 2) - 1) - 1.0);
         };
         all(p, uniform(random, -1.0, 1.0));
         p.a.fill([&](auto, std::int64_t l) { return power(l) * uniform(random, 0.5, 1.0)(0, 0); });
         p.b.fill([&](std::int64_t l, auto) { return uniform(random, 0.5, 1.0)(0, 0) / power(l); });
       }},
      {"columns of B of all magnitudes",
       [=](P& p, Random& random) {
         const auto power = [&](std::int64_t j) {
           return std::pow(
               far / 1e9,
               2.0 * static_cast<double>(j) / static_cast<double>(std::max<std::int64_t>(p.problem.n, 2) - 1) - 1.0);
         };
         all(p, uniform(random, -1.0, 1.0));
         p.b.fill([&](auto, std::int64_t j) { return uniform(random, 0.0, 1.0)(0, 0) * power(j); });
       }},
      {"products that underflow",
       [=](P& p, Random& random) {
         all(p, uniform(random, -1.0, 1.0));
         p.a.fill([&](auto, auto) { return uniform(random, 0.0, 1.0)(0, 0) / (is_float ? 1e20 : 1e155); });
         p.b.fill([&](auto, auto) { return uniform(random, 0.0, 1.0)(0, 0) / (is_float ? 1e20 : 1e155); });
         p.before.fill([](auto, auto) { return 0.0; });
       }},
  };
}

}  // namespace steelyard::tests
