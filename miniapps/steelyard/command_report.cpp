#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <set>

#include "core/base/document.hpp"
#include "core/base/errors.hpp"
#include "core/base/json_file.hpp"
#include "core/base/text_file.hpp"
#include "miniapps/steelyard/command.hpp"
#include "miniapps/steelyard/results.hpp"

namespace steelyard::tool {
namespace {

using Json = nlohmann::json;
/// Points, each an object of columns' values.
using Points = std::vector<Json>;

/// An experiment of benchmarks/papers: its question, charts and tables, the paper's numbers beside them, and what
/// differs in hardware. benchmarks/papers/README.md has the format.
class Experiment {
 public:
  /// @param folder with experiment.json @throws FileFormatError for files that do not have the format
  explicit Experiment(const std::filesystem::path& folder)
      : json_(read_json_file(folder / "experiment.json")), reader_((folder / "experiment.json").string(), json_) {
    reader_.require_schema("steelyard.experiment/1");
    const std::filesystem::path points = folder / reader_.text("points_file");
    for (const Json& point : read_json_lines(points)) {
      points_.push_back(JsonReader(points.string(), point).object("values").value());
    }
    for (const JsonReader& point : reader_.array("paper_points")) paper_points_.push_back(point.value());
  }

  void add_to(Document& document) const {
    const auto text = [&](const char* key) { return reader_.text(key); };
    document.add_heading(1, fmt::format("{}, {}: {}", text("paper"), text("figure"), text("title")));
    if (const std::string banner = reader_.text("banner", ""); !banner.empty()) document.add_text(banner);
    document.add_text(text("question"));
    const char* const end = reader_.flag("complete", true) ? "" : "; not finished";
    document.add_facts({{"machine", text("machine")},
                        {"date, scale", fmt::format("{}, {}{}", text("date"), text("scale"), end)},
                        {"commit", text("commit")}});
    for (const JsonReader& chart : reader_.array("charts")) add_chart(document, chart);
    for (const JsonReader& table : reader_.array("tables")) add_table(document, table);
    const std::string note = reader_.text("paper_note", "");
    if (!note.empty()) document.add_text("In the paper: " + note);
    document.add_text("What differs: " + text("difference"));
  }

 private:
  /// Points that have all of `where` and values of all columns.
  static Points chosen(const Points& all, const Json& where, const std::vector<std::string>& columns) {
    Points found;
    std::ranges::copy_if(all, std::back_inserter(found), [&](const Json& point) {
      const auto has_value = [&](const std::string& name) { return !point.value(name, Json()).is_null(); };
      Json same = point;
      same.update(where);
      return same == point && std::ranges::all_of(columns, has_value);
    });
    return found;
  }

  static std::string text_of(const Json& value) {
    if (value.is_string()) return value.get<std::string>();
    if (value.is_boolean()) return value.get<bool>() ? "yes" : "no";
    return value.is_number_float() ? fmt::format("{:.4g}", value.get<double>()) : value.dump();
  }

  /// Numbers of values that may be texts: the place of each different one.
  struct Names {
    std::vector<std::string> names;
    double place(const Json& value) {
      const std::string text = text_of(value);
      const auto found = std::ranges::find(names, text);
      const auto index = static_cast<double>(found - names.begin());
      if (found == names.end()) names.push_back(text);
      return index;
    }
  };

  static SvgPlot::Scale scale_of(const JsonReader& axis) {
    return axis.text("scale", "linear") == "log" ? SvgPlot::Scale::logarithmic : SvgPlot::Scale::linear;
  }

  const Points& source(const JsonReader& series) const {
    return series.text("from", "here") == "paper" ? paper_points_ : points_;
  }
  static Json where(const JsonReader& object) { return object.value().value("where", Json::object()); }
  static std::string label(const JsonReader& series) {
    return series.text("label") + (series.text("from", "here") == "paper" ? " (paper)" : "");
  }

