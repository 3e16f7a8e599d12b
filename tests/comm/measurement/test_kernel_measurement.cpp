#include <catch2/catch_approx.hpp>
#include <map>
#include <optional>
#include <set>

#include "comm/collective.hpp"
#include "comm/measurement/bandwidth.hpp"
#include "comm/measurement/kernel_measurement.hpp"
#include "core/base/statistics.hpp"
#include "tests/catch.hpp"
#include "tests/comm/eventually.hpp"
#include "tests/comm/synthetic_kernel.hpp"

namespace steelyard::test_kernel_measurement {

using Catch::Approx;
using namespace steelyard::tests;
using Kind = ProcessingUnit::Kind;
using Times = std::vector<double>;

namespace {

RankUnits host_alone() {
  RankUnits units = started_units();
  units.companion.reset();
  return units;
}

RankUnits companion_alone() {
  RankUnits units = started_units();
  if (units.companion) units.host.reset();
  return units;
}

/// Runs of the same instance, after the two that only tell how long a run is.
int timed_runs(const SyntheticKernel::Instance& instance) { return static_cast<int>(instance.run_by.size()) - 2; }

/// Seconds of a unit's runs: none, equal or noisy ones, and now and then a very long one.
Times random_times(std::mt19937_64& random, int runs) {
  const double base = static_cast<double>(random() % 6), wave = std::array{0.0, 0.002, 0.05, 0.5}[random() % 4];
  const bool is_late = random() % 4 == 0;
  Times times;
  for (int run = 0; run < runs; ++run) {
    const double share = static_cast<double>(random() % 1000) / 1000.0;
    times.push_back(base * (1.0 + wave * share) * (is_late && random() % 8 == 0 ? 50.0 : 1.0));
  }
  return times;
}

/// The first times behind the warm-ups, of single runs.
Times timed(const Times& times, int warmups, int repetitions, int count) {
  Times single(times.begin() + warmups, times.begin() + warmups + repetitions);
  for (double& time_s : single) time_s /= count;
  return single;
}

bool is_precise(const Times& times, const Precision& precision) {
  return mean(times) == 0.0 || confidence_half_width(times, precision.confidence) <= precision.relative * mean(times);
}

void check_point(const models::MeasuredPoint& point, const Times& times, const Precision& precision) {
  CHECK(point.repetitions == static_cast<int>(times.size()));
  CHECK(point.time_s == Approx(mean(times)));
  CHECK(point.confidence_s ==
        Approx(times.size() > 1 ? confidence_half_width(times, precision.confidence) : 0.0).margin(1e-12));
  CHECK(point.outliers == count_outliers(times));
}

}  // namespace

TEST_CASE("a group repeats until every unit of every rank is precise, the repetitions are used up or the time is up") {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    CAPTURE(seed);
    std::mt19937_64 random(seed);
    Precision precision = easily_precise(1 + static_cast<int>(random() % 5));
    precision.repetitions_max = 6 + static_cast<int>(random() % 40);
    precision.warmups = static_cast<int>(random() % 3);
    precision.relative = std::array{0.001, 0.025, 0.2}[random() % 3];
    precision.confidence = random() % 2 == 0 ? 0.95 : 0.8;
    const bool is_short = random() % 5 == 0;
    if (is_short) precision.time_limit_s = 1e-9;
    // Drawn for all ranks by each, so that all have the same.
    struct Rank {
      std::array<Times, 2> times;
      std::array<int, 2> counts;
    };
    std::vector<Rank> ranks;
    for (int rank = 0; rank < session().size(); ++rank) {
      Rank& one = ranks.emplace_back();
      for (std::size_t unit = 0; unit < 2; ++unit) {
        one.times[unit] = random_times(random, precision.warmups + precision.repetitions_max);
        one.counts[unit] = 1 + static_cast<int>(random() % 4);
      }
    }
    bool precise = false;
    int repetitions = precision.repetitions_min;
    const auto units_of = [&](const Rank& rank, std::size_t unit) {
      return timed(rank.times[unit], precision.warmups, repetitions, rank.counts[unit]);
    };
    for (;; ++repetitions) {
      precise = std::all_of(ranks.begin(), ranks.end(), [&](const Rank& rank) {
        return is_precise(units_of(rank, 0), precision) && is_precise(units_of(rank, 1), precision);
      });
      if (precise || is_short || repetitions == precision.repetitions_max) break;
    }
    const Rank& mine = ranks[static_cast<std::size_t>(session().rank())];
    std::size_t runs = 0;
    const GroupPoint point = measure_group(session().comm(),
                                           [&] {
                                             const std::size_t run = runs++;
                                             return UnitSeconds{mine.times[0].at(run), mine.times[1].at(run)};
                                           },
                                           precision, {mine.counts[0], mine.counts[1]});
    CHECK(static_cast<int>(runs) == precision.warmups + repetitions);
    CHECK(point.precise == precise);
    check_point(point.host, units_of(mine, 0), precision);
    check_point(point.companion, units_of(mine, 1), precision);
  }
}

