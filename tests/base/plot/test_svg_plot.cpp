#include <functional>
#include <locale>
#include <map>
#include <regex>
#include <set>

#include "core/base/plot/plot_axis.hpp"
#include "core/base/plot/svg_plot.hpp"
#include "tests/catch.hpp"

namespace steelyard::test_svg_plot {

using Scale = SvgPlot::Scale;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

/// What a chart consists of, as a reader of its text finds it.
struct Element {
  std::string name;
  std::map<std::string, std::string> attributes;
  std::string text;
};

/// The attributes ` name="value"` of a tag, of any length, which the library's regular expressions do not take.
std::map<std::string, std::string> attributes_of(std::string text) {
  std::map<std::string, std::string> attributes;
  while (!text.empty()) {
    const std::size_t equals = text.find("=\""), end = text.find('"', std::min(equals, text.size()) + 2);
    REQUIRE((text[0] == ' ' && equals != std::string::npos && end != std::string::npos));
    const std::string name = text.substr(1, equals - 1), value = text.substr(equals + 2, end - equals - 2);
    REQUIRE(name.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-") == std::string::npos);
    REQUIRE((!name.empty() && value.find('<') == std::string::npos));
    REQUIRE(attributes.emplace(name, value).second);
    text.erase(0, end + 1);
  }
  return attributes;
}

/// All elements in the order of their opening tags; fails for text that is not well-formed.
std::vector<Element> elements_of(const std::string& svg) {
  static const std::regex stray("&(?!(amp|lt|gt|quot|#39);)");
  REQUIRE_FALSE(std::regex_search(svg, stray));
  std::vector<Element> elements;
  std::vector<std::size_t> open;
  std::string rest = svg;
  for (std::size_t begin = 0; (begin = rest.find('<')) != std::string::npos;) {
    const std::size_t end = rest.find('>', begin);
    REQUIRE(end != std::string::npos);
    const std::string text = rest.substr(0, begin);
    std::string tag = rest.substr(begin + 1, end - begin - 1);
    rest.erase(0, end + 1);
    REQUIRE(text.find('>') == std::string::npos);
    if (!open.empty()) elements[open.back()].text += text;
    if (tag.starts_with('/')) {
      REQUIRE(!open.empty());
      REQUIRE(elements[open.back()].name == tag.substr(1));
      open.pop_back();
      continue;
    }
    REQUIRE((elements.empty() || !open.empty()));  // one root
    const bool is_empty = tag.ends_with('/');
    if (is_empty) tag.pop_back();
    const std::size_t name_end = std::min(tag.find(' '), tag.size());
    elements.push_back({tag.substr(0, name_end), attributes_of(tag.substr(name_end)), ""});
    if (!is_empty) open.push_back(elements.size() - 1);
  }
  REQUIRE(open.empty());
  REQUIRE(rest == "\n");
  return elements;
}

std::vector<Element> of_class(const std::vector<Element>& elements, const std::string& name) {
  std::vector<Element> found;
  for (const Element& element : elements) {
    const auto it = element.attributes.find("class");
    if (it != element.attributes.end() && it->second == name) found.push_back(element);
  }
  return found;
}

using Points = std::vector<std::pair<double, double>>;

std::vector<double> numbers_in(const std::string& text) {
  static const std::regex number(R"re(-?[0-9]+(\.[0-9]+)?)re");
  std::vector<double> numbers;
  for (std::sregex_iterator it(text.begin(), text.end(), number), end; it != end; ++it) {
    numbers.push_back(std::stod(it->str()));
  }
  return numbers;
}

/// Where the marks of the data are; those of the legend have no values to point at.
Points marks_of(const std::vector<Element>& elements) {
  Points points;
  for (std::size_t i = 0; i + 1 < elements.size(); ++i) {
    if (of_class({elements[i]}, "plot-mark").empty() || elements[i + 1].name != "title") continue;
    const auto numbers = numbers_in(elements[i].attributes.at("transform"));
    points.emplace_back(numbers.at(0), numbers.at(1));
  }
  return points;
}

/// The absolute points of a path of M, L, V, H and relative lines, in order.
Points path_points(const Element& element) {
  static const std::regex command(R"re(([MLHVh])([^MLHVh]*))re");
  const std::string& path = element.attributes.at("d");
  Points points;
  double x = 0.0, y = 0.0;
  for (std::sregex_iterator it(path.begin(), path.end(), command), end; it != end; ++it) {
    const auto numbers = numbers_in((*it)[2]);
    const char letter = (*it)[1].str()[0];
    if (letter == 'V') {
      y = numbers.at(0);
    } else {
      x = letter == 'h' ? x + numbers.at(0) : numbers.at(0);
    }
    if (letter == 'M' || letter == 'L') y = numbers.at(1);
    points.emplace_back(x, y);
  }
  return points;
}

/// Everything drawn and every place of text is in the view box.
void require_inside(const std::vector<Element>& elements) {
  const auto box = numbers_in(elements.at(0).attributes.at("viewBox"));
  const auto inside = [&](double x, double y) {
    INFO(x << " " << y);
    REQUIRE((x >= 0.0 && x <= box.at(2) && y >= 0.0 && y <= box.at(3)));
  };
  for (const auto& [x, y] : marks_of(elements)) inside(x, y);
  for (const Element& element : elements) {
    if (element.name == "path" && element.attributes.count("transform") == 0) {
      for (const auto& [x, y] : path_points(element)) inside(x, y);
    }
    if (element.name == "text") inside(std::stod(element.attributes.at("x")), std::stod(element.attributes.at("y")));
  }
}

/// The number that a label such as 1.5k or 64Ki stands for.
double value_of(const std::string& label) {
  std::size_t used = 0;
  const double number = std::stod(label, &used);
  const std::string prefix = label.substr(used);
  if (prefix.ends_with('i')) {
    return number * std::exp2(10.0 * static_cast<double>(std::string("KMGTPE").find(prefix[0]) + 1));
  }
  const std::vector<std::string> names{"", "k", "M", "G", "T", "P", "E"};
  const auto found = std::find(names.begin(), names.end(), prefix);
  REQUIRE(found != names.end());
  return number * std::pow(1000.0, static_cast<double>(found - names.begin()));
}

/// Where a value lies along an axis by its labels, which stand in their order.
class Axis {
 public:
  Axis(const std::vector<Element>& elements, const std::string& name, Scale scale)
      : coordinate_(name == "x" ? "x" : "y"), scale_(scale) {
    const auto ticks = of_class(elements, "plot-" + name + "-tick");
    REQUIRE(ticks.size() >= 2);
    first_ = value_of(ticks.front().text);
    last_ = value_of(ticks.back().text);
    from_ = place_of(ticks.front());
    to_ = place_of(ticks.back());
    for (const Element& tick : ticks) REQUIRE_THAT(place_of(tick), WithinAbs(place(value_of(tick.text)), 0.1));
  }
  double place(double value) const {
    const auto on_axis = [&](double x) { return scale_ == Scale::linear ? x : std::log(x); };
    return from_ + (on_axis(value) - on_axis(first_)) / (on_axis(last_) - on_axis(first_)) * (to_ - from_);
  }

 private:
  double place_of(const Element& tick) const {
    // A label's text stands a little below its line.
    return std::stod(tick.attributes.at(coordinate_)) - (coordinate_ == "y" ? 4.2 : 0.0);
  }

  std::string coordinate_;
  Scale scale_;
  double first_ = 0.0, last_ = 1.0, from_ = 0.0, to_ = 0.0;
};

SvgPlot speed_plot() {
  SvgPlot plot{.title = "speed", .x_label = "rows", .y_label = "rows/s", .x_scale = Scale::logarithmic};
  SvgPlot::Series points{.name = "measured", .x = {}, .y = {}};
  for (double x = 16.0; x <= 65536.0; x *= 2.0) {
    points.x.push_back(x);
    points.y.push_back(2e5 * x / (x + 100.0));
    points.error.push_back(5e3);
  }
  plot.series = {points, {.name = "fit", .x = points.x, .y = points.y, .line = true, .colour = 0}};
  plot.markers = {{90000.0, "memory limit"}};
  return plot;
}

/// @param accuracy of the labels, relative to their values or else to the ends
void require_laws(const PlotAxis& axis, double low, double high, double accuracy) {
  INFO("axis of " << low << " to " << high << ": " << axis.low() << " to " << axis.high());
  REQUIRE(axis.low() <= low + 1e-5 * (high - low));
  REQUIRE(axis.high() >= high - 1e-5 * (high - low));
  REQUIRE(axis.ticks().size() >= 2);
  REQUIRE(axis.ticks().size() <= 13);
  std::set<std::string> labels;
  double before = -infinity;
  for (const auto& [value, label] : axis.ticks()) {
    REQUIRE(value > before);
    REQUIRE(value >= axis.low());
    REQUIRE(value <= axis.high());
    REQUIRE(labels.insert(label).second);
    REQUIRE_THAT(value_of(label),
                 WithinRel(value, accuracy) || WithinAbs(value, 1e-9 * (std::abs(axis.low()) + axis.high())));
    before = value;
  }
  for (const double value : axis.minor_ticks()) REQUIRE((value >= axis.low() && value <= axis.high()));
  double position = 0.0;
  for (int i = -1; i <= 51; ++i) {
    const double here = axis.position(axis.low() + i / 50.0 * (axis.high() - axis.low()));
    REQUIRE(here >= position);
    REQUIRE(here <= 1.0);
    position = here;
  }
}

}  // namespace

TEST_CASE("an axis holds its values between distinct increasing ticks, and labels have the ticks' values") {
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> share(0.0, 1.0);
  for (int trial = 0; trial < 2000; ++trial) {
    const double size = std::pow(10.0, 60.0 * share(random) - 30.0);
    const double a = size * (2.0 * share(random) - 1.0);
    const double b = a + size * std::pow(10.0, -share(random) * 4.0);
    const PlotAxis linear = PlotAxis::linear(a, b, 6);
    require_laws(linear, a, b, 1e-9);
    REQUIRE(linear.low() == linear.ticks().front().value);
    REQUIRE(linear.high() == linear.ticks().back().value);
    const double low = std::pow(10.0, 40.0 * share(random) - 15.0);
    const double high = low * std::pow(10.0, std::pow(share(random), 3.0) * 20.0);
    require_laws(PlotAxis::logarithmic(low, high, trial % 2 == 0), low, high, 1e-5);
  }
  for (const double value : {0.0, 1.0, -7.0, 1e12, 1e-12, 1e299, 1e-299}) {
    require_laws(PlotAxis::linear(value, value, 6), value, value, 1e-9);
    require_laws(PlotAxis::linear(value, std::nextafter(value, 1e301), 6), value, value, 1e-9);
    if (value > 0.0) require_laws(PlotAxis::logarithmic(value, value, false), value, value, 1e-5);
  }
  require_laws(PlotAxis::logarithmic(1e-300, 1e300, false), 1e-300, 1e300, 1e-5);
  require_laws(PlotAxis::linear(-1e300, 1e300, 6), -1e300, 1e300, 1e-9);
  CHECK(PlotAxis::logarithmic(1.0, 100.0, false).position(-5.0) == 0.0);
}

TEST_CASE("ticks are round, and decades, 1 2 5 or powers of two as fits the range, and their labels short") {
  const auto labels = [](const PlotAxis& axis) {
    std::string all;
    for (const auto& tick : axis.ticks()) all += tick.label + ' ';
    return all;
  };
  CHECK(labels(PlotAxis::linear(0.0, 230000.0, 6)) == "0 50k 100k 150k 200k 250k ");
  CHECK(labels(PlotAxis::linear(0.0, 2.9e6, 6)) == "0 0.5M 1.0M 1.5M 2.0M 2.5M 3.0M ");
  CHECK(labels(PlotAxis::linear(2011.0, 2024.0, 3)) == "2010 2015 2020 2025 ");
  CHECK(labels(PlotAxis::linear(-2e-6, 2e-6, 4)) == "-2e-06 -1e-06 0 1e-06 2e-06 ");
  CHECK(labels(PlotAxis::logarithmic(1.0, 1e6, false)) == "1 10 100 1k 10k 100k 1M ");
  CHECK(labels(PlotAxis::logarithmic(1.0, 50.0, false)) == "1 2 5 10 20 50 ");
  CHECK(labels(PlotAxis::logarithmic(16.0, 65536.0, true)) == "16 64 256 1024 4096 16384 65536 ");
  CHECK(labels(PlotAxis::logarithmic(1.0, std::exp2(24), true)) == "1 8 64 512 4Ki 32Ki 256Ki 2Mi 16Mi ");
}

TEST_CASE("marks, lines and error bars lie where the labels say that their values are, on every pair of scales") {
  std::mt19937_64 random(2);
  std::lognormal_distribution<double> value(2.0, 2.0);
  for (int trial = 0; trial < 40; ++trial) {
    CAPTURE(trial);
    SvgPlot plot;
    plot.x_scale = trial % 2 == 0 ? Scale::linear : Scale::logarithmic;
    plot.y_scale = trial % 4 < 2 ? Scale::linear : Scale::logarithmic;
    plot.series = {{.name = "", .x = {}, .y = {}}, {.name = "", .x = {}, .y = {}, .line = true}};
    Points expected;
    std::vector<double> errors;
    for (int i = 0; i < 60; ++i) {
      const auto kind = i < 2 ? 9 : random() % 10;
      const double x = kind == 0 ? not_a_number : value(random);
      const double y = kind == 1 ? infinity : value(random) * (trial % 4 == 0 && trial > 20 && i % 2 == 0 ? -1.0 : 1.0);
      const double error = kind == 2 ? infinity : kind == 3 ? not_a_number : kind == 4 ? 0.0 : value(random);
      for (auto& series : plot.series) {
        series.x.push_back(x);
        series.y.push_back(y);
      }
      plot.series[0].error.push_back(error);
      if (kind <= 1) continue;
      expected.emplace_back(x, y);
      errors.push_back(kind <= 4 ? 0.0 : error);
    }
    const auto elements = elements_of(plot.text());
    require_inside(elements);
    const Axis across(elements, "x", plot.x_scale), up(elements, "y", plot.y_scale);
    const Points marks = marks_of(elements);
    REQUIRE(marks.size() == expected.size());
    for (std::size_t i = 0; i < marks.size(); ++i) {
      REQUIRE_THAT(marks[i].first, WithinAbs(across.place(expected[i].first), 0.1));
      REQUIRE_THAT(marks[i].second, WithinAbs(up.place(expected[i].second), 0.1));
    }
    const auto frame = std::find_if(elements.begin(), elements.end(), [](const Element& element) {
      return element.name == "path" && element.attributes.at("stroke") == "#777";
    });
    REQUIRE(frame != elements.end());
    const double bottom = path_points(*frame).at(1).second;
    const Points bars = path_points(of_class(elements, "plot-error").at(0));
    std::size_t at = 0;
    for (std::size_t i = 0; i < marks.size(); ++i) {
      if (errors[i] == 0.0) continue;
      const double low = expected[i].second - errors[i], high = expected[i].second + errors[i];
      const double end = plot.y_scale == Scale::logarithmic && low <= 0.0 ? infinity : up.place(low);
      REQUIRE_THAT(bars.at(at).first, WithinAbs(marks[i].first, 0.01));
      REQUIRE_THAT(bars.at(at).second, WithinAbs(std::min(end, bottom), 0.1));
      REQUIRE_THAT(bars.at(at + 1).second, WithinAbs(up.place(high), 0.1));
      // A cap at the upper end, and at the lower one where that is not beyond the axis.
      at += 4;
      if (at < bars.size() && std::abs(bars[at].first - (marks[i].first - 3.5)) < 0.02 &&
          std::abs(bars[at].second - bars[at - 4].second) < 0.01) {
        REQUIRE(end <= bottom + 0.1);
        at += 2;
      } else {
        REQUIRE(end >= bottom - 0.1);
      }
    }
    REQUIRE(at == bars.size());
    // A line passes through the same places, and breaks where a value is missing.
    const auto lines = of_class(elements, "plot-line");
    REQUIRE(lines.size() == 1);
    Points places = path_points(lines[0]);
    // A dot is a line of no length.
    places.erase(std::unique(places.begin(), places.end()), places.end());
    REQUIRE(places == marks);
  }
}

TEST_CASE("a missing value breaks a line, a value between two missing ones is a dot, and a mark tells its values") {
  SvgPlot plot;
  plot.series = {{.name = "", .x = {1, 2, 3, 4, 5, 6}, .y = {1, 2, not_a_number, 4, infinity, 6}, .line = true},
                 {.name = "", .x = {1.5}, .y = {2.5}, .error = {0.5}}};
  const auto elements = elements_of(plot.text());
  const std::string path = of_class(elements, "plot-line")[0].attributes.at("d");
  CHECK(std::count(path.begin(), path.end(), 'M') == 3);
  CHECK(std::count(path.begin(), path.end(), 'L') == 1);
  CHECK(std::count(path.begin(), path.end(), 'h') == 2);
  CHECK_THAT(plot.text(), ContainsSubstring("<title>1.5: 2.5 (2 to 3)</title>"));
}

TEST_CASE("charts of one point, of equal points and of long texts stay in their box, on every scale") {
  for (const Scale scale : {Scale::linear, Scale::logarithmic}) {
    for (const double value : {1.0, 3.7, 1e-9, 1e15, 1e300, 1e-300}) {
      for (const bool line : {false, true}) {
        SvgPlot plot{.title = "", .x_label = "", .y_label = "", .x_scale = scale, .y_scale = scale};
        plot.series = {
            {.name = "one", .x = {value, value}, .y = {value, value}, .error = {value, 1e308}, .line = line}};
        require_inside(elements_of(plot.text()));
        plot.series = {{.name = std::string(500, 'x'), .x = {value}, .y = {value}, .error = {infinity}, .line = line}};
        plot.title = plot.x_label = plot.y_label = plot.series[0].name;
        plot.markers = {{value, plot.title}, {infinity, "no limit"}};
        require_inside(elements_of(plot.text()));
        CHECK_THAT(plot.text(), ContainsSubstring("x…</text>"));
        CHECK(of_class(elements_of(plot.text()), "plot-marker").size() == 1);
      }
    }
  }
}

TEST_CASE("a chart is one element that a screen reader can name, the same each time and under any locale") {
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
  const auto elements = elements_of(svg);
  CHECK(elements[0].name == "svg");
  CHECK(elements[0].attributes.at("role") == "img");
  CHECK(elements[1].name == "title");
  CHECK(elements[1].text == "speed");
  CHECK(svg.find("id=") == std::string::npos);  // several charts can stand on one page
  CHECK(svg.find("href") == std::string::npos);
}

TEST_CASE("axes begin at 0 unless a value is below, have powers of two for sizes that double, and labels with room") {
  SvgPlot plot;
  plot.series = {{.name = "", .x = {10500.0, 20500.0}, .y = {1000, 1001}, .error = {5000, 1}}};
  const auto elements = elements_of(plot.text());
  CHECK(of_class(elements, "plot-y-tick")[0].text == "0");
  const auto along = of_class(elements, "plot-x-tick");
  for (std::size_t i = 1; i < along.size(); ++i) {
    const double room = 0.6 * 12.0 * static_cast<double>(along[i].text.size());
    CHECK(std::stod(along[i].attributes.at("x")) > std::stod(along[i - 1].attributes.at("x")) + room);
  }
  plot.series[0].y[0] = -1000.0;
  CHECK(of_class(elements_of(plot.text()), "plot-y-tick")[0].text[0] == '-');
  // A bar without end does not squeeze the points together.
  plot.y_scale = Scale::logarithmic;
  plot.series[0] = {.name = "", .x = {1.0, 2.0}, .y = {10.0, 1000.0}, .error = {9.999, 1000.0}};
  CHECK(value_of(of_class(elements_of(plot.text()), "plot-y-tick")[0].text) >= 5.0);
  const auto x_labels = [](const SvgPlot& chart) {
    std::string all;
    for (const Element& tick : of_class(elements_of(chart.text()), "plot-x-tick")) all += tick.text + ' ';
    return all;
  };
  SvgPlot sizes{.title = "", .x_label = "", .y_label = "", .x_scale = Scale::logarithmic};
  sizes.series = {{"", {4096.0, 8192.0, 16384.0, 32768.0}, {1.0, 1.0, 1.0, 1.0}}};
  CHECK(x_labels(sizes) == "4096 8192 16384 32768 ");
  // Lines are sampled anywhere.
  sizes.series.push_back({"model", {5e3, 6e3, 7e3, 9e3, 2e4, 3e4}, {1.0, 1.0, 1.0, 1.0, 1.0, 1.0}, {}, true});
  CHECK(x_labels(sizes) == "4096 8192 16384 32768 ");
  sizes.series.front().line = true;
  CHECK(x_labels(sizes) == "5k 10k 20k ");
}

TEST_CASE("seconds have the unit in which ticks are plain numbers, and tell it") {
  const auto axis_of = [](const std::vector<double>& seconds, Scale scale, const std::string& label) {
    SvgPlot plot{.title = "", .x_label = "", .y_label = label, .y_scale = scale};
    plot.series = {{.name = "", .x = seconds, .y = seconds, .error = std::vector(seconds.size(), 0.0)}};
    std::string text;
    const auto elements = elements_of(plot.text());
    for (const Element& tick : of_class(elements, "plot-y-tick")) text += tick.text + ' ';
    for (const Element& element : elements) {
      if (element.attributes.count("transform") != 0 && element.name == "text") text += element.text;
    }
    return text;
  };
  CHECK(axis_of({0.005, 0.05}, Scale::linear, "time (s)") == "0 10 20 30 40 50 time (ms)");
  CHECK(axis_of({0.02, 0.5}, Scale::logarithmic, "time (s)") == "20 50 100 200 500 time (ms)");
  CHECK(axis_of({2e-6, 3e-4}, Scale::logarithmic, "predicted, s") == "2 5 10 20 50 100 200 predicted, µs");
  CHECK(axis_of({2e-9, 6e-9}, Scale::linear, "time (s)") == "0 1 2 3 4 5 6 time (ns)");
  CHECK(axis_of({3.0, 60.0}, Scale::linear, "time (s)") == "0 10 20 30 40 50 60 time (s)");
  CHECK(axis_of({0.0, 0.0}, Scale::linear, "time (s)").ends_with("time (s)"));
  CHECK(axis_of({0.02, 0.05}, Scale::linear, "share") == "0 0.01 0.02 0.03 0.04 0.05 share");
}

TEST_CASE("names of the legend and labels of markers do not overlap each other or the data") {
  SvgPlot plot = speed_plot();
  for (int s = 0; s < 20; ++s) {
    plot.series.push_back({.name = "series number " + std::to_string(s), .x = {16.0, 20.0}, .y = {1.0, 2.0 + s}});
    plot.series.back().line = s % 2 == 0;
  }
  plot.markers = {{100.0, "L1"}, {110.0, "L2 cache"}, {120.0, "L3 cache"}, {infinity, "no limit"}};
  const auto elements = elements_of(plot.text());
  require_inside(elements);
  double highest = infinity;
  for (const auto& [x, y] : marks_of(elements)) highest = std::min(highest, y);
  for (const auto& [name, count] : {std::pair{"plot-name", 22}, {"plot-marker", 3}}) {
    const auto labels = of_class(elements, name);
    REQUIRE(labels.size() == static_cast<std::size_t>(count));
    for (std::size_t i = 0; i < labels.size(); ++i) {
      const auto number = [&](std::size_t k, const char* coordinate) {
        return std::stod(labels[k].attributes.at(coordinate));
      };
      CHECK(number(i, "y") < highest);
      for (std::size_t k = 0; k < i; ++k) {
        CHECK((std::abs(number(i, "y") - number(k, "y")) >= 14.0 || std::abs(number(i, "x") - number(k, "x")) > 50.0));
      }
    }
  }
}

TEST_CASE(
    "six series of marks and four of lines differ without colour, seven in colour, and a line may have that of its "
    "points") {
  SvgPlot plot;
  for (std::size_t s = 0; s < 10; ++s) plot.series.push_back({.name = "", .x = {1, 2}, .y = {1, 2}, .line = s > 5});
  std::set<std::string> colours, shapes, dashes;
  for (const Element& mark : of_class(elements_of(plot.text()), "plot-mark")) {
    colours.insert(mark.attributes.at("fill"));
    shapes.insert(mark.attributes.at("d"));
  }
  const auto lines = of_class(elements_of(plot.text()), "plot-line");
  colours.insert(lines.at(0).attributes.at("stroke"));
  for (const Element& line : lines) {
    dashes.insert(line.attributes.count("stroke-dasharray") == 0 ? "" : line.attributes.at("stroke-dasharray"));
  }
  CHECK(colours.size() == 7);
  CHECK(shapes.size() == 6);
  CHECK(dashes.size() == 4);
  const auto same = elements_of(speed_plot().text());
  CHECK(of_class(same, "plot-mark")[0].attributes.at("fill") == of_class(same, "plot-line")[0].attributes.at("stroke"));
}

TEST_CASE("boxes reach between their values, in the colour of their series, and have their text where there is room") {
  SvgPlot plot;
  plot.title = "Shares";
  plot.series = {{"host", {}, {}}, {"device", {}, {}}};
  plot.boxes = {{0.0, 6.0, 0.0, 10.0, 0, "a < b"}, {6.0, 10.0, 0.0, 5.0, 1, "c"}, {9.9, 10.0, 5.0, 10.0, 1, "no room"}};
  for (const bool downwards : {false, true}) {
    plot.y_downwards = downwards;
    const auto boxes = of_class(elements_of(plot.text()), "plot-box");
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
  const std::pair<std::function<void(SvgPlot&)>, std::string> cases[] = {
      {[](SvgPlot& plot) { plot.series[0].x.pop_back(); }, "'measured' has 12 x and 13 y values"},
      {[](SvgPlot& plot) { plot.series[0].error.pop_back(); }, "12 errors for 13 points"},
      {[](SvgPlot& plot) { plot.series[0].error[3] = -0.25; }, "error of -0.25"},
      {[](SvgPlot& plot) { plot.series[1].x[2] = 0.0; }, "'fit' has x = 0 on a logarithmic axis"},
      {[](SvgPlot& plot) {
         plot.y_scale = Scale::logarithmic;
         plot.series[0].y[2] = -3.0;
       },
       "y = -3 on a logarithmic axis"},
      {[](SvgPlot& plot) { plot.markers[0].x = -1.0; }, "'memory limit' has x = -1"},
      {[](SvgPlot& plot) { plot.series[0].y[0] = 1e301; }, "y = 1e+301 on a linear axis"},
      {[](SvgPlot& plot) {
         plot.series = {{.name = "none", .x = {1.0, infinity}, .y = {not_a_number, 1.0}}};
       },
       "'speed' has no finite point in its 1 series"},
      {[](SvgPlot& plot) { plot = SvgPlot{}; }, "no finite point in its 0 series"},
      {[](SvgPlot& plot) {
         plot.boxes = {{1.0, 2.0, 0.0, 1.0, 7}};
       },
       "box of series 7"}};
  for (const auto& [spoil, message] : cases) {
    SvgPlot plot = speed_plot();
    spoil(plot);
    CHECK_THROWS_MATCHES(plot.text(), InvalidArgument, MessageMatches(ContainsSubstring(message)));
  }
  CHECK_THROWS_MATCHES(PlotAxis::linear(3.0, 2.0, 6), InvalidArgument, MessageMatches(ContainsSubstring("3 to 2")));
  CHECK_THROWS_AS(PlotAxis::linear(0.0, 1e301, 6), InvalidArgument);
  CHECK_THROWS_AS(PlotAxis::linear(not_a_number, 1.0, 6), InvalidArgument);
  CHECK_THROWS_AS(PlotAxis::linear(0.0, 1.0, 0), InvalidArgument);
  CHECK_THROWS_AS(PlotAxis::logarithmic(-1.0, 2.0, false), InvalidArgument);
  CHECK_THROWS_AS(PlotAxis::logarithmic(1.0, not_a_number, true), InvalidArgument);
}

}  // namespace steelyard::test_svg_plot
