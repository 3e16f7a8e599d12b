#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>
#include <thread>
#include <type_traits>

#include "core/co_execution.hpp"
#include "core/device/device.hpp"
#include "core/machine.hpp"
#include "core/runtime.hpp"
#include "core/spaces.hpp"
#include "tests/catch.hpp"
#include "tests/core/affinity.hpp"
#include "tests/core/started_units.hpp"
#include "tests/core/synthetic_machine.hpp"

namespace steelyard::test_machine {

using namespace steelyard::tests;

namespace {

/// What `question` answers in a process of its own, which has one thread.
bool in_a_process(const std::function<bool()>& question) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(question() ? 0 : 1);
  int status = -1;
  return child > 0 && ::waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

}  // namespace

TEST_CASE("a machine has the host's name and cores, counted up, and threads are bound to some of them") {
  const CoreList cores = this_machine().cores();
  const CoreList bound = this_machine().bound_cores();
  REQUIRE_FALSE(cores.empty());
  CHECK(std::adjacent_find(cores.begin(), cores.end(), std::greater_equal<>()) == cores.end());
  CHECK(static_cast<long>(cores.size()) <= ::sysconf(_SC_NPROCESSORS_CONF));
  CHECK_FALSE(bound.empty());
  CHECK(std::includes(cores.begin(), cores.end(), bound.begin(), bound.end()));
  ::utsname names{};
  REQUIRE(::uname(&names) == 0);
  CHECK(this_machine().host_name() == names.nodename);
  // All of them are near a device whose place is not known.
  for (const char* bus : {"", "nonsense", "ffff:ff:1f.7"}) CHECK(this_machine().cores_near(bus) == cores);
}

TEST_CASE("a known shape is described as it is") {
  const SyntheticMachine machine("pack:2 numa:1(memory=1073741824) l3:1(size=4194304) l2:3(size=65536) core:1 pu:2");
  CHECK(machine->cores() == CoreList{0, 1, 2, 3, 4, 5});
  const auto caches = machine->caches();
  REQUIRE(caches.size() == 2);
  CHECK((caches[0].level == 2 && caches[0].bytes == 65536 && caches[0].count == 6));
  CHECK((caches[1].level == 3 && caches[1].bytes == 4194304 && caches[1].count == 2));
  const auto nodes = machine->numa_nodes();
  REQUIRE(nodes.size() == 2);
  CHECK(nodes[0].cores == CoreList{0, 1, 2});
  CHECK(nodes[1].cores == CoreList{3, 4, 5});
  CHECK(nodes[1].bytes == 1073741824);
  CHECK(machine->memory_bytes() == 2.0 * 1073741824);
}

TEST_CASE("a thread bound to cores runs on their hardware threads and no others, and a process says which it has") {
  if (!threads_are_bound()) SKIP("this system refuses to bind threads");
  const CoreList cores = this_machine().cores();
  std::vector<CoreList> choices{cores};
  for (const int core : cores) choices.push_back({core});
  if (cores.size() > 2) choices.push_back({cores.front(), cores.back()});
  const Cpus mine = cpus_of_this_thread();
  for (const CoreList& choice : choices) {
    Cpus cpus;
    std::thread([&] {
      this_machine().bind_this_thread(choice);
      cpus = cpus_of_this_thread();
    }).join();
    CHECK(cpus == cpus_of_cores(choice));
    CHECK(in_a_process([&] {
      this_machine().bind_this_thread(choice);
      return this_machine().bound_cores() == choice;
    }));
  }
  CHECK(cpus_of_this_thread() == mine);
}

TEST_CASE("cores that are not there are refused with their number and the cores that are, before Kokkos is touched") {
  const std::string there = format_cores(this_machine().cores());
  const Cpus before = cpus_of_this_thread();
  for (const int core : {987654, -1}) {
    const CoreList cores{this_machine().cores().front(), core};
    const auto refused = MessageMatches(ContainsSubstring("core " + std::to_string(core)));
    CHECK_THROWS_MATCHES(this_machine().bind_this_thread(cores), InvalidArgument,
                         refused && MessageMatches(ContainsSubstring("cores " + there)));
    RankUnits units;
    units.host = ProcessingUnit{ProcessingUnit::Kind::host, "", cores, -1, 1.0};
    CHECK_THROWS_MATCHES(Runtime(this_machine(), units), InvalidArgument, refused);
    units.host.swap(units.companion);
    CHECK_THROWS_MATCHES(Runtime(this_machine(), units), InvalidArgument, refused);
    units.host = started_units().host;
    if (units.host) CHECK_THROWS_MATCHES(CoExecution(this_machine(), units), InvalidArgument, refused);
  }
  CHECK_THROWS_AS(this_machine().bind_this_thread({}), Error);
  CHECK(cpus_of_this_thread() == before);
  CHECK(Kokkos::is_initialized());
}

namespace {

struct NoteThread {
  std::vector<Cpus>* cpus;
  std::vector<std::thread::id>* threads;

  void operator()(const int i) const {
    (*cpus)[static_cast<std::size_t>(i)] = cpus_of_this_thread();
    (*threads)[static_cast<std::size_t>(i)] = std::this_thread::get_id();
  }
};

}  // namespace

TEST_CASE("each host thread is bound to a core of its own") {
  if (!threads_are_bound()) SKIP("this system refuses to bind threads");
  if (std::is_same_v<HostExecution, SerialExecution>) SKIP("this Kokkos has no parallel host space");
  const CoreList& cores = started_units().host->cores;
  CHECK(cpus_of_this_thread() == cpus_of_cores({cores.front()}));
  std::vector<Cpus> cpus(cores.size());
  std::vector<std::thread::id> threads(cores.size());
  using Policy = Kokkos::RangePolicy<HostExecution, Kokkos::Schedule<Kokkos::Static>, int>;
  Kokkos::parallel_for("steelyard::tests::note_thread", Policy(0, static_cast<int>(cores.size())),
                       NoteThread{&cpus, &threads});
  Kokkos::fence();
  for (std::size_t i = 0; i < cores.size(); ++i) {
    CHECK(cpus[i] == cpus_of_cores({cores[i]}));
    for (std::size_t j = 0; j < i; ++j) CHECK(threads[i] != threads[j]);
  }
}

namespace {

/// A device whose memory the host reaches, as that of some GPUs.
struct UnifiedDevice {
  using memory_space = Kokkos::HostSpace;
};

}  // namespace

TEST_CASE("units are named after their spaces and models, and a device is one although the host reaches its memory") {
  STATIC_REQUIRE(runs_on_host<HostExecution>);
  STATIC_REQUIRE(runs_on_host<CompanionExecution> != companion_is_device);
  STATIC_REQUIRE_FALSE(runs_on_host<UnifiedDevice>);
  STATIC_REQUIRE(std::is_same_v<HostExecution, CompanionExecution> != has_companion);
  CHECK(started_units().host->space == HostExecution::name());
  if (const auto& companion = started_units().companion) {
    const std::string model = device_facts(companion->device).name;
    CHECK(companion->space == CompanionExecution::name() + (model.empty() ? "" : " (" + model + ")"));
  }
}

}  // namespace steelyard::test_machine
