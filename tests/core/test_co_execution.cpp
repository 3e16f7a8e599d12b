#include <atomic>
#include <chrono>
#include <stdexcept>
#include <thread>

#include "core/co_execution.hpp"
#include "core/spaces.hpp"
#include "core/timing.hpp"
#include "tests/catch.hpp"
#include "tests/core/affinity.hpp"
#include "tests/core/started_units.hpp"
#include "tests/core/unit_space.hpp"

namespace steelyard::test_co_execution {

using Catch::Matchers::Message;
using namespace steelyard::tests;

namespace {

/// Both units, or the test is skipped.
RankUnits both_units() {
  if (!started_units().companion) SKIP("this build or machine has no companion");
  return started_units();
}

RankUnits only_host() {
  RankUnits units = started_units();
  units.companion.reset();
  return units;
}

RankUnits only_companion() {
  RankUnits units = both_units();
  units.host.reset();
  return units;
}

void sleep_s(double seconds) { std::this_thread::sleep_for(std::chrono::duration<double>(seconds)); }

void work_late(bool late, std::int64_t& count) {
  if (late) sleep_s(0.003);
  ++count;
}

/// True once `flag` is set; false when that takes so long that nobody is going to set it.
bool comes_true(const std::atomic<bool>& flag) {
  const double end_s = now_s() + 20.0;
  while (!flag.load() && now_s() < end_s) std::this_thread::yield();
  return flag.load();
}

}  // namespace

TEST_CASE("host and companion work at the same time, each for its own seconds") {
  for (const bool oversubscribed : {false, true}) {
    RankUnits units = both_units();
    units.oversubscribed = oversubscribed;
    CoExecution co_execution(this_machine(), units);
    // Each can wait for the other.
    for (int round = 0; round < 50; ++round) {
      std::atomic<bool> host_came{false}, companion_came{false};
      bool host_met = false, companion_met = false;
      co_execution.run(
          [&] {
            host_came = true;
            host_met = comes_true(companion_came);
          },
          [&] {
            companion_came = true;
            companion_met = comes_true(host_came);
          });
      REQUIRE(host_met);
      REQUIRE(companion_met);
    }
    const auto short_work = [] { sleep_s(0.005); };
    const auto long_work = [] { sleep_s(0.100); };
    // On a machine that is busy a short work can take long now and then.
    bool is_shorter = false;
    for (int attempt = 0; attempt < 10 && !is_shorter; ++attempt) {
      const UnitSeconds host_long = co_execution.run(long_work, short_work);
      const UnitSeconds companion_long = co_execution.run(short_work, long_work);
      REQUIRE(host_long.host_s >= 0.100);
      REQUIRE(host_long.companion_s >= 0.005);
      REQUIRE(companion_long.companion_s >= 0.100);
      REQUIRE(companion_long.host_s >= 0.005);
      is_shorter = host_long.companion_s < host_long.host_s && companion_long.host_s < companion_long.companion_s;
    }
    CHECK(is_shorter);
  }
}

TEST_CASE("an exception of one unit is thrown once the other has ended, and the next run is as good as the first") {
  CoExecution co_execution(this_machine(), both_units());
  for (int round = 0; round < 20; ++round) {
    bool ended = false;
    const auto slow = [&] {
      sleep_s(0.002);
      ended = true;
    };
    CHECK_THROWS_MATCHES(co_execution.run([] { throw InvalidArgument("of the host"); }, slow), InvalidArgument,
                         Message("of the host"));
    CHECK(ended);
    ended = false;
    CHECK_THROWS_MATCHES(co_execution.run(slow, [] { throw RuntimeFailure("of the companion"); }), RuntimeFailure,
                         Message("of the companion"));
    CHECK(ended);
    CHECK_THROWS_AS(co_execution.run([] { throw 1; }, [] { throw 2; }), int);
    int host = 0, companion = 0;
    co_execution.run([&] { host = 1; }, [&] { companion = 1; });
    CHECK(host + companion == 2);
  }
}

TEST_CASE("with one unit all work is the calling thread's, slowed down if the unit is, and the other's is not run") {
  const auto caller = std::this_thread::get_id();
  std::thread::id worker;
  bool other_ran = false;
  const auto work = [&] {
    worker = std::this_thread::get_id();
    sleep_s(0.002);
  };
  const auto other = [&] { other_ran = true; };
  const auto slowed = [](RankUnits units, double slowdown) {
    (units.host ? units.host : units.companion)->slowdown = slowdown;
    return units;
  };
  for (const double slowdown : {1.0, 4.0}) {
    CoExecution host(this_machine(), slowed(only_host(), slowdown));
    const UnitSeconds seconds = host.run(work, other);
    CHECK(worker == caller);
    CHECK(seconds.host_s >= slowdown * 0.002);
    CHECK(seconds.companion_s == 0.0);
    CHECK_THROWS_AS(host.run([] { throw std::out_of_range(""); }, other), std::out_of_range);
    const auto section = [&] { host.timed_section(ProcessingUnit::Kind::host, work); };
    CHECK(host.run(section, other).host_s >= slowdown * 0.002);
  }
  for (const double slowdown : {1.0, 4.0}) {
    CoExecution companion(this_machine(), slowed(only_companion(), slowdown));
    worker = {};
    const UnitSeconds seconds = companion.run(other, work);
    CHECK(worker == caller);
    CHECK(seconds.companion_s >= slowdown * 0.002);
    CHECK(seconds.host_s == 0.0);
  }
  CHECK_FALSE(other_ran);
}

TEST_CASE("the host's work is the calling thread's; the companion's is one other thread's, bound to its core") {
  const RankUnits units = both_units();
  CoExecution co_execution(this_machine(), units);
  const auto caller = std::this_thread::get_id();
  const Cpus caller_cpus = cpus_of_this_thread();
  std::thread::id driver;
  for (int round = 0; round < 10; ++round) {
    std::thread::id host, companion;
    Cpus cpus;
    co_execution.run([&] { host = std::this_thread::get_id(); },
                     [&] {
                       companion = std::this_thread::get_id();
                       cpus = cpus_of_this_thread();
                     });
    CHECK(host == caller);
    CHECK(companion != caller);
    if (round > 0) CHECK(companion == driver);
    driver = companion;
    if (threads_are_bound()) CHECK(cpus == cpus_of_cores(units.companion->cores));
  }
  CHECK(cpus_of_this_thread() == caller_cpus);
  RankUnits elsewhere = units;
  elsewhere.companion->cores = {987654};
  CHECK_THROWS_MATCHES(CoExecution(this_machine(), elsewhere), InvalidArgument,
                       MessageMatches(ContainsSubstring("987654")));
}

TEST_CASE("every round runs both works once, and what they wrote is there when the round ends") {
  // Waiting threads look for a while before they sleep, or sleep at once where cores are shared.
  RankUnits units = both_units();
  units.oversubscribed = GENERATE(false, true);
  const int rounds = units.oversubscribed ? 10000 : 30000;
  CoExecution co_execution(this_machine(), units);
  // Plain variables: the end of a round has to order them.
  std::int64_t host = 0, companion = 0;
  bool good = true;
  for (std::int64_t round = 1; round <= rounds && good; ++round) {
    co_execution.run([&] { ++host; }, [&] { companion += host >= 0 ? 1 : 0; });
    good = host == round && companion == round;
  }
  CHECK(good);
  // Rounds that begin after threads went to sleep are like any other.
  for (int round = 1; round <= 40; ++round) {
    const int who = round % 3;
    if (who == 0) sleep_s(0.003);
    co_execution.run([&] { work_late(who == 1, host); }, [&] { work_late(who == 2, companion); });
    REQUIRE(host == rounds + round);
    REQUIRE(companion == rounds + round);
  }
}

TEST_CASE("a unit with a slowdown of 3 takes three times its own seconds; the other unit does not") {
  RankUnits units = both_units();
  const auto time = [](double& own_s) {
    return [&own_s] {
      const double start_s = now_s();
      sleep_s(0.020);
      own_s = now_s() - start_s;
    };
  };
  for (const bool oversubscribed : {false, true}) {
    units.oversubscribed = oversubscribed;
    for (const bool slow_host : {true, false}) {
      units.host->slowdown = slow_host ? 3.0 : 1.0;
      units.companion->slowdown = slow_host ? 1.0 : 3.0;
      CoExecution co_execution(this_machine(), units);
      double host_own_s = 0.0, companion_own_s = 0.0;
      const double start_s = now_s();
      const UnitSeconds seconds = co_execution.run(time(host_own_s), time(companion_own_s));
      const double both_s = now_s() - start_s;
      const double slow_s = slow_host ? seconds.host_s : seconds.companion_s;
      const double quick_s = slow_host ? seconds.companion_s : seconds.host_s;
      CHECK(slow_s >= 0.060);
      CHECK(slow_s >= 3.0 * (slow_host ? host_own_s : companion_own_s));
      CHECK(both_s >= slow_s);
      CHECK(quick_s >= 0.020);
      CHECK(quick_s < 2.0 * (slow_host ? companion_own_s : host_own_s));
    }
  }
}

TEST_CASE("timed sections are slowed down one by one, and what is between them is not") {
  RankUnits units = both_units();
  units.host->slowdown = 3.0;
  units.companion->slowdown = 2.0;
  CoExecution co_execution(this_machine(), units);
  double host_first_s = 0.0, companion_first_s = 0.0;
  const double start_s = now_s();
  const UnitSeconds seconds = co_execution.run(
      [&] {
        co_execution.timed_section(ProcessingUnit::Kind::host, [] { sleep_s(0.01); });
        host_first_s = now_s() - start_s;
        sleep_s(0.05);
        co_execution.timed_section(ProcessingUnit::Kind::host, [] { sleep_s(0.02); });
      },
      [&] {
        co_execution.timed_section(ProcessingUnit::Kind::companion, [] { sleep_s(0.02); });
        companion_first_s = now_s() - start_s;
        // One that does not know its run is of the run that has given work to the thread.
        CoExecution::timed_section_of_this_thread([] { sleep_s(0.02); });
      });
  CHECK(host_first_s >= 0.03);
  CHECK(companion_first_s >= 0.04);
  CHECK(seconds.host_s >= 0.09);
  CHECK(seconds.companion_s >= 0.08);
  // The pause would take three times as long, too.
  CHECK(now_s() - start_s < 3.0 * 0.08);
  // The next work has no sections, and outside a run a section is work like any other.
  bool done = false;
  CoExecution::timed_section_of_this_thread([&] { done = true; });
  CHECK(done);
  CHECK(co_execution.run([] { sleep_s(0.01); }, [] {}).host_s >= 0.03);
}

TEMPLATE_TEST_CASE("fenced seconds contain the work, which runs once, on a clock that counts seconds", "",
                   HostExecution, CompanionExecution) {
  const auto space = unit_space<TestType>();
  int runs = 0;
  const double before_s = now_s();
  const double seconds = fenced_seconds(space, [&] {
    ++runs;
    sleep_s(0.010);
  });
  CHECK(runs == 1);
  CHECK(seconds >= 0.010);
  CHECK(seconds <= now_s() - before_s);
  CHECK(now_s() - before_s < 1.0);
  CHECK_THROWS_AS(fenced_seconds(space, [] { throw std::out_of_range(""); }), std::out_of_range);
}

}  // namespace steelyard::test_co_execution
