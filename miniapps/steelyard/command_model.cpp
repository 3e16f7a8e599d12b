#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "core/base/table.hpp"
#include "core/base/text_file.hpp"
#include "miniapps/steelyard/command.hpp"
#include "models/kinds/model_kinds.hpp"
#include "models/shape.hpp"
#include "models/speed_model.hpp"

namespace steelyard::tool {
namespace {

using models::FitError;
using models::MeasuredPoint;

std::string percent(double share) { return std::isfinite(share) ? fmt::format("{:.2f} %", 100.0 * share) : "-"; }

std::string seconds(double time_s) { return std::isfinite(time_s) ? format_seconds(time_s) : "does not fit"; }

bool contains(std::span<const MeasuredPoint> points, double units) {
  return std::ranges::find(points, units, &MeasuredPoint::units) != points.end();
}

/// Sizes close enough together that the line looks as smooth as it is, from the first to the last measured one.
std::vector<double> line_sizes(const models::SpeedModel& model) {
  constexpr int steps = 400;
  const double first = model.points().front().units;
  const double last = std::min(model.points().back().units, model.max_units());
  std::vector<double> sizes;
  for (int i = 0; i <= steps; ++i) sizes.push_back(first * std::pow(last / first, static_cast<double>(i) / steps));
  for (const MeasuredPoint& point : model.points()) sizes.push_back(point.units);
  std::sort(sizes.begin(), sizes.end());
  return sizes;
}

/// Where the model comes from, what it is, its limits and its fit error, a line each.
std::string model_header(const std::filesystem::path& path, const models::FpmFile& file,
                         const models::SpeedModel& model) {
  std::string text = path.string() + "\n";
  const auto line = [&](const char* name, const std::string& value) {
    if (!value.empty()) text += fmt::format("{:<10} {}\n", name, value);
  };
  std::string kernel = file.app;
  for (const std::string& word : {file.kernel, file.element})
    kernel += (kernel.empty() || word.empty() ? "" : " ") + word;
  for (const auto& [name, value] : file.parameters) kernel += fmt::format(", {} {:g}", name, value);
  line("kernel", kernel);
  line("work", file.computation_unit.empty() ? "" : "a computation unit is " + file.computation_unit);
  std::string where = file.unit_kind;
  if (!file.unit_device.empty()) where += fmt::format(" {}", file.unit_device);
  if (!file.unit_cores.empty())
    where += fmt::format(", cores {}{}", file.unit_cores, file.unit_bound ? "" : " (unbound)");
  if (file.slowdown > 1.0) where += fmt::format(", {:g} times slower than it is (emulated)", file.slowdown);
  if (file.solo) where += ", measured alone";
  line("on", where);
  line("machine", file.machine);
  if (std::isfinite(file.in_core_units)) line("in core", fmt::format("up to {:g} units", file.in_core_units));
  if (std::isfinite(model.max_units())) line("limit", fmt::format("{:g} units", model.max_units()));
  std::string points = fmt::format("{}", file.points.size());
  if (!model.dropped().empty()) points += fmt::format(", {} dropped by the shape", model.dropped().size());
  if (file.all_imprecise) {
    points += ", all imprecise: measure again on a quiet machine";
  } else if (!file.imprecise.empty()) {
    points += fmt::format(", {} imprecise ones do not count", file.imprecise.size());
  }
  line("points", points);
  std::string kind = model.kind();
  for (const auto& [name, value] : model.parameters()) {
    kind += fmt::format("{}{} = {:.6g}", kind == model.kind() ? ": " : ", ", name, value);
  }
  line("kind", kind);
  const models::Variation variation = models::variation(file.points);
  line("variation", fmt::format("{:.1f} % between neighbouring extrema, a band of {:.1f} %", 100.0 * variation.largest,
                                100.0 * variation.widest));
  const FitError error = model.fit_error();
  const std::string place = error.largest > 0.0 ? fmt::format(" (at {:g} units)", error.at_units) : "";
  line("fit error", fmt::format("{} rms, {} at most{}", percent(error.rms), percent(error.largest), place));
  return text + "\n";
}

/// Measured and modelled times at the measured sizes; says which points do not count.
std::string points_table(const models::FpmFile& file, const models::SpeedModel& model) {
  const bool rates = file.bytes_per_unit > 0.0 || file.flops_per_unit > 0.0;
  std::vector<TableRow> rows;
  for (const MeasuredPoint& point : all_points(file)) {
    const double time_s = model.time_s(point.units);
    const bool counts = contains(file.points, point.units);
    TableRow row{
        {"size", fmt::format("{:g}", point.units)},
        {"time", format_seconds(point.time_s)},
        {"+-", point.confidence_s > 0.0 ? fmt::format("{:.1f} %", 100.0 * point.confidence_s / point.time_s) : "-"},
        {"repetitions", fmt::format("{}", point.repetitions)},
        {"units/s", fmt::format("{:.4g}", point.speed())}};
    if (rates) {
      row.emplace_back("GFLOP/s", fmt::format("{:.2f}", 1e-9 * point.speed() * file.flops_per_unit));
      row.emplace_back("GB/s", fmt::format("{:.2f}", 1e-9 * point.speed() * file.bytes_per_unit));
    }
    row.emplace_back("model", seconds(time_s));
    row.emplace_back("deviation", percent(time_s / point.time_s - 1.0));
    row.emplace_back("used", !counts                                  ? "no, imprecise"
                             : contains(model.dropped(), point.units) ? "no, dropped"
                             : file.all_imprecise                     ? "yes, imprecise"
                                                                      : "yes");
    rows.push_back(std::move(row));
  }
  return table_text(rows);
}

/// Predicted times and speeds.
std::string predictions_table(const models::SpeedModel& model, const std::vector<double>& at) {
  Table table({"size", "time", "units/s"});
  for (const double units : at) {
    table.add_row(
        {fmt::format("{:g}", units), seconds(model.time_s(units)), fmt::format("{:.4g}", model.speed(units))});
  }
  return table.text();
}

/// Speed against size as SVG: measured points with their confidence intervals, and the model.
std::string model_plot(const models::FpmFile& file, const models::SpeedModel& model) {
  SvgPlot plot = speed_chart(file);
  plot.series.push_back(speed_marks(file.all_imprecise ? "measured, imprecise" : "measured", file.points, 0));
  if (!model.dropped().empty()) plot.series.push_back(speed_marks("dropped", model.dropped(), 1));
  if (!file.imprecise.empty()) plot.series.push_back(speed_marks("imprecise", file.imprecise, 2));
  if (model.kind() != "table") {
    SvgPlot::Series line{model.kind(), line_sizes(model), {}, {}, true, 0};
    for (const double size : line.x) line.y.push_back(model.speed(size));
    plot.series.push_back(line);
  }
  // A limit far off would squeeze the points into a corner.
  const double far = 4.0 * file.points.back().units;
  if (file.in_core_units <= far) plot.markers.push_back({file.in_core_units, "in core"});
  if (model.max_units() <= far) plot.markers.push_back({model.max_units(), "limit"});
  return plot.text();
}

struct ModelOptions {
  std::filesystem::path file;
  std::string kind = "piecewise_linear";
  std::vector<double> at;
  bool json = false;
  std::filesystem::path plot;
};

std::string as_json(const models::FpmFile& file, const models::SpeedModel& model, const std::vector<double>& at) {
  const models::FitError error = model.fit_error();
  nlohmann::ordered_json json{{"kind", model.kind()}, {"at", nlohmann::ordered_json::array()}};
  for (const double units : at) {
    // Null where it is not finite: what does not fit takes no time.
    json["at"].push_back({{"units", units}, {"time_s", model.time_s(units)}, {"speed", model.speed(units)}});
  }
  json["parameters"] = nlohmann::ordered_json::object();
  for (const auto& [name, value] : model.parameters()) json["parameters"][name] = value;
  const models::Variation variation = models::variation(file.points);
  json["variation"] = {{"largest", variation.largest}, {"widest_band", variation.widest}};
  for (const models::Variation::Band& band : variation.bands) {
    json["variation"]["bands"].push_back(
        {{"units", band.units}, {"speed_low", band.speed_low}, {"speed_high", band.speed_high}});
  }
  json["fit_error"] = {{"rms", error.rms}, {"largest", error.largest}};
  return json.dump(2) + "\n";
}

std::string show(const ModelOptions& options) {
  // Measured data is easily named by mistake, and gone once a picture has taken its place.
  if (!options.plot.empty() && options.plot.extension() != ".svg") {
    throw InvalidArgument(fmt::format("--plot {} (expected a name that ends in .svg)", options.plot.string()));
  }
  const models::FpmFile file = models::read_fpm_file(options.file);
  const models::SpeedModelPtr model = models::make_model(file, options.kind);
  for (const double units : options.at) {
    if (!(units >= 0.0 && std::isfinite(units))) {
      throw InvalidArgument(fmt::format("--at {} (expected a finite number >= 0)", units));
    }
  }
  if (!options.plot.empty()) write_text_file(options.plot, model_plot(file, *model));
  if (options.json) return as_json(file, *model, options.at);
  const std::string text = model_header(options.file, file, *model);
  return text + (options.at.empty() ? points_table(file, *model) : predictions_table(*model, options.at));
}

}  // namespace

std::vector<MeasuredPoint> all_points(const models::FpmFile& file) {
  std::vector<MeasuredPoint> points = file.points;
  points.insert(points.end(), file.imprecise.begin(), file.imprecise.end());
  std::ranges::stable_sort(points, {}, &MeasuredPoint::units);
  return points;
}

SvgPlot speed_chart(const models::FpmFile& file) {
  SvgPlot plot;
  plot.title = fmt::format("{}{}{} on {}", file.app.empty() ? "speed model" : file.app, file.kernel.empty() ? "" : " ",
                           file.kernel, file.unit_kind.empty() ? "a processing unit" : file.unit_kind);
  const std::string each = file.computation_unit.empty() ? "" : fmt::format(" (each {})", file.computation_unit);
  plot.x_label = "computation units" + each;
  plot.y_label = "computation units per second";
  plot.corner = file.machine + (file.machine.empty() || file.date.empty() ? "" : ", ") + file.date;
  plot.x_scale = SvgPlot::Scale::logarithmic;
  return plot;
}

SvgPlot::Series speed_marks(const std::string& name, std::span<const MeasuredPoint> points, std::size_t colour) {
  SvgPlot::Series series{name, {}, {}, {}, false, colour};
  for (const MeasuredPoint& point : points) {
    series.x.push_back(point.units);
    series.y.push_back(point.speed());
    series.error.push_back(point.speed() * point.confidence_s / point.time_s);
  }
  return series;
}

void add_model_command(CLI::App& parser, Action& chosen) {
  const auto [command, options] = add_command<ModelOptions>(
      parser, "model", "Show a speed model: kind, fit error, speeds, predictions, plot", chosen, show);
  command->add_option("FILE", options->file, "Model file (*.fpm.json, or Fupermod's *.fpm)")->required();
  add_choice(*command, "--kind", options->kind, "What to make of the points", model_kind_names());
  add_value(*command, "--at", options->at, "Predict these sizes", "X...");
  add_format_option(*command, options->json);
  add_value(*command, "--plot", options->plot, "Draw points and model", "FILE.svg");
}

}  // namespace steelyard::tool
