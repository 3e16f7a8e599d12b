#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "core/base/errors.hpp"
#include "core/base/plot/plot_area.hpp"

namespace steelyard::test_plot_data {

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double no_value = std::numeric_limits<double>::quiet_NaN();

SvgPlot chart(std::vector<double> x, std::vector<double> y, std::vector<double> error = {}) {
  SvgPlot plot;
  plot.title = "speeds";
  plot.series = {{"host", std::move(x), std::move(y), std::move(error)}};
  return plot;
}

void expect_refused(const SvgPlot& plot, const std::string& named) {
  CHECK_THROWS_MATCHES(require_showable(plot), InvalidArgument, MessageMatches(ContainsSubstring(named)));
}

}  // namespace

TEST_CASE("points with two finite coordinates are shown, with error bars of finite length") {
  const SvgPlot::Series series{
      "", {1.0, no_value, 3.0, infinity, 5.0}, {1.0, 2.0, -infinity, 4.0, 5.0}, {0.5, 1.0, 1.0, 1.0, no_value}};
  std::vector<bool> shown;
  for (std::size_t i = 0; i < series.x.size(); ++i) shown.push_back(is_shown(series, i));
  CHECK(shown == std::vector<bool>{true, false, false, false, true});
  CHECK(shown_error(series, 0) == 0.5);
  CHECK(shown_error(series, 4) == 0.0);
  CHECK(shown_error({"", {1.0}, {1.0}}, 0) == 0.0);
}

TEST_CASE("charts that cannot be shown are refused by what is wrong with them") {
  CHECK_NOTHROW(require_showable(chart({1.0, no_value}, {-1.0, 2.0})));
  expect_refused(chart({1.0, 2.0}, {1.0}), "'host' has 2 x and 1 y values");
  expect_refused(chart({1.0, 2.0}, {1.0, 2.0}, {0.1}), "1 errors for 2 points");
  expect_refused(chart({1.0}, {1.0}, {-0.1}), "error of -0.1");
  expect_refused(chart({1.0}, {no_value}), "chart 'speeds' has no finite point");
  expect_refused(chart({1.0}, {1e301}), "y = 1e+301 on a linear axis");
  SvgPlot logarithmic = chart({0.0}, {1.0});
  CHECK_NOTHROW(require_showable(logarithmic));
  logarithmic.x_scale = SvgPlot::Scale::logarithmic;
  expect_refused(logarithmic, "x = 0 on a logarithmic axis");
  SvgPlot marked = chart({1.0}, {1.0});
  marked.markers = {{1e301, "memory"}};
  expect_refused(marked, "'memory'");
  marked.markers = {{infinity, "no limit"}};
  CHECK_NOTHROW(require_showable(marked));
}

TEST_CASE("the x axis reaches to all points and markers that are shown") {
  const auto scale = GENERATE(SvgPlot::Scale::linear, SvgPlot::Scale::logarithmic);
  SvgPlot plot = chart({10.0, 200.0, 1e6}, {1.0, 2.0, no_value});
  plot.x_scale = scale;
  plot.markers = {{700.0, "memory"}, {infinity, "none"}};
  const PlotAxis axis = x_axis_of(plot, 80);
  CHECK(axis.low() <= 10.0);
  CHECK(axis.high() >= 700.0);
  CHECK(axis.high() < 1e6);
}

TEST_CASE("labels of the x axis become fewer until they have room") {
  const SvgPlot plot = chart({10500.0, 20500.0}, {1.0, 2.0});
  std::size_t before = 100;
  for (const std::size_t room : {100, 40, 20, 1}) {
    const std::size_t count = x_axis_of(plot, room).ticks().size();
    CHECK(count <= before);
    before = count;
  }
  CHECK(x_axis_of(plot, 100).ticks().size() > before);
  CHECK(before >= 2);
}

TEST_CASE("sizes that double stand on an axis of powers of two, measured ones before lines") {
  SvgPlot plot = chart({4096.0, 8192.0, 16384.0, 65536.0}, {1.0, 1.0, 1.0, 1.0});
  plot.x_scale = SvgPlot::Scale::logarithmic;
  const auto has_powers_of_two = [&] {
    const PlotAxis axis = x_axis_of(plot, 80);
    return std::ranges::all_of(
        axis.ticks(), [](const auto& tick) { return std::exp2(std::round(std::log2(tick.value))) == tick.value; });
  };
  CHECK(has_powers_of_two());
  plot.series.push_back({"model", {5e3, 6e3, 7e3, 9e3, 4e4, 6e4}, {1.0, 1.0, 1.0, 1.0, 1.0, 1.0}, {}, true});
  CHECK(has_powers_of_two());
  plot.series.front().line = true;
  CHECK_FALSE(has_powers_of_two());
}

TEST_CASE("the y axis begins at 0 where no value is below, and holds error bars") {
  const PlotAxis positive = y_axis_of(chart({1.0, 2.0}, {90.0, 100.0}, {200.0, 50.0}));
  CHECK(positive.low() == 0.0);
  CHECK(positive.high() >= 290.0);
  const PlotAxis negative = y_axis_of(chart({1.0, 2.0}, {-1.0, 2.0}, {3.0, 0.0}));
  CHECK(negative.low() <= -4.0);
  CHECK(negative.high() >= 2.0);
  SvgPlot plot = chart({1.0, 2.0}, {10.0, 1000.0}, {9.999, 1000.0});
  plot.y_scale = SvgPlot::Scale::logarithmic;
  const PlotAxis logarithmic = y_axis_of(plot);
  CHECK(logarithmic.low() <= 5.0);
  CHECK(logarithmic.low() > 1.0);  // the bar down to 0.001 does not squeeze the points together
  CHECK(logarithmic.high() >= 2000.0);
}

}  // namespace steelyard::test_plot_data
