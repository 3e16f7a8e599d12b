#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <thread>
#include <type_traits>
#include <vector>

#include "core/base/errors.hpp"
#include "core/runtime.hpp"
#include "core/spaces.hpp"
#include "tests/core/affinity.hpp"
#include "tests/core/started_units.hpp"

namespace steelyard::test_runtime {

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;
using namespace steelyard::tests;

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

TEST_CASE("the main thread is bound to the host unit's first core") {
  if (!threads_are_bound()) SKIP("this system refuses to bind threads");
  CHECK(cpus_of_this_thread() == cpus_of_cores({started_units().host->cores.front()}));
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

}  // namespace steelyard::test_runtime