TEST_CASE(
    "when one rank is out of time all stop, and no rank starts a repetition before all have ended the one before") {
  const bool slow = session().rank() == session().size() - 1;
  Precision precision = never_precise(3);
  precision.repetitions_max = 100000;
  precision.time_limit_s = 0.05;
  Times starts, ends;
  const GroupPoint point = measure_group(
      session().comm(),
      [&] {
        starts.push_back(now_s());
        rest(slow ? 5e-3 : 1e-3);
        ends.push_back(now_s());
        return UnitSeconds{starts.size() % 2 == 0 ? 9e-3 : 1e-3, 0.0};
      },
      precision);
  CHECK(point.host.repetitions >= 3);
  // 10 repetitions of the slow rank fill the time; the one that runs over it is the last.
  CHECK(point.host.repetitions <= 11);
  const std::size_t runs = starts.size();
  CHECK(static_cast<double>(runs) == all_max(session().comm(), static_cast<double>(runs)));
  CHECK(point.elapsed_s >= 5e-3 * point.host.repetitions * (slow ? 1.0 : 0.2));
  if (session().nodes().count() > 1) return;
  const Times all_starts = all_gather(session().comm(), starts), all_ends = all_gather(session().comm(), ends);
  for (std::size_t run = 1; run < runs; ++run) {
    for (std::size_t one = run; one < all_starts.size(); one += runs) {
      for (std::size_t other = run - 1; other < all_ends.size(); other += runs) {
        CHECK(all_starts[one] >= all_ends[other]);
      }
    }
  }
}

TEST_CASE("a precision that makes no sense is refused with the value") {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  CHECK_NOTHROW(require_precision({}));
  const std::pair<Precision, std::string> rows[] = {
      {{.confidence = 0.0}, "confidence 0"},    {{.confidence = nan}, "confidence nan"},
      {{.relative = 1.0}, "precision 1"},       {{.relative = nan}, "precision nan"},
      {{.repetitions_min = 1}, "1 to 100"},     {{.repetitions_max = 4}, "5 to 4"},
      {{.warmups = -1}, "-1 warm-ups"},         {{.time_limit_s = 0.0}, "time limit 0"},
      {{.time_limit_s = nan}, "time limit nan"}};
  for (const auto& [precision, named] : rows) {
    CHECK_THROWS_MATCHES(require_precision(precision), InvalidArgument, MessageMatches(ContainsSubstring(named)));
  }
}

TEST_CASE("units that stream reach a bandwidth together, which all ranks know; those without elements add nothing") {
  const bool last = session().rank() == session().size() - 1;
  CoExecution co_execution(session().machine(), started_units());
  const std::int64_t host[] = {0, 1, 100000, last ? 30000 : 0}, companion[] = {0, 1, 50000, 0};
  for (std::size_t i = 0; i < 4; ++i) {
    GroupBandwidth group(session().comm(), co_execution, host[i], companion[i]);
    const auto elements = static_cast<double>(host[i] + (started_units().companion ? companion[i] : 0));
    for (int again = 0; again < 2; ++again) {
      const double start_s = now_s();
      const double measured = group.measure_bytes_per_s();
      // No unit's fastest pass is slower than the whole measurement.
      CHECK(measured >= all_sum(session().comm(), 24.0 * elements / (now_s() - start_s)));
      CHECK((measured > 0.0) == (i > 0));
      for (const double other : all_gather(session().comm(), {measured})) CHECK(other == measured);
    }
  }
  if (session().size() > 1) return;
  // Arrays are cut off long before they fill the memory.
  CHECK(GroupBandwidth(session().comm(), co_execution, std::int64_t{1} << 50, 0).measure_bytes_per_s() > 0.0);
}

