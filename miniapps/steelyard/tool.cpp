#include "miniapps/steelyard/tool.hpp"

#include <set>

#include "core/base/table.hpp"
#include "core/options.hpp"
#include "miniapps/steelyard/command.hpp"
#include "models/kinds/model_kinds.hpp"

namespace steelyard::tool {

CLI::App* add_command_of_apps(CLI::App& parser, const std::string& name, const std::string& description) {
  CLI::App* command = parser.add_subcommand(name, description);
  command->require_subcommand(0, 1);
  // Not require_subcommand(1), which would hide the word that is no app.
  command->callback([command, name] {
    if (command->get_subcommands().empty()) throw CLI::RequiredError("An app to " + name);
  });
  return command;
}

CLI::Option* add_choice(CLI::App& command, const std::string& name, std::string& choice, const std::string& description,
                        const std::vector<std::string>& words) {
  CLI::Option* option = command.add_option(name, choice, description)
                            ->check(CLI::IsMember(words))
                            ->type_name(CLI::detail::join(words, "|"));
  return choice.empty() ? option : option->capture_default_str();
}

std::vector<std::string> model_kind_names() {
  std::vector<std::string> names;
  for (const models::ModelKind& kind : models::model_kinds()) names.push_back(kind.name);
  return names;
}

CLI::Option* add_format_option(CLI::App& command, bool& json) {
  return steelyard::add_choice<bool>(command, "--format", json, {"table", "json"}, "table or json");
}

/// Adds `--csv` to every command that prints a table, and to none of those without one.
void add_csv_option(CLI::App& parser, bool& csv) {
  static const std::set<std::string> without_table{"cost", "layout", "platform", "report"};
  for (CLI::App* command : parser.get_subcommands([](const CLI::App*) { return true; })) {
    if (!command->get_subcommands([](const CLI::App*) { return true; }).empty()) {
      add_csv_option(*command, csv);
    } else if (!without_table.contains(command->get_name())) {
      CLI::Option* flag =
          command->add_flag("--csv", csv, "Print tables as comma-separated values, in SI units, and nothing else");
      if (CLI::Option* format = command->get_option_no_throw("--format")) flag->excludes(format);
    }
  }
}

ExitCode print_csv(Session& session, const Action& action) {
  std::string tables;
  Table::on_text([&](const Table& table) { tables += (tables.empty() ? "" : "\n") + table.csv(); });
  session.set_silent(true);
  const ExitCode code = action(session);
  session.set_silent(false);
  Table::on_text(nullptr);
  session.print(tables);
  return code;
}

int tool_main(int argc, char** argv, const std::string& name, const MiniApps& apps) {
  CLI::App parser("Works on machines, speed models and layouts for the Steelyard mini-apps", name);
  add_standard_options(parser);
  parser.require_subcommand(0, 1);
  Action chosen;
  // Not require_subcommand(1), which would hide the word that is no command.
  parser.callback([&chosen] {
    if (!chosen) throw CLI::RequiredError("A command");
  });
  add_units_command(parser, chosen);
  add_conformance_command(parser, apps, chosen);
  add_layout_command(parser, chosen);
  add_measure_command(parser, apps, chosen);
  add_model_command(parser, chosen);
  add_partition_command(parser, chosen);
  add_calibrate_command(parser, chosen);
  add_platform_command(parser, chosen);
  add_cost_command(parser, chosen);
  add_predict_command(parser, apps, chosen);
  add_compare_command(parser, chosen);
  add_report_command(parser, chosen);
  bool csv = false;
  add_csv_option(parser, csv);
  return run_program(argc, argv, parser,
                     [&](Session& session) { return csv ? print_csv(session, chosen) : chosen(session); });
}

}  // namespace steelyard::tool
