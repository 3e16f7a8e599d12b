#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cmath>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "core/base/table.hpp"
#include "miniapps/steelyard/command.hpp"
#include "models/communication/cost_models.hpp"
#include "models/communication/platform.hpp"
#include "models/communication/tau_lop/tau_lop.hpp"

namespace steelyard::tool {
namespace {

struct CostOptions {
  std::filesystem::path platform;
  std::string expression;
  std::string model = "tau-lop";
  std::string evaluation = "aligned";
  double block_bytes = 1.0;
  double merge_from_bytes = 0.0;
  std::string beyond = "refuse";
  bool json = false;
};

/// Message about a wrong number that was typed; empty where nothing is. CLI::Range takes nan for a number in any range.
std::string problem(const std::string& text, bool (*fits)(double), const char* expected) {
  double value = 0.0;
  if (CLI::detail::lexical_cast(text, value) && fits(value)) return "";
  return fmt::format("Value {} (expected {})", text, expected);
}

std::string cost(const CostOptions& options) {
  using namespace models;
  const Expression expression = parse_expression(options.expression);
  const Platform platform = read_platform_file(options.platform);
  if (options.model == "loggph") {
    const double time_s = loggph_cost_s(expression, platform, options.block_bytes);
    if (options.json) return nlohmann::ordered_json{{"model", "loggph"}, {"time_s", time_s}}.dump() + "\n";
    return fmt::format("time       {}   (LogGPH)\n", format_seconds(time_s));
  }
  const TauLop model(platform, options.beyond == "refuse" ? BeyondMeasured::refuse : BeyondMeasured::proportional);
  const Evaluation evaluation{options.merge_from_bytes / options.block_bytes, options.block_bytes};
  const ReducedForm form = options.evaluation == "aligned" ? aligned_form(expression, model, evaluation)
                                                           : event_form(expression, model, evaluation);
  const double time_s = cost_s(form, model, evaluation);
  const std::string reduced = to_string(form);
  if (options.json) {
    return nlohmann::ordered_json{{"evaluation", options.evaluation}, {"reduced", reduced}, {"time_s", time_s}}.dump() +
           "\n";
  }
  return fmt::format("reduced    {}   ({})\ntime       {}\n", reduced, options.evaluation, format_seconds(time_s));
}

}  // namespace

void add_cost_command(CLI::App& parser, Action& chosen) {
  auto options = std::make_shared<CostOptions>();
  CLI::App* command =
      parser.add_subcommand("cost", "Solve a tau-Lop expression on a platform: its reduced form and seconds");
  command->add_option("--platform", options->platform, "Measured channels (*.platform.json)")
      ->type_name("FILE")
      ->required();
  command
      ->add_option("--expression", options->expression,
                   "Transmissions such as '(T0(134)+T1(158)) || 2||T0(116)': channel and size; || binds tighter than +")
      ->type_name("E")
      ->required();
  add_choice(*command, "--model", options->model,
             "tau-Lop, or LogGPH, which knows no contention: the longest of concurrent transmissions counts",
             {"tau-lop", "loggph"})
      ->capture_default_str();
  add_choice(*command, "--evaluation", options->evaluation,
             "Of tau-Lop: channel by channel as in the paper, or following every transmission in time",
             {"aligned", "event"})
      ->capture_default_str();
  command->add_option("--block-bytes", options->block_bytes, "Bytes of a unit of size: of a block, or 1")
      ->check([](const std::string& text) {
        return problem(
            text, [](double value) { return value > 0.0 && std::isfinite(value); }, "a finite number > 0");
      })
      ->type_name("B")
      ->capture_default_str();
  command
      ->add_option("--merge-from", options->merge_from_bytes,
                   "Shortest message that A1 merges with others of its channel (inf: none)")
      ->check([](const std::string& text) {
        return problem(
            text, [](double value) { return value >= 0.0; }, "a number >= 0 or inf");
      })
      ->type_name("BYTES")
      ->capture_default_str();
  add_choice(*command, "--beyond-measured", options->beyond,
             "More concurrent transfers than were measured: an error, or time in proportion",
             {"refuse", "proportional"})
      ->capture_default_str();
  add_format_option(*command, options->json);
  command->callback([options, &chosen] { chosen = print_from_root([options] { return cost(*options); }); });
}

}  // namespace steelyard::tool
