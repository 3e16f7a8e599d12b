#include <functional>
#include <locale>
#include <regex>
#include <set>

#include "core/base/plot/svg_plot.hpp"
#include "tests/base/xml_elements.hpp"
#include "tests/catch.hpp"

namespace steelyard::test_svg_plot {

using tests::elements_of;
using tests::XmlElement;
using Scale = SvgPlot::Scale;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

bool has_class(const XmlElement& element, const std::string& name) {
  const auto found = element.attributes.find("class");
  return found != element.attributes.end() && found->second == name;
}

std::vector<XmlElement> of_class(const std::vector<XmlElement>& elements, const std::string& name) {
  std::vector<XmlElement> found;
  for (const XmlElement& element : elements) {
    if (has_class(element, name)) found.push_back(element);
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

/// Where a text stands.
std::pair<double, double> place_of(const XmlElement& element) {
  return {std::stod(element.attributes.at("x")), std::stod(element.attributes.at("y"))};
}

/// Where the marks of the data are; those of the legend have no values to point at.
Points marks_of(const std::vector<XmlElement>& elements) {
  Points points;
  for (std::size_t i = 0; i + 1 < elements.size(); ++i) {
    if (!has_class(elements[i], "plot-mark") || elements[i + 1].name != "title") continue;
    const auto numbers = numbers_in(elements[i].attributes.at("transform"));
    points.emplace_back(numbers.at(0), numbers.at(1));
  }
  return points;
}

/// The absolute points of a path of M, L, V, H and relative lines, in order.
Points path_points(const XmlElement& element) {
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
void require_inside(const std::vector<XmlElement>& elements) {
  const auto box = numbers_in(elements.at(0).attributes.at("viewBox"));
  const auto inside = [&](double x, double y) {
    INFO(x << " " << y);
    REQUIRE((x >= 0.0 && x <= box.at(2) && y >= 0.0 && y <= box.at(3)));
  };
  for (const auto& [x, y] : marks_of(elements)) inside(x, y);
  for (const XmlElement& element : elements) {
    if (element.name == "path" && element.attributes.count("transform") == 0) {
      for (const auto& [x, y] : path_points(element)) inside(x, y);
    }
    if (element.name != "text") continue;
    const auto [x, y] = place_of(element);
    inside(x, y);
  }
}

/// The number that a label such as 1.5k or 64Ki stands for.
double value_of(const std::string& label) {
  static const std::map<std::string, double> prefixes{
      {"", 1.0},      {"k", 1e3},     {"M", 1e6},     {"G", 1e9},     {"T", 1e12},    {"P", 1e15},   {"E", 1e18},
      {"Ki", 0x1p10}, {"Mi", 0x1p20}, {"Gi", 0x1p30}, {"Ti", 0x1p40}, {"Pi", 0x1p50}, {"Ei", 0x1p60}};
  std::size_t used = 0;
  const double number = std::stod(label, &used);
  return number * prefixes.at(label.substr(used));
}

/// Where a value lies along an axis by its labels. They are a few distinct values in order, and lie where these do; on
/// a linear axis they are 1, 2 or 5 times a power of ten apart.
class Axis {
 public:
  Axis(const std::vector<XmlElement>& elements, const std::string& name, Scale scale)
      : coordinate_(name == "x" ? "x" : "y"), scale_(scale) {
    const auto ticks = of_class(elements, "plot-" + name + "-tick");
    REQUIRE((ticks.size() >= 2 && ticks.size() <= 13));
    first_ = value_of(ticks.front().text);
    last_ = value_of(ticks.back().text);
    from_ = place_of(ticks.front());
    to_ = place_of(ticks.back());
    double before = -infinity;
    for (const XmlElement& tick : ticks) {
      const double value = value_of(tick.text);
      REQUIRE(value > before);
      REQUIRE_THAT(place_of(tick), WithinAbs(place(value), 0.1));
      before = value;
    }
    if (scale == Scale::logarithmic) return;
    const double step = value_of(ticks[1].text) - first_;
    const double digits = step / std::pow(10.0, std::floor(std::log10(step) + 1e-9));
    REQUIRE_THAT(digits, WithinAbs(1.0, 1e-6) || WithinAbs(2.0, 1e-6) || WithinAbs(5.0, 1e-6));
  }
  double place(double value) const {
    const auto on_axis = [&](double x) { return scale_ == Scale::linear ? x : std::log(x); };
    return from_ + (on_axis(value) - on_axis(first_)) / (on_axis(last_) - on_axis(first_)) * (to_ - from_);
  }

 private:
  double place_of(const XmlElement& tick) const {
    // A label's text stands a little below its line.
    return std::stod(tick.attributes.at(coordinate_)) - (coordinate_ == "y" ? 4.2 : 0.0);
  }

  std::string coordinate_;
  Scale scale_;
  double first_ = 0.0, last_ = 1.0, from_ = 0.0, to_ = 0.0;
};

SvgPlot speed_plot() {
  SvgPlot plot{.title = "speed", .x_label = "rows", .y_label = "rows/s", .x_scale = Scale::logarithmic};
  plot.series = {{"measured", {16.0, 256.0, 4096.0}, {2e4, 1e5, 2e5}, {5e3, 5e3, 5e3}},
                 {"fit", {16.0, 256.0, 4096.0}, {3e4, 1e5, 2e5}, {}, true, 0}};
  plot.markers = {{90000.0, "memory limit"}};
  return plot;
}

SvgPlot points_plot(const std::vector<double>& x, const std::vector<double>& y, Scale scale) {
  SvgPlot plot;
  plot.x_scale = plot.y_scale = scale;
  plot.series = {{"", x, y}};
  return plot;
}

std::string labels_of(const SvgPlot& plot, const std::string& axis) {
  std::string all;
  for (const XmlElement& tick : of_class(elements_of(plot.text()), "plot-" + axis + "-tick")) all += tick.text + ' ';
  return all;
}

}  // namespace

TEST_CASE("ticks and marks lie where labels say that their values are, on axes of any range") {
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> share(0.0, 1.0);
  const auto require_places = [](double low, double high, Scale scale) {
    CAPTURE(low, high);
    const auto elements = elements_of(points_plot({low, high}, {low, high}, scale).text());
    const Axis across(elements, "x", scale), up(elements, "y", scale);
    const Points marks = marks_of(elements);
    for (const auto& [mark, value] : {std::pair{marks.at(0), low}, {marks.at(1), high}}) {
      REQUIRE_THAT(mark.first, WithinAbs(across.place(value), 0.1));
      REQUIRE_THAT(mark.second, WithinAbs(up.place(value), 0.1));
    }
  };
  for (int trial = 0; trial < 300; ++trial) {
    const double size = std::pow(10.0, 60.0 * share(random) - 30.0);
    const double a = size * (2.0 * share(random) - 1.0);
    require_places(a, a + size * std::pow(10.0, -share(random) * 4.0), Scale::linear);
    double low = std::pow(10.0, 40.0 * share(random) - 15.0);
    double high = low * std::pow(10.0, std::pow(share(random), 3.0) * 20.0);
    if (trial % 2 == 0) {  // sizes that double have ticks of their own
      low = std::exp2(std::round(std::log2(low)));
      high = std::exp2(std::round(std::log2(high)));
    }
    require_places(low, high, Scale::logarithmic);
  }
  for (const double value : {0.0, 1.0, -7.0, 1e12, 1e-12, 1e299, 1e-299}) {
    require_places(value, value, Scale::linear);
    require_places(value, std::nextafter(value, 1e301), Scale::linear);
    if (value > 0.0) require_places(value, value, Scale::logarithmic);
  }
  require_places(1e-300, 1e300, Scale::logarithmic);
  require_places(-1e300, 1e300, Scale::linear);
}

TEST_CASE("labels are short, and decades, 1 2 5 or powers of two as fits the values of a logarithmic axis") {
  const auto x_labels = [](double low, double high, Scale scale) {
    return labels_of(points_plot({low, high}, {1.0, 1.0}, scale), "x");
  };
  CHECK(x_labels(0.0, 2.9e6, Scale::linear) == "0 0.5M 1.0M 1.5M 2.0M 2.5M 3.0M ");
  CHECK(x_labels(2011.0, 2024.0, Scale::linear) == "2010 2012 2014 2016 2018 2020 2022 2024 ");
  CHECK(x_labels(1.0, 1e6, Scale::logarithmic) == "1 10 100 1k 10k 100k 1M ");
  CHECK(x_labels(1.0, 50.0, Scale::logarithmic) == "1 2 5 10 20 50 ");
  CHECK(x_labels(1.0, std::exp2(24), Scale::logarithmic) == "1 8 64 512 4Ki 32Ki 256Ki 2Mi 16Mi ");
  // Lines are sampled anywhere.
  SvgPlot sizes = points_plot({4096.0, 8192.0, 16384.0, 32768.0}, {1.0, 1.0, 1.0, 1.0}, Scale::logarithmic);
  sizes.series.push_back({"model", {5e3, 6e3, 7e3, 9e3, 2e4, 3e4}, {1.0, 1.0, 1.0, 1.0, 1.0, 1.0}, {}, true});
  CHECK(labels_of(sizes, "x") == "4096 8192 16384 32768 ");
  sizes.series.front().line = true;
  CHECK(labels_of(sizes, "x") == "5k 10k 20k ");
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
    std::vector<double> above, below;
    for (int i = 0; i < 60; ++i) {
      const auto kind = i < 2 ? 9 : random() % 10;
      const double x = kind == 0 ? not_a_number : value(random);
      const double y = kind == 1 ? infinity : value(random) * (trial % 4 == 0 && trial > 20 && i % 2 == 0 ? -1.0 : 1.0);
      const double error = kind == 2 ? infinity : kind == 3 ? not_a_number : kind == 4 ? 0.0 : value(random);
      for (auto& series : plot.series) {
        series.x.push_back(x);
        series.y.push_back(y);
      }
      const double error_below = trial % 3 == 0 && kind > 4 ? value(random) : error;
      plot.series[0].error.push_back(error);
      if (trial % 3 == 0) plot.series[0].error_below.push_back(error_below);
      if (kind <= 1) continue;
      expected.emplace_back(x, y);
      above.push_back(kind <= 4 ? 0.0 : error);
      below.push_back(kind <= 4 ? 0.0 : error_below);
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
    // Labels stand below the axis.
    const double bottom = std::stod(of_class(elements, "plot-x-tick").at(0).attributes.at("y")) - 19.0;
    const Points bars = path_points(of_class(elements, "plot-error").at(0));
    std::size_t at = 0;
    for (std::size_t i = 0; i < marks.size(); ++i) {
      if (above[i] == 0.0) continue;
      const double low = expected[i].second - below[i], high = expected[i].second + above[i];
      const double end = plot.y_scale == Scale::logarithmic && low <= 0.0 ? infinity : up.place(low);
      REQUIRE_THAT(bars.at(at).first, WithinAbs(marks[i].first, 0.01));
      REQUIRE_THAT(bars.at(at).second, WithinAbs(std::min(end, bottom), 0.1));
      REQUIRE_THAT(bars.at(at + 1).second, WithinAbs(up.place(high), 0.1));
      // A cap at the upper end, and at the lower one unless that is beyond the axis.
      at += 4;
      if (end > bottom + 0.1) continue;
      const bool has_cap = at < bars.size() && std::abs(bars[at].first - (marks[i].first - 3.5)) < 0.02 &&
                           std::abs(bars[at].second - bars[at - 4].second) < 0.01;
      REQUIRE((has_cap || end > bottom - 0.1));
      at += has_cap ? 2 : 0;
    }
    REQUIRE(at == bars.size());
    // A line passes through the same places, begins anew behind missing values, and is a dot between two of them.
    const XmlElement line = of_class(elements, "plot-line").at(0);
    Points places = path_points(line), different = marks;
    places.erase(std::unique(places.begin(), places.end()), places.end());
    different.erase(std::unique(different.begin(), different.end()), different.end());
    REQUIRE(places == different);
    const SvgPlot::Series& series = plot.series[1];
    const auto is_missing = [&](std::size_t i) {
      return i >= series.x.size() || !std::isfinite(series.x[i]) || !std::isfinite(series.y[i]);
    };
    std::string expected_letters, letters = line.attributes.at("d");
    for (std::size_t i = 0; i < series.x.size(); ++i) {
      if (is_missing(i)) continue;
      expected_letters += is_missing(i - 1) ? "M" : "L";
      expected_letters += is_missing(i - 1) && is_missing(i + 1) ? "h" : "";
    }
    std::erase_if(letters, [](char c) { return std::string("MLh").find(c) == std::string::npos; });
    REQUIRE(letters == expected_letters);
  }
}

TEST_CASE("charts of one or of equal points with long texts and bars stay in their box, on every scale") {
  const std::string text(500, 'x');
  for (const Scale scale : {Scale::linear, Scale::logarithmic}) {
    for (const double value : {1.0, 3.7, 1e-9, 1e15, 1e300, 1e-300}) {
      for (const bool line : {false, true}) {
        SvgPlot plot = points_plot({value, value}, {value, value}, scale);
        plot.title = plot.x_label = plot.y_label = plot.series[0].name = text;
        plot.series[0].line = line;
        plot.series[0].error = {value, 1e308};
        plot.series.push_back({"one", {value}, {value}, {infinity}, line});
        plot.markers = {{value, text}, {infinity, "no limit"}};
        const auto elements = elements_of(plot.text());
        require_inside(elements);
        CHECK(of_class(elements, "plot-marker").size() == 1);
        CHECK(of_class(elements, "plot-name")[0].text.ends_with("x…"));
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
  CHECK(elements[0].attributes.at("role") == "img");
  CHECK(elements[1].text == "speed");
  CHECK_THAT(svg, ContainsSubstring("<title>16: 2e+04 (1.5e+04 to 2.5e+04)</title>"));
  CHECK(svg.find("id=") == std::string::npos);  // several charts can stand on one page
  CHECK(svg.find("href") == std::string::npos);
}

TEST_CASE("axes begin at 0 unless a value is below, and their labels have room") {
  SvgPlot plot = points_plot({10500.0, 20500.0}, {1000.0, 1001.0}, Scale::linear);
  plot.series[0].error = {5000.0, 1.0};
  CHECK(labels_of(plot, "y").starts_with("0 "));
  const auto along = of_class(elements_of(plot.text()), "plot-x-tick");
  for (std::size_t i = 1; i < along.size(); ++i) {
    const double room = 0.6 * 12.0 * static_cast<double>(along[i].text.size());
    CHECK(std::stod(along[i].attributes.at("x")) > std::stod(along[i - 1].attributes.at("x")) + room);
  }
  plot.series[0].y[0] = -1000.0;
  CHECK(labels_of(plot, "y").starts_with("-"));
  // A bar without end does not squeeze the points together.
  plot = points_plot({1.0, 2.0}, {10.0, 1000.0}, Scale::logarithmic);
  plot.series[0].error = {9.999, 1000.0};
  CHECK(value_of(of_class(elements_of(plot.text()), "plot-y-tick")[0].text) >= 5.0);
}

TEST_CASE("seconds have the unit in which ticks are plain numbers, and tell it") {
  const struct {
    std::vector<double> values;
    Scale scale;
    std::string label, ticks, shown;
  } cases[] = {{{0.02, 0.5}, Scale::logarithmic, "time (s)", "20 50 100 200 500 ", "time (ms)"},
               {{2e-6, 3e-4}, Scale::logarithmic, "predicted, s", "2 5 10 20 50 100 200 ", "predicted, µs"},
               {{2e-9, 6e-9}, Scale::linear, "time (s)", "0 1 2 3 4 5 6 ", "time (ns)"},
               {{3.0, 60.0}, Scale::linear, "time (s)", "0 10 20 30 40 50 60 ", "time (s)"},
               {{0.02, 0.05}, Scale::linear, "share", "0 0.01 0.02 0.03 0.04 0.05 ", "share"}};
  for (const auto& [values, scale, label, ticks, shown] : cases) {
    SvgPlot plot = points_plot(values, values, scale);
    plot.y_label = label;
    CHECK(labels_of(plot, "y") == ticks);
    CHECK_THAT(plot.text(), ContainsSubstring(">" + shown + "</text>"));
  }
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
  std::vector<XmlElement> labels = of_class(elements, "plot-name");
  CHECK(labels.size() == 22);
  for (const XmlElement& marker : of_class(elements, "plot-marker")) labels.push_back(marker);
  CHECK(labels.size() == 25);
  for (std::size_t i = 0; i < labels.size(); ++i) {
    const auto [x, y] = place_of(labels[i]);
    CHECK(y < highest);
    for (std::size_t k = 0; k < i; ++k) {
      const auto [other_x, other_y] = place_of(labels[k]);
      CHECK((std::abs(y - other_y) >= 14.0 || std::abs(x - other_x) > 50.0));
    }
  }
}

TEST_CASE("six series of marks and four of lines differ without colour, seven in colour") {
  SvgPlot plot;
  for (std::size_t s = 0; s < 10; ++s) plot.series.push_back({.name = "", .x = {1, 2}, .y = {1, 2}, .line = s > 5});
  const auto elements = elements_of(plot.text());
  std::set<std::string> colours, shapes, dashes;
  for (const XmlElement& mark : of_class(elements, "plot-mark")) {
    colours.insert(mark.attributes.at("fill"));
    shapes.insert(mark.attributes.at("d"));
  }
  for (const XmlElement& line : of_class(elements, "plot-line")) {
    colours.insert(line.attributes.at("stroke"));
    dashes.insert(line.attributes.count("stroke-dasharray") == 0 ? "" : line.attributes.at("stroke-dasharray"));
  }
  CHECK(colours.size() == 7);
  CHECK(shapes.size() == 6);
  CHECK(dashes.size() == 4);
}

TEST_CASE("boxes reach between their values, in the colour of their series, and have their text where there is room") {
  SvgPlot plot;
  plot.series = {{"host", {}, {}}, {"device", {}, {}}};
  plot.boxes = {{0.0, 6.0, 0.0, 10.0, 0, "a < b"}, {6.0, 10.0, 0.0, 5.0, 1, "c"}, {9.9, 10.0, 5.0, 10.0, 1, "no room"}};
  for (const bool downwards : {false, true}) {
    plot.y_downwards = downwards;
    const auto elements = elements_of(plot.text());
    const Axis across(elements, "x", Scale::linear), up(elements, "y", Scale::linear);
    CHECK((up.place(10.0) < up.place(0.0)) == !downwards);
    const auto boxes = of_class(elements, "plot-box");
    REQUIRE(boxes.size() == 3);
    for (std::size_t i = 0; i < boxes.size(); ++i) {
      const auto number = [&](const char* name) { return std::stod(boxes[i].attributes.at(name)); };
      const auto [top, bottom] = std::minmax({up.place(plot.boxes[i].low), up.place(plot.boxes[i].high)});
      CHECK_THAT(number("x"), WithinAbs(across.place(plot.boxes[i].left), 0.1));
      CHECK_THAT(number("x") + number("width"), WithinAbs(across.place(plot.boxes[i].right), 0.1));
      CHECK_THAT(number("y"), WithinAbs(top, 0.1));
      CHECK_THAT(number("y") + number("height"), WithinAbs(bottom, 0.1));
    }
    CHECK(boxes[0].attributes.at("fill") != boxes[1].attributes.at("fill"));
    CHECK(boxes[1].attributes.at("fill") == boxes[2].attributes.at("fill"));
  }
  CHECK_THAT(plot.text(), ContainsSubstring(">a &lt; b</text>") && !ContainsSubstring(">no room</text>"));
}

TEST_CASE("names stand along axes in their order, in place of numbers") {
  SvgPlot plot = points_plot({0.5, 1.5}, {0.5, 1.5}, Scale::linear);
  plot.x_names = {"host & co", "device"};
  plot.y_names = {"one", "two"};
  CHECK(labels_of(plot, "x") == "host &amp; co device ");
  CHECK(labels_of(plot, "y") == "one two ");
}

TEST_CASE("what a chart cannot show is refused with its values") {
  const std::pair<std::function<void(SvgPlot&)>, std::string> cases[] = {
      {[](SvgPlot& plot) { plot.series[0].x.pop_back(); }, "'measured' has 2 x and 3 y values"},
      {[](SvgPlot& plot) { plot.series[0].error.pop_back(); }, "2 errors for 3 points"},
      {[](SvgPlot& plot) { plot.series[0].error[2] = -0.25; }, "error of -0.25"},
      {[](SvgPlot& plot) { plot.series[1].x[2] = 0.0; }, "'fit' has x = 0 on a logarithmic axis"},
      {[](SvgPlot& plot) {
         plot = points_plot({1.0, 2.0}, {1.0, -3.0}, Scale::logarithmic);
       },
       "y = -3 on a logarithmic"},
      {[](SvgPlot& plot) { plot.markers[0].x = -1.0; }, "'memory limit' has x = -1"},
      {[](SvgPlot& plot) { plot.series[0].y[0] = 1e301; }, "y = 1e+301 on a linear axis"},
      {[](SvgPlot& plot) {
         plot = points_plot({1.0, infinity}, {not_a_number, 1.0}, Scale::linear);
       },
       "in its 1 series"},
      {[](SvgPlot& plot) { plot = SvgPlot{}; }, "no finite point in its 0 series"},
      {[](SvgPlot& plot) {
         plot.boxes.push_back({1.0, 2.0, 0.0, 1.0, 7});
       },
       "box of series 7"}};
  for (const auto& [spoil, message] : cases) {
    SvgPlot plot = speed_plot();
    spoil(plot);
    CHECK_THROWS_MATCHES(plot.text(), InvalidArgument, MessageMatches(ContainsSubstring(message)));
  }
}

}  // namespace steelyard::test_svg_plot
