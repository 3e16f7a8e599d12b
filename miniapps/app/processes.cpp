#include "miniapps/app/processes.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "core/base/errors.hpp"
#include "core/layout.hpp"
#include "core/typed_options.hpp"
#include "core/unit_plan.hpp"
#include "models/communication/platform.hpp"
#include "models/fpm_file.hpp"

namespace steelyard {

void add_process_options(CLI::App& parser, ProcessCount& count) {
  constexpr int most = 1 << 20;
  CLI::Option* const layout = parser.get_option("--layout");
  layout->description("Processes by a layout: one a line, on nodes by host name")
      ->excludes(parser.get_option("--units"));
  add_number(parser, "--processes", count.processes, "Processes", 1, most, "P")
      ->capture_default_str()
      ->excludes(layout);
  add_number(parser, "--per-node", count.per_node, "Processes of a node (default: all)", 1, most, "K")
      ->excludes(layout);
}

Processes::Processes(const RunOptions& options, const ProcessCount& count, bool has_messages) : Resources(options) {
  if (!options.layout.empty()) {
    read_layout_file(options.layout);
  } else {
    const int per_node = count.per_node > 0 ? count.per_node : count.processes;
    for (int process = 0; process < count.processes; ++process) {
      node_of_rank_.push_back(process / per_node);
      add_units(process, options.units.value_or(UnitChoice::host), {});
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
  } else if (has_messages && ranks() > 1) {
    throw InvalidArgument(fmt::format("--platform is missing (expected measured channels for {} processes)", ranks()));
  }
}

void Processes::add_units(int process, UnitChoice choice, const UnitSlowdowns& slowdowns) {
  const Slowdowns asked(options().slowdown);
  const auto add = [&](ProcessingUnit::Kind kind, double slowdown) {
    add_slot({process, kind});
    slowdowns_.push_back(asked.factor(process, kind) * slowdown);
  };
  if (choice != UnitChoice::device) add(ProcessingUnit::Kind::host, slowdowns.host);
  if (choice != UnitChoice::host) add(ProcessingUnit::Kind::companion, slowdowns.companion);
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

std::string Processes::node_name(int rank) const {
  const int node = node_of_rank_[static_cast<std::size_t>(rank)];
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
  return {platform_, node_of_rank_, kinds};
}

std::string Processes::concurrency_note() const {
  std::vector<int> of_node(static_cast<std::size_t>(nodes()), 0);
  for (const int node : node_of_rank_) ++of_node[static_cast<std::size_t>(node)];
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

}  // namespace steelyard
