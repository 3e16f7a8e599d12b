#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cstddef>
#include <random>
#include <vector>

#include "core/base/errors.hpp"
#include "core/device/device.hpp"
#include "tests/core/naive_gemm.hpp"
#include "tests/core/unit_matrix.hpp"
#include "tests/core/unit_space.hpp"

namespace steelyard::test_device_blas {

// More of what it computes is tested through gemm(), on the companion.
TEMPLATE_TEST_CASE("a device's BLAS multiplies matrices with any leading dimensions on any queue", "", double, float) {
  if (!has_device_libraries) SKIP("this build has no device");
  using Unit = tests::UnitMatrix<CompanionExecution, TestType>;
  constexpr int m = 7, n = 5, k = 9;
  std::mt19937_64 random(5);
  for (const CompanionExecution& queue : tests::companion_queues(2)) {
    for (const int room : {0, 3}) {
      const Unit a(m, k, k + room), b(k, n, n + room), c(m, n, n + 2 * room);
      for (const Unit* const matrix : {&a, &b, &c}) {
        matrix->fill(random);
        matrix->send();
      }
      const TestType alpha = TestType(1.25), beta = TestType(-0.5);
      const auto expected = tests::naive_gemm(m, n, k, alpha, a, b, beta, c);
      device_blas_gemm(queue, GemmCall<TestType>{m, n, k, alpha, a.view().data(), k + room, b.view().data(), n + room,
                                                 beta, c.view().data(), n + 2 * room});
      queue.fence();
      c.fetch();
      bool right = true;
      for (int i = 0; i < m; ++i) {
        for (int j = 0; j < n; ++j) {
          right = right && tests::agrees(c.at(i, j), expected[static_cast<std::size_t>(i * n + j)]);
        }
      }
      CHECK(right);
      CHECK(c.untouched_between_rows());
    }
  }
}

TEST_CASE("a build without a device refuses to multiply on it") {
  if (has_device_libraries) SKIP("this build has a device");
  CHECK_THROWS_AS(device_blas_name(), RuntimeFailure);
  CHECK_THROWS_AS(device_blas_gemm(CompanionExecution(), GemmCall<double>()), RuntimeFailure);
  CHECK_THROWS_AS(device_blas_gemm(CompanionExecution(), GemmCall<float>()), RuntimeFailure);
}

TEST_CASE("a device's BLAS says which version it is") {
  if (!has_device_libraries) SKIP("this build has no device");
  CHECK_THAT(device_blas_name(), Catch::Matchers::Matches(".*BLAS.* [0-9]+\\.[0-9]+\\.[0-9]+.*"));
}

}  // namespace steelyard::test_device_blas
