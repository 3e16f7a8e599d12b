#include <atomic>
#include <chrono>
#include <stdexcept>
#include <thread>

#include "core/co_execution.hpp"
#include "core/spaces.hpp"
#include "core/timing.hpp"
#include "core/unit_rates.hpp"
#include "tests/catch.hpp"
#include "tests/core/affinity.hpp"
#include "tests/core/started_units.hpp"

namespace steelyard::test_co_execution {

using Catch::Matchers::Message;
using namespace steelyard::tests;
using Kind = ProcessingUnit::Kind;

namespace {

/// Both units, or the test is skipped.
RankUnits both_units() {
  if (!started_units().companion) SKIP("this build or machine has no companion");
  return started_units();
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

TEST_CASE("host and companion work at the same time: each can wait for the other") {
  RankUnits units = both_units();
  units.oversubscribed = GENERATE(false, true);
  CoExecution co_execution(this_machine(), units);
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
  bool other_ran = false;
  const auto other = [&] { other_ran = true; };
  for (const Kind kind : {Kind::host, Kind::companion}) {
    if (!started_units().unit(kind)) continue;
    for (const double slowdown : {1.0, 4.0}) {
      RankUnits units = started_units();
      (kind == Kind::host ? units.host : units.companion)->slowdown = slowdown;
      (kind == Kind::host ? units.companion : units.host).reset();
      CoExecution alone(this_machine(), units);
      const auto run = [&](const CoExecution::Work& work) {
        const UnitSeconds seconds = kind == Kind::host ? alone.run(work, other) : alone.run(other, work);
        CHECK((kind == Kind::host ? seconds.companion_s : seconds.host_s) == 0.0);
        return kind == Kind::host ? seconds.host_s : seconds.companion_s;
      };
      std::thread::id worker;
      const auto work = [&] {
        worker = std::this_thread::get_id();
        sleep_s(0.002);
      };
      CHECK(run(work) >= slowdown * 0.002);
      CHECK(worker == caller);
      CHECK(run([&] { CoExecution::timed_section(work); }) >= slowdown * 0.002);
      double seconds = 0.0;
      run([&] { seconds = unit_seconds(work); });
      CHECK(seconds >= slowdown * 0.002);
      CHECK_THROWS_AS(run([] { throw std::out_of_range(""); }), std::out_of_range);
    }
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
    co_execution.run([&] { ++host; }, [&] { ++companion; });
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

TEST_CASE("a slowdown multiplies the seconds of each timed section, and nothing between sections") {
  RankUnits units = both_units();
  units.host->slowdown = 3.0;
  units.companion->slowdown = 2.0;
  units.oversubscribed = GENERATE(false, true);
  CoExecution co_execution(this_machine(), units);
  double host_first_s = 0.0, companion_first_s = 0.0;
  const double start_s = now_s();
  const UnitSeconds seconds = co_execution.run(
      [&] {
        CoExecution::timed_section([] { sleep_s(0.01); });
        host_first_s = now_s() - start_s;
        sleep_s(0.05);
        CoExecution::timed_section([] { sleep_s(0.02); });
      },
      [&] {
        CoExecution::timed_section([] { sleep_s(0.02); });
        companion_first_s = now_s() - start_s;
        CoExecution::timed_section([] { sleep_s(0.02); });
      });
  CHECK(host_first_s >= 0.03);
  CHECK(companion_first_s >= 0.04);
  CHECK(seconds.host_s >= 0.09);
  CHECK(seconds.companion_s >= 0.08);
  // The pause would take three times as long, too.
  CHECK(now_s() - start_s < 3.0 * 0.08);
  // The next work has no sections, and outside a run a section is work like any other.
  bool done = false;
  CoExecution::timed_section([&] { done = true; });
  CHECK(done);
  double own_s = 0.0;
  const UnitSeconds whole = co_execution.run([] { sleep_s(0.01); },
                                             [&own_s] {
                                               const double begin_s = now_s();
                                               sleep_s(0.02);
                                               own_s = now_s() - begin_s;
                                             });
  CHECK(whole.host_s >= 0.03);
  CHECK(whole.companion_s >= 2.0 * own_s);
  CHECK(whole.companion_s < 3.0 * own_s);
}

TEMPLATE_TEST_CASE("fenced seconds contain the work, which runs once, on a clock that counts seconds", "",
                   HostExecution, CompanionExecution) {
  const auto space = TestType();
  int runs = 0;
  const double before_s = now_s();
  const double seconds = fenced_seconds(space, [&] {
    ++runs;
    sleep_s(0.010);
  });
  CHECK(runs == 1);
  CHECK(seconds >= 0.010);
  CHECK(seconds <= now_s() - before_s);
  CHECK_THROWS_AS(fenced_seconds(space, [] { throw std::out_of_range(""); }), std::out_of_range);
}

}  // namespace steelyard::test_co_execution
