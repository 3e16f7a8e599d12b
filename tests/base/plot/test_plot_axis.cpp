#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_floating_point.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cmath>
#include <limits>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "core/base/errors.hpp"
#include "core/base/plot/plot_axis.hpp"

namespace steelyard::test_plot_axis {

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;
using Catch::Matchers::WithinAbs;
using Catch::Matchers::WithinRel;

namespace {

std::vector<std::string> labels_of(const PlotAxis& axis) {
  std::vector<std::string> labels;
  for (const auto& tick : axis.ticks()) labels.push_back(tick.label);
  return labels;
}

/// The number that a label such as 1.5k or 64Ki stands for.
double value_of(const std::string& label) {
  std::size_t used = 0;
  const double number = std::stod(label, &used);
  const std::string prefix = label.substr(used);
  if (prefix.empty()) return number;
  if (prefix.back() == 'i') {
    const std::string names = "KMGTPE";
    return number * std::exp2(10.0 * static_cast<double>(names.find(prefix[0]) + 1));
  }
  const std::vector<std::string> names{"p", "n", "µ", "m", "", "k", "M", "G", "T", "P", "E"};
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (names[i] == prefix) return number * std::pow(1000.0, static_cast<double>(i) - 4.0);
  }
  FAIL("label " << label);
  return 0.0;
}

void require_laws(const PlotAxis& axis, double low, double high) {
  INFO("axis of " << low << " to " << high << ": " << axis.low() << " to " << axis.high());
  REQUIRE(axis.low() <= low + 1e-5 * (high - low));
  REQUIRE(axis.high() >= high - 1e-5 * (high - low));
  REQUIRE(axis.ticks().size() >= 2);
  REQUIRE(axis.ticks().size() <= 13);
  std::set<std::string> labels;
  double before = -std::numeric_limits<double>::infinity();
  for (const auto& [value, label] : axis.ticks()) {
    REQUIRE(value > before);
    REQUIRE(value >= axis.low());
    REQUIRE(value <= axis.high());
    REQUIRE(labels.insert(label).second);
    before = value;
  }
  for (const double value : axis.minor_ticks()) REQUIRE((value >= axis.low() && value <= axis.high()));
  double position = -1.0;
  for (int i = 0; i <= 50; ++i) {
    const double here = axis.position(axis.low() + i / 50.0 * (axis.high() - axis.low()));
    REQUIRE(here >= position);
    REQUIRE((here >= 0.0 && here <= 1.0));
    position = here;
  }
}

}  // namespace

TEST_CASE("a linear axis holds its values between distinct increasing ticks") {
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> exponent(-30.0, 30.0);
  std::uniform_real_distribution<double> mantissa(-1.0, 1.0);
  for (int trial = 0; trial < 2000; ++trial) {
    const double size = std::pow(10.0, exponent(random));
    const double a = size * mantissa(random);
    const double b = a + size * std::pow(10.0, -std::abs(mantissa(random)) * 4.0);
    const PlotAxis axis = PlotAxis::linear(a, b, 6);
    require_laws(axis, a, b);
    REQUIRE(axis.low() == axis.ticks().front().value);
    REQUIRE(axis.high() == axis.ticks().back().value);
    for (const auto& [value, label] : axis.ticks())
      REQUIRE_THAT(value_of(label), WithinAbs(value, 1e-9 * axis.high() + 1e-9 * std::abs(axis.low())));
  }
}

TEST_CASE("a logarithmic axis holds its values between distinct increasing ticks") {
  std::mt19937_64 random(2);
  std::uniform_real_distribution<double> exponent(-15.0, 25.0);
  std::uniform_real_distribution<double> decades(0.0, 1.0);
  for (int trial = 0; trial < 2000; ++trial) {
    const double low = std::pow(10.0, exponent(random));
    const double high = low * std::pow(10.0, std::pow(decades(random), 3.0) * 20.0);
    const bool powers_of_two = trial % 2 == 0;
    const PlotAxis axis = PlotAxis::logarithmic(low, high, powers_of_two);
    require_laws(axis, low, high);
    for (const auto& [value, label] : axis.ticks()) REQUIRE_THAT(value_of(label), WithinRel(value, 1e-5));
  }
}

TEST_CASE("equal differences on a linear and equal ratios on a logarithmic axis take equal room") {
  const PlotAxis linear = PlotAxis::linear(-3.0, 17.0, 6);
  CHECK_THAT(linear.position(2.0) - linear.position(-1.0),
             WithinRel(linear.position(12.0) - linear.position(9.0), 1e-12));
  const PlotAxis logarithmic = PlotAxis::logarithmic(2.0, 5e4, false);
  CHECK_THAT(logarithmic.position(30.0) - logarithmic.position(3.0),
             WithinRel(logarithmic.position(4e4) - logarithmic.position(4e3), 1e-12));
}

