#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cstdlib>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "core/base/errors.hpp"
#include "core/device/device.hpp"
#include "core/spaces.hpp"
#include "core/unit_plan.hpp"
#include "tests/core/started_units.hpp"
#include "tests/core/synthetic_machine.hpp"

namespace steelyard::test_unit_plan {

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;
using namespace steelyard::tests;
using Kind = ProcessingUnit::Kind;

namespace {

bool companion_here() { return has_companion && (!companion_is_device || device_count() > 0); }

/// Plans of all ranks of one node.
std::vector<RankUnits> plan_node(const Machine& machine, int ranks, std::optional<UnitChoice> units) {
  std::vector<RankUnits> plans;
  for (int rank = 0; rank < ranks; ++rank) {
    PlanRequest request;
    request.units = units;
    request.rank = request.rank_on_node = rank;
    request.ranks_on_node = ranks;
    plans.push_back(plan_units(machine, request));
  }
  return plans;
}

/// How many threads each core has to serve.
std::map<int, int> threads_on_cores(const std::vector<RankUnits>& plans) {
  std::map<int, int> threads;
  for (const RankUnits& plan : plans) {
    for (const auto* unit : {&plan.host, &plan.companion}) {
      if (!*unit) continue;
      for (const int core : (*unit)->cores) ++threads[core];
    }
  }
  return threads;
}

/// The plan of rank 0 on `machine` with a layout of these fields behind host name and rank.
RankUnits plan_with_layout(const Machine& machine, const std::string& fields, PlanRequest request = {}) {
  const Layout layout = parse_layout(machine.host_name() + " 0 " + fields, "test.layout");
  request.layout = &layout;
  return plan_units(machine, request);
}

/// Of a layout's line with these suboptions.
UnitSlowdowns slowdowns_of(const std::string& suboptions) {
  return unit_slowdowns(parse_layout("a 0 all host+device " + suboptions, "test.layout").entries.front());
}

}  // namespace

TEST_CASE("ranks of a node share out all its cores, each core to one unit, as evenly as can be") {
  for (const int cores : {1, 2, 3, 4, 7, 8, 64}) {
    const SyntheticMachine machine(cores);
    REQUIRE(machine->cores().size() == static_cast<std::size_t>(cores));
    for (int ranks = 1; ranks <= cores; ++ranks) {
      CAPTURE(cores, ranks);
      const auto plans = plan_node(*machine, ranks, UnitChoice::host);
      const auto threads = threads_on_cores(plans);
      CHECK(threads.size() == static_cast<std::size_t>(cores));
      for (const auto& [core, count] : threads) CHECK(count == 1);
      std::size_t least = cores, most = 0;
      for (const RankUnits& plan : plans) {
        least = std::min(least, plan.host->cores.size());
        most = std::max(most, plan.host->cores.size());
        CHECK(plan.cores_from == "even share");
        CHECK_FALSE(plan.oversubscribed);
      }
      CHECK(most <= least + 1);
    }
  }
}

TEST_CASE("a companion takes one core of its rank's share; where there is only one, it is shared and said to be") {
  if (!companion_here()) SKIP("this build or machine has no companion");
  for (const int cores : {1, 2, 3, 8}) {
    const SyntheticMachine machine(cores);
    for (int ranks = 1; ranks <= cores; ++ranks) {
      CAPTURE(cores, ranks);
      const auto with = plan_node(*machine, ranks, std::nullopt);
      const auto without = plan_node(*machine, ranks, UnitChoice::host);
      for (std::size_t rank = 0; rank < with.size(); ++rank) {
        const CoreList& share = without[rank].host->cores;
        REQUIRE(with[rank].count() == 2);
        CHECK(with[rank].companion->cores.size() == 1);
        CoreList both = with[rank].host->cores;
        CHECK(with[rank].oversubscribed == (share.size() == 1));
        if (share.size() > 1) both.push_back(with[rank].companion->cores[0]);
        std::sort(both.begin(), both.end());
        CHECK(both == share);
        CHECK(std::binary_search(share.begin(), share.end(), with[rank].companion->cores[0]));
      }
    }
  }
}

TEST_CASE("more ranks than cores share cores fairly and every one of them says so") {
  const auto node_cores = [](const Machine& machine) { return static_cast<int>(machine.cores().size()); };
  const SyntheticMachine three(3);
  for (const Machine* machine : {&*three, &this_machine()}) {
    for (const int extra : {1, 2, node_cores(*machine) + 1}) {
      const auto plans = plan_node(*machine, node_cores(*machine) + extra, UnitChoice::host);
      for (const RankUnits& plan : plans) {
        CHECK(plan.oversubscribed);
        CHECK(plan.host->cores.size() == 1);
      }
      int least = 1 << 20, most = 0;
      for (const auto& [core, count] : threads_on_cores(plans)) {
        least = std::min(least, count);
        most = std::max(most, count);
      }
      CHECK(most <= least + 1);
    }
  }
}

TEST_CASE("a rank drives what it was asked to, otherwise all that there is") {
  const RankUnits all = plan_node(this_machine(), 1, std::nullopt)[0];
  CHECK(all.count() == (companion_here() ? 2 : 1));
  const RankUnits host = plan_node(this_machine(), 1, UnitChoice::host)[0];
  REQUIRE(host.host);
  CHECK_FALSE(host.companion);
  CHECK(host.host->kind == Kind::host);
  CHECK(host.host->cores == this_machine().cores());
  for (const UnitChoice choice : {UnitChoice::device, UnitChoice::host_and_device}) {
    if (!companion_here()) {
      CHECK_THROWS_MATCHES(plan_node(this_machine(), 1, choice), InvalidArgument,
                           MessageMatches(ContainsSubstring("units " + format_unit_choice(choice)) &&
                                          ContainsSubstring("expected host")));
      continue;
    }
    const RankUnits units = plan_node(this_machine(), 1, choice)[0];
    CHECK(units.host.has_value() == (choice == UnitChoice::host_and_device));
    REQUIRE(units.companion);
    CHECK(units.companion->kind == Kind::companion);
    CHECK(units.companion->cores.size() == 1);
    CHECK((units.companion->device >= 0) == companion_is_device);
  }
}

TEST_CASE("cores come from a launcher that bound the rank to some; all of them is no binding") {
  const SyntheticMachine machine(8);
  PlanRequest request;
  request.units = UnitChoice::host;
  request.rank = request.rank_on_node = 1;
  request.ranks_on_node = 2;
  for (const CoreList& cores : {CoreList{2}, CoreList{2, 3}, CoreList{0, 5, 7}, CoreList{1, 2, 3, 4, 5, 6, 7}}) {
    request.launcher_cores = cores;
    const RankUnits units = plan_units(*machine, request);
    CHECK(units.host->cores == cores);
    CHECK(units.cores_from == "launcher");
  }
  for (const CoreList& cores : {CoreList{}, machine->cores()}) {
    request.launcher_cores = cores;
    const RankUnits units = plan_units(*machine, request);
    CHECK(units.host->cores == CoreList{4, 5, 6, 7});
    CHECK(units.cores_from == "even share");
  }
}

TEST_CASE("ranks that are bound to the same cores share them out, and say where there are too few") {
  const SyntheticMachine machine(8);
  PlanRequest request;
  request.units = UnitChoice::host;
  request.launcher_cores = {1, 2, 4, 7};
  request.launcher_sharers = 2;
  CHECK(plan_units(*machine, request).host->cores == CoreList{1, 2});
  request.launcher_sharer = 1;
  CHECK(plan_units(*machine, request).host->cores == CoreList{4, 7});
  CHECK_FALSE(plan_units(*machine, request).oversubscribed);
  request.launcher_sharers = 5;
  CHECK(plan_units(*machine, request).host->cores == CoreList{2});
  CHECK(plan_units(*machine, request).oversubscribed);
}

TEST_CASE("fewer threads that the environment asks for are a limit, more are told of, and a layout's own go before") {
  const SyntheticMachine machine(4);
  PlanRequest request;
  request.units = UnitChoice::host;
  request.threads = ThreadRequest{"OMP_NUM_THREADS", 2};
  CHECK(plan_units(*machine, request).host->cores == CoreList{0, 1});
  CHECK(plan_units(*machine, request).note.empty());
  CHECK(plan_with_layout(*machine, "all host", request).host->cores == CoreList{0, 1});
  CHECK(plan_with_layout(*machine, "all host threads=3", request).host->cores == CoreList{0, 1, 2});
  request.threads->threads = 4;
  CHECK(plan_units(*machine, request).note.empty());
  request.threads->threads = 5;
  const RankUnits all = plan_units(*machine, request);
  CHECK(all.host->cores == machine->cores());
  CHECK_THAT(all.note, ContainsSubstring("OMP_NUM_THREADS asks for 5 threads") && ContainsSubstring("cores 0-3"));
}

TEST_CASE("the environment asks for threads by Kokkos' variable or else the first number of OpenMP's") {
  const auto wish = [](const char* kokkos, const char* openmp) {
    ::setenv("KOKKOS_NUM_THREADS", kokkos, 1);
    ::setenv("OMP_NUM_THREADS", openmp, 1);
    const auto found = threads_of_environment();
    return found ? found->variable + " " + std::to_string(found->threads) : "none";
  };
  const char* before = std::getenv("OMP_NUM_THREADS");
  const std::string kept = before != nullptr ? before : "";
  CHECK(wish("", "") == "none");
  CHECK(wish("", "3") == "OMP_NUM_THREADS 3");
  CHECK(wish("", "4,2") == "OMP_NUM_THREADS 4");
  CHECK(wish("5", "3") == "KOKKOS_NUM_THREADS 5");
  for (const char* wrong : {"0", "-1", "two", "1.5"}) {
    CHECK_THROWS_MATCHES(wish("", wrong), InvalidArgument, MessageMatches(ContainsSubstring("OMP_NUM_THREADS is \"")));
  }
  ::unsetenv("KOKKOS_NUM_THREADS");
  if (kept.empty()) {
    ::unsetenv("OMP_NUM_THREADS");
  } else {
    ::setenv("OMP_NUM_THREADS", kept.c_str(), 1);
  }
}

TEST_CASE("a layout's line decides over units asked for, the launcher's cores and even shares") {
  const SyntheticMachine machine(8);
  PlanRequest request;
  request.units = UnitChoice::host_and_device;
  request.launcher_cores = {0, 1, 2};
  const RankUnits some = plan_with_layout(*machine, "4-5,7 host", request);
  CHECK(some.cores_from == "layout");
  CHECK(some.host->cores == CoreList{4, 5, 7});
  CHECK_FALSE(some.companion);
  CHECK(plan_with_layout(*machine, "all host", request).host->cores == machine->cores());
  CHECK_THROWS_MATCHES(plan_with_layout(*machine, "7-9 host"), InvalidArgument,
                       MessageMatches(ContainsSubstring("core 8 ") && ContainsSubstring("cores 0-7")));
  request.rank_on_node = 1;
  CHECK_THROWS_MATCHES(plan_with_layout(*machine, "0 host", request), InvalidArgument,
                       MessageMatches(ContainsSubstring("test.layout") && ContainsSubstring("rank 1")));
}

TEST_CASE("a layout that gives a core to two ranks of the run oversubscribes it") {
  const SyntheticMachine machine(8);
  const std::string name = machine->host_name();
  const auto plan = [&](const std::string& text, int ranks) {
    const Layout layout = parse_layout(text, "test.layout");
    PlanRequest request;
    request.ranks_on_node = ranks;
    request.layout = &layout;
    return plan_units(*machine, request).oversubscribed;
  };
  CHECK(plan(name + " 0 0-3 host\n" + name + " 1 3-5 host\n", 2));
  CHECK(plan(name + " 0 0-3 host\n" + name + " 1 all host\n", 2));
  CHECK_FALSE(plan(name + " 0 0-3 host\n" + name + " 1 4-7 host\n", 2));
  CHECK_FALSE(plan(name + " 0 0-3 host\n" + name + " 1 3-5 host\n", 1));
  CHECK_FALSE(plan(name + " 0 0-3 host\nother 1 0-3 host\n", 2));
}

TEST_CASE("the threads of a layout's line are a limit on its cores") {
  const SyntheticMachine machine(8);
  CHECK(plan_with_layout(*machine, "2-5 host threads=2").host->cores == CoreList{2, 3});
  CHECK(plan_with_layout(*machine, "2-5 host OMP_NUM_THREADS=3").host->cores == CoreList{2, 3, 4});
  CHECK(plan_with_layout(*machine, "2-5 host threads=8").host->cores == CoreList{2, 3, 4, 5});
}

TEST_CASE("slowdowns of command line and layout multiply, each for the units it names") {
  const SyntheticMachine machine(4);
  PlanRequest request;
  request.rank = 3;
  request.slowdowns = Slowdowns({"host=2", "rank3=3", "rank4=100", "host=1.5", "device=7"});
  const RankUnits host =
      plan_with_layout(*machine, "all host slowdown=1.25,host_slowdown=2,device_slowdown=99", request);
  CHECK(host.host->slowdown == 2.0 * 3.0 * 1.5 * 1.25 * 2.0);
  CHECK(host.host->emulated());
  if (companion_here()) {
    const RankUnits both = plan_with_layout(*machine, "all host+device slowdown=1.25,device_slowdown=2", request);
    CHECK(both.host->slowdown == 2.0 * 3.0 * 1.5 * 1.25);
    CHECK(both.companion->slowdown == 7.0 * 3.0 * 1.25 * 2.0);
  }
  CHECK_FALSE(plan_units(*machine, {}).host->emulated());
}

TEST_CASE("suboptions that are unknown or without sense are refused with their key and value") {
  const SyntheticMachine machine(4);
  CHECK_THROWS_MATCHES(plan_with_layout(*machine, "all host slow=3"), InvalidArgument,
                       MessageMatches(ContainsSubstring("\"slow\"") && ContainsSubstring("threads")));
  const struct {
    const char *key, *value;
  } cases[] = {{"slowdown", "0.5"}, {"slowdown", "fast"},    {"slowdown", "1e308"},
               {"slowdown", ""},    {"host_slowdown", "2x"}, {"threads", "0"},
               {"threads", "-1"},   {"threads", "two"},      {"OMP_NUM_THREADS", "1.5"}};
  for (const auto& [key, value] : cases) {
    CAPTURE(key, value);
    CHECK_THROWS_MATCHES(plan_with_layout(*machine, std::string("all host ") + key + "=" + value), InvalidArgument,
                         MessageMatches(ContainsSubstring(key) && ContainsSubstring('"' + std::string(value) + '"')));
  }
  if (!companion_here()) return;
  for (const char* value : {"-1", "first", ""}) {
    CHECK_THROWS_MATCHES(plan_with_layout(*machine, std::string("all device device=") + value), InvalidArgument,
                         MessageMatches(ContainsSubstring("device") && ContainsSubstring(value)));
  }
  CHECK_THROWS_AS(plan_with_layout(*machine, "all device device_slowdown=0"), InvalidArgument);
}

TEST_CASE("slowdowns multiply for the same unit and are 1 for units that nobody named") {
  const Slowdowns slowdowns({"host=2", "rank1=3", "rank01=5", "device=1", "host=4"});
  CHECK(slowdowns.factor(0, Kind::host) == 8.0);
  CHECK(slowdowns.factor(0, Kind::companion) == 1.0);
  CHECK(slowdowns.factor(1, Kind::host) == 120.0);
  CHECK(slowdowns.factor(1, Kind::companion) == 15.0);
  CHECK(slowdowns.factor(10, Kind::host) == 8.0);
  CHECK(slowdowns.highest_rank() == 1);
  CHECK(Slowdowns({"rank9=1", "rank10=1"}).highest_rank() == 10);
  CHECK(Slowdowns({"host=2"}).highest_rank() == -1);
  CHECK(Slowdowns().factor(5, Kind::companion) == 1.0);
}

TEST_CASE("a slowdown without sense is refused with its word or value") {
  for (const char* word : {"", "host", "=2", "cpu=2", "rank=2", "rankx=2", "rank-1=2", "rank1.5=2", "Host=2"}) {
    CAPTURE(word);
    CHECK_THROWS_MATCHES(Slowdowns({"host=2", word}), InvalidArgument,
                         MessageMatches(ContainsSubstring(word) && ContainsSubstring("expected")));
  }
  for (const char* value : {"", "0.99", "0", "-3", "nan", "inf", "two", "2x", "2=3"}) {
    CAPTURE(value);
    CHECK_THROWS_MATCHES(
        Slowdowns({"device=" + std::string(value)}), InvalidArgument,
        MessageMatches(ContainsSubstring("device") && ContainsSubstring('"' + std::string(value) + '"') &&
                       ContainsSubstring("at least 1")));
  }
}

TEST_CASE("slowdowns of a layout's line multiply, each for the units that it names") {
  CHECK(slowdowns_of("").host == 1.0);
  CHECK(slowdowns_of("device=1,threads=3").companion == 1.0);
  const UnitSlowdowns all = slowdowns_of("slowdown=2,host_slowdown=3,device_slowdown=1.5");
  CHECK(all.host == 6.0);
  CHECK(all.companion == 3.0);
}

TEST_CASE("factors below 1 and unknown suboptions are refused by name") {
  for (const char* factor : {"0.5", "nan", "inf", "2x", "-3", ""}) {
    CHECK_THROWS_MATCHES(slowdowns_of(std::string("host_slowdown=") + factor), InvalidArgument,
                         MessageMatches(ContainsSubstring("host_slowdown is \"" + std::string(factor))));
  }
  CHECK_THROWS_MATCHES(slowdowns_of("slowness=2"), InvalidArgument, MessageMatches(ContainsSubstring("slowness")));
}

}  // namespace steelyard::test_unit_plan
