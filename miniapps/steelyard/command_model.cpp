#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>

#include "comm/collective.hpp"
#include "core/base/text_file.hpp"
#include "miniapps/steelyard/command.hpp"
#include "miniapps/steelyard/model_report.hpp"
#include "models/model_kinds.hpp"

namespace steelyard::tool {
namespace {

struct ModelOptions {
  std::filesystem::path file;
  std::string kind = "piecewise_linear";
  std::string shape;
  models::FitOptions fit;
  std::vector<double> at;
  std::string format = "table";
  std::filesystem::path plot;
  bool compare = false;
};

std::string as_json(const models::SpeedModel& model, const std::vector<double>& at) {
  const models::FitError error = model.fit_error();
  nlohmann::ordered_json json;
  json["kind"] = model.kind();
  json["at"] = nlohmann::ordered_json::array();
  for (const double units : at) {
    const double time_s = model.time_s(units);
    // JSON has no infinity: what does not fit takes no number.
    nlohmann::ordered_json time;
    if (std::isfinite(time_s)) time = time_s;
    json["at"].push_back({{"units", units}, {"time_s", time}, {"speed", model.speed(units)}});
  }
  json["fit_error"] = {{"rms", error.rms}, {"largest", error.largest}};
  return json.dump(2) + "\n";
}

/// What the kind is fitted with; options of another kind are mistakes.
models::FitOptions fit_options(const ModelOptions& options) {
  if (!options.shape.empty() && options.kind != "piecewise_linear" && !options.compare) {
    throw InvalidArgument(fmt::format("--shape goes with --kind piecewise_linear, not {}", options.kind));
  }
  if (options.fit.degree > 0 && options.kind != "polynomial" && !options.compare) {
    throw InvalidArgument(fmt::format("--degree goes with --kind polynomial, not {}", options.kind));
  }
  models::FitOptions fit = options.fit;
  if (!options.shape.empty()) fit.shape = models::parse_shape(options.shape);
  return fit;
}

std::string show(const ModelOptions& options) {
  const models::FitOptions fit = fit_options(options);
  // Measured data is easily named by mistake, and gone once a picture has taken its place.
  if (!options.plot.empty() && options.plot.extension() != ".svg") {
    throw InvalidArgument(fmt::format("--plot {} (expected a name that ends in .svg)", options.plot.string()));
  }
  const models::FpmFile file = models::read_fpm_file(options.file);
  const models::SpeedModelPtr model = models::make_model(file, options.kind, fit);
  for (const double units : options.at) {
    if (!(units >= 0.0 && std::isfinite(units))) {
      throw InvalidArgument(fmt::format("--at {} (expected a finite number >= 0)", units));
    }
  }
  if (!options.plot.empty()) write_text_file(options.plot, model_plot(file, *model));
  if (options.format == "json") return as_json(*model, options.at);
  std::string text = model_header(options.file, file, *model);
  if (options.compare) return text + compare_kinds(file, fit);
  text += options.at.empty() ? points_table(file, *model) : predictions_table(*model, options.at);
  return text;
}

}  // namespace

void add_model_command(CLI::App& parser, Action& chosen) {
  auto options = std::make_shared<ModelOptions>();
  CLI::App* command = parser.add_subcommand("model", "Show a speed model: kind, fit error, speeds, predictions, plot");
  command->add_option("FILE", options->file, "Model file (*.fpm.json, or Fupermod's *.fpm)")->required();
  std::vector<std::string> kinds;
  for (const models::ModelKind& kind : models::model_kinds()) kinds.push_back(kind.name);
  command->add_option("--kind", options->kind, "What to make of the points")
      ->check(CLI::IsMember(kinds))
      ->type_name(CLI::detail::join(kinds, "|"))
      ->capture_default_str();
  command->add_option("--shape", options->shape, "Restriction of a piecewise linear model (default increasing_time)")
      ->check(CLI::IsMember({"as_measured", "increasing_time", "unimodal"}))
      ->type_name("as_measured|increasing_time|unimodal");
  command->add_option("--degree", options->fit.degree, "Degree of a polynomial model (default: chosen)")
      ->check(CLI::Range(1, 30))
      ->type_name("N");
  CLI::Option* at = command->add_option("--at", options->at, "Predict these sizes")->type_name("X...");
  CLI::Option* compare = command->add_flag("--compare", options->compare, "Fit errors of all kinds");
  at->excludes(compare);
  command->add_option("--format", options->format, "table or json")
      ->check(CLI::IsMember({"table", "json"}))
      ->excludes(compare)
      ->type_name("table|json");
  command->add_option("--plot", options->plot, "Draw points and model")->type_name("FILE.svg");
  command->callback([options, &chosen] {
    chosen = [options](Session& session) {
      std::string text;
      on_root(session.comm(), [&] { text = show(*options); });
      session.print(text);
      return ExitCode::good;
    };
  });
}

}  // namespace steelyard::tool
