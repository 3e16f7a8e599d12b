#include <algorithm>
#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <chrono>
#include <limits>
#include <string>
#include <thread>
#include <vector>

#include "comm/collective.hpp"
#include "comm/measurement/kernel_measurement.hpp"
#include "core/timing.hpp"
#include "tests/comm/started_session.hpp"

namespace steelyard::test_group_measurement {

using Catch::Approx;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;
using steelyard::tests::session;

namespace {

/// Stops for precision alone.
Precision patient(int least, int most) {
  Precision precision;
  precision.repetitions_min = least;
  precision.repetitions_max = most;
  precision.warmups = 2;
  precision.time_limit_s = 1e6;
  return precision;
}

void check_same_on_all_ranks(double value) {
  for (const double other : all_gather(session().comm(), {value})) CHECK(other == value);
}

}  // namespace

TEST_CASE("units that always take the same time are precise after the fewest repetitions") {
  int runs = 0;
  const double host_s = 0.5 + session().rank();
  const GroupPoint point = measure_group(
      session().comm(),
      [&] {
        ++runs;
        return UnitSeconds{host_s, 3.0};
      },
      patient(4, 30));
  CHECK(point.host.repetitions == 4);
  CHECK(point.companion.repetitions == 4);
  CHECK(runs == 4 + 2);  // and the warm-ups
  CHECK(point.host.time_s == Approx(host_s));
  CHECK(point.companion.time_s == Approx(3.0));
  CHECK(point.host.confidence_s <= 1e-9);
}

TEST_CASE("all go on while one unit of one rank is not precise, until the repetitions are used up") {
  for (int restless = 0; restless < session().size(); ++restless) {
    for (const bool is_host : {true, false}) {
      int runs = 0;
      const GroupPoint point = measure_group(
          session().comm(),
          [&] {
            const double seconds = session().rank() == restless && ++runs % 2 == 0 ? 9.0 : 1.0;
            return is_host ? UnitSeconds{seconds, 1.0} : UnitSeconds{1.0, seconds};
          },
          patient(3, 12));
      CHECK(point.host.repetitions == 12);
      CHECK(point.companion.repetitions == 12);
      const models::MeasuredPoint& measured = is_host ? point.host : point.companion;
      CHECK(measured.time_s == Approx(session().rank() == restless ? 5.0 : 1.0));
      CHECK((measured.confidence_s > 0.025 * measured.time_s) == (session().rank() == restless));
    }
  }
}

TEST_CASE("a measurement that settles ends between the fewest and the most repetitions, on all ranks at once") {
  int runs = 0;
  const GroupPoint point = measure_group(
      session().comm(),
      [&] {
        ++runs;
        // Late by rank at first, then steady.
        return UnitSeconds{runs < 5 + session().rank() ? 1.02 : 1.0, 2.0};
      },
      patient(3, 1000));
  CHECK(point.host.repetitions > 3);
  CHECK(point.host.repetitions < 1000);
  CHECK(point.host.confidence_s <= 0.025 * point.host.time_s);
  CHECK(point.host.repetitions == point.companion.repetitions);
  CHECK(runs == point.host.repetitions + 2);
  check_same_on_all_ranks(point.host.repetitions);
}

TEST_CASE("when one rank is out of time all stop, but not before the fewest repetitions") {
  const int slow = session().size() - 1;
  int runs = 0;
  const auto restless = [&] {
    if (session().rank() == slow) std::this_thread::sleep_for(std::chrono::milliseconds(5));
    return UnitSeconds{++runs % 2 == 0 ? 9.0 : 1.0, 0.0};
  };
  Precision precision = patient(3, 100000);
  precision.time_limit_s = 0.05;
  const GroupPoint limited = measure_group(session().comm(), restless, precision);
  CHECK(limited.host.repetitions >= 3);
  // 10 repetitions of the slow rank fill the time; the one that runs over it is the last.
  CHECK(limited.host.repetitions <= 11);
  check_same_on_all_ranks(limited.host.repetitions);

  precision.time_limit_s = 0.0;
  CHECK(measure_group(session().comm(), restless, precision).host.repetitions == 3);
}

TEST_CASE("a unit without work takes 0 s and keeps nobody waiting") {
  const GroupPoint point = measure_group(
      session().comm(),
      [] {
        return session().rank() == 0 ? UnitSeconds{2.0, 0.0} : UnitSeconds{};
      },
      patient(3, 30));
  CHECK(point.host.time_s == Approx(session().rank() == 0 ? 2.0 : 0.0));
  CHECK(point.companion.time_s == 0.0);
  CHECK(point.companion.confidence_s == 0.0);
  CHECK(point.host.repetitions == 3);
}

TEST_CASE("a single repetition has no confidence interval") {
  const GroupPoint point = measure_group(
      session().comm(),
      [] {
        return UnitSeconds{2.0, 1.0};
      },
      patient(1, 1));
  CHECK(point.host.repetitions == 1);
  CHECK(point.host.time_s == 2.0);
  CHECK(point.host.confidence_s == 0.0);
}

TEST_CASE("times are those of one run where a repetition makes several, each unit its own number") {
  int runs = 0;
  const auto restless = [&] {
    const double factor = ++runs % 2 == 0 ? 1.5 : 0.5;
    return UnitSeconds{factor * 6.0, factor * 10.0};
  };
  const RunCounts counts{3 + session().rank(), 4};
  const GroupPoint point = measure_group(session().comm(), restless, patient(10, 10), counts);
  CHECK(point.host.time_s == Approx(6.0 / counts.host));
  CHECK(point.companion.time_s == Approx(2.5));
  CHECK(point.host.repetitions == 10);
  CHECK(point.host.confidence_s / point.host.time_s == Approx(point.companion.confidence_s / point.companion.time_s));
  CHECK(point.host.confidence_s > 0.1 * point.host.time_s);
}

TEST_CASE("the time in kernels is that of the group's slowest unit, run counts and all, warm-up excluded") {
  const double slowest = 1.0 + session().size();
  const GroupPoint point = measure_group(session().comm(),
                                         [&] {
                                           return UnitSeconds{1.0, 2.0 + session().rank()};
                                         },
                                         patient(7, 7), {5, 9});
  CHECK(point.kernels_s == Approx(7.0 * slowest));
  check_same_on_all_ranks(point.kernels_s);
}

TEST_CASE("a measurement takes longer than the kernels in it") {
  for (const int warmups : {0, 2}) {
    Precision precision = patient(5, 5);
    precision.warmups = warmups;
    const GroupPoint point = measure_group(
        session().comm(),
        [&] {
          const double start_s = now_s();
          std::this_thread::sleep_for(std::chrono::milliseconds(1 + session().rank() % 2));
          return UnitSeconds{now_s() - start_s, 0.0};
        },
        precision);
    CHECK(point.kernels_s >= 5.0 * point.host.time_s * (1.0 - 1e-9));
    CHECK(point.elapsed_s >= point.kernels_s);
  }
}

TEST_CASE("a group is precise when every unit of it is, and all ranks know") {
  for (int restless = -1; restless < session().size(); ++restless) {
    for (const bool is_host : {true, false}) {
      int runs = 0;
      const GroupPoint point = measure_group(
          session().comm(),
          [&] {
            const double seconds = session().rank() == restless && ++runs % 2 == 0 ? 9.0 : 1.0;
            return is_host ? UnitSeconds{seconds, 1.0} : UnitSeconds{1.0, seconds};
          },
          patient(3, 8));
      CHECK(point.precise == (restless < 0));
    }
  }
}

TEST_CASE("time that is up does not make a measurement precise") {
  int runs = 0;
  Precision precision = patient(4, 1000);
  precision.time_limit_s = 1e-9;
  const auto restless = [&] { return UnitSeconds{++runs % 2 == 0 ? 9.0 : 1.0, 1.0}; };
  CHECK_FALSE(measure_group(session().comm(), restless, precision).precise);
  CHECK(measure_group(
            session().comm(),
            [] {
              return UnitSeconds{1.0, 1.0};
            },
            precision)
            .precise);
}

TEST_CASE("runs far from the others are counted on their unit and kept in its mean") {
  const int disturbed = session().size() - 1;
  int runs = 0;
  const GroupPoint point = measure_group(
      session().comm(),
      [&] {
        const double ripple = 1.0 + 0.001 * (++runs % 5);
        const bool late = session().rank() == disturbed && (runs == 9 || runs == 15);
        return UnitSeconds{ripple, late ? 50.0 : ripple};
      },
      patient(20, 20));
  const bool here = session().rank() == disturbed;
  CHECK(point.host.outliers == 0);
  CHECK(point.companion.outliers == (here ? 2 : 0));
  CHECK(point.companion.repetitions == 20);
  CHECK(point.companion.time_s == Approx(here ? (18.0 * 1.002 + 100.0) / 20.0 : 1.002).epsilon(1e-3));
}

TEST_CASE("a precision that makes no sense is refused with the value") {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  CHECK_NOTHROW(require_precision({}));
  const auto refuse = [](const Precision& precision, const std::string& name, const std::string& value) {
    CAPTURE(name, value);
    CHECK_THROWS_MATCHES(require_precision(precision), InvalidArgument,
                         MessageMatches(ContainsSubstring(name) && ContainsSubstring(value)));
  };
  Precision precision;
  for (const double level : {0.0, 1.0, -0.5, 95.0, nan}) {
    precision = {};
    precision.confidence = level;
    refuse(precision, "confidence", level > 1.0 ? "95" : "");
    precision = {};
    precision.relative = level;
    refuse(precision, "precision", level > 1.0 ? "95" : "");
  }
  precision = {};
  precision.repetitions_min = 1;
  refuse(precision, "1 to 100", "min");
  precision = {};
  precision.repetitions_max = 4;
  refuse(precision, "5 to 4", "max");
  precision = {};
  precision.warmups = -1;
  refuse(precision, "warm-ups", "-1");
  for (const double limit : {0.0, -1.0, nan}) {
    precision = {};
    precision.time_limit_s = limit;
    refuse(precision, "time limit", "0");
  }
}

TEST_CASE("no rank starts a repetition before all have ended the one before") {
  if (session().nodes().count() > 1) SKIP("clocks of several nodes differ");
  std::vector<double> starts, ends;
  measure_group(
      session().comm(),
      [&] {
        starts.push_back(now_s());
        std::this_thread::sleep_for(std::chrono::milliseconds(1 + 3 * (session().rank() % 2)));
        ends.push_back(now_s());
        return UnitSeconds{1.0, 1.0};
      },
      patient(6, 6));
  const auto ranks = static_cast<std::size_t>(session().size());
  const auto all_starts = all_gather(session().comm(), starts);
  const auto all_ends = all_gather(session().comm(), ends);
  const std::size_t runs = all_starts.size() / ranks;
  CHECK(runs == 8);
  for (std::size_t run = 1; run < runs; ++run) {
    double earliest = all_starts[run], latest = 0.0;
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      earliest = std::min(earliest, all_starts[rank * runs + run]);
      latest = std::max(latest, all_ends[rank * runs + run - 1]);
    }
    CHECK(earliest >= latest);
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

}  // namespace steelyard::test_group_measurement