TEST_CASE("a unit's own thread allocates and runs its instance; a unit without work gets none and takes 0 s") {
  // Different numbers of measurements in each group would hang if they waited for each other.
  const bool odd = session().rank() % 2 == 1;
  const Communicator half(session().comm(), odd ? 1 : 0);
  for (const RankUnits& units : {started_units(), host_alone(), companion_alone()}) {
    CoExecution co_execution(session().machine(), units);
    SyntheticKernel kernel;
    KernelMeasurement measurement(half.get(), co_execution, kernel, easily_precise(3));
    std::set<std::thread::id> companion_threads;
    for (const UnitSizes& sizes : {UnitSizes{5, 7}, UnitSizes{5, 0}, UnitSizes{0, 7}, UnitSizes{0, 0}}) {
      if (odd && sizes.companion == 0) continue;
      for (const bool last_rank_alone : {true, false}) {
        for (const bool together : {true, false}) {
          kernel.forget();
          const bool idle = last_rank_alone && half.rank() + 1 < half.size();
          const UnitSizes asked = idle ? UnitSizes{} : sizes;
          const GroupPoint point = together ? measurement.together(asked) : measurement.alone(asked);
          std::int64_t host = 0;
          std::int64_t companion = 0;
          for (const SyntheticKernel::Instance& instance : kernel.instances()) {
            (instance.kind == Kind::host ? host : companion) += instance.units;
            const bool on_driver = instance.kind == Kind::companion && units.count() == 2;
            CHECK((instance.allocated_by != std::this_thread::get_id()) == on_driver);
            if (on_driver) companion_threads.insert(instance.allocated_by);
            CHECK(timed_runs(instance) >= 4);  // three repetitions and a warm-up
            CHECK(std::count(instance.run_by.begin(), instance.run_by.end(), instance.allocated_by) ==
                  static_cast<std::ptrdiff_t>(instance.run_by.size()));
          }
          // Once each, of the size that was asked for.
          CHECK(host == (units.host ? asked.host : 0));
          CHECK(companion == (units.companion ? asked.companion : 0));
          CHECK(static_cast<int>(kernel.instances().size()) == (host > 0 ? 1 : 0) + (companion > 0 ? 1 : 0));
          CHECK(kernel.alive() == 0);
          CHECK(point.precise);
          CHECK(point.host.units == static_cast<double>(asked.host));
          CHECK(point.companion.units == static_cast<double>(asked.companion));
          CHECK((point.host.time_s > 0.0) == (host > 0));
          CHECK((point.companion.time_s > 0.0) == (companion > 0));
        }
      }
    }
    CHECK(companion_threads.size() <= 1);
  }
}

TEST_CASE("a point takes no less time than the kernel, and as much longer as a slower unit is emulated") {
  for (const double slowdown : {1.0, 3.0}) {
    RankUnits units = started_units();
    units.host->slowdown = slowdown;
    if (units.companion) units.companion->slowdown = 2.0 * slowdown;
    CoExecution co_execution(session().machine(), units);
    SyntheticKernel kernel;
    kernel.on_run = [](Kind kind, std::int64_t, int) { rest(kind == Kind::host ? 1e-3 : 3e-3); };
    KernelMeasurement measurement(session().comm(), co_execution, kernel, easily_precise(4));
    for (const bool together : {true, false}) {
      const UnitSizes sizes{11, units.companion ? 13 : 0};
      const GroupPoint point = together ? measurement.together(sizes) : measurement.alone(sizes);
      CHECK(point.host.time_s >= slowdown * 1e-3);
      if (units.companion) CHECK(point.companion.time_s >= slowdown * 6e-3);
      CHECK(point.kernels_s >= 4.0 * (together ? point.companion.time_s : point.host.time_s) * (1.0 - 1e-9));
      CHECK(point.elapsed_s >= point.kernels_s);
    }
  }
}

TEST_CASE("together all units are in their kernels at the same time, alone never two of them") {
  if (session().nodes().count() > 1) SKIP("clocks of several nodes differ");
  CoExecution co_execution(session().machine(), started_units());
  SyntheticKernel kernel;
  KernelMeasurement measurement(session().comm(), co_execution, kernel, easily_precise(3));
  // One after the other, the three repetitions of two units would take twice as long.
  kernel.on_run = [](Kind, std::int64_t, int) { rest(0.1); };
  CHECK(eventually([&] { return measurement.together({1, 1}).elapsed_s < 1.9 * 3 * 0.1; }));

  // When this rank's host unit began and ended, and then its companion.
  Times span(4, 0.0);
  const auto first = [](Kind kind) { return kind == Kind::host ? 0U : 2U; };
  kernel.on_allocate = [&](Kind kind, std::int64_t) {
    span[first(kind)] = now_s();
    rest(1e-3);
  };
  kernel.on_run = [&](Kind kind, std::int64_t, int) {
    rest(1e-3);
    span[first(kind) + 1] = now_s();
  };
  measurement.alone({1, 1});
  std::map<double, double> ends;
  const Times spans = all_gather(session().comm(), span);
  for (std::size_t i = 0; i < spans.size(); i += 2) {
    if (spans[i] > 0.0) ends[spans[i]] = spans[i + 1];
  }
  CHECK(static_cast<double>(ends.size()) == all_sum(session().comm(), started_units().count()));
  double before_s = 0.0;
  for (const auto& [start_s, end_s] : ends) {
    CHECK(before_s <= start_s);
    before_s = end_s;
  }
}

