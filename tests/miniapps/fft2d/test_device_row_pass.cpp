#include "tests/catch.hpp"
#include "tests/core/device/schedule.hpp"
#include "tests/miniapps/fft2d/row_pass_run.hpp"

namespace steelyard::fft2d::test_device_row_pass {

using namespace steelyard::fft2d::tests;
using steelyard::tests::Schedule;

TEST_CASE("Chunks are copied, transformed and copied back as on a conveyor whose slowest engine sets the pace") {
  constexpr std::int64_t length = 1024, rows_of_chunk = 256;
  const std::int64_t chunks = GENERATE(1, 2, 3, 4);
  const bool transpose = GENERATE(false, true);
  const auto rows = random_rows<Kokkos::complex<double>>(chunks * rows_of_chunk * length, 1);
  RowTransformation transformation;
  transformation.length = length;
  transformation.transpose = transpose;
  emulated::recorded_operations();
  run_pass<On<CompanionExecution, double>>(transformation, "vendor", rows);
  const std::vector<emulated::Order> orders = emulated::recorded_operations();

  for (const auto& [load_s, kernel_s, store_s] : {std::array{1.0, 1.0, 2.0},
                                                  {2.0, 1.0, 2.0},
                                                  {1.0, 2.0, 3.0},
                                                  {4.0, 1.0, 1.0},
                                                  {1.0, 4.0, 1.0},
                                                  {1.0, 1.0, 8.0}}) {
    // A chunk is two kernels: its transforms, and their results in the order in which they leave.
    const Schedule schedule(orders, [&](const std::string& label) {
      return label == emulated::copy_to_device ? load_s : label == emulated::copy_to_host ? store_s : kernel_s;
    });
    CAPTURE(chunks, transpose, load_s, kernel_s, store_s);
    REQUIRE(schedule.works(emulated::copy_to_device).size() == static_cast<std::size_t>(chunks));
    CHECK(schedule.end_s() == load_s + 2.0 * kernel_s + store_s +
                                  static_cast<double>(chunks - 1) * std::max({load_s, 2.0 * kernel_s, store_s}));
  }
}

}  // namespace steelyard::fft2d::test_device_row_pass
