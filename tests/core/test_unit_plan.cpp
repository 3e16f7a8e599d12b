#include <catch2/catch_approx.hpp>
#include <cstdlib>
#include <map>
#include <tuple>

#include "core/device/device.hpp"
#include "core/memory/unit_memory.hpp"
#include "core/spaces.hpp"
#include "core/unit_plan.hpp"
#include "tests/catch.hpp"
#include "tests/core/started_units.hpp"
#include "tests/core/synthetic_machine.hpp"

namespace steelyard::test_unit_plan {

using Catch::Approx;
using namespace steelyard::tests;
using Kind = ProcessingUnit::Kind;

namespace {

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

/// The plan of rank 0 on `machine` with a layout of these fields behind host name and rank.
RankUnits plan_with_layout(const Machine& machine, const std::string& fields, PlanRequest request = {}) {
  const Layout layout = parse_layout(machine.host_name() + " 0 " + fields, "test.layout");
  request.layout = &layout;
  return plan_units(machine, request);
}

}  // namespace

TEST_CASE("ranks of a node share out all its cores as evenly as can be; more ranks than cores share them and say so") {
  const auto check = [](const Machine& machine, int ranks) {
    const int cores = static_cast<int>(machine.cores().size());
    CAPTURE(cores, ranks);
    std::map<int, int> threads;
    for (const RankUnits& plan : plan_node(machine, ranks, UnitChoice::host)) {
      for (const int core : plan.host->cores) ++threads[core];
      const int own = static_cast<int>(plan.host->cores.size());
      CHECK(own >= std::max(1, cores / ranks));
      CHECK(own <= std::max(1, (cores + ranks - 1) / ranks));
      CHECK(plan.cores_from == "even share");
      CHECK(plan.oversubscribed == (ranks > cores));
    }
    CHECK(static_cast<int>(threads.size()) == cores);
    for (const auto& [core, count] : threads) {
      CHECK(count >= ranks / cores);
      CHECK(count <= std::max(1, (ranks + cores - 1) / cores));
    }
  };
  for (const int cores : {1, 2, 3, 4, 7, 8, 64}) {
    const SyntheticMachine machine(cores);
    for (int ranks = 1; ranks <= cores + 3; ++ranks) check(*machine, ranks);
    check(*machine, 2 * cores + 1);
  }
  for (const int extra : {1, 2, 3}) check(this_machine(), static_cast<int>(this_machine().cores().size()) + extra);
}

TEST_CASE("a companion takes one core of its rank's share; where there is only one, it is shared and said to be") {
  if (!has_companion) SKIP("this build has no companion");
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

TEST_CASE("a rank drives what it was asked to, otherwise all that there is") {
  const RankUnits all = plan_node(this_machine(), 1, std::nullopt)[0];
  CHECK(all.count() == (has_companion ? 2 : 1));
  const RankUnits host = plan_node(this_machine(), 1, UnitChoice::host)[0];
  REQUIRE(host.host);
  CHECK_FALSE(host.companion);
  CHECK(host.host->kind == Kind::host);
  CHECK(host.host->cores == this_machine().cores());
  for (const UnitChoice choice : {UnitChoice::device, UnitChoice::host_and_device}) {
    if (!has_companion) {
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

TEST_CASE("cores come from a launcher that bound the rank to some, alone or with others; all of them is no binding") {
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
  // Ranks that are bound to the same cores share them out, and say where there are too few.
  request.launcher_cores = {1, 2, 4, 7};
  for (const auto& [sharers, sharer, expected] :
       {std::tuple{2, 0, CoreList{1, 2}}, {2, 1, CoreList{4, 7}}, {5, 1, CoreList{2}}}) {
    request.launcher_sharers = sharers;
    request.launcher_sharer = sharer;
    CHECK(plan_units(*machine, request).host->cores == expected);
    CHECK(plan_units(*machine, request).oversubscribed == (sharers > 4));
  }
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
  CHECK(plan_with_layout(*machine, "1-2 host OMP_NUM_THREADS=3", request).host->cores == CoreList{1, 2});
  request.threads->threads = 4;
  CHECK(plan_units(*machine, request).note.empty());
  ++request.threads->threads;
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
  const char* const before = std::getenv("OMP_NUM_THREADS");
  const std::string kept = before != nullptr ? before : "";
  CHECK(wish("", "") == "none");
  CHECK(wish("", "3") == "OMP_NUM_THREADS 3");
  CHECK(wish("", "4,2") == "OMP_NUM_THREADS 4");
  CHECK(wish("5", "3") == "KOKKOS_NUM_THREADS 5");
  for (const char* wrong : {"0", "-1", "two", "1.5"}) {
    CHECK_THROWS_MATCHES(wish("", wrong), InvalidArgument, MessageMatches(ContainsSubstring("OMP_NUM_THREADS is \"")));
  }
  ::unsetenv("KOKKOS_NUM_THREADS");
  // Empty says as much as not set.
  ::setenv("OMP_NUM_THREADS", kept.c_str(), 1);
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
  // One that gives a core to two ranks of the run oversubscribes it.
  const std::string name = machine->host_name();
  const struct {
    std::string text;
    int ranks;
    bool oversubscribed;
  } cases[] = {{name + " 0 0-3 host\n" + name + " 1 3-5 host\n", 2, true},
               {name + " 0 0-3 host\n" + name + " 1 all host\n", 2, true},
               {name + " 0 0-3 host\n" + name + " 1 4-7 host\n", 2, false},
               {name + " 0 0-3 host\n" + name + " 1 3-5 host\n", 1, false},
               {name + " 0 0-3 host\nother 1 0-3 host\n", 2, false}};
  for (const auto& [text, ranks, oversubscribed] : cases) {
    CAPTURE(text, ranks);
    const Layout layout = parse_layout(text, "test.layout");
    PlanRequest both;
    both.ranks_on_node = ranks;
    both.layout = &layout;
    CHECK(plan_units(*machine, both).oversubscribed == oversubscribed);
  }
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
  CHECK_FALSE(plan_units(*machine, {}).host->emulated());
  const auto layout = parse_layout("a 0 all host+device slowdown=1.25,device_slowdown=2", "test.layout");
  CHECK(unit_slowdowns(layout.entries[0]).companion == 2.5);
  CHECK(request.slowdowns.factor(0, Kind::host) == 3.0);
  CHECK(request.slowdowns.factor(40, Kind::companion) == 7.0);
  CHECK(Slowdowns({"rank01=5", "rank1=3"}).factor(1, Kind::companion) == 15.0);
  CHECK(Slowdowns({"rank9=1", "rank10=1"}).highest_rank() == 10);
  CHECK(Slowdowns({"host=2"}).highest_rank() == -1);
  if (!has_companion) return;
  const RankUnits both = plan_with_layout(*machine, "all host+device slowdown=1.25,device_slowdown=2", request);
  CHECK(both.host->slowdown == 2.0 * 3.0 * 1.5 * 1.25);
  CHECK(both.companion->slowdown == 7.0 * 3.0 * 1.25 * 2.0);
}

TEST_CASE("slowdowns, suboptions and cores without sense are refused with their word and value") {
  const SyntheticMachine machine(8);
  for (const char* word : {"", "host", "=2", "cpu=2", "rank=2", "rankx=2", "rank-1=2", "rank1.5=2", "Host=2"}) {
    CAPTURE(word);
    CHECK_THROWS_MATCHES(Slowdowns({"host=2", word}), InvalidArgument,
                         MessageMatches(ContainsSubstring(word) && ContainsSubstring("expected")));
  }
  for (const std::string value : {"", "0.99", "0", "-3", "nan", "inf", "two", "2x", "2=3"}) {
    CAPTURE(value);
    CHECK_THROWS_MATCHES(Slowdowns({"device=" + value}), InvalidArgument,
                         MessageMatches(ContainsSubstring("device") && ContainsSubstring('"' + value + '"')));
    CHECK_THROWS_MATCHES(plan_with_layout(*machine, "all host host_slowdown=" + value), InvalidArgument,
                         MessageMatches(ContainsSubstring("host_slowdown is \"" + value + '"')));
  }
  const std::pair<const char*, const char*> cases[] = {{"all host slowness=3", "\"slowness\""},
                                                       {"all host slowdown=1e308", "\"1e308\""},
                                                       {"all host threads=0", "threads is \"0\""},
                                                       {"all host threads=two", "threads is \"two\""},
                                                       {"all host OMP_NUM_THREADS=1.5", "OMP_NUM_THREADS is \"1.5\""},
                                                       {"7-9 host", "core 8 "}};
  for (const auto& [fields, words] : cases) {
    CAPTURE(fields);
    CHECK_THROWS_MATCHES(plan_with_layout(*machine, fields), InvalidArgument, MessageMatches(ContainsSubstring(words)));
  }
  PlanRequest second;
  second.rank_on_node = 1;
  CHECK_THROWS_MATCHES(plan_with_layout(*machine, "0 host", second), InvalidArgument,
                       MessageMatches(ContainsSubstring("test.layout") && ContainsSubstring("rank 1")));
  if (!has_companion) return;
  for (const char* fields : {"device=-1", "device=first", "device=", "device_slowdown=0"}) {
    CHECK_THROWS_AS(plan_with_layout(*machine, std::string("all device ") + fields), InvalidArgument);
  }
}

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
/// Two packages with 3 GiB each, and nine tenths of them.
constexpr const char* two_nodes = "pack:2 numa:1(memory=3221225472) core:4 pu:1";
constexpr double node_bytes = 0.9 * 6.0 * 1024.0 * 1024.0 * 1024.0;

RankUnits host_alone() {
  RankUnits units;
  units.host = ProcessingUnit{Kind::host, "Host", {0}, -1, 1.0};
  return units;
}

RankUnits both() {
  RankUnits units = host_alone();
  units.companion = ProcessingUnit{Kind::companion, "Companion", {1}, companion_is_device ? 0 : -1, 1.0};
  return units;
}

/// A kernel that may use so much of a companion's memory.
KernelFacts kernel_of(double bytes_per_unit, double bytes_fixed, double cap = infinity, bool out_of_core = false) {
  KernelFacts facts;
  facts.memory_bytes_per_unit = bytes_per_unit;
  facts.memory_bytes_fixed = bytes_fixed;
  facts.device_memory_bytes = cap;
  facts.runs_out_of_core = out_of_core;
  return facts;
}

}  // namespace

TEST_CASE("units that live in host memory share nine tenths of the node's equally") {
  const SyntheticMachine machine(two_nodes);
  for (const int ranks : {1, 2, 7}) {
    CHECK(ranks * rank_memory_bytes(*machine, ranks) == Approx(node_bytes));
    CHECK(ranks * unit_memory_bytes(*machine, host_alone(), Kind::host, ranks) == Approx(node_bytes));
    const double host = unit_memory_bytes(*machine, both(), Kind::host, ranks);
    if (companion_is_device) {
      CHECK(ranks * host == Approx(node_bytes));
    } else {
      CHECK(unit_memory_bytes(*machine, both(), Kind::companion, ranks) == host);
      CHECK(2 * ranks * host == Approx(node_bytes));
    }
  }
}

TEST_CASE("a host unit's limit is the largest whole size that fits, in core and whatever a companion's memory is") {
  const SyntheticMachine machine(two_nodes);
  for (const RankUnits& units : {host_alone(), both()}) {
    for (const int ranks : {1, 3}) {
      const double bytes = unit_memory_bytes(*machine, units, Kind::host, ranks);
      for (const double per_unit : {1.0, 48.0, 16640.0, 1e9}) {
        for (const double fixed : {0.0, 1e6}) {
          for (const double cap : {infinity, 1e6, 1.0}) {
            const KernelFacts kernel = kernel_of(per_unit, fixed, cap, ranks == 3);
            const UnitLimits limits = unit_limits(*machine, units, Kind::host, ranks, kernel);
            CHECK(limits.max_units == std::floor(limits.max_units));
            CHECK(fixed + per_unit * limits.max_units <= bytes);
            CHECK(fixed + per_unit * (limits.max_units + 1.0) > bytes);
            CHECK(limits.in_core_units == limits.max_units);
          }
        }
      }
    }
  }
  CHECK(unit_limits(*machine, both(), Kind::host, 1, kernel_of(0.0, 1e15)).max_units == infinity);
  CHECK(unit_limits(*machine, both(), Kind::host, 1, kernel_of(1.0, 1e15)).max_units == 0.0);
  CHECK(unit_limits(*machine, both(), Kind::host, 1, kernel_of(1e15, 0.0)).max_units == 0.0);
}

TEST_CASE("a companion holds in core what fits under the kernel's cap of its memory, or into that memory") {
  const SyntheticMachine machine(two_nodes);
  for (const int ranks : {1, 3}) {
    const double own_bytes = unit_memory_bytes(*machine, both(), Kind::companion, ranks);
    const double in_host = std::floor((rank_memory_bytes(*machine, ranks) - 4096.0) / 1024.0);
    for (const double cap : {0.0, 4095.0, 4096.0, 5119.0, 5120.0, 1e6, 1e8, own_bytes, 1e15, infinity}) {
      CAPTURE(ranks, cap);
      const auto limits = [&](bool out_of_core) {
        return unit_limits(*machine, both(), Kind::companion, ranks, kernel_of(1024.0, 4096.0, cap, out_of_core));
      };
      const double in_core = std::max(0.0, std::floor((std::min(cap, own_bytes) - 4096.0) / 1024.0));
      CHECK(limits(false).in_core_units == in_core);
      CHECK(limits(false).max_units == in_core);
      // The rest comes from host memory, which no cap of the companion's makes smaller.
      CHECK(limits(true).in_core_units == in_core);
      CHECK(limits(true).max_units == std::max(in_core, in_host));
    }
  }
}

TEST_CASE("ranks that drive the same device plan with no more than its memory together, others with all of theirs") {
  if (!companion_is_device) SKIP("this build has no device");
  for (int ranks = 1; ranks <= 5; ++ranks) {
    std::map<int, double> planned;
    for (const RankUnits& units : plan_node(this_machine(), ranks, std::nullopt)) {
      planned[units.companion->device] += unit_memory_bytes(this_machine(), units, Kind::companion, ranks);
    }
    for (const auto& [device, bytes] : planned) {
      CAPTURE(ranks, device);
      CHECK(bytes == Approx(0.9 * device_facts(device).memory_bytes));
    }
  }
}

TEST_CASE("a kernel may use its cap of a device's memory or nine tenths of that; a host space has only the cap") {
  const double most = device_memory_bytes(infinity);
  if (companion_is_device) {
    CHECK(most > 0.0);
    const double device_bytes = device_facts(current_device()).memory_bytes;
    if (device_bytes > 0.0) {
      CHECK(most == Approx(0.9 * device_bytes));
      if (started_units().companion)
        CHECK(most == unit_memory_bytes(this_machine(), started_units(), Kind::companion, 1));
    }
  } else {
    CHECK(most == infinity);
  }
  for (const double cap : {0.0, 1.0, 40960.0, 1e9, 1e12, 1e15}) CHECK(device_memory_bytes(cap) == std::min(cap, most));
}

}  // namespace steelyard::test_unit_plan