TEST_CASE("every unit repeats short runs until it is busy for as long as the slowest unit, but not without end") {
  CoExecution co_execution(session().machine(), started_units());
  SyntheticKernel kernel;
  const Precision precision = easily_precise(3);
  KernelMeasurement measurement(session().comm(), co_execution, kernel, precision);
  // The last rank's host unit is slow, or all take next to no time.
  const bool last = session().rank() == session().size() - 1;
  for (const bool slow : {true, false}) {
    const auto is_slow = [&](Kind kind) { return slow && last && kind == Kind::host; };
    if (slow) kernel.on_run = [&](Kind kind, std::int64_t, int) { rest(is_slow(kind) ? 20e-3 : 1e-3); };
    CHECK(eventually([&] {
      kernel.forget();
      measurement.together({1, slow ? 1 : 0});
      bool good = true;
      for (const SyntheticKernel::Instance& instance : kernel.instances()) {
        const int runs = timed_runs(instance);
        // The same number of runs in each repetition.
        CHECK(runs % (precision.warmups + precision.repetitions_min) == 0);
        const int per_repetition = runs / (precision.warmups + precision.repetitions_min);
        CHECK(per_repetition <= 100000);
        good = good && (is_slow(instance.kind) ? per_repetition <= 2 : per_repetition >= (slow ? 5 : 20));
        good = good && (!slow || per_repetition <= 100);
      }
      return good;
    }));
    kernel.on_run = nullptr;
  }
}

TEST_CASE("an instance that one unit cannot allocate or run is everyone's error, and the next size is measured") {
  CoExecution co_execution(session().machine(), started_units());
  SyntheticKernel kernel;
  KernelMeasurement measurement(session().comm(), co_execution, kernel, easily_precise(3));
  for (int poor = 0; poor < session().size(); ++poor) {
    const std::string words = "no memory on rank " + std::to_string(poor);
    for (const Kind kind : {Kind::host, Kind::companion}) {
      // Two runs tell how long one takes, one or more warm up, and three times as many are timed.
      for (const int failing : {-1, 0, 1, 2, 5}) {
        if (kind == Kind::companion && (failing > 0 || !started_units().companion)) continue;
        for (const bool together : {true, false}) {
          const auto work = [&](Kind of, std::int64_t units, int run) {
            if (session().rank() == poor && of == kind && units == 9 && run == failing) throw RuntimeFailure(words);
          };
          kernel.on_allocate = [&](Kind of, std::int64_t units) { work(of, units, -1); };
          kernel.on_run = [&](Kind of, std::int64_t units, int run) {
            work(of, units, run);
            rest(1e-3);
          };
          const auto measure = [&](std::int64_t size) {
            return together ? measurement.together({size, size}) : measurement.alone({size, size});
          };
          std::optional<CollectiveError> error;
          try {
            measure(9);
          } catch (const CollectiveError& thrown) {
            error = thrown;
          }
          CHECK((error && error->what() == words && error->code() == ExitCode::failed && error->teller() == poor));
          CHECK(kernel.alive() == 0);
          if (failing < 0) CHECK(measure(3).host.time_s > 0.0);
        }
      }
    }
  }
}

TEST_CASE("alone too a group is precise only where every unit is") {
  CoExecution co_execution(session().machine(), started_units());
  const SyntheticKernel kernel;
  for (int restless = 0; restless < session().size(); ++restless) {
    KernelMeasurement measurement(session().comm(), co_execution, kernel, never_precise(3));
    CHECK_FALSE(measurement.alone({session().rank() == restless ? 4 : 0, 0}).precise);
    CHECK(measurement.alone({0, 0}).precise);
  }
}

}  // namespace steelyard::test_kernel_measurement
