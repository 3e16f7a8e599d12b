#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <limits>
#include <set>
#include <string>
#include <vector>

#include "core/base/plot/plot_area.hpp"

namespace steelyard::test_plot_area {

using Catch::Matchers::ContainsSubstring;

namespace {

constexpr double no_value = std::numeric_limits<double>::quiet_NaN();

const SeriesLook look{"#123456", "M0 0h1v1z", ""};

/// 10 by 10 values on 100 by 100.
PlotArea square() { return {PlotAxis::linear(0.0, 10.0, 5), PlotAxis::linear(0.0, 10.0, 5), 50.0, 20.0, 150.0, 120.0}; }

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

/// The path data of the first path.
std::string path_of(const std::string& svg) {
  const std::size_t begin = svg.find(" d=\"") + 4;
  return svg.substr(begin, svg.find('"', begin) - begin);
}

}  // namespace

TEST_CASE("coordinates are written to a hundredth, without zeros that say nothing") {
  CHECK(svg_number(12.0) == "12");
  CHECK(svg_number(100.0) == "100");
  CHECK(svg_number(0.5) == "0.5");
  CHECK(svg_number(-1.256) == "-1.26");
  CHECK(svg_number(3.999) == "4");
}

TEST_CASE("six series of marks and four of lines differ without colour, and all in colour") {
  std::vector<SvgPlot::Series> all(10);
  for (std::size_t s = 6; s < all.size(); ++s) all[s].line = true;
  const std::vector<SeriesLook> looks = series_looks(all);
  REQUIRE(looks.size() == all.size());
  std::set<std::string> shapes;
  std::set<std::string> dashes;
  std::set<std::string> colours;
  for (std::size_t s = 0; s < 6; ++s) shapes.insert(looks[s].shape);
  for (std::size_t s = 6; s < 10; ++s) dashes.insert(looks[s].dash);
  for (std::size_t s = 0; s < 7; ++s) colours.insert(looks[s].colour);
  CHECK(shapes.size() == 6);
  CHECK(dashes.size() == 4);
  CHECK(colours.size() == 7);
  all[6].colour = 2;
  CHECK(series_looks(all)[6].colour == looks[2].colour);
}

TEST_CASE("values lie between the edges, y upwards") {
  const PlotArea area = square();
  CHECK(area.x(0.0) == 50.0);
  CHECK(area.x(10.0) == 150.0);
  CHECK(area.y(0.0) == 120.0);
  CHECK(area.y(10.0) == 20.0);
  CHECK(area.x(5.0) == 100.0);
}

TEST_CASE("a line breaks at what is not shown, and a point between two gaps is a dot") {
  const PlotArea area = square();
  const SvgPlot::Series series{
      "", {0.0, 5.0, no_value, 5.0, no_value, 10.0, 10.0}, {0.0, 10.0, 1.0, 5.0, 1.0, 0.0, 10.0}};
  CHECK(path_of(area.line(series, look)) == "M50 120L100 20M100 70h0M150 120L150 20");
  CHECK(area.line({"", {no_value}, {1.0}}, look).empty());
  CHECK(count(area.line(series, {"#123456", "", "8 5"}), "stroke-dasharray=\"8 5\"") == 1);
  CHECK(count(area.line(series, look), "stroke-dasharray") == 0);
}

TEST_CASE("every shown point has a mark where it lies, which tells its values") {
  const PlotArea area = square();
  const std::string marks = area.marks({"", {0.0, no_value, 10.0}, {10.0, 1.0, 2.5}, {0.0, 1.0, 0.5}}, look);
  CHECK(count(marks, "<path") == 2);
  CHECK_THAT(marks, ContainsSubstring("translate(50 20)") && ContainsSubstring("<title>0: 10</title>"));
  CHECK_THAT(marks, ContainsSubstring("translate(150 95)") && ContainsSubstring("<title>10: 2.5 ± 0.5</title>"));
  CHECK(count(marks, look.colour) == 2);
}

TEST_CASE("error bars have two caps, or one where they would pass the axis' low end") {
  const PlotArea area = square();
  CHECK(path_of(area.error_bars({"", {5.0}, {5.0}, {2.0}}, look)) == "M100 90V50M96.5 50h7M96.5 90h7");
  CHECK(path_of(area.error_bars({"", {5.0}, {5.0}, {7.0}}, look)) == "M100 120V20M96.5 20h7");
  CHECK(area.error_bars({"", {5.0, 6.0}, {5.0, 5.0}, {0.0, no_value}}, look).empty());
}

TEST_CASE("the grid labels every tick of both axes once") {
  const PlotArea area = square();
  const std::string grid = area.grid();
  CHECK(count(grid, "class=\"plot-x-tick\"") == area.x_axis.ticks().size());
  CHECK(count(grid, "class=\"plot-y-tick\"") == area.y_axis.ticks().size());
  for (const auto& tick : area.x_axis.ticks()) CHECK(count(grid, ">" + tick.label + "</text>") == 2);
}

}  // namespace steelyard::test_plot_area
