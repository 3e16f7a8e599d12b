#include <array>
#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <limits>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "core/base/errors.hpp"
#include "core/co_execution.hpp"
#include "core/gemm.hpp"
#include "core/host_blas.hpp"
#include "core/kernels_gemm.hpp"
#include "tests/core/naive_gemm.hpp"
#include "tests/core/started_units.hpp"
#include "tests/core/threads.hpp"
#include "tests/core/unit_matrix.hpp"
#include "tests/core/unit_space.hpp"

namespace steelyard::test_gemm {

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;
using Catch::Matchers::StartsWith;
using namespace steelyard::tests;

namespace {

/// Three matrices that fit together, with room between their rows.
template <class Execution, class Scalar>
struct Operands {
  UnitMatrix<Execution, Scalar> a, b, c;

  Operands(std::int64_t m, std::int64_t n, std::int64_t k, std::int64_t room = 0)
      : a(m, k, k + room), b(k, n, n + 2 * room), c(m, n, n + 3 * room) {}

  template <class Random>
  void fill(Random& random) const {
    for (const auto* matrix : {&a, &b, &c}) matrix->fill(random);
  }
  void send() const {
    for (const auto* matrix : {&a, &b, &c}) matrix->send();
  }
  void multiply(const Execution& space, Scalar alpha, Scalar beta) const {
    blas::gemm(space, alpha, a.view(), b.view(), beta, c.view());
    space.fence();
  }
  void multiply_by_kernels(const Execution& space, Scalar alpha, Scalar beta) const {
    kernels_gemm<Execution, Scalar>(space, alpha, a.view(), b.view(), beta, c.view());
    space.fence();
  }
  std::vector<Scalar> result() const {
    c.fetch();
    std::vector<Scalar> elements;
    for (std::int64_t i = 0; i < c.rows(); ++i) {
      for (std::int64_t j = 0; j < c.columns(); ++j) elements.push_back(c.at(i, j));
    }
    return elements;
  }
};

/// Multiplies what is in the copies on the host and compares with the naive product of the same.
template <class Execution, class Scalar>
void check_product(const Operands<Execution, Scalar>& x, Scalar alpha, Scalar beta,
                   void (Operands<Execution, Scalar>::*multiply)(const Execution&, Scalar, Scalar)
                       const = &Operands<Execution, Scalar>::multiply) {
  const auto expected = naive_gemm(x.c.rows(), x.c.columns(), x.a.columns(), alpha, x.a, x.b, beta, x.c);
  x.send();
  (x.*multiply)(Execution(), alpha, beta);
  const std::vector<Scalar> found = x.result();
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < found.size(); ++i) wrong += agrees(found[i], expected[i]) ? 0 : 1;
  CAPTURE(x.c.rows(), x.c.columns(), x.a.columns(), alpha, beta);
  CHECK(wrong == 0);
  CHECK(x.c.untouched_between_rows());
}

template <class Execution, class Scalar>
void check_random_products() {
  std::mt19937_64 random(6);
  constexpr std::array<std::int64_t, 16> extents{0, 1, 2, 3, 5, 7, 8, 13, 31, 32, 33, 61, 64, 97, 128, 131};
  constexpr std::array<Scalar, 5> factors{Scalar{0}, Scalar{1}, Scalar{-1}, Scalar(0.3), Scalar(-2.5)};
  const auto pick = [&random](const auto& from) {
    return from[std::uniform_int_distribution<std::size_t>(0, from.size() - 1)(random)];
  };
  for (int round = 0; round < 250; ++round) {
    const std::int64_t m = pick(extents), n = pick(extents), k = pick(extents);
    const Operands<Execution, Scalar> x(m, n, k, round % 3 == 0 ? 0 : pick(extents));
    x.fill(random);
    const Scalar alpha = pick(factors), beta = pick(factors);
    check_product<Execution, Scalar>(x, alpha, beta);
#if defined(STEELYARD_HAS_KOKKOS_KERNELS)
    if constexpr (runs_on_host<Execution>) {
      if (m == 0 || n == 0 || k == 0) continue;
      x.fill(random);
      check_product<Execution, Scalar>(x, alpha, beta, &Operands<Execution, Scalar>::multiply_by_kernels);
    }
#endif
  }
}

template <class Execution, class Scalar>
void check_unread_operands() {
  constexpr Scalar nan = std::numeric_limits<Scalar>::quiet_NaN();
  std::mt19937_64 random(7);
  for (const std::int64_t extent : {1, 6, 100}) {
    const Operands<Execution, Scalar> x(extent, extent + 1, extent + 2, 3);
    x.fill(random);
    x.c.fill_with(nan);
    check_product(x, Scalar{2}, Scalar{0});

    x.fill(random);
    x.a.fill_with(nan);
    x.b.fill_with(nan);
    for (const Scalar beta : {Scalar{0}, Scalar{1}, Scalar{-3}}) check_product(x, Scalar{0}, beta);
    x.c.fill_with(nan);
    check_product(x, Scalar{0}, Scalar{0});

    const Operands<Execution, Scalar> no_sum(extent, extent + 1, 0, 3);
    for (const Scalar beta : {Scalar{0}, Scalar{1}, Scalar{-3}}) {
      no_sum.fill(random);
      check_product(no_sum, Scalar{2}, beta);
    }
    no_sum.c.fill_with(nan);
    check_product(no_sum, Scalar{2}, Scalar{0});
  }
}

template <class Execution, class Scalar>
void check_nan_and_infinity() {
  constexpr Scalar nan = std::numeric_limits<Scalar>::quiet_NaN();
  constexpr Scalar infinity = std::numeric_limits<Scalar>::infinity();
  std::mt19937_64 random(8);
  for (const std::int64_t extent : {3, 17, 70, 129}) {
    const Operands<Execution, Scalar> x(extent, extent + 2, extent + 5, 1);
    const auto middle = extent / 2;
    for (const Scalar special : {nan, infinity, -infinity}) {
      for (const Scalar beta : {Scalar{0}, Scalar{1}, Scalar(0.5)}) {
        x.fill(random);
        x.a.at(middle, 1) = special;
        check_product(x, Scalar{2}, beta);
        x.fill(random);
        x.b.at(extent + 4, middle) = special;
        check_product(x, Scalar{-1}, beta);
        // Infinities of both signs may meet in one sum.
        x.a.at(middle, 2) = infinity;
        x.c.at(extent - 1, 0) = -infinity;
        check_product(x, Scalar{1}, beta);
      }
    }
    x.fill(random);
    check_product(x, nan, Scalar{1});
    x.fill(random);
    check_product(x, Scalar{1}, nan);
  }
}

template <class Execution>
void check_refusals() {
  const auto space = unit_space<Execution>();
  const auto sized = [](std::int64_t rows, std::int64_t columns) {
    return matrix_at<Execution, double>(nullptr, rows, columns, columns);
  };
  for (const auto& [b, c] : {std::pair{sized(5, 6), sized(3, 6)}, std::pair{sized(4, 6), sized(2, 6)},
                             std::pair{sized(4, 6), sized(3, 7)}}) {
    CHECK_THROWS_MATCHES(blas::gemm(space, 1.0, sized(3, 4), b, 0.0, c), InvalidArgument,
                         MessageMatches(StartsWith("gemm: A is 3 x 4, B is ") && ContainsSubstring(" x 6")));
  }
  // Nothing to compute is no reason to accept what does not fit.
  CHECK_THROWS_AS(blas::gemm(space, 1.0, sized(0, 4), sized(5, 0), 0.0, sized(0, 0)), InvalidArgument);
  const std::int64_t many = std::int64_t{1} << 31;
  CHECK_THROWS_MATCHES(blas::gemm(space, 1.0, sized(many, 0), sized(0, 1), 0.0, sized(many, 1)), InvalidArgument,
                       MessageMatches(ContainsSubstring("A is 2147483648 x 0")));
  const auto wide = matrix_at<Execution, double>(nullptr, 0, 3, many);
  CHECK_THROWS_MATCHES(blas::gemm(space, 1.0, sized(0, 2), sized(2, 3), 0.0, wide), InvalidArgument,
                       MessageMatches(ContainsSubstring("C is 0 x 3 with a leading dimension of 2147483648")));
}

}  // namespace

