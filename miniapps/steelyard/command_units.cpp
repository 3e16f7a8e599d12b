#include <fmt/format.h>

#include <set>

#include "comm/collective.hpp"
#include "core/base/errors.hpp"
#include "core/base/table.hpp"
#include "core/base/text_file.hpp"
#include "core/device/device.hpp"
#include "core/host_blas.hpp"
#include "core/layout.hpp"
#include "core/memory/unit_memory.hpp"
#include "core/runtime.hpp"
#include "core/unit_plan.hpp"
#include "core/unit_rates.hpp"
#include "miniapps/app/frame.hpp"
#include "miniapps/steelyard/command.hpp"

namespace steelyard::tool {
namespace {

using nlohmann::ordered_json;

std::string in_billions(const ordered_json& per_s) {
  return per_s.is_null() ? "-" : fmt::format("{:.1f}", 1e-9 * per_s.get<double>());
}

/// Describes the hardware of this node.
std::string describe_machine(const Machine& machine) {
  std::string text = fmt::format("{}: {}\n", machine.host_name(), machine.processor());
  text += fmt::format("  cores   {}\n", format_cores(machine.cores()));
  int number = 0;
  for (const Machine::NumaNode& node : machine.numa_nodes()) {
    text += fmt::format("  numa {}  {}, cores {}\n", number++, format_bytes(static_cast<double>(node.bytes)),
                        format_cores(node.cores));
  }
  for (const Machine::Cache& cache : machine.caches()) {
    text +=
        fmt::format("  L{}      {} x {}\n", cache.level, cache.count, format_bytes(static_cast<double>(cache.bytes)));
  }
  for (int device = 0; device < device_count(); ++device) {
    const DeviceFacts facts = device_facts(device);
    text += fmt::format("  gpu {}   {} at {}, nearest cores {}\n", device, facts.name, facts.pci_bus,
                        format_cores(machine.cores_near(facts.pci_bus)));
  }
  if (device_count() == 0) text += "  gpu     none\n";
  return text;
}

struct UnitsOptions {
  RunOptions run;
  bool measure = false;
};

ExitCode print_units(Session& session, const UnitsOptions& options) {
  // First of all: it refuses wrong options, before anything is printed.
  const RankUnits units = session.plan_units(options.run);
  const bool first_on_node = session.nodes().rank_on_node == 0;
  for (const std::string& text :
       all_gather_text(session.comm(), first_on_node ? describe_machine(session.machine()) : "")) {
    session.print(text);
  }
  const char* companion = companion_is_device ? CompanionExecution::name() : has_companion ? "Serial" : "none";
  session.print(fmt::format("kokkos {}: host {}, companion {}\nblas {}\n\n", kokkos_version(), HostExecution::name(),
                            companion, host_blas().name));

  ordered_json mine = ordered_json::array();
  for (const ProcessingUnit& unit : units_of(units)) {
    mine.push_back({fmt::format("{}", session.rank()), session.machine().host_name(), unit.name(), unit.space,
                    format_cores(unit.cores), unit.emulated() ? fmt::format("{:g} (emulated)", unit.slowdown) : "-",
                    units.cores_from + (units.oversubscribed ? ", oversubscribed" : "")});
  }
  Table table({"rank", "node", "unit", "space", "core-ids", "slowdown", "cores from"});
  for (const ordered_json& row : join_arrays(session, mine)) table.add_row(row);
  session.print(table.text());
  if (!options.measure) return ExitCode::good;
  const StartedUnits started(session, options.run);
  CoExecution co_execution(session.machine(), started.units());
  ordered_json rates;
  collectively(session.comm(), [&] { rates = measure_rank(session, started.units(), co_execution); });
  session.print("\n" + rates_table(join_arrays(session, rates)));
  return ExitCode::good;
}

struct LayoutOptions {
  RunOptions run;
  std::filesystem::path like;
  std::filesystem::path output;
};

/// Writes the layout that the ranks of this mpirun have without one, to be edited. With `--like` they have the units
/// and slowdowns of another layout's lines.
ExitCode write_layout(Session& session, const LayoutOptions& options) {
  RunOptions run = options.run;
  LayoutEntry like;
  collectively(session.comm(), [&] {
    if (options.like.empty()) return;
    const std::vector<LayoutEntry> lines = read_layout(options.like).entries;
    if (std::ssize(lines) != session.size()) {
      throw InvalidArgument(fmt::format("{} has {} lines for {} ranks (expected one each: mpirun -n {} …)",
                                        options.like.string(), lines.size(), session.size(), lines.size()));
    }
    like = lines[static_cast<std::size_t>(session.rank())];
    run.units = like.units;
  });
  RankUnits units = session.plan_units(run);
  collectively(session.comm(), [&] {
    const PerUnit<double> slowdowns = unit_slowdowns(like);
    if (units.host) units.host->slowdown *= slowdowns.host;
    if (units.companion) units.companion->slowdown *= slowdowns.companion;
  });
  LayoutEntry entry{session.machine().host_name(), session.nodes().rank_on_node, {}, UnitChoice::host, {}};
  if (units.companion) entry.units = {units.host.has_value(), units.companion->devices};
  std::set<int> cores;
  for (const ProcessingUnit& unit : units_of(units)) {
    cores.insert(unit.cores.begin(), unit.cores.end());
    if (unit.emulated()) entry.suboptions[unit.name() + "_slowdown"] = fmt::format("{:g}", unit.slowdown);
  }
  entry.cores.emplace(cores.begin(), cores.end());
  // Each rank's file of one line; rank 0 keeps the first line of headings and every rank's own.
  std::string text;
  for (const std::string& lines : all_gather_text(session.comm(), format_layout({{entry}, ""}))) {
    text += text.empty() ? lines : lines.substr(lines.find('\n') + 1);
  }
  if (options.output.empty()) {
    session.print(text);
  } else {
    on_root(session.comm(), [&] { write_text_file(options.output, text); });
  }
  return ExitCode::good;
}

}  // namespace

std::vector<ProcessingUnit> units_of(const RankUnits& units) {
  std::vector<ProcessingUnit> all;
  if (units.host) all.push_back(*units.host);
  if (units.companion) all.push_back(*units.companion);
  return all;
}

void run_on(ProcessingUnit::Kind kind, CoExecution& co_execution, const CoExecution::Work& work) {
  const CoExecution::Work nothing = [] {};
  const bool host = kind == ProcessingUnit::Kind::host;
  co_execution.run(host ? work : nothing, host ? nothing : work);
}

ordered_json measure_rank(const Session& session, const RankUnits& units, CoExecution& co_execution) {
  // Nothing of copies where the unit works in host memory.
  const auto rate = [](double per_s) { return per_s > 0.0 ? ordered_json(per_s) : ordered_json(); };
  ordered_json measured = ordered_json::array();
  for (const ProcessingUnit& unit : units_of(units)) {
    const double memory_bytes = unit_memory_bytes(session.machine(), units, unit.kind, session.nodes().ranks_on_node);
    const std::int64_t elements = stream_elements(session.machine(), unit.kind, memory_bytes);
    UnitRates rates;
    run_on(unit.kind, co_execution, [&] { rates = measure_unit_rates(unit.kind, elements, memory_bytes); });
    const auto& [copy, scale, add, triad] = rates.stream_bytes_per_s;
    measured.push_back(
        {{"rank", session.rank()},
         {"unit", unit.name()},
         {"stream_bytes_per_s", {{"copy", copy}, {"scale", scale}, {"add", add}, {"triad", triad}}},
         {"gemm_flops_per_s", {{"double", rates.gemm_double_flops_per_s}, {"float", rates.gemm_float_flops_per_s}}},
         {"to_device_bytes_per_s", rate(rates.to_device_bytes_per_s)},
         {"to_host_bytes_per_s", rate(rates.to_host_bytes_per_s)}});
  }
  return measured;
}

ordered_json join_arrays(const Session& session, const ordered_json& mine) {
  ordered_json all = ordered_json::array();
  for (const std::string& text : all_gather_text(session.comm(), mine.dump())) {
    for (const ordered_json& element : ordered_json::parse(text)) all.push_back(element);
  }
  return all;
}

std::string rates_table(const ordered_json& units) {
  Table table({"rank", "unit", "copy GB/s", "scale", "add", "triad", "GEMM GFLOP/s double", "float", "to device GB/s",
               "to host"});
  for (const ordered_json& unit : units) {
    std::vector<std::string> row{unit.at("rank").dump(), unit.at("unit")};
    for (const ordered_json& rate : unit.at("stream_bytes_per_s")) row.push_back(in_billions(rate));
    for (const ordered_json& rate : unit.at("gemm_flops_per_s")) row.push_back(in_billions(rate));
    for (const char* const rate : {"to_device_bytes_per_s", "to_host_bytes_per_s"}) {
      row.push_back(in_billions(unit.at(rate)));
    }
    table.add_row(row);
  }
  return table.text();
}

void add_units_command(CLI::App& parser, Action& chosen) {
  const auto [command, options] = add_command<UnitsOptions>(
      parser, "units", "Show what this machine has and which processing units each rank would drive", chosen,
      print_units);
  add_unit_options(*command, options->run);
  command->add_flag("--measure", options->measure,
                    "Also what they can do at most: STREAM's bandwidths, GEMM, copies to and from a device");
}

void add_layout_command(CLI::App& parser, Action& chosen) {
  const auto [command, options] = add_command<LayoutOptions>(
      parser, "layout", "Write a layout file for the current mpirun, to edit", chosen, write_layout);
  add_units_option(*command, options->run.units, "all there are");
  add_value(*command, "--slowdown", options->run.slowdown, "host=F, device=F or rankN=F", "WHICH=F");
  add_value(*command, "--like", options->like,
            "Layout of other hosts, a line a rank, whose units and slowdowns the ranks here are to have", "FILE")
      ->excludes("--units");
  add_value(*command, "--output", options->output, "File to write (default: standard output)", "FILE");
}

}  // namespace steelyard::tool