  /// A line with marks, or marks alone.
  void add_points(SvgPlot& plot, const JsonReader& chart, const JsonReader& series, Names& x_names) const {
    const std::string kind = chart.text("kind"), x = chart.object("x").text("column"), y = series.text("y");
    const std::string low = series.text("low", ""), high = series.text("high", "");
    struct Point {
      double x, y, error;
    };
    std::vector<Point> points;
    for (const Json& point : chosen(source(series), where(series), {x, y})) {
      if (!point[y].is_number()) continue;
      const double at = point[x].is_number() ? point[x].get<double>() : x_names.place(point[x]) + 0.5;
      const bool has_error = point.value(low, Json()).is_number() && point.value(high, Json()).is_number();
      const double error = has_error ? 0.5 * std::abs(point[high].get<double>() - point[low].get<double>()) : 0.0;
      const bool fits = (plot.x_scale == SvgPlot::Scale::linear || at > 0.0) &&
                        (plot.y_scale == SvgPlot::Scale::linear || point[y] > 0.0);
      if (fits) points.push_back({at, point[y], error});
    }
    std::ranges::stable_sort(points, {}, &Point::x);
    SvgPlot::Series marks{label(series), {}, {}, {}, false, plot.series.size()};
    SvgPlot::Series line{"", {}, {}, {}, true, plot.series.size()};
    for (const Point& point : points) {
      if (kind == "steps" && !line.x.empty()) {
        line.x.push_back(point.x);
        line.y.push_back(line.y.back());
      }
      for (SvgPlot::Series* const one : {&marks, &line}) {
        one->x.push_back(point.x);
        one->y.push_back(point.y);
      }
      marks.error.push_back(point.error);
    }
    plot.series.push_back(marks);
    if (kind == "line" || kind == "steps") plot.series.push_back(line);
  }

  /// Bars, beside or on each other.
  void add_bars(SvgPlot& plot, const JsonReader& chart, Names& x_names) const {
    const std::vector<JsonReader> all = chart.array("series");
    const bool stacked = chart.text("kind") == "stacked";
    const bool is_logarithmic = !stacked && plot.y_scale == SvgPlot::Scale::logarithmic;
    const double width = 0.8 / static_cast<double>(stacked ? 1 : std::max<std::size_t>(1, all.size()));
    std::map<double, double> height;
    for (std::size_t i = 0; i < all.size(); ++i) {
      const std::string x = chart.object("x").text("column"), y = all[i].text("y");
      plot.series.push_back({label(all[i]), {}, {}});
      for (const Json& point : chosen(source(all[i]), where(all[i]), {x, y})) {
        if (!point[y].is_number()) continue;
        const double value = point[y].get<double>(), place = x_names.place(point[x]);
        if (is_logarithmic && value <= 0.0) continue;
        const double left = place + 0.1 + (stacked ? 0.0 : width * static_cast<double>(i));
        const double from = stacked ? height[place] : is_logarithmic ? 0.5 * value : 0.0;
        const double to = stacked ? from + value : value;
        plot.boxes.push_back({left, left + width, std::min(from, to), std::max(from, to), i});
        height[place] = to;
      }
    }
  }

  /// Rectangles of a matrix, or operations in time on lanes.
  void add_boxes(SvgPlot& plot, const JsonReader& chart) const {
    const bool is_timeline = chart.text("kind") == "timeline";
    const std::string x = chart.object("x").text("column"), width = chart.text("width"), colour = chart.text("colour");
    const std::string lane = is_timeline ? chart.text("lane") : chart.object("y").text("column");
    const std::string height = chart.text("height", ""), text = chart.text("text", "");
    Names colours, lanes;
    for (const JsonReader& series : chart.array("series")) {
      for (const Json& point : chosen(source(series), where(series), {x, width, lane, colour})) {
        const double left = point[x].get<double>();
        const double low = is_timeline ? lanes.place(point[lane]) + 0.1 : point[lane].get<double>();
        const double high = low + (is_timeline ? 0.8 : point.at(height).get<double>());
        plot.boxes.push_back({left, left + point[width].get<double>(), low, high,
                              static_cast<std::size_t>(colours.place(point[colour])),
                              point.contains(text) ? text_of(point[text]) : ""});
      }
    }
    for (const std::string& name : colours.names) plot.series.push_back({name, {}, {}});
    plot.y_names = lanes.names;
    plot.y_downwards = true;
  }

