#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <set>

#include "core/base/document.hpp"
#include "core/base/statistics.hpp"
#include "core/base/table.hpp"
#include "core/machine.hpp"
#include "miniapps/app/outputs.hpp"
#include "miniapps/steelyard/command.hpp"
#include "miniapps/steelyard/results.hpp"

namespace steelyard::tool {
namespace {

using Json = nlohmann::json;
using Rows = std::vector<std::vector<std::string>>;

/// The parts of an array or object, or one value.
std::string list_of(const Json& values, const char* separator = ", ") {
  if (values.is_string()) return values.get<std::string>();
  if (!values.is_structured()) return values.is_null() ? "" : values.dump();
  std::string list;
  for (const auto& [name, value] : values.items()) {
    list += fmt::format("{}{}{}", list.empty() ? "" : separator, values.is_object() ? name + " = " : "",
                        list_of(value, separator));
  }
  return list;
}

/// Units of a run, such as `host + device/4` for a device that is emulated to be four times slower.
std::string unit_names(const Json& run) {
  std::string names;
  for (const Json& unit : run.value("units", Json::array())) {
    const double slowdown = unit.value("slowdown", 1.0);
    names += fmt::format("{}{}{}", names.empty() ? "" : " + ", unit.value("kind", "unit"),
                         slowdown > 1.0 ? fmt::format("/{:g}", slowdown) : "");
  }
  return names;
}

/// The middle value, if there is any.
std::optional<double> middle_of(const std::vector<double>& values) {
  return values.empty() ? std::nullopt : std::optional(median(values));
}

std::string seconds(std::optional<double> time_s) { return time_s ? format_seconds(*time_s) : "-"; }
std::string factor_text(std::optional<double> value) { return value ? fmt::format("{:.2f}", *value) : "-"; }
std::string percent_text(std::optional<double> share) { return share ? fmt::format("{:.0f} %", 100.0 * *share) : "-"; }

std::string range_text(const Interval& range, std::string (*text)(std::optional<double>)) {
  return text(range.lower) + " to " + text(range.upper);
}

std::string difference(std::optional<double> measured_s, std::optional<double> predicted_s) {
  const bool comparable = measured_s && predicted_s && *measured_s > 0.0 && *predicted_s > 0.0;
  return comparable ? difference_text(*measured_s, *predicted_s) : "-";
}

/// A configuration of an app, its rounds taken together.
struct Run {
  std::string name;    ///< of its own folder
  std::string folder;  ///< that this is in, below the app's: named after the problem's size in the main job
  const Configuration* rounds = nullptr;
  std::optional<double> time_s;
  std::optional<double> predicted_s;
  std::optional<Interval> interval_s;  ///< of the prediction
  std::optional<Gain> gain = {};       ///< over even slices of the same problem on the same units
  std::optional<double> predicted_gain = {};

