#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cmath>
#include <limits>
#include <locale>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "core/base/errors.hpp"
#include "core/base/plot/svg_plot.hpp"
#include "tests/base/svg_elements.hpp"

namespace steelyard::test_svg_plot {

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;
using namespace steelyard::tests;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

/// Everything drawn and every place of text, in the view box.
void require_inside(const std::string& svg) {
  const auto elements = elements_of(svg);
  const auto box = numbers_in(elements.at(0).attributes.at("viewBox"));
  const auto inside = [&](double x, double y) {
    INFO(x << " " << y);
    REQUIRE((x >= 0.0 && x <= box.at(2) && y >= 0.0 && y <= box.at(3)));
  };
  for (const auto& [x, y] : marks_of(svg)) inside(x, y);
  for (const Element& element : elements) {
    if (element.name == "path" && element.attributes.count("transform") == 0) {
      for (const auto& [x, y] : path_points(element.attributes.at("d"))) inside(x, y);
    }
    if (element.name == "text") inside(std::stod(element.attributes.at("x")), std::stod(element.attributes.at("y")));
  }
}

SvgPlot speed_plot() {
  SvgPlot plot{.title = "speed", .x_label = "rows", .y_label = "rows/s", .x_scale = SvgPlot::Scale::logarithmic};
  SvgPlot::Series points{.name = "measured", .x = {}, .y = {}};
  for (double x = 16.0; x <= 65536.0; x *= 2.0) {
    points.x.push_back(x);
    points.y.push_back(2e5 * x / (x + 100.0));
    points.error.push_back(5e3);
  }
  SvgPlot::Series fit{.name = "fit", .x = points.x, .y = points.y, .line = true, .colour = 0};
  plot.series = {points, fit};
  plot.markers = {{90000.0, "memory limit"}};
  return plot;
}

}  // namespace

TEST_CASE("a chart is one well-formed element that a screen reader can name") {
  const auto elements = elements_of(speed_plot().text());
  CHECK(elements[0].name == "svg");
  CHECK(elements[0].attributes.at("role") == "img");
  CHECK(elements[1].name == "title");
  CHECK(elements[1].text == "speed");
  const std::string svg = speed_plot().text();
  CHECK(svg.find("id=") == std::string::npos);  // several charts can stand on one page
  CHECK(svg.find("href") == std::string::npos);
  CHECK(svg == speed_plot().text());
}

TEST_CASE("a chart is the same under a locale with other decimal points") {
  struct Comma : std::numpunct<char> {
    char do_decimal_point() const override { return ','; }
    char do_thousands_sep() const override { return '.'; }
    std::string do_grouping() const override { return "\3"; }
  };
  const std::string svg = speed_plot().text();
  const std::locale before = std::locale::global(std::locale(std::locale(), new Comma));
  const std::string other = speed_plot().text();
  std::locale::global(before);
  CHECK(svg == other);
}

TEST_CASE("every finite point is drawn once and the others not at all") {
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> value(-5.0, 5.0);
  std::uniform_int_distribution<int> kind(0, 4);
  for (int trial = 0; trial < 50; ++trial) {
    SvgPlot plot;
    plot.series = {{.name = "", .x = {0.0}, .y = {0.0}}, {.name = "", .x = {0.0}, .y = {0.0}, .line = true}};
    std::size_t finite = 1;
    for (int i = 0; i < 30; ++i) {
      const int k = kind(random);
      for (auto& series : plot.series) {
        series.x.push_back(k == 0 ? not_a_number : value(random));
        series.y.push_back(k == 1 ? infinity : value(random));
      }
      finite += k > 1 ? 1 : 0;
    }
    const std::string svg = plot.text();
    require_inside(svg);
    REQUIRE(marks_of(svg).size() == finite);
    const auto lines = of_class(elements_of(svg), "plot-line");
    REQUIRE(lines.size() == 1);
    const std::string path = lines[0].attributes.at("d");
    REQUIRE(std::count_if(path.begin(), path.end(), [](char c) { return c == 'M' || c == 'L'; }) ==
            static_cast<std::ptrdiff_t>(finite));
  }
}

