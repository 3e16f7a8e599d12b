#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>
#include <thread>
#include <type_traits>

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

/// Runs on a thread of its own, so that bindings end with it.
void on_a_thread(const std::function<void()>& work) { std::thread(work).join(); }

/// What `question` answers in a process of its own, which has one thread.
bool in_a_process(const std::function<bool()>& question) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(question() ? 0 : 1);
  int status = -1;
  return child > 0 && ::waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

bool increasing(const CoreList& cores) {
  return std::adjacent_find(cores.begin(), cores.end(), std::greater_equal<>()) == cores.end();
}

}  // namespace

TEST_CASE("a machine has the host's name and cores, counted up, and threads are bound to some of them") {
  const CoreList cores = this_machine().cores();
  const CoreList bound = this_machine().bound_cores();
  CHECK_FALSE(cores.empty());
  CHECK(cores.front() >= 0);
  CHECK(increasing(cores));
  CHECK(static_cast<long>(cores.size()) <= ::sysconf(_SC_NPROCESSORS_CONF));
  CHECK_FALSE(bound.empty());
  ::utsname names{};
  REQUIRE(::uname(&names) == 0);
  CHECK(this_machine().host_name() == names.nodename);
  CHECK(std::includes(cores.begin(), cores.end(), bound.begin(), bound.end()));
}

TEST_CASE("a known shape is described as it is") {
  const SyntheticMachine machine("pack:2 numa:1(memory=1073741824) l3:1(size=4194304) l2:3(size=65536) core:1 pu:2");
  CHECK(machine->cores() == CoreList{0, 1, 2, 3, 4, 5});
  const auto caches = machine->caches();
  REQUIRE(caches.size() == 2);
  CHECK(caches[0].level == 2);
  CHECK(caches[0].bytes == 65536);
  CHECK(caches[0].count == 6);
  CHECK(caches[1].level == 3);
  CHECK(caches[1].bytes == 4194304);
  CHECK(caches[1].count == 2);
  const auto nodes = machine->numa_nodes();
  REQUIRE(nodes.size() == 2);
  CHECK(nodes[0].cores == CoreList{0, 1, 2});
  CHECK(nodes[1].cores == CoreList{3, 4, 5});
  CHECK(nodes[1].bytes == 1073741824);
  CHECK(machine->memory_bytes() == 2.0 * 1073741824);
}

TEST_CASE("a thread bound to cores may run on their hardware threads and no others") {
  if (!threads_are_bound()) SKIP("this system refuses to bind threads");
  const CoreList cores = this_machine().cores();
  std::vector<CoreList> choices{cores};
  for (const int core : cores) choices.push_back({core});
  if (cores.size() > 2) choices.push_back({cores.front(), cores.back()});
  const Cpus mine = cpus_of_this_thread();
  for (const CoreList& choice : choices) {
    Cpus cpus;
    on_a_thread([&] {
      this_machine().bind_this_thread(choice);
      cpus = cpus_of_this_thread();
    });
    CHECK(cpus == cpus_of_cores(choice));
  }
  CHECK(cpus_of_this_thread() == mine);
}

TEST_CASE("bound cores are the ones the process was bound to") {
  if (!threads_are_bound()) SKIP("this system refuses to bind threads");
  std::vector<CoreList> choices{this_machine().cores()};
  for (const int core : this_machine().cores()) choices.push_back({core});
  for (const CoreList& choice : choices) {
    CHECK(in_a_process([&] {
      this_machine().bind_this_thread(choice);
      return this_machine().bound_cores() == choice;
    }));
  }
}

TEST_CASE("cores that are not there are refused with their number and the cores that are") {
  const std::string there = format_cores(this_machine().cores());
  const Cpus before = cpus_of_this_thread();
  for (const int core : {987654, -1}) {
    CHECK_THROWS_MATCHES(
        this_machine().bind_this_thread({this_machine().cores().front(), core}), InvalidArgument,
        MessageMatches(ContainsSubstring("core " + std::to_string(core)) && ContainsSubstring("cores " + there)));
  }
  CHECK_THROWS_AS(this_machine().bind_this_thread({}), Error);
  CHECK(cpus_of_this_thread() == before);
}

TEST_CASE("all cores are near a device whose place is not known") {
  for (const char* bus : {"", "nonsense", "ffff:ff:1f.7"})
    CHECK(this_machine().cores_near(bus) == this_machine().cores());
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

TEST_CASE("a runtime on cores that the machine does not have is refused before Kokkos is touched") {
  RankUnits units;
  units.host = ProcessingUnit{ProcessingUnit::Kind::host, "", {0, 987654}, -1, 1.0};
  CHECK_THROWS_MATCHES(Runtime(this_machine(), units), InvalidArgument, MessageMatches(ContainsSubstring("987654")));
  units.companion = units.host;
  units.host.reset();
  CHECK_THROWS_MATCHES(Runtime(this_machine(), units), InvalidArgument, MessageMatches(ContainsSubstring("987654")));
  CHECK(Kokkos::is_initialized());
}

namespace {

/// A device whose memory the host reaches, as that of some GPUs.
struct UnifiedDevice {
  using memory_space = Kokkos::HostSpace;
};

}  // namespace

TEST_CASE("units are named after their spaces, and a device is one although the host reaches its memory") {
  STATIC_REQUIRE(Kokkos::SpaceAccessibility<HostExecution, Kokkos::HostSpace>::accessible);
  STATIC_REQUIRE(runs_on_host<HostExecution>);
  STATIC_REQUIRE(runs_on_host<CompanionExecution> != companion_is_device);
  STATIC_REQUIRE_FALSE(runs_on_host<UnifiedDevice>);
  STATIC_REQUIRE(std::is_same_v<HostExecution, CompanionExecution> != has_companion);
  using View = Kokkos::View<double*, DeviceOf<CompanionExecution>>;
  STATIC_REQUIRE(std::is_same_v<View::execution_space, CompanionExecution>);
  CHECK(started_units().host->space == HostExecution::name());
  if (started_units().companion) CHECK(started_units().companion->space == CompanionExecution::name());
}

}  // namespace steelyard::test_machine
