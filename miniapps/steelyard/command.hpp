#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "comm/collective.hpp"
#include "comm/session.hpp"
#include "core/base/plot/svg_plot.hpp"
#include "core/co_execution.hpp"
#include "core/typed_options.hpp"
#include "miniapps/steelyard/tool.hpp"
#include "models/fpm_file.hpp"

namespace steelyard::tool {

/// Action of a subcommand once the command line is parsed.
using Action = std::function<ExitCode(Session&)>;

/// Each adds its subcommand to the parser and, when the user chose it, leaves its action in `chosen`.
void add_units_command(CLI::App& parser, Action& chosen);
void add_partition_command(CLI::App& parser, Action& chosen);
void add_layout_command(CLI::App& parser, Action& chosen);
void add_measure_command(CLI::App& parser, const MiniApps& apps, Action& chosen);
void add_model_command(CLI::App& parser, Action& chosen);
void add_calibrate_command(CLI::App& parser, Action& chosen);
void add_platform_command(CLI::App& parser, Action& chosen);
void add_cost_command(CLI::App& parser, Action& chosen);
void add_conformance_command(CLI::App& parser, const MiniApps& apps, Action& chosen);
void add_predict_command(CLI::App& parser, const MiniApps& apps, Action& chosen);
void add_compare_command(CLI::App& parser, Action& chosen);
void add_report_command(CLI::App& parser, Action& chosen);

/// Adds a subcommand whose action is `run`: of the session and the options, or of a command that needs no other rank,
/// of the options alone, which returns the text to print; rank 0 makes it.
/// @return where the options are added, and where they go
template <class Options, class Run>
std::pair<CLI::App*, std::shared_ptr<Options>> add_command(CLI::App& parser, const std::string& name,
                                                           const std::string& description, Action& chosen, Run run) {
  auto options = std::make_shared<Options>();
  CLI::App* command = parser.add_subcommand(name, description);
  command->callback([=, &chosen] {
    chosen = [=](Session& session) {
      if constexpr (std::is_invocable_v<Run, Options&>) {
        std::string text;
        on_root(session.comm(), [&] { text = run(*options); });
        session.print(text);
        return ExitCode::good;
      } else {
        return run(session, *options);
      }
    };
  });
  return {command, options};
}

/// A command with a subcommand for each mini-app, of which the user has to choose one.
CLI::App* add_command_of_apps(CLI::App& parser, const std::string& name, const std::string& description);
/// An option that takes a value; of a number `--help` has the default. @param type such as FILE
template <class Value>
CLI::Option* add_value(CLI::App& command, const std::string& name, Value& value, const std::string& description,
                       const std::string& type) {
  CLI::Option* option = command.add_option(name, value, description)->type_name(type);
  return std::is_arithmetic_v<Value> ? option->capture_default_str() : option;
}
/// An option that takes one of some words; `--help` has the default, where there is one.
CLI::Option* add_choice(CLI::App& command, const std::string& name, std::string& choice, const std::string& description,
                        const std::vector<std::string>& words);
/// Names that `--kind` takes.
std::vector<std::string> model_kind_names();
/// `--format table|json`
CLI::Option* add_format_option(CLI::App& command, bool& json);

/// Rectangles of blocks, as `--partition FILE` reads them.
template <class Rectangles>
nlohmann::ordered_json rectangles_json(const Rectangles& rectangles) {
  nlohmann::ordered_json json = nlohmann::ordered_json::array();
  for (const auto& part : rectangles) {
    json.push_back({{"row", part.row}, {"column", part.column}, {"rows", part.rows}, {"columns", part.columns}});
  }
  return json;
}

/// Prints why numbers may mislead, where there is a reason.
inline void print_doubt(const Session& session, const std::string& why) {
  if (!why.empty()) session.print("note: " + why + "\n");
}

/// Units that a rank drives, the host unit first.
std::vector<ProcessingUnit> units_of(const RankUnits& units);
/// Runs work on one of a rank's units while the other one is idle.
void run_on(ProcessingUnit::Kind kind, CoExecution& co_execution, const CoExecution::Work& work);
/// Measures the highest rates of this rank's units, one after the other, as an array of `{"rank", "unit",
/// "stream_bytes_per_s", "gemm_flops_per_s", "to_device_bytes_per_s", "to_host_bytes_per_s"}`. Does not communicate.
/// @throws RuntimeFailure from a device
nlohmann::ordered_json measure_rank(const Session& session, const RankUnits& units, CoExecution& co_execution);
/// The arrays of all ranks, joined, on every rank. Collective.
nlohmann::ordered_json join_arrays(const Session& session, const nlohmann::ordered_json& mine);
/// GB/s of STREAM's kernels and of copies, GFLOP/s of GEMM: a row for each unit of such an array.
std::string rates_table(const nlohmann::ordered_json& units);

/// Precise and imprecise points of a model, by size.
std::vector<models::MeasuredPoint> all_points(const models::FpmFile& file);
/// A chart of speed against size, without a series: axes, and the machine that the model was measured on.
SvgPlot speed_chart(const models::FpmFile& file);
/// Measured speeds with their confidence intervals. @param colour number of the series' colour
SvgPlot::Series speed_marks(const std::string& name, std::span<const models::MeasuredPoint> points, std::size_t colour);

}  // namespace steelyard::tool