TEST_CASE("points lie in the order of their values on every pair of scales") {
  const auto x_scale = GENERATE(SvgPlot::Scale::linear, SvgPlot::Scale::logarithmic);
  const auto y_scale = GENERATE(SvgPlot::Scale::linear, SvgPlot::Scale::logarithmic);
  std::mt19937_64 random(2);
  std::lognormal_distribution<double> value(2.0, 2.0);
  SvgPlot plot{.title = "t", .x_label = "x", .y_label = "y", .x_scale = x_scale, .y_scale = y_scale};
  plot.series.push_back({.name = "random", .x = {}, .y = {}});
  for (int i = 0; i < 100; ++i) {
    plot.series[0].x.push_back(value(random));
    plot.series[0].y.push_back(value(random));
    plot.series[0].error.push_back(value(random));
  }
  const std::string svg = plot.text();
  require_inside(svg);
  const Points points = marks_of(svg);
  REQUIRE(points.size() == 100);
  const auto& series = plot.series[0];
  for (std::size_t i = 0; i < 100; ++i) {
    for (std::size_t j = 0; j < 100; ++j) {
      if (series.x[i] < series.x[j]) REQUIRE(points[i].first <= points[j].first);
      if (series.y[i] < series.y[j]) REQUIRE(points[i].second >= points[j].second);
    }
  }
}

TEST_CASE("a line passes through the marks of the same values") {
  const std::string svg = speed_plot().text();
  const auto lines = of_class(elements_of(svg), "plot-line");
  REQUIRE(lines.size() == 2);  // and its sample in the legend
  CHECK(path_points(lines[0].attributes.at("d")) == marks_of(svg));
}

TEST_CASE("a missing value breaks a line and a value between two missing ones is a dot") {
  SvgPlot plot;
  plot.series = {{.name = "", .x = {1, 2, 3, 4, 5, 6}, .y = {1, 2, not_a_number, 4, infinity, 6}, .line = true}};
  const std::string path = of_class(elements_of(plot.text()), "plot-line")[0].attributes.at("d");
  CHECK(std::count(path.begin(), path.end(), 'M') == 3);
  CHECK(std::count(path.begin(), path.end(), 'L') == 1);
  CHECK(std::count(path.begin(), path.end(), 'h') == 2);
}

TEST_CASE("tick labels go to the right and upwards") {
  const auto elements = elements_of(speed_plot().text());
  const auto along = of_class(elements, "plot-x-tick");
  const auto up = of_class(elements, "plot-y-tick");
  REQUIRE(along.size() >= 4);
  REQUIRE(up.size() >= 4);
  for (std::size_t i = 1; i < along.size(); ++i) {
    CHECK(std::stod(along[i].attributes.at("x")) > std::stod(along[i - 1].attributes.at("x")) + 30.0);
  }
  for (std::size_t i = 1; i < up.size(); ++i) {
    CHECK(std::stod(up[i].attributes.at("y")) < std::stod(up[i - 1].attributes.at("y")) - 14.0);
  }
}

TEST_CASE("a linear y axis starts at 0 unless a value is below it") {
  SvgPlot plot;
  plot.series = {{.name = "", .x = {1, 2}, .y = {1000, 1001}, .error = {5000, 1}}};
  CHECK(of_class(elements_of(plot.text()), "plot-y-tick")[0].text == "0");
  require_inside(plot.text());
  plot.series[0].y[0] = -1000.0;
  CHECK(of_class(elements_of(plot.text()), "plot-y-tick")[0].text[0] == '-');
}

TEST_CASE("error bars reach as far as their errors and are cut where the axis ends") {
  SvgPlot plot;
  plot.series = {{.name = "", .x = {1, 2, 3, 4, 5}, .y = {4, 5, 6, 7, 8}, .error = {2, 0, infinity, not_a_number, 20}}};
  const std::string svg = plot.text();
  const Points marks = marks_of(svg);
  const auto bars = of_class(elements_of(svg), "plot-error");
  REQUIRE(bars.size() == 1);
  const Points path = path_points(bars[0].attributes.at("d"));
  REQUIRE(path.size() == 6 + 4);  // two bars of a stem and two caps, one without its lower cap
  const double unit = marks[0].second - marks[1].second;
  CHECK(std::abs(path[0].second - (marks[0].second + 2.0 * unit)) < 0.05);
  CHECK(std::abs(path[1].second - (marks[0].second - 2.0 * unit)) < 0.05);
  require_inside(svg);
}

