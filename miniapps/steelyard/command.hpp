#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "comm/session.hpp"
#include "core/typed_options.hpp"
#include "miniapps/steelyard/tool.hpp"
#include "partition/rectangles/rectangle.hpp"

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

/// A command with a subcommand for each mini-app. @param missing what the error names where the user chose none
CLI::App* add_command_of_apps(CLI::App& parser, const std::string& name, const std::string& description,
                              const std::string& missing);
/// An option that takes one of some words.
CLI::Option* add_choice(CLI::App& command, const std::string& name, std::string& choice, const std::string& description,
                        const std::vector<std::string>& words);
/// Names that `--kind` takes.
std::vector<std::string> model_kind_names();
/// `--format table|json`
CLI::Option* add_format_option(CLI::App& command, bool& json);
nlohmann::ordered_json rectangles_json(const std::vector<partition::Rectangle>& rectangles);
/// Action of a command that needs no other rank: rank 0 makes the text, which is printed.
Action print_from_root(const std::function<std::string()>& make_text);

}  // namespace steelyard::tool
