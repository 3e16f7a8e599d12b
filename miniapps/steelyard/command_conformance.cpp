#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>

#include "comm/collective.hpp"
#include "core/base/progress.hpp"
#include "core/base/table.hpp"
#include "core/memory/unit_memory.hpp"
#include "miniapps/app/frame.hpp"
#include "miniapps/steelyard/command.hpp"
#include "miniapps/steelyard/conformance.hpp"
#include "miniapps/steelyard/rank_rates.hpp"

namespace steelyard::tool {
namespace {

using nlohmann::ordered_json;

/// Of a unit's memory, for one instance of a kernel.
constexpr double memory_share = 0.25;

struct ConformanceOptions {
  RunOptions run;
  std::vector<std::shared_ptr<MeasurableKernel>> kernels;
  bool json = false;
};

ordered_json as_json(int rank, const ConformanceResult& result) {
  ordered_json json;
  json["rank"] = rank;
  json["app"] = result.app;
  json["options"] = result.options;
  json["unit"] = result.unit;
  json["type"] = result.element;
  json["passed"] = result.passed();
  json["error_roundings"] = result.error;  // null where it is not finite
  json["tolerance_roundings"] = result.tolerance;
  json["same_bits"] = result.same_bits == SameBits::any_unit ? "any unit" : "again";
  const auto rate = [&](double per_s) { return result.has_rates ? ordered_json(per_s) : ordered_json(); };
  json["bytes_per_s"] = rate(result.bytes_per_s);
  json["flops_per_s"] = rate(result.flops_per_s);
  json["wrong"] = result.wrong;
  return json;
}

/// `12.3 (45 %)`, of the most that the unit can do.
std::string beside(const ordered_json& per_s, double most_per_s) {
  if (per_s.is_null()) return "-";
  const double share = most_per_s > 0.0 ? per_s.get<double>() / most_per_s : 0.0;
  return fmt::format("{:.1f} ({:.0f} %)", 1e-9 * per_s.get<double>(), 100.0 * share);
}

/// A row for each case and unit: speeds beside those of STREAM's fastest kernel and of the GEMM in the same type.
std::string conformance_table(const ordered_json& cases, const ordered_json& units, std::int64_t wrong) {
  const bool several_ranks =
      std::any_of(cases.begin(), cases.end(), [](const ordered_json& one) { return one.at("rank") > 0; });
  Table table(
      {"app", "case", "unit", "error", "allowed", "same bits", "GB/s (of STREAM)", "GFLOP/s (of GEMM)", "result"});
  for (const ordered_json& one : cases) {
    const ordered_json& rates = *std::find_if(units.begin(), units.end(), [&](const ordered_json& unit) {
      return unit.at("rank") == one.at("rank") && unit.at("unit") == one.at("unit");
    });
    const auto& stream = rates.at("stream_bytes_per_s");
    const ordered_json& error = one.at("error_roundings");
    const std::string unit = one.at("unit");
    table.add_row(
        {one.at("app"), one.at("options"),
         several_ranks ? fmt::format("{} of rank {}", unit, one.at("rank").get<int>()) : unit,
         error.is_null() ? "inf" : fmt::format("{:.1f}", error.get<double>()),
         fmt::format("{:.0f}", one.at("tolerance_roundings").get<double>()),
         one.at("same_bits") == "again" ? "again" : "on any unit",
         beside(one.at("bytes_per_s"), *std::max_element(stream.begin(), stream.end())),
         beside(one.at("flops_per_s"), rates.at("gemm_flops_per_s").value(one.at("type").get<std::string>(), 0.0)),
         one.at("passed") ? "good" : "WRONG: " + one.at("wrong").get<std::string>()});
  }
  return table.text() +
         "Errors are in roundings of the reference's largest value; speeds are of larger problems, beside STREAM's "
         "fastest kernel and a GEMM of the same type.\n\n" +
         rates_table(units) + fmt::format("\n{} of {} cases are wrong\n", wrong, cases.size());
}

ExitCode check_conformance(Session& session, const ConformanceOptions& options) {
  const StartedUnits started(session, options.run);
  const RankUnits& units = started.units();
  CoExecution co_execution(session.machine(), units);
  ordered_json rates, cases = ordered_json::array();
  collectively(session.comm(), [&] {
    std::optional<Progress> progress;
    Conformance conformance(options.kernels, [&](const std::string& note) { progress->advance(1, note); });
    std::size_t count = 0;
    for (const ProcessingUnit& unit : units_of(units)) count += conformance.cases(unit.kind);
    progress.emplace("checking kernels", static_cast<std::int64_t>(count), session.is_root());
    rates = measure_rank(session, units, co_execution);
    for (const ProcessingUnit& unit : units_of(units)) {
      const double memory_bytes =
          memory_share * unit_memory_bytes(session.machine(), units, unit.kind, session.nodes().ranks_on_node);
      run_on(unit.kind, co_execution, [&] { conformance.check(unit.kind, memory_bytes); });
    }
    for (const ConformanceResult& result : conformance.results()) cases.push_back(as_json(session.rank(), result));
  });
  rates = join_arrays(session, rates);
  cases = join_arrays(session, cases);
  const auto wrong =
      std::count_if(cases.begin(), cases.end(), [](const ordered_json& one) { return !one.at("passed"); });
  const ordered_json all{{"passed", wrong == 0}, {"units", rates}, {"cases", cases}};
  session.print(options.json ? all.dump(2) + "\n" : conformance_table(cases, rates, wrong));
  return wrong == 0 ? ExitCode::good : ExitCode::check_failed;
}

}  // namespace

void add_conformance_command(CLI::App& parser, const MiniApps& apps, Action& chosen) {
  auto options = std::make_shared<ConformanceOptions>();
  for (const std::unique_ptr<MiniApp>& app : apps) {
    app->prepare();
    options->kernels.push_back(app->kernel());
  }
  CLI::App* command = parser.add_subcommand(
      "conformance", "Check every app's kernels on every unit: right, the same bits again, how near to the limits");
  add_unit_options(*command, options->run);
  add_format_option(*command, options->json);
  command->callback(
      [options, &chosen] { chosen = [options](Session& session) { return check_conformance(session, *options); }; });
}

}  // namespace steelyard::tool