TEST_CASE("a series of one point and a chart of equal points work on every scale") {
  const auto scale = GENERATE(SvgPlot::Scale::linear, SvgPlot::Scale::logarithmic);
  const double value = GENERATE(1.0, 3.7, 1e-9, 1e15, 1e300, 1e-300);
  const bool line = GENERATE(false, true);
  SvgPlot plot{.title = "", .x_label = "", .y_label = "", .x_scale = scale, .y_scale = scale};
  plot.series = {{.name = "one", .x = {value, value}, .y = {value, value}, .error = {value, 1e308}, .line = line}};
  require_inside(plot.text());
  plot.series = {{.name = "one", .x = {value}, .y = {value}, .error = {infinity}, .line = line}};
  require_inside(plot.text());
}

TEST_CASE("all text is escaped and text too long for its place is cut") {
  SvgPlot plot = speed_plot();
  const std::string nasty = "</text><script>\"a\" & 'b'\x01\xff";
  plot.title = plot.x_label = plot.y_label = plot.series[0].name = plot.markers[0].label = nasty;
  const std::string svg = plot.text();
  CHECK(elements_of(svg)[1].text.starts_with("&lt;/text&gt;&lt;script&gt;&quot;a&quot; &amp; &#39;b&#39;"));
  CHECK(svg.find("<script") == std::string::npos);
  plot.title = plot.series[0].name = plot.markers[0].label = std::string(500, 'x');
  require_inside(plot.text());
  CHECK(plot.text().find("x…</text>") != std::string::npos);
  CHECK(elements_of(plot.text())[1].text == plot.title);
}

TEST_CASE("legend names stand above the data and do not overlap") {
  SvgPlot plot;
  for (int s = 0; s < 20; ++s) {
    plot.series.push_back({.name = "series number " + std::to_string(s), .x = {1.0, 2.0}, .y = {1.0, 2.0 + s}});
    plot.series.back().line = s % 2 == 0;
  }
  const std::string svg = plot.text();
  require_inside(svg);
  const auto names = of_class(elements_of(svg), "plot-name");
  REQUIRE(names.size() == 20);
  double highest = infinity;
  for (const auto& [x, y] : marks_of(svg)) highest = std::min(highest, y);
  for (std::size_t i = 0; i < names.size(); ++i) {
    const double y = std::stod(names[i].attributes.at("y"));
    CHECK(y < highest);
    if (i == 0) continue;
    const double before = std::stod(names[i - 1].attributes.at("y"));
    const double gap = std::stod(names[i].attributes.at("x")) - std::stod(names[i - 1].attributes.at("x"));
    CHECK((y >= before + 14.0 || (y == before && gap > 100.0)));
  }
}

TEST_CASE("markers have a line and a label each and those at infinity have none") {
  SvgPlot plot = speed_plot();
  plot.markers = {{100.0, "L1"}, {110.0, "L2 cache"}, {120.0, "L3 cache"}, {infinity, "no limit"}};
  const std::string svg = plot.text();
  require_inside(svg);
  const auto labels = of_class(elements_of(svg), "plot-marker");
  REQUIRE(labels.size() == 3);
  for (std::size_t i = 1; i < 3; ++i) CHECK(labels[i].attributes.at("y") != labels[i - 1].attributes.at("y"));
}

TEST_CASE("a line can have the colour of its points and series differ otherwise") {
  const auto colour = [](const std::vector<Element>& elements, const char* name, const char* attribute) {
    return of_class(elements, name).at(0).attributes.at(attribute);
  };
  SvgPlot plot = speed_plot();
  const auto same = elements_of(plot.text());
  CHECK(colour(same, "plot-mark", "fill") == colour(same, "plot-line", "stroke"));
  plot.series[1].colour.reset();
  const auto other = elements_of(plot.text());
  CHECK(colour(other, "plot-mark", "fill") != colour(other, "plot-line", "stroke"));
  plot.series[1].line = false;
  const auto marks = of_class(elements_of(plot.text()), "plot-mark");
  CHECK(marks.front().attributes.at("d") != marks.back().attributes.at("d"));
}

