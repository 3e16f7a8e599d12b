#include <catch2/catch_approx.hpp>

#include "comm/collective.hpp"
#include "comm/measurement/bandwidth.hpp"
#include "comm/measurement/kernel_measurement.hpp"
#include "core/base/statistics.hpp"
#include "core/timing.hpp"
#include "tests/catch.hpp"
#include "tests/comm/started_session.hpp"
#include "tests/comm/synthetic_kernel.hpp"

namespace steelyard::test_group_measurement {

using Catch::Approx;
using namespace steelyard::tests;
using Times = std::vector<double>;

namespace {

Precision patient(int least, int most) {
  Precision precision;
  precision.repetitions_min = least;
  precision.repetitions_max = most;
  precision.warmups = 2;
  precision.time_limit_s = 1e6;
  return precision;
}

/// What a unit takes, run after run: nothing, always the same or more or less so, sometimes very long, and sometimes
/// long at first.
Times random_times(std::mt19937_64& random, int runs) {
  const double base = static_cast<double>(random() % 6), wave = std::array{0.0, 0.002, 0.05, 0.5}[random() % 4];
  const bool is_late = random() % 4 == 0;
  const int settles = random() % 2 == 0 ? static_cast<int>(random() % 10) : 0;
  Times times;
  for (int run = 0; run < runs; ++run) {
    const double share = static_cast<double>(random() % 1000) / 1000.0;
    times.push_back(base * (1.0 + wave * share) * (is_late && random() % 8 == 0 ? 50.0 : 1.0));
    if (run < settles) times.back() *= 1.05;
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

/// Measures and checks what has to hold: all ranks know the same sum, and no unit's fastest pass is slower than the
/// whole measurement.
double checked_bandwidth(std::int64_t host_elements, std::int64_t companion_elements) {
  CoExecution co_execution(session().machine(), started_units());
  GroupBandwidth group(session().comm(), co_execution, host_elements, companion_elements);
  double least = std::numeric_limits<double>::infinity();
  for (int again = 0; again < 2; ++again) {
    const double start_s = now_s();
    const double measured = group.measure_bytes_per_s();
    const double took_s = now_s() - start_s;
    const double elements = static_cast<double>((started_units().host ? host_elements : 0) +
                                                (started_units().companion ? companion_elements : 0));
    CHECK(measured >= all_sum(session().comm(), 24.0 * elements / took_s));
    for (const double other : all_gather(session().comm(), {measured})) CHECK(other == measured);
    least = std::min(least, measured);
  }
  return least;
}

}  // namespace

TEST_CASE("a group repeats until every unit of every rank is precise, the repetitions are used up or the time is up") {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    CAPTURE(seed);
    std::mt19937_64 random(seed);
    Precision precision = patient(1 + static_cast<int>(random() % 5), 6 + static_cast<int>(random() % 40));
    precision.warmups = static_cast<int>(random() % 3);
    precision.relative = std::array{0.001, 0.025, 0.2}[random() % 3];
    precision.confidence = random() % 2 == 0 ? 0.95 : 0.8;
    const bool is_short = random() % 5 == 0;
    if (is_short) precision.time_limit_s = 1e-9;
    // Of all ranks; on all ranks the same.
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
    double kernels_s = 0.0;
    for (int run = precision.warmups; run < precision.warmups + repetitions; ++run) {
      double longest_s = 0.0;
      for (const Rank& rank : ranks) {
        for (const Times& times : rank.times) longest_s = std::max(longest_s, times[static_cast<std::size_t>(run)]);
      }
      kernels_s += longest_s;
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
    CHECK(point.kernels_s == Approx(kernels_s));
    check_point(point.host, units_of(mine, 0), precision);
    check_point(point.companion, units_of(mine, 1), precision);
  }
}

TEST_CASE(
    "when one rank is out of time all stop, and no rank starts a repetition before all have ended the one before") {
  const bool slow = session().rank() == session().size() - 1;
  Precision precision = patient(3, 100000);
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

TEST_CASE("a run that fails on one rank, even as a warm-up, is everyone's error") {
  const int at_run = GENERATE(1, 4);
  const int failing = session().size() - 1;
  int runs = 0;
  const auto run = [&] {
    if (++runs == at_run && session().rank() == failing) throw RuntimeFailure("the device is gone");
    return UnitSeconds{runs % 2 == 0 ? 9.0 : 1.0, 0.0};
  };
  CHECK_THROWS_AS(measure_group(session().comm(), run, patient(3, 12)), CollectiveError);
  CHECK(runs == at_run);
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
  CHECK(checked_bandwidth(0, 0) == 0.0);
  CHECK(checked_bandwidth(1, 1) > 0.0);
  CHECK(checked_bandwidth(100000, 50000) > 0.0);
  CHECK(checked_bandwidth(last ? 30000 : 0, 0) > 0.0);
  if (started_units().companion) CHECK(checked_bandwidth(0, 30000) > 0.0);
  if (session().size() > 1) return;
  // Arrays are cut off long before they fill the memory.
  CoExecution co_execution(session().machine(), started_units());
  CHECK(GroupBandwidth(session().comm(), co_execution, std::int64_t{1} << 50, 0).measure_bytes_per_s() > 0.0);
}

}  // namespace steelyard::test_group_measurement
