#pragma once

#include <functional>

#include "comm/session.hpp"

namespace steelyard::tool {

/// What a subcommand does once the command line is parsed.
using Action = std::function<ExitCode(Session&)>;

/// Each adds its subcommand to the parser and, when the user chose it, leaves its action in `chosen`.
void add_units_command(CLI::App& parser, Action& chosen);
void add_partition_command(CLI::App& parser, Action& chosen);
void add_layout_command(CLI::App& parser, Action& chosen);
void add_measure_command(CLI::App& parser, Action& chosen);
void add_model_command(CLI::App& parser, Action& chosen);
void add_calibrate_command(CLI::App& parser, Action& chosen);
void add_cost_command(CLI::App& parser, Action& chosen);
void add_conformance_command(CLI::App& parser, Action& chosen);
void add_predict_command(CLI::App& parser, Action& chosen);
void add_compare_command(CLI::App& parser, Action& chosen);
void add_report_command(CLI::App& parser, Action& chosen);

}  // namespace steelyard::tool