  const Json& json() const { return rounds->front().json; }
  /// Value of a key of `run.json`, as text.
  std::string list(const char* key, const char* separator = ", ") const {
    return list_of(json().value(key, Json()), separator);
  }
  std::string app() const { return list("app"); }
  std::string partition() const { return json().value("/settings/partition"_json_pointer, "-"); }
  std::string title() const { return name + (folder.empty() ? "" : ", " + folder); }
  std::string problem() const { return (folder.empty() ? "" : folder + ", ") + unit_names(json()); }
  std::string check() const { return check_of(*rounds); }
  std::optional<double> of_ideal() const { return gain ? gain->of_ideal : std::nullopt; }
  /// Factor by which the prediction is off; nothing without one.
  std::optional<double> error() const {
    return time_s && predicted_s ? std::optional(proportional_error(*time_s, *predicted_s)) : std::nullopt;
  }
};

using Runs = std::vector<Run>;

/// Runs by app, those of the same problem and units one after the other.
std::map<std::string, Runs> runs_of(const Results& results) {
  std::map<std::pair<std::string, std::string>, Runs> alike;
  for (const auto& [name, rounds] : results) {
    const std::string app = rounds.front().json.value("app", "");
    const std::filesystem::path path = name.starts_with(app + "/") ? name.substr(app.size() + 1) : name;
    Run run{name.empty() ? folder_name(rounds.front().folder) : path.filename().string(),
            path.parent_path().string(),
            &rounds,
            median_of(rounds, "median_time_s"),
            median_of(rounds, "predicted_time_s"),
            predicted_interval_s(rounds.front().json)};
    // Sizes in the order of their numbers.
    const std::string size = fmt::format("{:>12}", run.folder);
    alike[{app, size + problem_of(run.json()).dump() + unit_names(run.json())}].push_back(run);
  }
  std::map<std::string, Runs> apps;
  for (auto& [app_and_problem, runs] : alike) {
    const auto even = std::ranges::find(runs, "even", &Run::partition);
    for (Run& run : runs) {
      if (even == runs.end()) break;
      run.gain = gain(*even->rounds, *run.rounds, true);
      if (even->predicted_s && run.predicted_s) run.predicted_gain = *even->predicted_s / *run.predicted_s;
    }
    Runs& of_app = apps[app_and_problem.first];
    of_app.insert(of_app.end(), runs.begin(), runs.end());
  }
  return apps;
}

/// Values of the runs that have one.
template <class Value>
std::vector<double> values_of(const Runs& runs, const Value& value) {
  std::vector<double> values;
  for (const Run& run : runs) {
    if (const std::optional<double> own = std::invoke(value, run)) values.push_back(*own);
  }
  return values;
}

/// Gains of sizing slices: where units differ in speed, or where they are alike.
std::vector<double> gains_of(const Runs& runs, bool units_differ) {
  return values_of(runs, [&](const Run& run) {
    const bool counts = run.gain && run.gain->ideal.has_value() == units_differ;
    return counts ? std::optional(run.gain->factor) : std::nullopt;
  });
}

/// Processors, cores, memory and BLAS of the run that used the most cores.
std::string machine_of(const Runs& runs) {
  const auto cores_of = [](const Run& run) {
    std::set<int> cores;
    for (const auto& unit : run.json().value("units", Json::array())) {
      const CoreList own = parse_cores(unit.at("cores").get<std::string>());
      cores.insert(own.begin(), own.end());
    }
    return CoreList(cores.begin(), cores.end());
  };
  const Run& widest = *std::ranges::max_element(runs, {}, [&](const Run& run) { return cores_of(run).size(); });
  const CoreList cores = cores_of(widest);
  std::vector<std::string> parts{widest.list("processors")};
  if (!cores.empty()) parts.push_back(fmt::format("{} ({})", counted(std::ssize(cores), "core"), format_cores(cores)));
  for (const Json& bytes : widest.json().value("memory_bytes", Json::array())) {
    parts.push_back(format_bytes(bytes) + " of memory");
  }
  parts.push_back(widest.list("blas"));
  std::erase(parts, "");
  return fmt::format("{}", fmt::join(parts, ", "));
}

/// `3.4 %`, or from a factor of two on, where percentages say little, `a factor of 2.27`. @param error as a factor
std::string error_text(double error) {
  return error < 2.0 ? difference_text(error, 1.0) : fmt::format("a factor of {:.2f}", error);
}

/// Summary of all apps and of each: gain, share of the ideal, error of predictions, and the machine.
void add_message(Document& document, const std::map<std::string, Runs>& apps) {
  Runs all;
  Rows rows;
  for (const auto& [app, runs] : apps) {
    all.insert(all.end(), runs.begin(), runs.end());
    const auto shares = values_of(runs, &Run::of_ideal);
    const auto gains = gains_of(runs, !shares.empty());
    rows.push_back({app, factor_text(middle_of(gains)), gains.empty() ? "-" : factor_text(std::ranges::max(gains)),
                    percent_text(middle_of(shares)), difference(middle_of(values_of(runs, &Run::error)), 1.0)});
  }
  for (const bool units_differ : {true, false}) {
    const std::vector<double> gains = gains_of(all, units_differ);
    if (gains.empty()) continue;
    std::string text =
        fmt::format("Slices sized by speed models ran {} times as fast as even ones ", factor_text(median(gains)));
    if (gains.size() > 1) {
      const auto [least, most] = std::ranges::minmax_element(gains);
      text +=
          fmt::format("(median of {} comparisons, {} to {}) ", gains.size(), factor_text(*least), factor_text(*most));
    }
    text += units_differ ? fmt::format("on units of different speed, which is {} of the gain that these units allow.",
                                       percent_text(median(values_of(all, &Run::of_ideal))))
                         : "on units of the same speed.";
    document.add_text(text);
  }
  if (const auto errors = values_of(all, &Run::error); !errors.empty()) {
    const Run& furthest = *std::ranges::max_element(all, {}, [](const Run& run) { return run.error().value_or(0.0); });
    const std::string half = errors.size() > 1
                                 ? fmt::format("Half of {} predictions are off by {} or less; the furthest",
                                               errors.size(), error_text(median(errors)))
                                 : "The prediction is off";
    document.add_text(fmt::format("{} by {}: {} {} took {}, predicted were {}.", half, error_text(*furthest.error()),
                                  furthest.app(), furthest.title(), seconds(furthest.time_s),
                                  seconds(furthest.predicted_s)));
  }
  if (apps.size() > 1) document.add_table({"app", "gain", "best", "of ideal", "off by"}, rows);
  std::string failed;
  for (const Run& run : all) {
    if (run.check() == "FAILED") failed += fmt::format(" {} {}", run.app(), run.title());
  }
  const auto passed = std::ranges::count(all, "passed", &Run::check);
  document.add_facts(
      {{"machine", machine_of(all)},
       {"checks", fmt::format("{} of {} passed{}", passed, all.size(), failed.empty() ? "" : "; FAILED:" + failed)}});
}

/// Bars of gains over even slices or, where there are none, of times, each beside what was predicted.
void add_bars(Document& document, const std::string& app, const Runs& runs) {
  const bool by_gain = std::ranges::any_of(runs, [](const Run& run) { return run.gain.has_value(); });
  SvgPlot chart;
  chart.title = app + (by_gain ? ": times as fast as even slices" : ": measured and predicted times");
  chart.x_label = by_gain ? "times as fast as even slices of the same problem on the same units" : "time (s)";
  chart.y_downwards = true;
  if (by_gain) chart.markers.push_back({1.0, "even"});
  // The same colours in every chart.
  const auto coloured = [](const std::string& name, std::size_t colour) {
    return SvgPlot::Series{name, {}, {}, {}, false, colour};
  };
  constexpr std::size_t predicted = 0, ideal = 1, range = 2;
  chart.series = {coloured("predicted", 1), coloured("ideal", 2), coloured(by_gain ? "range" : "predicted, 90 %", 6)};
  const auto series_of = [&](const std::string& name) {
    const auto found = std::ranges::find(chart.series, name, &SvgPlot::Series::name);
    const auto place = static_cast<std::size_t>(found - chart.series.begin());
    if (found == chart.series.end()) chart.series.push_back(coloured(name, 5 * (place - 3)));
    return place;
  };
  const auto lane_of = [&](const Run& run) { return by_gain ? run.problem() : run.title(); };
  Runs shown = runs;
  std::erase_if(shown, [&](const Run& run) { return by_gain ? !run.gain : !run.time_s; });
  if (shown.empty()) return;
  double low = 0.0;
  for (const Run& run : shown) {
    const std::string lane = lane_of(run);
    if (chart.y_names.empty() || chart.y_names.back() != lane) {
      low = static_cast<double>(chart.y_names.size()) + 0.1;
      chart.y_names.push_back(lane);
    }
    const double height = 0.8 / static_cast<double>(std::ranges::count(shown, lane, lane_of));
    const double middle = low + 0.5 * height;
    const auto add_box = [&](double left, double right, double share, std::size_t series) {
      chart.boxes.push_back({left, right, middle - 0.5 * share * height, middle + 0.5 * share * height, series});
    };
    add_box(0.0, by_gain ? run.gain->factor : *run.time_s, 1.0, series_of(by_gain ? run.partition() : "measured"));
    if (const auto ends = by_gain ? run.gain->range : run.interval_s) add_box(ends->lower, ends->upper, 0.1, range);
    if (by_gain && run.gain->ideal) add_box(0.995 * *run.gain->ideal, 1.005 * *run.gain->ideal, 1.0, ideal);
    if (const std::optional<double> value = by_gain ? run.predicted_gain : run.predicted_s) {
      chart.series[predicted].x.push_back(*value);
      chart.series[predicted].y.push_back(middle);
    }
    low += height;
  }
  for (std::size_t i = 0; i < chart.series.size(); ++i) {
    const bool is_used = !chart.series[i].x.empty() || std::ranges::count(chart.boxes, i, &SvgPlot::Box::series) > 0;
    if (!is_used) chart.series[i].name.clear();
  }
  document.add_chart(chart);
}

/// Speeds of all units of the run that keeps the most models.
void add_speeds(Document& document, const std::string& app, const Runs& runs) {
  std::set<std::filesystem::path> most;
  for (const Run& run : runs) {
    const std::filesystem::path models = run.rounds->front().folder / "models";
    std::set<std::filesystem::path> files;
    if (!std::filesystem::is_directory(models)) continue;
    for (const auto& entry : std::filesystem::directory_iterator(models)) files.insert(entry.path());
    if (files.size() > most.size()) most = files;
  }
  if (most.empty()) return;
  SvgPlot chart = speed_chart(models::read_fpm_file(*most.begin()));
  chart.title = fmt::format("{}: measured speed of each unit", app);
  for (const std::filesystem::path& path : most) {
    const models::FpmFile file = models::read_fpm_file(path);
    chart.series.push_back(speed_marks(path.stem().stem().string(), file.points, chart.series.size()));
  }
  document.add_chart(chart);
}

/// A chart and a table of an app; folded away its gains, units, speeds and phases.
void add_app(Document& document, const std::string& app, const Runs& runs) {
  Rows times, gains, details, phases;
  for (const Run& run : runs) {
    times.push_back(
        {run.title(), seconds(run.time_s), seconds(run.predicted_s), difference(run.time_s, run.predicted_s)});
    const std::vector<double> times_s = times_of(*run.rounds);
    details.push_back({run.title(), unit_names(run.json()), run.partition(), run.list("distribution", "+"),
                       times_s.size() > 1 ? fmt::format("{:.1f} %", 100.0 * coefficient_of_variation(times_s)) : "-",
                       run.interval_s ? range_text(*run.interval_s, seconds) : "-", run.check()});
    for (const Json& phase : run.json().value("phases", Json::array())) {
      const auto measured_s = number_of(phase, "measured_s"), predicted_s = number_of(phase, "predicted_s");
      phases.push_back({run.title(), phase.value("name", ""), seconds(measured_s), seconds(predicted_s),
                        difference(measured_s, predicted_s)});
    }
    if (!run.gain) continue;
    const auto& [gain, range, ideal, of_ideal] = *run.gain;
    gains.push_back({run.title(), factor_text(gain), range ? range_text(*range, factor_text) : "-", factor_text(ideal),
                     percent_text(of_ideal)});
  }
  document.add_heading(2, app);
  add_bars(document, app, runs);
  document.add_table({"run", "time", "predicted", "off by"}, times);
  Document folded(app + ": gains, units, speeds and phases");
  if (!gains.empty()) folded.add_table({"run", "gain over even slices", "range", "ideal", "of ideal"}, gains);
  folded.add_table({"run", "units", "partition", runs.front().json().value("computation_units", "slices"), "spread",
                    "predicted, 90 %", "check"},
                   details);
  add_speeds(folded, app, runs);
  if (!phases.empty()) folded.add_table({"run", "phase", "measured", "predicted", "off by"}, phases);
  document.add_folded(folded);
}

/// Predicted beside measured times of all apps, each prediction with its interval.
void add_predictions(Document& document, const std::map<std::string, Runs>& apps) {
  SvgPlot chart;
  chart.title = "Predicted and measured times of all runs";
  chart.x_label = "measured (s)";
  chart.y_label = "predicted (s)";
  chart.x_scale = chart.y_scale = SvgPlot::Scale::logarithmic;
  SvgPlot::Series equal{"equal", {}, {}, {}, true};
  for (const auto& [app, runs] : apps) {
    SvgPlot::Series series{app, {}, {}, {}};
    for (const Run& run : runs) {
      if (!run.error()) continue;
      series.x.push_back(*run.time_s);
      series.y.push_back(*run.predicted_s);
      const Interval interval = run.interval_s.value_or(Interval{*run.predicted_s, *run.predicted_s});
      series.error.push_back(std::max(0.0, interval.upper - *run.predicted_s));
      series.error_below.push_back(std::max(0.0, *run.predicted_s - interval.lower));
    }
    equal.x.insert(equal.x.end(), series.x.begin(), series.x.end());
    if (!series.x.empty()) chart.series.push_back(series);
  }
  if (chart.series.empty()) return;
  std::ranges::sort(equal.x);
  equal.y = equal.x;
  chart.series.push_back(equal);
  document.add_chart(chart);
}

}  // namespace

bool add_runs(Document& document, const std::filesystem::path& folder) {
  const Results results = read_results(folder);
  if (results.empty()) return false;
  const std::map<std::string, Runs> apps = runs_of(results);
  add_message(document, apps);
  for (const auto& [app, runs] : apps) add_app(document, app, runs);
  add_predictions(document, apps);
  std::vector<std::pair<std::string, std::string>> facts;
  for (const char* const key : {"date", "hosts", "commit", "compiler", "flags", "kokkos", "mpi", "environment"}) {
    const std::string text = list_of(results.begin()->second.front().json.value(key, Json()));
    if (!text.empty()) facts.emplace_back(key, text);
  }
  Document build("Date, build and environment");
  build.add_facts(facts);
  document.add_folded(build);
  return true;
}

}  // namespace steelyard::tool
