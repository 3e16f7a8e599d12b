#include "miniapps/app/processes.hpp"

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

namespace steelyard {
namespace {

using Kind = ProcessingUnit::Kind;

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
  std::string models = "Speed models (*.fpm.json): one for all units, or one each";
  if (options.has_messages) {
    models += "; without, only communication is predicted";
    parser
        .add_option("--platform", options.platform, "Measured channels (*.platform.json); needed for several processes")
        ->type_name("FILE");
  }
  parser.add_option("--model", options.models, models)->type_name("FILE...");
}

Processes::Processes(const ProcessOptions& options) : models_(options.models) {
  if (!options.layout.empty()) {
    read_layout_file(options.layout);
  } else {
    const int per_node = options.per_node > 0 ? options.per_node : options.processes;
    for (int process = 0; process < options.processes; ++process) {
      node_of_process_.push_back(process / per_node);
      units_.push_back({process, Kind::host, 1.0});
    }
  }
  if (!options.platform.empty()) {
    platform_ = models::read_platform_file(options.platform);
  } else if (options.has_messages && count() > 1) {
    throw InvalidArgument(fmt::format("--platform is missing (expected measured channels for {} processes)", count()));
  }
}

void Processes::read_layout_file(const std::filesystem::path& path) {
  const Layout layout = read_layout(path);
  for (std::size_t i = 0; i < layout.entries.size(); ++i) {
    const LayoutEntry& entry = layout.entries[i];
    const auto node = std::find(hosts_.begin(), hosts_.end(), entry.host_name);
    node_of_process_.push_back(static_cast<int>(node - hosts_.begin()));
    if (node == hosts_.end()) hosts_.push_back(entry.host_name);
    try {
      const UnitSlowdowns slowdowns = unit_slowdowns(entry);
      const int process = static_cast<int>(i);
      if (entry.units != UnitChoice::device) units_.push_back({process, Kind::host, slowdowns.host});
      if (entry.units != UnitChoice::host) units_.push_back({process, Kind::companion, slowdowns.companion});
    } catch (const InvalidArgument& error) {
      throw FileFormatError(path.string(), fmt::format("rank {} of {}", entry.rank_on_node, entry.host_name),
                            error.what());
    }
  }
}

int Processes::nodes() const { return 1 + *std::max_element(node_of_process_.begin(), node_of_process_.end()); }

std::vector<int> Processes::process_of_unit() const {
  std::vector<int> processes;
  for (const Unit& unit : units_) processes.push_back(unit.process);
  return processes;
}

std::string Processes::node_name(std::size_t process) const {
  const int node = node_of_process_[process];
  return hosts_.empty() ? fmt::format("{}", node) : hosts_[static_cast<std::size_t>(node)];
}

models::Placement Processes::placement() const {
  std::vector<std::string> kinds;
  bool any_known = false;
  for (const std::string& host : hosts_) {
    const auto node = std::find_if(platform_.nodes.begin(), platform_.nodes.end(),
                                   [&](const models::PlatformNode& candidate) { return candidate.host == host; });
    kinds.push_back(node == platform_.nodes.end() ? "" : node->kind);
    any_known = any_known || node != platform_.nodes.end();
  }
  if (!any_known) kinds.clear();
  return {platform_, node_of_process_, kinds};
}

std::vector<models::SpeedModelPtr> Processes::speed_models(const std::vector<std::filesystem::path>& files,
                                                           const KernelFacts& facts,
                                                           const partition::Algorithm& algorithm) const {
  if (files.size() > 1 && files.size() != units_.size()) {
    throw InvalidArgument(fmt::format("--model names {} files for {} processing units (expected 1, or one each)",
                                      files.size(), units_.size()));
  }
  std::map<std::filesystem::path, models::FpmFile> read;
  models::FitOptions fit;
  fit.shape = algorithm.shape;
  std::vector<models::SpeedModelPtr> models;
  for (std::size_t i = 0; i < units_.size(); ++i) {
    const Unit& unit = units_[i];
    if (files.empty()) {
      models.push_back(std::make_unique<models::ConstantModel>(1.0 / unit.slowdown));
      continue;
    }
    const std::filesystem::path& path = files[i % files.size()];
    if (read.count(path) == 0) read[path] = models::read_fpm_file(path);
    models::FpmFile file = read.at(path);
    require_same_kernel(path, file, facts);
    if (files.size() > 1) require_same_kind(path, file, unit.kind);
    slow_down(file, unit.slowdown);
    models.push_back(models::make_model(file, algorithm.model_kind, fit));
  }
  return models;
}

std::vector<const models::SpeedModel*> pointers_to(const std::vector<models::SpeedModelPtr>& models) {
  std::vector<const models::SpeedModel*> pointers;
  for (const models::SpeedModelPtr& model : models) pointers.push_back(model.get());
  return pointers;
}

}  // namespace steelyard
