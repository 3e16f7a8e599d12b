#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <optional>

#include "comm/collective.hpp"
#include "core/base/progress.hpp"
#include "core/runtime.hpp"
#include "core/unit_memory.hpp"
#include "miniapps/steelyard/command.hpp"
#include "miniapps/steelyard/conformance_report.hpp"
#include "miniapps/steelyard/mini_apps.hpp"

namespace steelyard::tool {
namespace {

/// Of a unit's memory, for one instance of a kernel.
constexpr double memory_share = 0.25;

struct ConformanceOptions {
  RunOptions run;
  std::string format = "table";
};

ExitCode check_conformance(Session& session, const ConformanceOptions& options) {
  const RankUnits units = session.plan_units(options.run);
  std::optional<Runtime> runtime;
  collectively(session.comm(), [&] { runtime.emplace(session.machine(), units); });
  CoExecution co_execution(session.machine(), units);
  std::string rates, results;
  collectively(session.comm(), [&] {
    std::optional<Progress> progress;
    Conformance conformance(measurable_kernels(), [&](const std::string& note) { progress->advance(1, note); });
    std::size_t cases = 0;
    for (const ProcessingUnit& unit : units_of(units)) cases += conformance.cases(unit.kind);
    progress.emplace("checking kernels", static_cast<std::int64_t>(cases), session.is_root());
    for (const MeasuredRates& unit : measure_rank(session, units, co_execution)) rates += format_rates(unit);
    for (const ProcessingUnit& unit : units_of(units)) {
      const double memory_bytes =
          memory_share * unit_memory_bytes(session.machine(), units, unit.kind, session.nodes().ranks_on_node);
      run_on(unit.kind, co_execution, [&] { conformance.check(unit.kind, memory_bytes); });
    }
    for (const ConformanceResult& result : conformance.results()) results += format_result({session.rank(), result});
  });
  const std::vector<MeasuredRates> all_rates = parse_rates(all_lines(session, rates));
  const std::vector<RankResult> all_results = parse_results(all_lines(session, results));
  session.print(options.format == "json" ? conformance_json(all_results, all_rates)
                                         : conformance_table(all_results, all_rates));
  const bool passed = std::all_of(all_results.begin(), all_results.end(),
                                  [](const RankResult& of_rank) { return of_rank.result.passed(); });
  return passed ? ExitCode::good : ExitCode::check_failed;
}

}  // namespace

void add_conformance_command(CLI::App& parser, Action& chosen) {
  auto options = std::make_shared<ConformanceOptions>();
  CLI::App* command = parser.add_subcommand(
      "conformance", "Check every app's kernels on every unit: right, the same bits again, how near to the limits");
  add_unit_options(*command, options->run);
  command->add_option("--format", options->format, "table or json")
      ->check(CLI::IsMember({"table", "json"}))
      ->type_name("table|json");
  command->callback(
      [options, &chosen] { chosen = [options](Session& session) { return check_conformance(session, *options); }; });
}

}  // namespace steelyard::tool