TEST_CASE("boxes reach between their values, in the colour of their series, and have their text where there is room") {
  SvgPlot plot;
  plot.title = "Shares";
  plot.series = {{"host", {}, {}}, {"device", {}, {}}};
  plot.boxes = {{0.0, 6.0, 0.0, 10.0, 0, "a < b"}, {6.0, 10.0, 0.0, 5.0, 1, "c"}, {9.9, 10.0, 5.0, 10.0, 1, "no room"}};
  for (const bool downwards : {false, true}) {
    plot.y_downwards = downwards;
    std::vector<Element> boxes;
    for (const Element& element : elements_of(plot.text())) {
      const auto found = element.attributes.find("class");
      if (element.name == "rect" && found != element.attributes.end() && found->second == "plot-box") {
        boxes.push_back(element);
      }
    }
    REQUIRE(boxes.size() == 3);
    const auto number = [&](std::size_t box, const char* name) { return std::stod(boxes[box].attributes.at(name)); };
    CHECK(std::abs(number(0, "width") / number(1, "width") - 1.5) < 1e-2);
    CHECK(std::abs(number(0, "height") / number(1, "height") - 2.0) < 1e-2);
    CHECK(std::abs(number(0, "x") + number(0, "width") - number(1, "x")) < 0.02);
    // Its low end is below that of the third, or above where rows are counted downwards.
    CHECK((number(1, "y") > number(2, "y")) == !downwards);
    CHECK(boxes[0].attributes.at("fill") != boxes[1].attributes.at("fill"));
    CHECK(boxes[1].attributes.at("fill") == boxes[2].attributes.at("fill"));
  }
  CHECK_THAT(plot.text(), ContainsSubstring(">a &lt; b</text>"));
  CHECK_THAT(plot.text(), !ContainsSubstring(">no room</text>"));
}

TEST_CASE("names stand along an axis in their order, in place of numbers") {
  SvgPlot plot;
  plot.series = {{"speed", {0.5, 1.5}, {1.0, 2.0}}};
  plot.x_names = {"host & co", "device"};
  const std::string text = plot.text();
  CHECK_THAT(text, ContainsSubstring("host &amp; co</text>"));
  CHECK(text.find("host &amp; co</text>") < text.find("device</text>"));
}

TEST_CASE("what a chart cannot show is refused with its values") {
  const auto refuses = [](const SvgPlot& plot, const std::string& text) {
    CHECK_THROWS_MATCHES(plot.text(), InvalidArgument, MessageMatches(ContainsSubstring(text)));
  };
  SvgPlot plot = speed_plot();
  plot.series[0].x.pop_back();
  refuses(plot, "'measured' has 12 x and 13 y values");
  plot = speed_plot();
  plot.series[0].error.pop_back();
  refuses(plot, "12 errors for 13 points");
  plot = speed_plot();
  plot.series[0].error[3] = -0.25;
  refuses(plot, "error of -0.25");
  plot = speed_plot();
  plot.series[1].x[2] = 0.0;
  refuses(plot, "'fit' has x = 0 on a logarithmic axis");
  plot = speed_plot();
  plot.y_scale = SvgPlot::Scale::logarithmic;
  plot.series[0].y[2] = -3.0;
  refuses(plot, "y = -3 on a logarithmic axis");
  plot = speed_plot();
  plot.markers[0].x = -1.0;
  refuses(plot, "'memory limit' has x = -1");
  plot = speed_plot();
  plot.series[0].y[0] = 1e301;
  refuses(plot, "1e+301");
  plot.series = {{.name = "none", .x = {1.0, infinity}, .y = {not_a_number, 1.0}}};
  refuses(plot, "'speed' has no finite point in its 1 series");
  refuses(SvgPlot{}, "no finite point in its 0 series");
  plot.x_scale = SvgPlot::Scale::linear;
  plot.y_scale = SvgPlot::Scale::linear;
  plot.boxes = {{0.0, 1.0, 0.0, 1.0, 7}};
  refuses(plot, "box of series 7");
}

}  // namespace steelyard::test_svg_plot