  void add_chart(Document& document, const JsonReader& chart) const {
    SvgPlot plot;
    plot.title = chart.text("title");
    plot.x_label = chart.object("x").text("label");
    plot.y_label = chart.object("y").text("label");
    plot.x_scale = scale_of(chart.object("x"));
    plot.y_scale = scale_of(chart.object("y"));
    const std::string kind = chart.text("kind");
    Names x_names;
    try {
      if (kind == "bar" || kind == "stacked") {
        add_bars(plot, chart, x_names);
        plot.x_scale = SvgPlot::Scale::linear;
      } else if (kind == "rectangles" || kind == "timeline") {
        add_boxes(plot, chart);
      } else {
        for (const JsonReader& series : chart.array("series")) add_points(plot, chart, series, x_names);
      }
      plot.x_names = x_names.names;
      document.add_chart(plot);
    } catch (const InvalidArgument& error) {
      document.add_text(fmt::format("(The chart '{}' cannot be drawn yet: {})", plot.title, error.what()));
    } catch (const Json::exception& error) {
      chart.fail("", fmt::format("cannot be drawn: {}", error.what()));
    }
  }

  void add_table(Document& document, const JsonReader& table) const {
    std::vector<std::string> columns, headings{"from"};
    for (const Json& column : table.value().value("columns", Json::array())) {
      if (!column.is_string()) table.fail("columns", "holds something else than names of columns");
      columns.push_back(column.get<std::string>());
      headings.push_back(heading(columns.back()));
    }
    std::vector<std::vector<std::string>> rows;
    for (const auto& [from, points] : {std::pair{"here", chosen(points_, where(table), {})},
                                       std::pair{"paper", table.value().value("paper_rows", paper_points_)}}) {
      for (const Json& point : points) {
        std::vector<std::string> row{from};
        bool has_number = false;
        for (const std::string& name : columns) {
          const Json value = point.value(name, Json());
          row.push_back(value.is_null() ? "-" : text_of(value));
          has_number = has_number || value.is_number();
        }
        if (has_number) rows.push_back(row);
      }
    }
    if (rows.empty()) return;
    document.add_heading(2, table.text("title"));
    document.add_table(headings, rows);
  }

  /// A column's label with its unit.
  std::string heading(const std::string& name) const {
    for (const JsonReader& column : reader_.array("columns")) {
      if (column.text("name") != name) continue;
      const std::string unit = column.text("unit", "");
      return column.text("label") + (unit.empty() ? "" : ", " + unit);
    }
    return name;
  }

  Json json_;
  JsonReader reader_;  ///< of all
  Points points_;
  Points paper_points_;
};

struct ReportOptions {
  std::vector<std::filesystem::path> folders;
  std::filesystem::path output;
  std::string format = "html";
};

/// Folders of experiments in or below a folder, in order.
std::set<std::filesystem::path> experiments(const std::filesystem::path& folder) {
  if (!std::filesystem::is_directory(folder)) throw InvalidArgument(folder.string() + " is not a folder of results");
  if (std::filesystem::exists(folder / "experiment.json")) return {folder};
  std::set<std::filesystem::path> found;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (entry.path().filename() == "experiment.json") found.insert(entry.path().parent_path());
  }
  return found;
}

std::string report(const ReportOptions& options) {
  Document document("Steelyard: " + folder_name(options.folders.front()));
  for (const std::filesystem::path& folder : options.folders) {
    const std::set<std::filesystem::path> found = experiments(folder);
    for (const std::filesystem::path& experiment : found) Experiment(experiment).add_to(document);
    const bool has_runs = !found.contains(folder) && add_runs(document, folder);
    if (found.empty() && !has_runs) {
      throw InvalidArgument(folder.string() + " holds no result (expected run.json or experiment.json in or below it)");
    }
  }
  std::string text = options.format == "html" ? document.html() : document.markdown();
  if (options.output.empty()) return text;
  write_text_file(options.output, text);
  return fmt::format("report     {}\n", options.output.string());
}

}  // namespace

void add_report_command(CLI::App& parser, Action& chosen) {
  const auto [command, options] = add_command<ReportOptions>(
      parser, "report",
      "Show results on one page: gains, predictions beside measurements, experiments beside the papers'", chosen,
      report);
  command
      ->add_option("DIR", options->folders, "Results (--result), folders of results, or experiments of benchmarks/run")
      ->required();
  add_value(*command, "--output", options->output, "The page; on standard output without it", "FILE");
  add_choice(*command, "--format", options->format, "html or markdown", {"html", "markdown"});
}

}  // namespace steelyard::tool
