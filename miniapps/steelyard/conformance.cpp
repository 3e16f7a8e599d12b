#include "miniapps/steelyard/conformance.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <exception>
#include <limits>

#include "comm/collective.hpp"
#include "core/base/progress.hpp"
#include "core/base/table.hpp"
#include "core/memory/unit_memory.hpp"
#include "core/unit_rates.hpp"
#include "miniapps/app/frame.hpp"
#include "miniapps/steelyard/command.hpp"

namespace steelyard::tool {
namespace {

using nlohmann::ordered_json;

constexpr double infinity = std::numeric_limits<double>::infinity();
/// Seconds of a timed run at least, where there is memory for it.
constexpr double long_enough_s = 0.01;
constexpr int timed_runs = 3;
/// Share of a unit's memory for one instance of a kernel.
constexpr double memory_share = 0.25;

/// `shape 3 (columns 203, order 4), 7 units`
std::string described(std::size_t shape, const KernelFacts& facts, std::int64_t units) {
  std::string parameters;
  for (const auto& [name, value] : facts.parameters) {
    parameters += fmt::format("{}{} {:g}", parameters.empty() ? "" : ", ", name, value);
  }
  return fmt::format("shape {} ({}), {}", shape, parameters, counted(units, "unit"));
}

/// Compares values one by one, all of them. @param before what the expected ones are called
/// @return which is not the same first; empty where all are
std::string first_difference(const std::vector<double>& values, const std::vector<double>& expected, const char* before,
                             const std::function<bool(double, double)>& is_same) {
  if (values.size() != expected.size()) return fmt::format("{} values (expected {})", values.size(), expected.size());
  std::string first;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (is_same(values[i], expected[i]) || !first.empty()) continue;
    first = fmt::format("value {} is {:.17g} ({} {:.17g})", i, values[i], before, expected[i]);
  }
  return first;
}

/// Compares with the reference, and keeps the largest error.
std::string compare(const std::vector<double>& values, const std::vector<double>& reference,
                    ConformanceResult& result) {
  const double rounding =
      result.element == "float" ? std::numeric_limits<float>::epsilon() : std::numeric_limits<double>::epsilon();
  double scale = 0.0;
  for (const double value : reference) scale = std::max(scale, std::abs(value));
  return first_difference(values, reference, "expected", [&](double value, double expected) {
    const double difference = std::abs(value - expected);
    double error = difference == 0.0 ? 0.0 : difference / (rounding * scale);
    if (std::isnan(error)) error = infinity;
    result.error = std::max(result.error, error);
    return error <= result.checked.tolerance;
  });
}

std::string compare_bits(const std::vector<double>& values, const std::vector<double>& expected) {
  return first_difference(values, expected, "before", [](double value, double before) {
    return std::bit_cast<std::uint64_t>(value) == std::bit_cast<std::uint64_t>(before);
  });
}

/// Seconds of the fastest of a few runs after one that does not count.
double fastest_seconds(KernelRun& run) {
  run.run();
  double fastest_s = infinity;
  for (int i = 0; i < timed_runs; ++i) fastest_s = std::min(fastest_s, unit_seconds([&] { run.run(); }));
  return fastest_s;
}

void measure(const MeasurableKernel& kernel, ProcessingUnit::Kind kind, double memory_bytes,
             ConformanceResult& result) {
  const KernelFacts facts = kernel.facts();
  std::int64_t most = facts.largest;
  // Out of core any size runs.
  if (kind == ProcessingUnit::Kind::host || !facts.runs_out_of_core) {
    const double fit = (memory_bytes - facts.memory_bytes_fixed) / std::max(1.0, facts.memory_bytes_per_unit);
    if (fit < static_cast<double>(most)) most = std::max<std::int64_t>(1, static_cast<std::int64_t>(fit));
  }
  for (std::int64_t units = std::min(facts.smallest, most);;) {
    const double seconds = fastest_seconds(*kernel.allocate(kind, units));
    if (seconds >= long_enough_s || units == most) {
      result.has_rates = true;
      result.bytes_per_s = static_cast<double>(units) * facts.bytes_per_unit / seconds;
      result.flops_per_s = static_cast<double>(units) * facts.flops_per_unit / seconds;
      return;
    }
    // A little more, for larger sizes may be faster.
    const double wanted = 1.2 * static_cast<double>(units) * long_enough_s / seconds;
    units = wanted < static_cast<double>(most) ? static_cast<std::int64_t>(wanted) + 1 : most;
  }
}

/// Checks and times the result's case.
void check_case(ProcessingUnit::Kind kind, double memory_bytes, CommonValues& common, ConformanceResult& result) {
  const ConformanceCase& one = result.checked;
  const auto note = [&](const std::string& what, const std::string& differs) {
    if (!differs.empty() && result.wrong.empty()) result.wrong = what + ": " + differs;
  };
  for (std::size_t i = 0; i < one.shapes.size(); ++i) {
    const MeasurableKernel& shape = *one.shapes[i];
    const KernelFacts facts = shape.facts();
    result.element = facts.element;
    for (const std::int64_t units : one.sizes) {
      const std::string of = described(i, facts, units);
      const std::vector<double> values = shape.allocate(kind, units)->check_run();
      note(of, compare(values, shape.reference(units), result));
      note(of + ", again", compare_bits(shape.allocate(kind, units)->check_run(), values));
      if (one.same_bits != SameBits::any_unit) continue;
      const auto [before, is_first] = common.try_emplace(result.app + one.options + of, values);
      if (!is_first) note(of + ", on another unit", compare_bits(values, before->second));
    }
  }
  if (one.timed != nullptr) measure(*one.timed, kind, memory_bytes, result);
}

struct ConformanceOptions {
  RunOptions run;
  std::vector<std::shared_ptr<MeasurableKernel>> kernels;
  bool json = false;
};

ordered_json as_json(int rank, const ConformanceResult& result) {
  const auto rate = [&](double per_s) { return result.has_rates ? ordered_json(per_s) : ordered_json(); };
  return {{"rank", rank},
          {"app", result.app},
          {"options", result.checked.options},
          {"unit", result.unit},
          {"type", result.element},
          {"passed", result.passed()},
          {"error_roundings", result.error},  // null where it is not finite
          {"tolerance_roundings", result.checked.tolerance},
          {"same_bits", result.checked.same_bits == SameBits::any_unit ? "any unit" : "again"},
          {"bytes_per_s", rate(result.bytes_per_s)},
          {"flops_per_s", rate(result.flops_per_s)},
          {"wrong", result.wrong}};
}

/// `12.3 (45 %)`, of the most that the unit can do.
std::string beside(const ordered_json& per_s, double most_per_s) {
  if (per_s.is_null()) return "-";
  const double share = most_per_s > 0.0 ? per_s.get<double>() / most_per_s : 0.0;
  return fmt::format("{:.1f} ({:.0f} %)", 1e-9 * per_s.get<double>(), 100.0 * share);
}

/// A row for each case and unit: speeds beside those of STREAM's fastest kernel and of the GEMM in the same type.
std::string conformance_table(const ordered_json& cases, const ordered_json& units, std::int64_t wrong) {
  const bool several_ranks = !cases.empty() && cases.back().at("rank") > 0;
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
         rates_table(units) +
         fmt::format("\n{} of {} cases are right\n", static_cast<std::int64_t>(cases.size()) - wrong, cases.size());
}

ExitCode check_conformance(Session& session, const ConformanceOptions& options) {
  const StartedUnits started(session, options.run);
  const RankUnits& units = started.units();
  CoExecution co_execution(session.machine(), units);
  ordered_json rates, cases = ordered_json::array();
  collectively(session.comm(), [&] {
    std::size_t count = 0;
    for (const ProcessingUnit& unit : units_of(units)) {
      for (const auto& kernel : options.kernels) count += kernel->conformance_cases(unit.kind).size();
    }
    Progress progress("checking kernels", static_cast<std::int64_t>(count), session.is_root());
    const auto advance = [&](const std::string& note) { progress.advance(1, note); };
    CommonValues common;
    rates = measure_rank(session, units, co_execution);
    for (const ProcessingUnit& unit : units_of(units)) {
      const double memory_bytes =
          memory_share * unit_memory_bytes(session.machine(), units, unit.kind, session.nodes().ranks_on_node);
      std::vector<ConformanceResult> results;
      run_on(unit.kind, co_execution,
             [&] { results = check_kernels(options.kernels, unit.kind, memory_bytes, common, advance); });
      for (const ConformanceResult& result : results) cases.push_back(as_json(session.rank(), result));
    }
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

std::vector<ConformanceResult> check_kernels(const std::vector<std::shared_ptr<MeasurableKernel>>& kernels,
                                             ProcessingUnit::Kind kind, double memory_bytes, CommonValues& common,
                                             const std::function<void(const std::string&)>& notify) {
  std::vector<ConformanceResult> results;
  for (const auto& kernel : kernels) {
    ConformanceResult result;
    result.app = kernel->facts().app;
    result.unit = kind == ProcessingUnit::Kind::host ? "host" : "device";
    const std::vector<ConformanceCase> cases = kernel->conformance_cases(kind);
    if (cases.empty()) {
      results.push_back(result);
      results.back().wrong = "nothing to check";
    }
    for (const ConformanceCase& one : cases) {
      result.checked = one;
      ConformanceResult& found = results.emplace_back(result);
      if (notify) notify(fmt::format("({} {} on {})", result.app, one.options, result.unit));
      try {
        check_case(kind, memory_bytes, common, found);
      } catch (const std::exception& error) {
        if (found.wrong.empty()) found.wrong = error.what();
      }
    }
  }
  return results;
}

void add_conformance_command(CLI::App& parser, const MiniApps& apps, Action& chosen) {
  const auto [command, options] = add_command<ConformanceOptions>(
      parser, "conformance",
      "Check every app's kernels on every unit: right, the same bits again, how near to the limits", chosen,
      check_conformance);
  for (const std::unique_ptr<MiniApp>& app : apps) {
    app->prepare();
    options->kernels.push_back(app->kernel());
  }
  add_unit_options(*command, options->run);
  add_format_option(*command, options->json);
}

}  // namespace steelyard::tool
