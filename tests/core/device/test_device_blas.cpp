#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include "core/base/errors.hpp"
#include "core/device/device.hpp"

namespace steelyard::test_device_blas {

// What it computes is tested through gemm(), on the companion.
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