TEMPLATE_TEST_CASE("products are those of a naive sum, and nothing between rows changes", "", HostExecution,
                   CompanionExecution) {
  check_random_products<TestType, double>();
  check_random_products<TestType, float>();
}

TEMPLATE_TEST_CASE("operands with factor 0 are not read, and a sum of nothing is 0", "", HostExecution,
                   CompanionExecution) {
  check_unread_operands<TestType, double>();
  check_unread_operands<TestType, float>();
}

TEMPLATE_TEST_CASE("NaN and infinity reach the elements that depend on them, and no others", "", HostExecution,
                   CompanionExecution) {
  check_nan_and_infinity<TestType, double>();
  check_nan_and_infinity<TestType, float>();
}

TEMPLATE_TEST_CASE("matrices that do not fit together are refused with their extents", "", HostExecution,
                   CompanionExecution) {
  check_refusals<TestType>();
}

TEST_CASE("whole matrices and their blocks are operands as they are") {
  using Whole = Kokkos::View<float**, Kokkos::LayoutRight, DeviceOf<HostExecution>>;
  const Whole a("a", 2, 3), b("b", 3, 4), c("c", 5, 4);
  Kokkos::deep_copy(a, 2.0F);
  Kokkos::deep_copy(b, 3.0F);
  blas::gemm(HostExecution(), 1.0F, a, b, 0, Kokkos::subview(c, Kokkos::make_pair(3, 5), Kokkos::ALL));
  HostExecution().fence();
  for (int j = 0; j < 4; ++j) {
    CHECK(c(2, j) == 0.0F);
    CHECK(c(3, j) == 18.0F);
    CHECK(c(4, j) == 18.0F);
  }
}

