#include "miniapps/app/plan.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/errors.hpp"
#include "core/layout.hpp"
#include "core/unit_plan.hpp"
#include "models/kinds/model_kinds.hpp"
#include "partition/hierarchical.hpp"

namespace steelyard {
namespace {

MessageFacts message_facts(const models::MessagePattern& pattern, double footprint_bytes) {
  MessageFacts facts;
  facts.footprint_bytes = footprint_bytes;
  for (const models::Phase& phase : pattern.phases) {
    for (const models::Message& message : phase.messages) {
      facts.smallest_bytes = facts.largest_bytes > 0.0 ? std::min(facts.smallest_bytes, message.bytes) : message.bytes;
      facts.largest_bytes = std::max(facts.largest_bytes, message.bytes);
    }
  }
  return facts;
}

/// Estimates of every slot's predicted time, with their intervals; empty without speed models.
std::vector<models::Estimate> slot_estimates(const Plan& plan) {
  if (plan.models.empty() || plan.models.front().files.empty()) return {};
  std::vector<models::Estimate> slots(plan.unit_s.size());
  const auto add_phase = [&](const KeptModels& models, const std::vector<std::int64_t>& units, double share) {
    for (std::size_t i = 0; i < slots.size(); ++i) {
      const auto size = static_cast<double>(units[i]);
      slots[i] = slots[i] + models::estimate(models.files[i], size, share * plan.unit_s[i]);
    }
  };
  const double share = plan.column_distribution.empty() ? 1.0 : 0.5;
  add_phase(plan.models.front(), plan.distribution, share);
  if (share < 1.0) add_phase(plan.models.back(), plan.column_distribution, share);
  return slots;
}

}  // namespace

std::string Resources::node_name(int rank) const {
  const int node = node_of_rank_[static_cast<std::size_t>(rank)];
  return hosts_.empty() ? fmt::format("{}", node) : hosts_[static_cast<std::size_t>(node)];
}

partition::Algorithm Resources::algorithm(const std::string& name) const {
  partition::Algorithm algorithm = partition::find_algorithm(name);
  if (!options_.kind.empty()) algorithm.model_kind = models::find_model_kind(options_.kind).name;
  if (options_.levels == 1) return algorithm;
  std::vector<int> node_of_slot;
  for (const Slot& slot : slots_) node_of_slot.push_back(node_of_rank_[static_cast<std::size_t>(slot.rank)]);
  return partition::on_two_levels(algorithm, std::move(node_of_slot));
}

models::Estimate Resources::estimate(const Plan& plan) const {
  const ModelForecast& run = plan.by_model.front();
  return models::run_estimate(slot_estimates(plan), run.total_s, run.exposed_s, channel_error_);
}

std::optional<double> Resources::model_parameter(const std::string& name) const {
  if (options_.models.empty()) return std::nullopt;
  models::FpmFile first;
  on_all_ranks([&] { first = models::read_fpm_file(options_.models.front()); });
  const auto found = first.parameters.find(name);
  return found == first.parameters.end() ? 1.0 : found->second;
}

std::vector<UnitColumn> rectangle_columns(std::span<const partition::Rectangle> parts) {
  std::vector<UnitColumn> columns{{"row", {}}, {"column", {}}, {"rows", {}}, {"columns", {}}};
  for (const partition::Rectangle& part : parts) {
    auto column = columns.begin();
    for (const std::int64_t number : {part.row, part.column, part.rows, part.columns}) {
      (column++)->cells.push_back(part.empty() ? "-" : fmt::format("{}", number));
    }
  }
  return columns;
}

std::vector<models::PatternCosts> Resources::message_costs(
    const std::optional<Channels>& channels, std::size_t count,
    const std::function<std::vector<models::MessagePattern>()>& patterns) const {
  std::vector<models::PatternCosts> costs{{"no messages", std::vector<double>(count, 0.0)}};
  if (!channels) return costs;
  on_all_ranks([&] { costs = models::pattern_costs(patterns(), channels->platform, channels->placement); });
  return costs;
}

Processes::Processes(const RunOptions& options, const ProcessCount& count, bool has_messages) : Resources(options) {
  if (!options.layout.empty()) {
    read_layout_file(options.layout);
  } else {
    const int per_node = count.per_node > 0 ? count.per_node : count.processes;
    for (int process = 0; process < count.processes; ++process) {
      node_of_rank_.push_back(process / per_node);
      add_units(process, options.units.value_or(UnitChoice::host), {1.0, 1.0});
    }
    for (std::size_t i = 0; options.slowdown.empty() && !options.models.empty() && i < slots().size(); ++i) {
      slowdowns_[i] = models::read_fpm_file(options.models[i % options.models.size()]).slowdown;
    }
  }
  if (const int rank = Slowdowns(options.slowdown).highest_rank(); rank >= ranks()) {
    throw InvalidArgument(fmt::format("slowdown of rank {} (expected a rank below {})", rank, ranks()));
  }
  if (!options.platform.empty()) {
    platform_ = models::read_platform_file(options.platform);
    channel_error_ = platform_.error();
    doubts_.insert(platform_.note);
  } else if (has_messages && ranks() > 1) {
    throw InvalidArgument(fmt::format("--platform is missing (expected measured channels for {} processes)", ranks()));
  }
}

void Processes::add_units(int process, UnitChoice choice, const PerUnit<double>& slowdowns) {
  const Slowdowns asked(options().slowdown);
  const auto add = [&](ProcessingUnit::Kind kind, double slowdown) {
    slots_.push_back({process, kind, kind == ProcessingUnit::Kind::host ? 1 : choice.devices});
    slowdowns_.push_back(asked.factor(process, kind) * slowdown);
  };
  if (choice.has_host) add(ProcessingUnit::Kind::host, slowdowns.host);
  if (choice.has_companion()) add(ProcessingUnit::Kind::companion, slowdowns.companion);
}

void Processes::read_layout_file(const std::filesystem::path& path) {
  const Layout layout = read_layout(path);
  for (std::size_t i = 0; i < layout.entries.size(); ++i) {
    const LayoutEntry& entry = layout.entries[i];
    const auto node = std::find(hosts_.begin(), hosts_.end(), entry.host_name);
    node_of_rank_.push_back(static_cast<int>(node - hosts_.begin()));
    if (node == hosts_.end()) hosts_.push_back(entry.host_name);
    try {
      add_units(static_cast<int>(i), entry.units, unit_slowdowns(entry));
    } catch (const InvalidArgument& error) {
      throw FileFormatError(path.string(), fmt::format("rank {} of {}", entry.rank_on_node, entry.host_name),
                            error.what());
    }
  }
}

int Processes::nodes() const { return 1 + *std::max_element(node_of_rank_.begin(), node_of_rank_.end()); }

models::Placement Processes::placement() const {
  const std::vector<models::PlatformNode>& nodes = platform_.nodes;
  const auto known = [&](const std::string& host) {
    return std::ranges::find(nodes, host, &models::PlatformNode::host);
  };
  const auto is_known = [&](const std::string& host) { return known(host) != nodes.end(); };
  if (std::ranges::none_of(hosts_, is_known)) return {platform_, node_of_rank_, {}};
  const bool all_alike =
      std::ranges::all_of(nodes, [&](const models::PlatformNode& node) { return node.kind == nodes.front().kind; });
  std::vector<std::string> kinds;
  for (const std::string& host : hosts_) {
    if (!is_known(host) && !all_alike) {
      throw InvalidArgument(
          fmt::format("{} is none of the platform's nodes, which are of several kinds (expected one of those)", host));
    }
    kinds.push_back(is_known(host) ? known(host)->kind : nodes.front().kind);
  }
  return {platform_, node_of_rank_, kinds};
}

std::string Processes::notes() const {
  std::vector<int> of_node(static_cast<std::size_t>(nodes()), 0);
  for (const int node : node_of_rank_) ++of_node[static_cast<std::size_t>(node)];
  const int most = *std::max_element(of_node.begin(), of_node.end());
  std::string text;
  for (const std::string& doubt : doubts_) {
    if (!doubt.empty()) text += fmt::format("note       {}\n", doubt);
  }
  for (const models::Channel& channel : platform_.channels) {
    const bool is_used = (channel.scope == models::Channel::Scope::node && most > 1) ||
                         (channel.scope == models::Channel::Scope::network && nodes() > 1);
    if (!is_used || !channel.tau_lop) continue;
    const int measured = channel.tau_lop->transfer.largest_concurrency();
    if (measured >= most) continue;
    text += fmt::format(
        "note       {} was measured with up to {} transfers at once; {} processes of a node may make more, "
        "which are taken as in proportion\n",
        channel.name, measured, most);
  }
  return text;
}

std::vector<PhaseTime> beside_prediction(const Plan& plan,
                                         const std::vector<std::pair<std::string, double>>& measured_s) {
  std::vector<PhaseTime> phases;
  for (const auto& [name, seconds] : measured_s) {
    phases.push_back({name, seconds, std::nullopt});
    if (plan.by_model.empty()) continue;
    for (const auto& [predicted, predicted_s] : plan.by_model.front().phases) {
      if (predicted == name) phases.back().predicted_s = predicted_s;
    }
  }
  return phases;
}

Plan plan_steps(Resources& on, const MeasurableKernel& kernel, std::int64_t total, std::int64_t steps,
                const std::pair<std::string, std::string>& phases,
                const std::optional<models::MessagePattern>& exchange, double footprint_bytes) {
  if (!exchange && !on.has_seconds()) {
    throw InvalidArgument(
        fmt::format("--model is missing (expected speed models, for {} sends no messages)", kernel.facts().app));
  }
  const SpeedModels models = on.speed_models(kernel, total, on.partition());
  partition::Distribution slices;
  on.on_all_ranks([&] { slices = models.distribute(total); });
  Plan plan;
  plan.distribution = slices.units;
  plan.unit_s = slices.predicted_s;
  plan.models = {{"", models.files()}};
  std::optional<Channels> channels;
  if (exchange) channels = on.channels(message_facts(*exchange, footprint_bytes));
  const double count = static_cast<double>(steps);
  const double kernels_s = on.has_seconds() ? count * slices.makespan_s() : 0.0, start_s = on.start_s();
  for (const models::PatternCosts& cost : on.message_costs(channels, 1, [&] { return std::vector{*exchange}; })) {
    const double communication_s = count * cost.time_s.front();
    ModelForecast one{cost.model, {}, communication_s, communication_s, start_s + kernels_s + communication_s};
    if (on.has_seconds()) one.phases.emplace_back(phases.first, kernels_s);
    if (exchange) one.phases.emplace_back(phases.second, communication_s);
    plan.by_model.push_back(one);
  }
  plan.time_s = plan.by_model.front().total_s;
  return plan;
}

}  // namespace steelyard
