#include <map>
#include <set>

#include "models/communication/tau_lop/transfer_table.hpp"
#include "tests/catch.hpp"
#include "tests/models/random_models.hpp"

namespace steelyard::test_transfer_table {

using namespace steelyard::models;
using tests::Random;
using tests::uniform;
using tests::whole;
using Outside = SizeTable::Outside;
using SizePoints = std::vector<SizeTable::Point>;
using TransferPoints = std::vector<TransferPoint>;
using Times = std::map<double, double>;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

/// Linear between sizes, outside of them constant or proportional.
double interpolated_s(const Times& times, double bytes, Outside outside) {
  const auto& [first, first_s] = *times.begin();
  const auto& [last, last_s] = *times.rbegin();
  const bool constant = outside == Outside::constant;
  if (bytes <= first) return constant ? first_s : first_s * bytes / first;
  if (bytes >= last) return constant ? last_s : last_s * bytes / last;
  const auto b = times.upper_bound(bytes), a = std::prev(b);
  return ((b->first - bytes) * a->second + (bytes - a->first) * b->second) / (b->first - a->first);
}

/// Times by number of transfers, for all sizes, within the restrictions, as the definition says.
std::map<int, Times> bounded_times(const TransferPoints& points) {
  std::map<int, Times> measured, bounded;
  for (const TransferPoint& point : points) measured[point.concurrency][point.bytes] = point.time_s;
  int before = 0;
  for (const auto& [tau, times] : measured) {
    for (const TransferPoint& point : points) {
      double time_s = interpolated_s(times, point.bytes, Outside::proportional);
      if (before > 0) {
        const double least = bounded[before][point.bytes];
        time_s = std::min(std::max(time_s, least), least * tau / before);
      }
      bounded[tau][point.bytes] = time_s;
    }
    before = tau;
  }
  return bounded;
}

/// Numbers of concurrent transfers that were measured: 1 and some more.
std::vector<int> random_concurrencies(Random& random) {
  std::set<int> chosen{1};
  for (int i = whole(random, 0, 6); i > 0; --i) chosen.insert(whole(random, 2, 40));
  return {chosen.begin(), chosen.end()};
}

std::vector<double> random_sizes(Random& random) {
  std::set<double> chosen;
  for (int i = whole(random, 1, 8); i > 0; --i) chosen.insert(std::exp(uniform(random, 0.0, 14.0)));
  return {chosen.begin(), chosen.end()};
}

/// Times that know no law; with `gaps`, of some sizes only.
TransferPoints noisy_points(Random& random, bool gaps) {
  const std::vector<double> sizes = random_sizes(random);
  TransferPoints points;
  for (const int concurrency : random_concurrencies(random)) {
    for (const double bytes : sizes) {
      if (gaps && (concurrency > 1 || bytes != sizes.front()) && whole(random, 0, 2) == 0) continue;
      points.push_back({bytes, concurrency, 1e-9 * bytes * concurrency * std::exp(uniform(random, -2.0, 2.0))});
    }
  }
  std::shuffle(points.begin(), points.end(), random);
  return points;
}

/// Times that the restrictions allow: from each concurrency to the next by a factor from 1 to its ratio, both ends
/// included now and then.
TransferPoints lawful_points(Random& random) {
  const std::vector<int> concurrencies = random_concurrencies(random);
  TransferPoints points;
  for (const double bytes : random_sizes(random)) {
    double time_s = 1e-9 * bytes * std::exp(uniform(random, -1.0, 1.0));
    int previous = 1;
    for (const int concurrency : concurrencies) {
      const double ratio = static_cast<double>(concurrency) / previous;
      const int end = whole(random, 0, 3);
      time_s *= end == 0 ? 1.0 : end == 1 ? ratio : uniform(random, 1.0, ratio);
      points.push_back({bytes, concurrency, time_s});
      previous = concurrency;
    }
  }
  std::shuffle(points.begin(), points.end(), random);
  return points;
}

}  // namespace