TEST_CASE("both units at once compute the bits that each computes alone") {
  if (!started_units().companion) SKIP("this build or machine has no companion");
  CoExecution co_execution(this_machine(), started_units());
  std::mt19937_64 random(9);
  for (const std::int64_t extent : {1, 40, 129, 400}) {
    const Operands<HostExecution, double> host(extent, extent + 7, extent, 1);
    const Operands<CompanionExecution, double> companion(extent + 3, extent, extent + 1, 2);
    host.fill(random);
    companion.fill(random);
    const auto on_host = [&] { host.multiply(HostExecution(), 1.5, -1.0); };
    const auto on_companion = [&] { companion.multiply(CompanionExecution(), 0.5, 2.0); };
    const auto nothing = [] {};
    const auto send = [&] {
      host.send();
      companion.send();
    };

    send();
    const std::vector<double> host_before = host.result(), companion_before = companion.result();
    co_execution.run(on_host, nothing);
    co_execution.run(nothing, on_companion);
    const std::vector<double> host_alone = host.result(), companion_alone = companion.result();
    CHECK(host_alone != host_before);
    CHECK(companion_alone != companion_before);
    for (int round = 0; round < 10; ++round) {
      for (std::int64_t i = 0, next = 0; i < host.c.rows(); ++i) {
        for (std::int64_t j = 0; j < host.c.columns(); ++j) host.c.at(i, j) = host_before[next++];
      }
      for (std::int64_t i = 0, next = 0; i < companion.c.rows(); ++i) {
        for (std::int64_t j = 0; j < companion.c.columns(); ++j) companion.c.at(i, j) = companion_before[next++];
      }
      send();
      co_execution.run(on_host, on_companion);
      CHECK(host.result() == host_alone);
      CHECK(companion.result() == companion_alone);
    }
  }
}

TEST_CASE("the host unit multiplies with its own threads, all of them and no others") {
  std::mt19937_64 random(10);
  const HostExecution space;
  const Operands<HostExecution, double> x(512, 512, 512);
  x.fill(random);
  x.send();
  Kokkos::deep_copy(x.c.view(), 1.0);  // all threads of the space have worked
  const int before = count_threads();
  const int openmp_before = openmp_threads();
  for (int round = 0; round < 5; ++round) x.multiply(space, 1.0, 1.0);
  CHECK(count_threads() == before);
  CHECK(openmp_threads() == openmp_before);
  if (host_blas().uses_openmp && space.concurrency() > 1) CHECK(openblas_threads() == space.concurrency());
}

TEST_CASE("the companion's driver thread multiplies without starting others") {
  if (!started_units().companion) SKIP("this build or machine has no companion");
  if (companion_is_device) SKIP("a device's threads are its driver's");
  CoExecution co_execution(this_machine(), started_units());
  std::mt19937_64 random(11);
  const Operands<HostExecution, double> host(300, 300, 300);
  const Operands<CompanionExecution, double> companion(300, 300, 300);
  host.fill(random);
  companion.fill(random);
  host.send();
  companion.send();
  Kokkos::deep_copy(host.c.view(), 1.0);
  const int before = count_threads();
  int openmp_before = 0, openmp_after = 0, during = 0;
  co_execution.run([&] { host.multiply(HostExecution(), 1.0, 0.0); },
                   [&] {
                     openmp_before = openmp_threads();
                     for (int round = 0; round < 5; ++round) companion.multiply(CompanionExecution(), 1.0, 0.0);
                     during = count_threads();
                     openmp_after = openmp_threads();
                   });
  CHECK(during == before);
  CHECK(count_threads() == before);
  CHECK(openmp_before == openmp_after);
}

TEST_CASE("the library's name says which BLAS multiplies with how many threads") {
  const int threads = static_cast<int>(HostExecution().concurrency());
  CHECK(blas::gemm_library(HostExecution()) ==
        host_blas().name + ", " + std::to_string(threads) + (threads == 1 ? " thread" : " threads"));
  if (has_companion && !companion_is_device) {
    CHECK(blas::gemm_library(CompanionExecution()) == host_blas().name + ", 1 thread");
  }
}

}  // namespace steelyard::test_gemm
