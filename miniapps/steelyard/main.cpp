// The tool that works on machines, models and layouts, rather than on a mini-app's data.

#include <CLI/CLI.hpp>

#include "comm/collective.hpp"
#include "core/options.hpp"
#include "miniapps/steelyard/command.hpp"
#include "models/model_kinds.hpp"

namespace steelyard::tool {

std::vector<std::shared_ptr<MeasurableKernel>> measurable_kernels() {
  std::vector<std::shared_ptr<MeasurableKernel>> kernels;
  for (const std::unique_ptr<MiniApp>& app : mini_apps()) kernels.push_back(app->measurable_kernel());
  return kernels;
}

CLI::App* add_command_of_apps(CLI::App& parser, const std::string& name, const std::string& description,
                              const std::string& missing) {
  CLI::App* command = parser.add_subcommand(name, description);
  command->require_subcommand(0, 1);
  // Not require_subcommand(1), which would hide the word that is no app.
  command->callback([command, missing] {
    if (command->get_subcommands().empty()) throw CLI::RequiredError(missing);
  });
  return command;
}

CLI::Option* add_choice(CLI::App& command, const std::string& name, std::string& choice, const std::string& description,
                        const std::vector<std::string>& words) {
  return command.add_option(name, choice, description)
      ->check(CLI::IsMember(words))
      ->type_name(CLI::detail::join(words, "|"));
}

std::vector<std::string> model_kind_names() {
  std::vector<std::string> names;
  for (const models::ModelKind& kind : models::model_kinds()) names.push_back(kind.name);
  return names;
}

CLI::Option* add_format_option(CLI::App& command, bool& json) {
  return command
      .add_option_function<std::string>(
          "--format", [&json](const std::string& format) { json = format == "json"; }, "table or json")
      ->check(CLI::IsMember({"table", "json"}))
      ->type_name("table|json");
}

nlohmann::ordered_json rectangles_json(const std::vector<partition::Rectangle>& rectangles) {
  nlohmann::ordered_json json = nlohmann::ordered_json::array();
  for (const partition::Rectangle& part : rectangles) {
    json.push_back({{"row", part.row}, {"column", part.column}, {"rows", part.rows}, {"columns", part.columns}});
  }
  return json;
}

Action print_from_root(const std::function<std::string()>& make_text) {
  return [make_text](Session& session) {
    std::string text;
    on_root(session.comm(), [&] { text = make_text(); });
    session.print(text);
    return ExitCode::good;
  };
}

}  // namespace steelyard::tool

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
  tool::add_platform_command(parser, chosen);
  tool::add_cost_command(parser, chosen);
  tool::add_predict_command(parser, chosen);
  tool::add_compare_command(parser, chosen);
  tool::add_report_command(parser, chosen);
  return run_program(argc, argv, parser, [&](Session& session) { return chosen(session); });
}