TEST_CASE("a size table is linear between measured sizes, and constant or proportional outside of them") {
  Random random(1);
  for (int trial = 0; trial < 400; ++trial) {
    const Outside outside = trial % 2 == 0 ? Outside::constant : Outside::proportional;
    SizePoints points;
    Times times;
    double bytes = trial % 4 == 0 ? 0.0 : std::exp(uniform(random, -3.0, 12.0));
    for (int i = whole(random, 1, 12); i > 0; --i) {
      points.push_back({bytes, std::exp(uniform(random, -20.0, 0.0))});
      times[bytes] = points.back().time_s;
      bytes += std::exp(uniform(random, -3.0, 12.0));
    }
    const SizeTable table(points, outside);
    REQUIRE(table.points() == points);
    for (const auto& [size, time_s] : times) REQUIRE(table.time_s(size) == time_s);
    for (int i = 0; i < 20; ++i) {
      const double size = i == 0 ? 0.0 : std::exp(uniform(random, -4.0, 14.0));
      const double expected_s = interpolated_s(times, size, outside);
      REQUIRE_THAT(table.time_s(size), WithinRel(expected_s, 1e-9) || WithinAbs(expected_s, 1e-12));
    }
  }
}

TEST_CASE("transfer times are linear between sizes and numbers of transfers, and are moved into the restrictions") {
  Random random(2);
  for (int trial = 0; trial < 300; ++trial) {
    const TransferPoints points = noisy_points(random, trial % 2 == 0);
    const TransferTable table(points);
    const std::map<int, Times> bounded = bounded_times(points);
    const int most = bounded.rbegin()->first;
    REQUIRE(table.points() == points);
    REQUIRE(table.largest_concurrency() == most);
    double adjustment = 0.0;
    for (const TransferPoint& point : points) {
      const double time_s = bounded.at(point.concurrency).at(point.bytes);
      adjustment = std::max(adjustment, std::abs(time_s - point.time_s) / std::max(time_s, point.time_s));
    }
    REQUIRE_THAT(table.largest_adjustment(), WithinAbs(adjustment, 1e-12));
    for (int i = 0; i < 50; ++i) {
      const double bytes = i % 5 == 0 ? points[static_cast<std::size_t>(i) % points.size()].bytes
                                      : std::exp(uniform(random, -2.0, 16.0));
      const int tau = whole(random, 1, most + 3);
      const auto above = bounded.lower_bound(std::min(tau, most));
      double expected_s = interpolated_s(above->second, bytes, Outside::proportional);
      if (tau > most) expected_s *= static_cast<double>(tau) / most;
      if (tau < above->first) {
        const auto below = std::prev(above);
        const double share = static_cast<double>(tau - below->first) / (above->first - below->first);
        expected_s = share * expected_s + (1.0 - share) * interpolated_s(below->second, bytes, Outside::proportional);
      }
      REQUIRE_THAT(table.time_s(bytes, tau, BeyondMeasured::proportional), WithinRel(expected_s, 1e-9));
      if (tau <= most) REQUIRE(table.time_s(bytes, tau) == table.time_s(bytes, tau, BeyondMeasured::proportional));
    }
    REQUIRE(table.time_s(0.0, most) == 0.0);
  }
}

TEST_CASE("measured times within the restrictions are returned exactly, in spite of rounding") {
  Random random(4);
  for (int trial = 0; trial < 500; ++trial) {
    TransferPoints points = lawful_points(random);
    if (trial % 2 == 0) {  // in proportion to size and number, which is a bound
      const double seconds_per_byte = std::exp(uniform(random, -25.0, 0.0));
      for (TransferPoint& point : points) point.time_s = seconds_per_byte * point.bytes * point.concurrency;
    }
    const TransferTable table(points);
    for (const TransferPoint& point : points) {
      REQUIRE(table.time_s(point.bytes, point.concurrency) == point.time_s);
    }
    REQUIRE(table.largest_adjustment() == 0.0);
  }
}

