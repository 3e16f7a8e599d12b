#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>

#include "core/base/errors.hpp"
#include "core/device/device.hpp"

namespace steelyard::test_device_fft {

TEMPLATE_TEST_CASE("a build without an FFT for devices says so", "", double, float) {
  if (has_device_libraries) return;
  CHECK_THROWS_AS(device_fft_name(), RuntimeFailure);
  CHECK_THROWS_AS(DeviceFft<TestType>(CompanionExecution(), {}), RuntimeFailure);
}

TEST_CASE("the FFT for devices has a name with a version") {
  if (!has_device_libraries) return;
  CHECK(device_fft_name().find('.') != std::string::npos);
}

}  // namespace steelyard::test_device_fft
