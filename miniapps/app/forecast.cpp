#include "miniapps/app/forecast.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <span>

#include "core/base/errors.hpp"
#include "core/typed_options.hpp"
#include "core/unit_plan.hpp"
#include "miniapps/app/mini_app.hpp"
#include "models/communication/pattern_costs.hpp"
#include "models/communication/platform_file.hpp"
#include "models/fpm_file.hpp"
#include "models/kinds/model_kinds.hpp"

namespace steelyard {
namespace {

using Kind = ProcessingUnit::Kind;

/// As if it had been measured on a unit of that slowness.
models::FpmFile slowed_down(models::FpmFile file, double slowdown) {
  for (models::MeasuredPoint& point : file.points) {
    point.time_s *= slowdown / file.slowdown;
    point.confidence_s *= slowdown / file.slowdown;
  }
  file.slowdown = slowdown;
  return file;
}

}  // namespace

void add_process_options(CLI::App& parser, ProcessOptions& options) {
  constexpr int most = 1 << 20;
  CLI::Option* processes =
      add_number(parser, "--processes", options.processes, "Processes", 1, most, "P")->capture_default_str();
  CLI::Option* per_node =
      add_number(parser, "--per-node", options.per_node, "Processes of a node (default: all)", 1, most, "K");
  CLI::Option* units = add_choice<UnitChoice>(parser, "--units", options.units, {"host", "device", "host+device"},
                                              "Processing units of every process (default: host)");
  parser.add_option("--layout", options.layout, "Processes by a layout: one a line, on nodes by host name")
      ->type_name("FILE")
      ->excludes(processes)
      ->excludes(per_node)
      ->excludes(units);
  std::string models = "Speed models (*.fpm.json): one for all units, one for each of a process, or one each";
  if (options.has_messages) {
    models += "; without, only communication is predicted";
    parser
        .add_option("--platform", options.platform, "Measured channels (*.platform.json); needed for several processes")
        ->type_name("FILE");
  }
  parser.add_option("--model", options.models, models)->type_name("FILE...");
  parser
      .add_option("--kind", options.kind, "What to make of the models' points (default: what the algorithm asks for)")
      ->type_name("KIND");
}

Processes::Processes(const ProcessOptions& options) : models_(options.models), kind_(options.kind) {
  if (!options.layout.empty()) {
    read_layout_file(options.layout);
  } else {
    const int per_node = options.per_node > 0 ? options.per_node : options.processes;
    for (int process = 0; process < options.processes; ++process) {
      node_of_process_.push_back(process / per_node);
      if (options.units != UnitChoice::device) units_.push_back({process, Kind::host, 1.0});
      if (options.units != UnitChoice::host) units_.push_back({process, Kind::companion, 1.0});
    }
    // As slow as they were when they were measured.
    for (std::size_t i = 0; !models_.empty() && i < units_.size(); ++i) {
      units_[i].slowdown = models::read_fpm_file(models_[i % models_.size()]).slowdown;
    }
  }
  for (const Unit& unit : units_) slots_.push_back({unit.process, unit.kind});
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

std::string Processes::node_name(int rank) const {
  const int node = node_of_process_[static_cast<std::size_t>(rank)];
  return hosts_.empty() ? fmt::format("{}", node) : hosts_[static_cast<std::size_t>(node)];
}

models::Placement Processes::placement() const {
  const auto known = [&](const std::string& host) {
    return std::find_if(platform_.nodes.begin(), platform_.nodes.end(),
                        [&](const models::PlatformNode& node) { return node.host == host; });
  };
  std::vector<std::string> kinds;
  const auto end = platform_.nodes.end();
  if (std::any_of(hosts_.begin(), hosts_.end(), [&](const std::string& host) { return known(host) != end; })) {
    const bool all_alike = std::all_of(platform_.nodes.begin(), end, [&](const models::PlatformNode& node) {
      return node.kind == platform_.nodes.front().kind;
    });
    for (const std::string& host : hosts_) {
      if (known(host) == end && !all_alike) {
        throw InvalidArgument(fmt::format(
            "{} is none of the platform's nodes, which are of several kinds (expected one of those)", host));
      }
      kinds.push_back(known(host) == end ? platform_.nodes.front().kind : known(host)->kind);
    }
  }
  return {platform_, node_of_process_, kinds};
}

std::string Processes::concurrency_note() const {
  std::vector<int> of_node(static_cast<std::size_t>(nodes()), 0);
  for (const int node : node_of_process_) ++of_node[static_cast<std::size_t>(node)];
  const int most = *std::max_element(of_node.begin(), of_node.end());
  std::string text;
  for (const models::Channel& channel : platform_.channels) {
    const bool is_used = channel.scope == models::Channel::Scope::node      ? most > 1
                         : channel.scope == models::Channel::Scope::network ? nodes() > 1
                                                                            : false;
    if (!is_used || !channel.tau_lop || channel.tau_lop->transfer.largest_concurrency() >= most) continue;
    text += fmt::format(
        "note       {} was measured with up to {} transfers at once; {} processes of a node may make more, "
        "which are taken as in proportion\n",
        channel.name, channel.tau_lop->transfer.largest_concurrency(), most);
  }
  return text;
}

SpeedModels Processes::speed_models(const KernelFacts& facts, const partition::Algorithm& algorithm,
                                    const std::vector<std::filesystem::path>& files) const {
  const std::size_t number = files.size(), all = units_.size();
  if (number > 1 && number != all && number * node_of_process_.size() != all) {
    throw InvalidArgument(fmt::format(
        "--model names {} files for {} processing units (expected 1, one per unit of a process, or one each)", number,
        all));
  }
  partition::Algorithm fitted = algorithm;
  if (!kind_.empty()) fitted.model_kind = models::find_model_kind(kind_).name;
  std::vector<models::FpmFile> read, of_unit;
  for (std::size_t i = 0; i < number; ++i) {
    read.push_back(read_model_of(facts, files[i], number > 1 ? std::optional(units_[i].kind) : std::nullopt));
  }
  const std::vector<double> slowdowns = this->slowdowns();
  if (files.empty()) return SpeedModels(slowdowns);
  for (std::size_t i = 0; i < all; ++i) of_unit.push_back(slowed_down(read[i % number], slowdowns[i]));
  return {std::move(of_unit), fitted};
}

SpeedModels Processes::speed_models(const MeasurableKernel& kernel, std::int64_t /*total*/,
                                    const std::string& algorithm) {
  return speed_models(kernel.facts(), partition::find_algorithm(algorithm));
}

SpeedModels Processes::speed_models(const MeasurableKernel& kernel, std::int64_t /*total*/,
                                    const std::string& algorithm, const std::vector<std::filesystem::path>& files) {
  return speed_models(kernel.facts(), partition::find_algorithm(algorithm), files);
}

std::vector<double> Processes::slowdowns() const {
  std::vector<double> slowdowns;
  for (const Unit& unit : units_) slowdowns.push_back(unit.slowdown);
  return slowdowns;
}

namespace {

class PlanForecaster : public Forecaster {
 public:
  PlanForecaster(const MiniApp& app, std::vector<std::string> partitions)
      : app_(app), partitions_(std::move(partitions)) {}

  std::string problem() const override { return app_.problem() + "\n"; }
  std::vector<std::string> partitions() const override { return partitions_; }
  bool has_weak_scaling() const override { return app_.facts().grows; }
  Forecast forecast(Processes& processes, const std::string& partition) const override {
    processes.set_partition(partition);
    const Plan plan = app_.plan(processes, times_).value();
    Forecast forecast;
    forecast.models = plan.by_model;
    forecast.distribution = plan.distribution;
    forecast.column_distribution = plan.column_distribution;
    for (const RectangleRecord& part : plan.rectangles) {
      forecast.rectangles.push_back({part.row, part.column, part.rows, part.columns});
    }
    forecast.details = plan.details;
    forecast.channel_error = processes.platform().error();
    forecast.units = slot_estimates(plan);
    return forecast;
  }

 private:
  const MiniApp& app_;
  std::vector<std::string> partitions_;
};

}  // namespace

std::unique_ptr<Forecaster> forecast_by_plan(const MiniApp& app, std::vector<std::string> partitions) {
  return std::make_unique<PlanForecaster>(app, std::move(partitions));
}

}  // namespace steelyard
