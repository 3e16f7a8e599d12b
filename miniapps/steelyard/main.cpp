// The tool that works on machines, models and layouts, rather than on a mini-app's data.

#include <CLI/CLI.hpp>

#include "core/options.hpp"
#include "miniapps/steelyard/command.hpp"

int main(int argc, char** argv) {
  using namespace steelyard;
  CLI::App parser("Works on machines, speed models and layouts for the Steelyard mini-apps", "steelyard");
  add_standard_options(parser);
  parser.require_subcommand(0, 1);
  tool::Action chosen;
  // Not require_subcommand(1), which would hide the word that is no command.
  parser.callback([&chosen] {
    if (!chosen) throw CLI::RequiredError("A command");
  });
  tool::add_units_command(parser, chosen);
  tool::add_conformance_command(parser, chosen);
  tool::add_layout_command(parser, chosen);
  tool::add_measure_command(parser, chosen);
  tool::add_model_command(parser, chosen);
  tool::add_partition_command(parser, chosen);
  tool::add_calibrate_command(parser, chosen);
  tool::add_cost_command(parser, chosen);
  tool::add_predict_command(parser, chosen);
  tool::add_compare_command(parser, chosen);
  tool::add_report_command(parser, chosen);
  return run_program(argc, argv, parser, [&](Session& session) { return chosen(session); });
}
