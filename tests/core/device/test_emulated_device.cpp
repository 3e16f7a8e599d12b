#include <csignal>
#include <new>

#include "core/device/device.hpp"
#include "tests/catch.hpp"
#include "tests/core/ended_program.hpp"
#include "tests/device/emulated/facts.hpp"
#include "tests/device/emulated/queue.hpp"
#include "tests/device/emulated/team.hpp"

namespace steelyard::test_emulated_device {

using emulated::Facts;
using emulated::parse_facts;
using emulated::Team;
using emulated::team_of_this_thread;
using tests::ended_program;
using tests::EndedProgram;

TEST_CASE("an emulated device is what the environment says, and a word that is no fact of a device is refused") {
  const Facts all = parse_facts("memory=64MiB,devices=2,scratch=32KiB,seed=7,mpi=aware,lose=copy");
  CHECK((all.memory_bytes == 64.0 * 1048576.0 && all.scratch_bytes == 32768));
  CHECK((all.devices == 2 && all.seed == 7 && all.mpi_aware && all.lost == emulated::Mistake::copy));
  const Facts usual = parse_facts(""), one = parse_facts("memory=12345");
  CHECK((usual.devices == 1 && !usual.mpi_aware && usual.lost == emulated::Mistake::none));
  CHECK((one.memory_bytes == 12345.0 && one.scratch_bytes == usual.scratch_bytes));
  const Facts shared = parse_facts("link=1MiB"), separate = parse_facts("links=2MiB");
  CHECK((shared.shares_link && shared.link_bytes_per_s == 1048576.0 && usual.link_bytes_per_s == 0.0));
  CHECK((!separate.shares_link && separate.link_bytes_per_s == 2097152.0));
  CHECK(parse_facts("memory=1GiB").memory_bytes == 1073741824.0);
  for (const char* const word :
       {"memory=64MB", "memory=", "memory", "memory=1KiBs", "devices=0", "devices=two", "scratch=-1", "link=fast",
        "seed=x", "seed=1x", "mpi=yes", "lose=all", "colour=red", "=1"}) {
    CHECK_THROWS_MATCHES(parse_facts(std::string("seed=3,") + word), InvalidArgument,
                         MessageMatches(ContainsSubstring(std::string("\"") + word + "\" (expected ")));
  }
}

namespace {

/// The device's handler of faults is installed with its next memory.
template <class Action>
EndedProgram ended_by(const Action& action) {
  return ended_program([&] {
    emulated::allocate("installs the handler", 0, 8);
    action();
  });
}

}  // namespace

TEST_CASE("a host that touches a device's memory ends, and what it touched is named") {
  if (emulated::facts().mpi_aware) SKIP("MPI, and with it the host, may touch this device's memory");
  const Kokkos::View<double*, DeviceOf<EmulatedDevice>> field("a field of the device", 1000);
  Kokkos::fence();
  const auto read = ended_by([&] {
    volatile double value = field(10);
    (void)value;
  });
  CHECK(read.signal == SIGSEGV);
  CHECK_THAT(read.text, ContainsSubstring("host code touched byte 80 of \"a field of the device\", 8000 bytes"));
}

TEST_CASE("behind the last page of a device's memory there is nothing, for kernels as well") {
  const Kokkos::View<unsigned char*, DeviceOf<EmulatedDevice>> page("a page", 4096);
  auto* const data = page.data();
  const auto behind = ended_by([&] {
    const emulated::MemoryAccess access(emulated::selected_device());
    data[4096] = 1;
  });
  CHECK(behind.signal == SIGSEGV);
  CHECK_THAT(behind.text, ContainsSubstring("\"a page\"") && ContainsSubstring("behind its end"));
}

TEST_CASE("a device has as much memory as it is said to have, and gets back what is freed") {
  const int device = emulated::selected_device();
  const auto most = static_cast<std::size_t>(emulated::facts().memory_bytes) - emulated::allocated_bytes(device);
  CHECK_THROWS_AS(emulated::allocate("too much", 0, most + 1), std::bad_alloc);
  const std::size_t before = emulated::allocated_bytes(device);
  void* const some = emulated::allocate("some", 0, 12345);
  CHECK(emulated::allocated_bytes(device) == before + 12345);
  CHECK_THROWS_AS(emulated::allocate("too much", 0, most), std::bad_alloc);
  emulated::deallocate(some);
  CHECK(emulated::allocated_bytes(device) == before);
}

// That barriers hold, in whatever order lanes run, is tested through the programs, on a device that loses barriers too.
TEST_CASE("barriers that some do not reach end the program") {
  Team& team = team_of_this_thread();
  const auto threads = ended_program([&] {
    team.run(4, 2, 1, [&](int thread, int /*lane*/) {
      if (thread > 0) team.team_barrier();
    });
  });
  CHECK(threads.signal == SIGABRT);
  CHECK_THAT(threads.text, ContainsSubstring("a team's barrier that some of its threads do not reach"));
  const auto lanes = ended_program([&] {
    team.run(4, 2, 1, [&](int /*thread*/, int lane) {
      if (lane > 0) team.lane_barrier();
    });
  });
  CHECK(lanes.signal == SIGABRT);
  CHECK_THAT(lanes.text, ContainsSubstring("vector loop"));
}

}  // namespace steelyard::test_emulated_device
