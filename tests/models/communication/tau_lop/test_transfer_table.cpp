#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_floating_point.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cstdint>
#include <limits>
#include <set>
#include <vector>

#include "core/base/errors.hpp"
#include "models/communication/tau_lop/transfer_table.hpp"
#include "tests/models/random_models.hpp"

namespace steelyard::test_transfer_table {

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;
using Catch::Matchers::WithinRel;
using namespace steelyard::models;
using tests::Random;
using tests::uniform;
using tests::whole;
using Points = std::vector<TransferPoint>;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

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
Points noisy_points(Random& random, bool gaps) {
  const std::vector<double> sizes = random_sizes(random);
  Points points;
  for (const int concurrency : random_concurrencies(random)) {
    for (const double bytes : sizes) {
      if (gaps && concurrency > 1 && whole(random, 0, 2) == 0) continue;
      if (gaps && concurrency == 1 && bytes != sizes.front() && whole(random, 0, 1) == 0) continue;
      points.push_back({bytes, concurrency, 1e-9 * bytes * concurrency * std::exp(uniform(random, -2.0, 2.0))});
    }
  }
  std::shuffle(points.begin(), points.end(), random);
  return points;
}

/// Times that the restrictions allow: L(m, 1) free; from each concurrency to the next by a factor from 1 to its ratio,
/// both ends included now and then.
Points lawful_points(Random& random) {
  const std::vector<double> sizes = random_sizes(random);
  const std::vector<int> concurrencies = random_concurrencies(random);
  Points points;
  for (const double bytes : sizes) {
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

double largest_size(const Points& points) {
  double largest = 0.0;
  for (const TransferPoint& point : points) largest = std::max(largest, point.bytes);
  return largest;
}

}  // namespace

TEST_CASE("A transfers cost from one to A times what one costs, whatever was measured") {
  Random random(1);
  constexpr double rounding = 1.0 + 1e-12;
  for (int trial = 0; trial < 300; ++trial) {
    const Points points = noisy_points(random, trial % 2 == 0);
    const TransferTable table(points);
    std::vector<double> sizes{uniform(random, 0.0, 1.0), 2.0 * largest_size(points)};
    for (int i = 0; i < 6; ++i) sizes.push_back(uniform(random, 0.0, 1.2) * largest_size(points));
    for (const TransferPoint& point : points) sizes.push_back(point.bytes);
    for (const double bytes : sizes) {
      const auto time_s = [&](std::int64_t concurrency) {
        return table.time_s(bytes, concurrency, BeyondMeasured::proportional);
      };
      for (std::int64_t tau = 1; tau <= table.largest_concurrency() + 3; ++tau) {
        REQUIRE(time_s(tau) <= time_s(tau + 1) * rounding);
        REQUIRE(time_s(1) <= time_s(tau) * rounding);
        REQUIRE(time_s(tau) <= static_cast<double>(tau) * time_s(1) * rounding);
        for (std::int64_t times = 2; times * tau <= table.largest_concurrency() + 3; ++times) {
          REQUIRE(time_s(tau) <= time_s(times * tau) * rounding);
          REQUIRE(time_s(times * tau) <= static_cast<double>(times) * time_s(tau) * rounding);
        }
      }
    }
  }
}

TEST_CASE("measured times within the restrictions are returned exactly") {
  Random random(2);
  for (int trial = 0; trial < 500; ++trial) {
    const Points points = lawful_points(random);
    const TransferTable table(points);
    for (const TransferPoint& point : points) {
      REQUIRE(table.time_s(point.bytes, point.concurrency) == point.time_s);
    }
    REQUIRE(table.largest_adjustment() == 0.0);
    REQUIRE(table.points() == points);
  }
}

TEST_CASE("times proportional to size and to concurrency are within the restrictions, in spite of rounding") {
  Random random(3);
  for (int trial = 0; trial < 500; ++trial) {
    const double seconds_per_byte = std::exp(uniform(random, -25.0, 0.0));
    Points points;
    for (const int concurrency : random_concurrencies(random)) {
      for (const double bytes : random_sizes(random)) {
        points.push_back({bytes, concurrency, seconds_per_byte * bytes * concurrency});
      }
    }
    const TransferTable table(points);
    REQUIRE(table.largest_adjustment() == 0.0);
    for (const TransferPoint& point : points) {
      REQUIRE(table.time_s(point.bytes, point.concurrency) == point.time_s);
    }
    const double bytes = uniform(random, 0.0, 2.0) * largest_size(points);
    const int tau = whole(random, 1, table.largest_concurrency());
    REQUIRE_THAT(table.time_s(bytes, tau), WithinRel(seconds_per_byte * bytes * tau, 1e-12));
  }
}

TEST_CASE("a measured time outside of the restrictions is moved to the nearer bound") {
  const double measured_s = GENERATE(0.0, 0.5, 0.999, 2.001, 7.0);
  const TransferTable table({{1000.0, 1, 1.0}, {1000.0, 2, measured_s}});
  const double bound_s = measured_s < 1.0 ? 1.0 : 2.0;
  CHECK(table.time_s(1000.0, 2) == bound_s);
  CHECK_THAT(table.largest_adjustment(),
             WithinRel(std::abs(bound_s - measured_s) / std::max(bound_s, measured_s), 1e-12));
  CHECK(table.points() == Points{{1000.0, 1, 1.0}, {1000.0, 2, measured_s}});
}

TEST_CASE("restrictions hold against what smaller numbers of transfers were moved to") {
  // 2 transfers: 0.5 s become 1 s. 4 transfers: 0.9 s become 1 s; against 0.5 s they would have stayed.
  const TransferTable low({{8.0, 1, 1.0}, {8.0, 2, 0.5}, {8.0, 4, 0.9}});
  CHECK(low.time_s(8.0, 4) == 1.0);
  CHECK(low.largest_adjustment() == 0.5);
  // 2 transfers: 4 s become 2 s. 4 transfers: 6 s become 4 s.
  const TransferTable high({{8.0, 1, 1.0}, {8.0, 2, 4.0}, {8.0, 4, 6.0}});
  CHECK(high.time_s(8.0, 4) == 4.0);
  CHECK(high.largest_adjustment() == 0.5);
}

TEST_CASE("data that break the restrictions show in the largest adjustment") {
  Random random(4);
  for (int trial = 0; trial < 300; ++trial) {
    Points points = lawful_points(random);
    TransferPoint& point = points[static_cast<std::size_t>(whole(random, 0, static_cast<int>(points.size()) - 1))];
    if (point.concurrency == 1) continue;
    const bool low = whole(random, 0, 1) == 0;
    const TransferTable before(points);
    const double one_s = before.time_s(point.bytes, 1);
    const double factor = uniform(random, 0.01, 0.9);
    point.time_s = low ? factor * one_s : point.concurrency * one_s / factor;
    const TransferTable table(points);
    REQUIRE(table.largest_adjustment() >= (1.0 - factor) * (1.0 - 1e-9));
    REQUIRE(table.time_s(point.bytes, point.concurrency) != point.time_s);
  }
}

TEST_CASE("transfer times are linear between measured numbers of transfers and between sizes") {
  const TransferTable table({{100.0, 1, 1.0}, {200.0, 1, 3.0}, {100.0, 5, 3.0}, {200.0, 5, 7.0}});
  CHECK(table.largest_adjustment() == 0.0);
  CHECK(table.largest_concurrency() == 5);
  CHECK_THAT(table.time_s(100.0, 2), WithinRel(1.5, 1e-12));
  CHECK_THAT(table.time_s(100.0, 3), WithinRel(2.0, 1e-12));
  CHECK_THAT(table.time_s(150.0, 1), WithinRel(2.0, 1e-12));
  CHECK_THAT(table.time_s(150.0, 5), WithinRel(5.0, 1e-12));
  CHECK_THAT(table.time_s(150.0, 3), WithinRel(3.5, 1e-12));
}

TEST_CASE("transfer times are proportional to size below and above measured sizes") {
  Random random(5);
  for (int trial = 0; trial < 200; ++trial) {
    const Points points = noisy_points(random, trial % 2 == 0);
    const TransferTable table(points);
    const int tau = whole(random, 1, table.largest_concurrency());
    const double factor = uniform(random, 0.0, 1.0), largest = largest_size(points);
    const auto less = [](const TransferPoint& a, const TransferPoint& b) { return a.bytes < b.bytes; };
    const double smallest = std::min_element(points.begin(), points.end(), less)->bytes;
    REQUIRE_THAT(table.time_s(factor * smallest, tau), WithinRel(factor * table.time_s(smallest, tau), 1e-12));
    REQUIRE_THAT(table.time_s((1.0 + factor) * largest, tau),
                 WithinRel((1.0 + factor) * table.time_s(largest, tau), 1e-12));
    REQUIRE(table.time_s(0.0, tau) == 0.0);
  }
}

TEST_CASE("sizes may differ from one number of transfers to another") {
  const TransferTable table({{100.0, 1, 1.0}, {300.0, 1, 3.0}, {200.0, 4, 6.0}});
  CHECK(table.time_s(100.0, 1) == 1.0);
  CHECK_THAT(table.time_s(200.0, 1), WithinRel(2.0, 1e-12));
  CHECK(table.time_s(200.0, 4) == 6.0);
  CHECK_THAT(table.time_s(100.0, 4), WithinRel(3.0, 1e-12));
  CHECK_THAT(table.time_s(300.0, 4), WithinRel(9.0, 1e-12));
  CHECK(table.largest_adjustment() == 0.0);
}

TEST_CASE("more transfers than measured are refused with both numbers") {
  const TransferTable table({{100.0, 1, 1.0}, {100.0, 6, 3.0}});
  CHECK(table.time_s(100.0, 6) == 3.0);
  for (const std::int64_t concurrency : {std::int64_t{7}, std::int64_t{1} << 40}) {
    CHECK_THROWS_MATCHES(
        table.time_s(100.0, concurrency), InvalidArgument,
        MessageMatches(ContainsSubstring(std::to_string(concurrency)) && ContainsSubstring("at most the 6")));
    CHECK_THAT(table.time_s(50.0, concurrency, BeyondMeasured::proportional),
               WithinRel(static_cast<double>(concurrency) / 6.0 * 1.5, 1e-12));
  }
  CHECK(table.time_s(100.0, 6, BeyondMeasured::proportional) == 3.0);
}

TEST_CASE("a transfer table refuses what is no number of transfers and no size") {
  const TransferTable table({{100.0, 1, 1.0}});
  for (const std::int64_t concurrency : {0, -1}) {
    CHECK_THROWS_MATCHES(table.time_s(1.0, concurrency, BeyondMeasured::proportional), InvalidArgument,
                         MessageMatches(ContainsSubstring(std::to_string(concurrency) + " concurrent")));
  }
  for (const double bytes : {-1.0, infinity, not_a_number}) {
    CHECK_THROWS_AS(table.time_s(bytes, 1), InvalidArgument);
    CHECK_THROWS_AS(table.time_s(bytes, 2, BeyondMeasured::proportional), InvalidArgument);
  }
}

TEST_CASE("a transfer table refuses points that are none") {
  struct Mistake {
    Points points;
    std::string message;
  };
  const auto mistake = GENERATE(
      Mistake{{}, "no transfer times for concurrency 1"},
      Mistake{{{8.0, 2, 1.0}}, "no transfer times for concurrency 1"},
      Mistake{{{8.0, 0, 1.0}}, "concurrency 0 (expected 1, 2"}, Mistake{{{8.0, -3, 1.0}}, "concurrency -3"},
      Mistake{{{8.0, 1, 1.0}, {8.0, 2, 1.0}, {8.0, 1, 2.0}}, "two transfer times for 8 bytes and concurrency 1"},
      Mistake{{{0.0, 1, 1.0}}, "0 bytes in 1 s with concurrency 1"},
      Mistake{{{8.0, 1, 1.0}, {-8.0, 2, 1.0}}, "-8 bytes in 1 s with concurrency 2"},
      Mistake{{{8.0, 1, 1.0}, {8.0, 2, -1.0}}, "8 bytes in -1 s with concurrency 2"},
      Mistake{{{8.0, 1, 1.0}, {9.0, 1, not_a_number}}, "9 bytes in nan s"},
      Mistake{{{8.0, 1, 1.0}, {9.0, 1, infinity}}, "9 bytes in inf s"},
      Mistake{{{8.0, 1, 1.0}, {infinity, 1, 1.0}}, "inf bytes"},
      Mistake{{{8.0, 1, 1.0}, {16.0, 1, 1.0}, {not_a_number, 1, 1.0}}, "nan bytes in 1 s with concurrency 1"});
  CHECK_THROWS_MATCHES(TransferTable(mistake.points), InvalidArgument,
                       MessageMatches(ContainsSubstring(mistake.message)));
}

}  // namespace steelyard::test_transfer_table