TEST_CASE("values beyond an end lie on it even where they have no logarithm") {
  const PlotAxis axis = PlotAxis::logarithmic(1.0, 100.0, false);
  CHECK(axis.position(-5.0) == 0.0);
  CHECK(axis.position(0.0) == 0.0);
  CHECK(axis.position(1e9) == 1.0);
}

TEST_CASE("ticks are round and their labels short") {
  using Labels = std::vector<std::string>;
  CHECK(labels_of(PlotAxis::linear(0.0, 230000.0, 6)) == Labels{"0", "50k", "100k", "150k", "200k", "250k"});
  CHECK(labels_of(PlotAxis::linear(0.0, 2.9e6, 6)) == Labels{"0", "0.5M", "1.0M", "1.5M", "2.0M", "2.5M", "3.0M"});
  CHECK(labels_of(PlotAxis::linear(0.0, 0.3, 3)) == Labels{"0", "0.1", "0.2", "0.3"});
  CHECK(labels_of(PlotAxis::linear(2011.0, 2024.0, 3)) == Labels{"2010", "2015", "2020", "2025"});
  CHECK(labels_of(PlotAxis::linear(-2e-6, 2e-6, 4)) == Labels{"-2µ", "-1µ", "0", "1µ", "2µ"});
  CHECK(labels_of(PlotAxis::linear(0.0, 3e40, 3)) == Labels{"0", "1e+40", "2e+40", "3e+40"});
}

TEST_CASE("logarithmic ticks are decades or 1 2 5 or powers of two as fits the range") {
  using Labels = std::vector<std::string>;
  CHECK(labels_of(PlotAxis::logarithmic(1.0, 1e6, false)) == Labels{"1", "10", "100", "1k", "10k", "100k", "1M"});
  CHECK(labels_of(PlotAxis::logarithmic(1e-6, 1e-3, false)) == Labels{"1µ", "10µ", "100µ", "1m"});
  CHECK(labels_of(PlotAxis::logarithmic(1.0, 50.0, false)) == Labels{"1", "2", "5", "10", "20", "50"});
  CHECK(labels_of(PlotAxis::logarithmic(16.0, 65536.0, true)) ==
        Labels{"16", "64", "256", "1024", "4096", "16384", "65536"});
  CHECK(labels_of(PlotAxis::logarithmic(1.0, std::exp2(24), true)) ==
        Labels{"1", "8", "64", "512", "4Ki", "32Ki", "256Ki", "2Mi", "16Mi"});
  CHECK(labels_of(PlotAxis::logarithmic(1.1, 1.3, false)).size() >= 3);
}

TEST_CASE("equal ends give an axis around them and so do numbers that hardly differ") {
  const double value = GENERATE(0.0, 1.0, -7.0, 1e12, 1e-12, 1e299, 1e-299);
  require_laws(PlotAxis::linear(value, value, 6), value, value);
  require_laws(PlotAxis::linear(value, std::nextafter(value, 1e301), 6), value, value);
  if (value > 0.0) require_laws(PlotAxis::logarithmic(value, value, false), value, value);
  require_laws(PlotAxis::logarithmic(1e-300, 1e300, false), 1e-300, 1e300);
  require_laws(PlotAxis::linear(-1e300, 1e300, 6), -1e300, 1e300);
}

TEST_CASE("an axis without order or beyond its numbers is refused with them") {
  constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
  CHECK_THROWS_MATCHES(PlotAxis::linear(3.0, 2.0, 6), InvalidArgument, MessageMatches(ContainsSubstring("3 to 2")));
  CHECK_THROWS_AS(PlotAxis::linear(0.0, 1e301, 6), InvalidArgument);
  CHECK_THROWS_AS(PlotAxis::linear(not_a_number, 1.0, 6), InvalidArgument);
  CHECK_THROWS_AS(PlotAxis::linear(0.0, 1.0, 0), InvalidArgument);
  CHECK_THROWS_MATCHES(PlotAxis::logarithmic(-1.0, 2.0, false), InvalidArgument,
                       MessageMatches(ContainsSubstring("-1 to 2")));
  CHECK_THROWS_AS(PlotAxis::logarithmic(1.0, not_a_number, true), InvalidArgument);
}

}  // namespace steelyard::test_plot_axis
