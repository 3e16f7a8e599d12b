#include <catch2/catch_test_macros.hpp>
#include <cstddef>
#include <vector>

#include "core/device/device.hpp"
#include "tests/core/unit_space.hpp"

namespace steelyard::test_row_copy {

// Of matrices they are tested through copy_matrix_from_host() and its siblings, on the companion.
TEST_CASE("rows come back from a device, over another place on it, as they were sent, and nothing else is written") {
  struct Shape {
    std::size_t rows, row_bytes, host_pitch, first_pitch, second_pitch;
  };
  const CompanionExecution queue = tests::companion_queues(1).front();
  for (const Shape x : {Shape{1, 1, 1, 1, 1}, Shape{5, 24, 24, 24, 24}, Shape{7, 24, 40, 32, 24},
                        Shape{3, 1000, 1000, 1024, 4096}, Shape{64, 8, 64, 16, 512}}) {
    using Bytes = Kokkos::View<unsigned char*, DeviceOf<CompanionExecution>>;
    const Bytes first("first", x.rows * x.first_pitch), second("second", x.rows * x.second_pitch);
    const Kokkos::View<unsigned char*, PinnedMemory> sent("sent", x.rows * x.host_pitch);
    const Kokkos::View<unsigned char*, PinnedMemory> found("found", x.rows * x.host_pitch);
    for (std::size_t i = 0; i < sent.size(); ++i) sent(i) = static_cast<unsigned char>(i * 7 + 1);
    Kokkos::deep_copy(found, 255);
    Kokkos::fence();
    copy_rows_to_device(queue, {first.data(), x.first_pitch, sent.data(), x.host_pitch, x.row_bytes, x.rows});
    copy_rows_on_device(queue, {second.data(), x.second_pitch, first.data(), x.first_pitch, x.row_bytes, x.rows});
    copy_rows_to_host(queue, {found.data(), x.host_pitch, second.data(), x.second_pitch, x.row_bytes, x.rows});
    queue.fence();
    std::vector<unsigned char> expected(found.size(), 255);
    for (std::size_t i = 0; i < expected.size(); ++i) {
      if (i % x.host_pitch < x.row_bytes) expected[i] = sent(i);
    }
    CHECK(std::vector<unsigned char>(found.data(), found.data() + found.size()) == expected);
    // Of a new View all that no row lies over is still zero.
    const auto on_host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), second);
    bool untouched = true;
    for (std::size_t i = 0; i < on_host.size(); ++i) {
      untouched = untouched && (i % x.second_pitch < x.row_bytes || on_host(i) == 0);
    }
    CHECK(untouched);
  }
}

TEST_CASE("no rows, and rows without bytes, can be copied") {
  const CompanionExecution queue = tests::companion_queues(1).front();
  const Kokkos::View<unsigned char*, DeviceOf<CompanionExecution>> there("there", 8);
  const Kokkos::View<unsigned char*, PinnedMemory> here("here", 8);
  Kokkos::fence();
  CHECK_NOTHROW(copy_rows_to_device(queue, {there.data(), 8, here.data(), 8, 8, 0}));
  CHECK_NOTHROW(copy_rows_to_host(queue, {here.data(), 8, there.data(), 8, 0, 1}));
  queue.fence();
}

}  // namespace steelyard::test_row_copy
