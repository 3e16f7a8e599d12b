#include "miniapps/steelyard/predicted_processes.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <map>
#include <utility>

#include "core/base/errors.hpp"
#include "core/layout_slowdown.hpp"
#include "miniapps/app/same_kernel.hpp"
#include "models/communication/platform_file.hpp"
#include "models/constant_model.hpp"
#include "models/fpm_file.hpp"
#include "models/model_kinds.hpp"

namespace steelyard::tool {
namespace {

using Kind = ProcessingUnit::Kind;

PredictedProcesses from_layout(const std::filesystem::path& path) {
  const Layout layout = read_layout(path);
  PredictedProcesses processes;
  for (std::size_t i = 0; i < layout.entries.size(); ++i) {
    const LayoutEntry& entry = layout.entries[i];
    const auto node = std::find(processes.hosts.begin(), processes.hosts.end(), entry.host_name);
    processes.node_of_process.push_back(static_cast<int>(node - processes.hosts.begin()));
    if (node == processes.hosts.end()) processes.hosts.push_back(entry.host_name);
    try {
      const UnitSlowdowns slowdowns = unit_slowdowns(entry);
      const int process = static_cast<int>(i);
      if (entry.units != UnitChoice::device) processes.units.push_back({process, Kind::host, slowdowns.host});
      if (entry.units != UnitChoice::host) processes.units.push_back({process, Kind::companion, slowdowns.companion});
    } catch (const InvalidArgument& error) {
      throw FileFormatError(path.string(), fmt::format("rank {} of {}", entry.rank_on_node, entry.host_name),
                            error.what());
    }
  }
  return processes;
}

/// As if it had been measured on a unit of that slowness.
void slow_down(models::FpmFile& file, double slowdown) {
  for (models::MeasuredPoint& point : file.points) {
    point.time_s *= slowdown / file.slowdown;
    point.confidence_s *= slowdown / file.slowdown;
  }
  file.slowdown = slowdown;
}

}  // namespace

void add_process_options(CLI::App& parser, ProcessOptions& options) {
  const CLI::Range positive(1, 1 << 20);
  CLI::Option* processes = parser.add_option("--processes", options.processes, "Processes, each with a host unit")
                               ->check(positive)
                               ->type_name("P")
                               ->capture_default_str();
  CLI::Option* per_node = parser.add_option("--per-node", options.per_node, "Processes of a node (default: all)")
                              ->check(positive)
                              ->type_name("K");
  parser.add_option("--layout", options.layout, "Processes by a layout: one a line, on nodes by host name")
      ->type_name("FILE")
      ->excludes(processes)
      ->excludes(per_node);
  parser
      .add_option("--platform", options.platform, "Measured channels (*.platform.json); needed for several processes")
      ->type_name("FILE");
  parser
      .add_option("--model", options.models,
                  "Speed models (*.fpm.json): one for all units, or one each; without, only communication is predicted")
      ->type_name("FILE...");
}

int PredictedProcesses::nodes() const { return 1 + *std::max_element(node_of_process.begin(), node_of_process.end()); }

PredictedProcesses predicted_processes(const ProcessOptions& options) {
  if (!options.layout.empty()) return from_layout(options.layout);
  PredictedProcesses processes;
  const int per_node = options.per_node > 0 ? options.per_node : options.processes;
  for (int process = 0; process < options.processes; ++process) {
    processes.node_of_process.push_back(process / per_node);
    processes.units.push_back({process, Kind::host, 1.0});
  }
  return processes;
}

models::Platform read_platform(const ProcessOptions& options, const PredictedProcesses& processes) {
  if (!options.platform.empty()) return models::read_platform_file(options.platform);
  if (processes.count() > 1) {
    throw InvalidArgument(
        fmt::format("--platform is missing (expected measured channels for {} processes)", processes.count()));
  }
  return {};
}

models::Placement placement_on(const models::Platform& platform, const PredictedProcesses& processes) {
  std::vector<std::string> kinds;
  bool any_known = false;
  for (const std::string& host : processes.hosts) {
    const auto node = std::find_if(platform.nodes.begin(), platform.nodes.end(),
                                   [&](const models::PlatformNode& candidate) { return candidate.host == host; });
    kinds.push_back(node == platform.nodes.end() ? "" : node->kind);
    any_known = any_known || node != platform.nodes.end();
  }
  if (!any_known) kinds.clear();
  return {platform, processes.node_of_process, kinds};
}

std::vector<models::SpeedModelPtr> unit_models(const ProcessOptions& options, const PredictedProcesses& processes,
                                               const KernelFacts& facts, const partition::Algorithm& algorithm) {
  const std::size_t units = processes.units.size();
  const std::size_t files = options.models.size();
  if (files > 1 && files != units) {
    throw InvalidArgument(
        fmt::format("--model names {} files for {} processing units (expected 1, or one each)", files, units));
  }
  std::map<std::filesystem::path, models::FpmFile> read;
  models::FitOptions fit;
  fit.shape = algorithm.shape;
  std::vector<models::SpeedModelPtr> models;
  for (std::size_t i = 0; i < units; ++i) {
    const PredictedUnit& unit = processes.units[i];
    if (files == 0) {
      models.push_back(std::make_unique<models::ConstantModel>(1.0 / unit.slowdown));
      continue;
    }
    const std::filesystem::path& path = options.models[i % files];
    if (read.count(path) == 0) read[path] = models::read_fpm_file(path);
    models::FpmFile file = read.at(path);
    require_same_kernel(path, file, facts);
    if (files > 1) require_same_kind(path, file, unit.kind);
    slow_down(file, unit.slowdown);
    models.push_back(models::make_model(file, algorithm.model_kind, fit));
  }
  return models;
}

}  // namespace steelyard::tool
