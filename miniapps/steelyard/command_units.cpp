#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "comm/collective.hpp"
#include "core/base/table.hpp"
#include "core/device/device.hpp"
#include "core/host_blas.hpp"
#include "core/runtime.hpp"
#include "miniapps/app/frame.hpp"
#include "miniapps/steelyard/command.hpp"
#include "miniapps/steelyard/rank_rates.hpp"

namespace steelyard::tool {
namespace {

using nlohmann::ordered_json;

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

/// Measures the highest rates of all ranks' units. Collective.
std::string measured_rates(const Session& session, const UnitsOptions& options) {
  const StartedUnits started(session, options.run);
  CoExecution co_execution(session.machine(), started.units());
  ordered_json rates;
  collectively(session.comm(), [&] { rates = measure_rank(session, started.units(), co_execution); });
  return rates_table(join_arrays(session, rates));
}

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
  if (options.measure) session.print("\n" + measured_rates(session, options));
  return ExitCode::good;
}

}  // namespace

void add_units_command(CLI::App& parser, Action& chosen) {
  auto options = std::make_shared<UnitsOptions>();
  CLI::App* command =
      parser.add_subcommand("units", "Show what this machine has and which processing units each rank would drive");
  add_unit_options(*command, options->run);
  command->add_flag("--measure", options->measure,
                    "Also what they can do at most: STREAM's bandwidths, GEMM, copies to and from a device");
  command->callback(
      [options, &chosen] { chosen = [options](Session& session) { return print_units(session, *options); }; });
}

}  // namespace steelyard::tool
