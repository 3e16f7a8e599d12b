// NaN and Inf in the matrices.

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <limits>

#include "tests/miniapps/gemm/gemm_runs.hpp"

namespace steelyard::tests::test_gemm_special_values {
namespace {

template <class Scalar>
constexpr Scalar nan = std::numeric_limits<Scalar>::quiet_NaN();
template <class Scalar>
constexpr Scalar infinity = std::numeric_limits<Scalar>::infinity();

/// Ranks, units and ways through a device's memory that all have to agree on what is NaN.
const std::vector<AppRun> ways{{1, {"--units", "host"}},
                               {2, {"--block", "8"}},
                               {1, {"--units", "device", "--device-memory", "40KiB"}},
                               {1, {"--block", "8", "--device-memory", "1MiB"}}};

TEMPLATE_TEST_CASE("NaN and Inf pass through as in a naive multiplication", "", double, float) {
  GemmTest<TestType> test(70, 67, 45);
  const std::string where = GENERATE("A", "B", "C", "all");
  CAPTURE(where);
  const auto in = [&](const char* matrix) { return where == "all" || where == matrix; };
  if (in("A")) {
    test.files.a(3, 7) = nan<TestType>;
    test.files.a(64, 1) = infinity<TestType>;
    test.files.a(20, 0) = infinity<TestType>;
    test.files.a(20, 44) = -infinity<TestType>;
  }
  if (in("B")) {
    test.files.b(7, 5) = nan<TestType>;
    test.files.b(0, 66) = -infinity<TestType>;
    test.files.b(40, 66) = -infinity<TestType>;
    test.files.b(2, 33) = infinity<TestType>;
  }
  if (in("C")) {
    test.files.c(0, 0) = nan<TestType>;
    test.files.c(64, 66) = infinity<TestType>;
    test.files.c(64, 5) = -infinity<TestType>;
    test.files.c(69, 1) = -infinity<TestType>;
  }
  test.expect_products({{-0.5, 1.0}}, ways);
}

TEST_CASE("Inf times 0 is NaN") {
  GemmTest<double> test(40, 12, 8);
  test.files.a(35, 2) = infinity<double>;
  test.files.b(2, 11) = 0.0;
  test.files.b(2, 0) = -1.0;
  test.expect_products({{1.0, 0.0}}, ways);
}

TEMPLATE_TEST_CASE("beta 0 takes no notice of C", "", double, float) {
  GemmTest<TestType> test(70, 67, 45);
  for (TestType& element : test.files.c.values) element = nan<TestType>;
  test.files.c(1, 1) = infinity<TestType>;
  test.expect_products({{1.0, 0.0}}, ways);
}

TEMPLATE_TEST_CASE("alpha 0 takes no notice of A and B", "", double, float) {
  GemmTest<TestType> test(70, 67, 45);
  for (TestType& element : test.files.a.values) element = nan<TestType>;
  test.files.b(2, 3) = infinity<TestType>;
  test.expect_products({{0.0, 0.0}, {0.0, -0.5}}, ways);
}

TEST_CASE("Products that leave the range of the element type are Inf") {
  GemmTest<double> test(40, 12, 1);
  for (double& element : test.files.a.values) element = 1e200;
  for (double& element : test.files.b.values) element = -1e200;
  test.files.write(test.folder());
  run_gemm(2, Words{"--block", "8", "--output", "inf.npy"} + test.files.arguments(), test.folder());
  for (const double element : read_grid<double>(test.folder() / "inf.npy").values) {
    REQUIRE(element == -infinity<double>);
  }
}

}  // namespace
}  // namespace steelyard::tests::test_gemm_special_values