TEST_CASE("tables refuse points that are none") {
  struct BadSizes {
    SizePoints points;
    Outside outside;
    std::string message;
  };
  for (const BadSizes& bad :
       {BadSizes{{}, Outside::constant, "at least one"}, BadSizes{{{-1.0, 1.0}}, Outside::constant, "-1 bytes in 1 s"},
        BadSizes{{{1.0, -2.0}}, Outside::constant, "1 bytes in -2 s"},
        BadSizes{{{infinity, 1.0}}, Outside::constant, "inf bytes"},
        BadSizes{{{1.0, not_a_number}}, Outside::constant, "in nan s"},
        BadSizes{{{8.0, 1.0}, {4.0, 2.0}}, Outside::constant, "4 bytes after one for 8 bytes"},
        BadSizes{{{8.0, 1.0}, {8.0, 2.0}}, Outside::constant, "8 bytes after one for 8 bytes"},
        BadSizes{{{0.0, 1.0}}, Outside::proportional, "above 0"}}) {
    CHECK_THROWS_MATCHES(SizeTable(bad.points, bad.outside), InvalidArgument,
                         MessageMatches(ContainsSubstring(bad.message)));
  }
  struct BadTransfers {
    TransferPoints points;
    std::string message;
  };
  for (const BadTransfers& bad :
       {BadTransfers{{}, "no transfer times for concurrency 1"},
        BadTransfers{{{8.0, 2, 1.0}}, "no transfer times for concurrency 1"},
        BadTransfers{{{8.0, 0, 1.0}}, "concurrency 0 (expected 1, 2"},
        BadTransfers{{{8.0, 1, 1.0}, {8.0, 2, 1.0}, {8.0, 1, 2.0}}, "two transfer times for 8 bytes and concurrency 1"},
        BadTransfers{{{0.0, 1, 1.0}}, "0 bytes in 1 s with concurrency 1"},
        BadTransfers{{{8.0, 1, 1.0}, {8.0, 2, -1.0}}, "8 bytes in -1 s with concurrency 2"},
        BadTransfers{{{8.0, 1, 1.0}, {9.0, 1, not_a_number}}, "9 bytes in nan s"},
        BadTransfers{{{8.0, 1, 1.0}, {infinity, 1, 1.0}}, "inf bytes"}}) {
    CHECK_THROWS_MATCHES(TransferTable(bad.points), InvalidArgument, MessageMatches(ContainsSubstring(bad.message)));
  }
}

TEST_CASE("tables refuse sizes and numbers of transfers that are none or were not measured") {
  const TransferTable table({{100.0, 1, 1.0}, {100.0, 6, 3.0}});
  for (const double bytes : {-1.0, infinity, not_a_number}) {
    for (const Outside outside : {Outside::constant, Outside::proportional}) {
      CHECK_THROWS_AS(SizeTable({{8.0, 1e-6}}, outside).time_s(bytes), InvalidArgument);
    }
    CHECK_THROWS_AS(table.time_s(bytes, 1), InvalidArgument);
    CHECK_THROWS_AS(table.time_s(bytes, 7, BeyondMeasured::proportional), InvalidArgument);
  }
  for (const std::int64_t concurrency : {0, -1}) {
    CHECK_THROWS_AS(table.time_s(1.0, concurrency, BeyondMeasured::proportional), InvalidArgument);
  }
  for (const std::int64_t concurrency : {std::int64_t{7}, std::int64_t{1} << 40}) {
    CHECK_THROWS_MATCHES(
        table.time_s(100.0, concurrency), InvalidArgument,
        MessageMatches(ContainsSubstring(std::to_string(concurrency)) && ContainsSubstring("at most the 6")));
  }
}

}  // namespace steelyard::test_transfer_table
