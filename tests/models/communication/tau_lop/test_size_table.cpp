#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_floating_point.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <limits>
#include <vector>

#include "core/base/errors.hpp"
#include "models/communication/tau_lop/transfer_table.hpp"
#include "tests/models/random_models.hpp"

namespace steelyard::test_size_table {

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;
using Catch::Matchers::WithinRel;
using namespace steelyard::models;
using tests::Random;
using tests::uniform;
using tests::whole;
using Outside = SizeTable::Outside;
using Points = std::vector<SizeTable::Point>;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

/// Growing sizes above 0 and times that wander.
Points random_points(Random& random) {
  Points points;
  double bytes = 0.0;
  for (int i = whole(random, 1, 12); i > 0; --i) {
    bytes += std::exp(uniform(random, -3.0, 12.0));
    points.push_back({bytes, std::exp(uniform(random, -20.0, 0.0))});
  }
  return points;
}

}  // namespace

TEST_CASE("a size table returns measured sizes exactly") {
  Random random(1);
  for (int trial = 0; trial < 200; ++trial) {
    const Points points = random_points(random);
    const SizeTable constant(points, Outside::constant), proportional(points, Outside::proportional);
    for (const SizeTable::Point& point : points) {
      REQUIRE(constant.time_s(point.bytes) == point.time_s);
      REQUIRE(proportional.time_s(point.bytes) == point.time_s);
    }
    REQUIRE(constant.points() == points);
  }
}

TEST_CASE("a size table is linear between measured sizes") {
  Random random(2);
  for (int trial = 0; trial < 200; ++trial) {
    const Points points = random_points(random);
    const SizeTable table(points, trial % 2 == 0 ? Outside::constant : Outside::proportional);
    for (std::size_t i = 1; i < points.size(); ++i) {
      const SizeTable::Point &a = points[i - 1], &b = points[i];
      const double share = uniform(random, 0.0, 1.0);
      const double bytes = a.bytes + share * (b.bytes - a.bytes);
      const double expected = ((b.bytes - bytes) * a.time_s + (bytes - a.bytes) * b.time_s) / (b.bytes - a.bytes);
      const double rounding = 1e-9 * std::max(a.time_s, b.time_s);
      REQUIRE(std::abs(table.time_s(bytes) - expected) <= rounding);
      REQUIRE(table.time_s(bytes) >= std::min(a.time_s, b.time_s) - rounding);
      REQUIRE(table.time_s(bytes) <= std::max(a.time_s, b.time_s) + rounding);
    }
  }
}

TEST_CASE("outside of measured sizes a constant table keeps the nearest time") {
  const SizeTable table({{64.0, 2e-6}, {1024.0, 1e-6}}, Outside::constant);
  for (const double bytes : {0.0, 1.0, 63.9}) CHECK(table.time_s(bytes) == 2e-6);
  for (const double bytes : {1024.1, 1e9}) CHECK(table.time_s(bytes) == 1e-6);
}

TEST_CASE("outside of measured sizes a proportional table grows with size") {
  Random random(3);
  for (int trial = 0; trial < 200; ++trial) {
    const Points points = random_points(random);
    const SizeTable table(points, Outside::proportional);
    const double factor = uniform(random, 0.0, 1.0);
    const SizeTable::Point &first = points.front(), &last = points.back();
    REQUIRE_THAT(table.time_s(factor * first.bytes), WithinRel(factor * first.time_s, 1e-12));
    REQUIRE_THAT(table.time_s((1.0 + factor) * last.bytes), WithinRel((1.0 + factor) * last.time_s, 1e-12));
    REQUIRE(table.time_s(0.0) == 0.0);
  }
}

TEST_CASE("a size table of one size") {
  CHECK(SizeTable({{0.0, 3e-6}}, Outside::constant).time_s(0.0) == 3e-6);
  CHECK(SizeTable({{0.0, 3e-6}}, Outside::constant).time_s(1e9) == 3e-6);
  CHECK(SizeTable({{8.0, 4e-6}}, Outside::proportional).time_s(2.0) == 1e-6);
  CHECK(SizeTable({{8.0, 4e-6}}, Outside::proportional).time_s(80.0) == 10.0 * 4e-6);
}

TEST_CASE("a size table refuses points that are none") {
  struct Mistake {
    Points points;
    Outside outside;
    std::string message;
  };
  const auto mistake = GENERATE(Mistake{{}, Outside::constant, "at least one"},
                                Mistake{{{-1.0, 1.0}}, Outside::constant, "-1 bytes in 1 s"},
                                Mistake{{{1.0, -2.0}}, Outside::constant, "1 bytes in -2 s"},
                                Mistake{{{infinity, 1.0}}, Outside::constant, "inf bytes"},
                                Mistake{{{1.0, infinity}}, Outside::constant, "in inf s"},
                                Mistake{{{not_a_number, 1.0}}, Outside::constant, "nan bytes"},
                                Mistake{{{1.0, not_a_number}}, Outside::constant, "in nan s"},
                                Mistake{{{8.0, 1.0}, {4.0, 2.0}}, Outside::constant, "4 bytes after one for 8 bytes"},
                                Mistake{{{8.0, 1.0}, {8.0, 2.0}}, Outside::constant, "8 bytes after one for 8 bytes"},
                                Mistake{{{0.0, 1.0}}, Outside::proportional, "above 0"},
                                Mistake{{{8.0, 1.0}, {4.0, 2.0}}, Outside::proportional, "4 bytes after one for 8"});
  CHECK_THROWS_MATCHES(SizeTable(mistake.points, mistake.outside), InvalidArgument,
                       MessageMatches(ContainsSubstring(mistake.message)));
}

TEST_CASE("a size table refuses sizes that are none") {
  const auto outside = GENERATE(Outside::constant, Outside::proportional);
  const SizeTable table({{8.0, 1e-6}, {64.0, 2e-6}}, outside);
  for (const double bytes : {-1.0, infinity, -infinity, not_a_number}) {
    CHECK_THROWS_MATCHES(table.time_s(bytes), InvalidArgument, MessageMatches(ContainsSubstring("message of ")));
  }
}

}  // namespace steelyard::test_size_table
