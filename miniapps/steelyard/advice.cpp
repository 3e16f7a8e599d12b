#include "miniapps/steelyard/advice.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <set>

#include "core/base/errors.hpp"
#include "core/base/table.hpp"
#include "core/machine.hpp"
#include "miniapps/app/outputs.hpp"

namespace steelyard::tool {
namespace {

/// The units of a process, as their models were measured.
struct UnitSet {
  std::vector<std::filesystem::path> paths;
  models::FpmFile first;
  UnitChoice choice = UnitChoice::host;
  std::string name;
  std::vector<std::string> cores;

  std::size_t core_count() const {
    std::size_t count = 0;
    for (const std::string& list : cores) count += parse_cores(list).size();
    return count;
  }
};

std::string name_of(const models::FpmFile& file) {
  const std::string kind = file.unit_kind.empty() ? "host" : file.unit_kind;
  return kind + (file.unit_cores.empty() ? "" : " " + file.unit_cores) +
         (file.slowdown > 1.0 ? fmt::format("/{:g}", file.slowdown) : "");
}

bool share_cores(const models::FpmFile& a, const models::FpmFile& b) {
  if (a.unit_cores.empty() || b.unit_cores.empty()) return false;
  const CoreList of_a = parse_cores(a.unit_cores), of_b = parse_cores(b.unit_cores);
  return std::find_first_of(of_a.begin(), of_a.end(), of_b.begin(), of_b.end()) != of_a.end();
}

std::vector<std::string> cores_of(const models::FpmFile& file) {
  return file.unit_cores.empty() ? std::vector<std::string>() : std::vector<std::string>{file.unit_cores};
}

/// Each file alone, and those pairs that one process can drive. Of units that have the same name the first ones count.
std::vector<UnitSet> unit_sets(const std::vector<std::filesystem::path>& paths) {
  std::vector<models::FpmFile> files;
  for (const std::filesystem::path& path : paths) files.push_back(models::read_fpm_file(path));
  std::vector<UnitSet> sets;
  std::set<std::pair<std::string, std::map<std::string, double>>> known;
  const auto add = [&](UnitSet set) {
    if (known.emplace(set.name, set.first.parameters).second) sets.push_back(std::move(set));
  };
  for (std::size_t i = 0; i < files.size(); ++i) {
    const bool is_device = files[i].unit_kind == "device";
    add({{paths[i]},
         files[i],
         is_device ? UnitChoice::device : UnitChoice::host,
         name_of(files[i]),
         cores_of(files[i])});
  }
  for (std::size_t i = 0; i < files.size(); ++i) {
    for (std::size_t j = 0; j < files.size(); ++j) {
      if (files[i].unit_kind == "device" || files[j].unit_kind != "device") continue;
      if (paths[i].parent_path() != paths[j].parent_path() || files[i].parameters != files[j].parameters) continue;
      if (share_cores(files[i], files[j])) continue;
      std::vector<std::string> cores = cores_of(files[i]);
      for (const std::string& list : cores_of(files[j])) cores.push_back(list);
      add({{paths[i], paths[j]},
           files[i],
           UnitChoice::host_and_device,
           name_of(files[i]) + " + " + name_of(files[j]),
           cores});
    }
  }
  return sets;
}

/// Cores of the platform's smallest node; nothing where it does not say.
std::optional<std::size_t> cores_per_node(const models::Platform& platform) {
  std::optional<std::size_t> least;
  for (const models::PlatformNode& node : platform.nodes) {
    if (node.cores > 0) least = std::min(least.value_or(node.cores), static_cast<std::size_t>(node.cores));
  }
  return least;
}

bool same_shares(const Plan& a, const Plan& b) {
  return a.distribution == b.distribution && a.column_distribution == b.column_distribution &&
         a.rectangles == b.rectangles;
}

/// The parameters of a set's models that others' models have with another value.
std::string variant_of(const UnitSet& set, const std::vector<UnitSet>& all) {
  std::vector<std::string> differing;
  for (const auto& [name, value] : set.first.parameters) {
    const auto differs = [&, key = name, own = value](const UnitSet& other) {
      const auto found = other.first.parameters.find(key);
      return found != other.first.parameters.end() && found->second != own;
    };
    if (std::ranges::any_of(all, differs)) differing.push_back(fmt::format("{} {:g}", name, value));
  }
  return fmt::format("{}", fmt::join(differing, ", "));
}

const AdvisedRun* first_of(const std::vector<AdvisedRun>& runs, const std::function<bool(const AdvisedRun&)>& which) {
  const auto found = std::find_if(runs.begin(), runs.end(), which);
  return found == runs.end() ? nullptr : &*found;
}

std::string times(const AdvisedRun& slow, const AdvisedRun& fast) {
  return fmt::format("{:.2f} times", slow.estimate.time_s / fast.estimate.time_s);
}

}  // namespace

std::string AdvisedRun::name() const {
  return fmt::format("{} with {}{}, {}", processes == 1 ? "1 process" : fmt::format("{} processes", processes), units,
                     variant.empty() ? "" : ", " + variant, partition);
}

std::vector<AdvisedRun> advised_runs(MiniApp& app, const ProcessCount& most) {
  RunOptions& options = app.run_options();
  if (options.models.empty()) throw InvalidArgument("--advise needs --model (expected models of a process's units)");
  std::vector<AdvisedRun> runs;
  std::string refusal;
  const std::vector<UnitSet> sets = unit_sets(options.models);
  for (const UnitSet& set : sets) {
    options.models = set.paths;
    options.units = set.choice;
    for (int count = 1;; count = std::min(2 * count, most.processes)) {
      Processes processes(options, {count, most.per_node}, app.facts().takes.platform);
      const std::optional<std::size_t> cores = cores_per_node(processes.platform());
      const int per_node = std::min(count, most.per_node > 0 ? most.per_node : count);
      if (cores && static_cast<std::size_t>(per_node) * set.core_count() > *cores) break;
      std::vector<Plan> known;
      for (const std::string& partition : app.facts().advised_partitions) {
        options.partition = partition;
        try {
          const Plan plan = app.plan(processes, 1);
          if (std::ranges::any_of(known, [&](const Plan& one) { return same_shares(one, plan); })) continue;
          known.push_back(plan);
          const ModelForecast& by_model = plan.by_model.front();
          runs.push_back({count, set.name, variant_of(set, sets), partition, set.choice != UnitChoice::host,
                          set.paths.size(), set.core_count(), by_model,
                          estimate(plan, by_model, processes.channel_error())});
        } catch (const InvalidArgument& error) {
          refusal = error.what();
        }
        if (processes.slots().size() == 1) break;
      }
      if (count == most.processes) break;
    }
  }
  if (runs.empty()) {
    throw InvalidArgument(refusal.empty() ? "no run fits the platform's cores (expected models of fewer)" : refusal);
  }
  std::stable_sort(runs.begin(), runs.end(),
                   [](const AdvisedRun& a, const AdvisedRun& b) { return a.estimate.time_s < b.estimate.time_s; });
  const auto end = std::find_if(runs.begin(), runs.end(), [&](const AdvisedRun& run) {
    return run.estimate.time_s > as_good * runs.front().estimate.time_s;
  });
  const auto simplest = std::min_element(runs.begin(), end, [](const AdvisedRun& a, const AdvisedRun& b) {
    return std::pair(a.processes, a.units_per_process) < std::pair(b.processes, b.units_per_process);
  });
  std::rotate(runs.begin(), simplest, simplest + 1);
  return runs;
}

std::string advice_text(const std::vector<AdvisedRun>& runs) {
  const AdvisedRun& best = runs.front();
  std::string text = fmt::format("{}: {}{}", best.name(), format_seconds(best.estimate.time_s),
                                 interval_text(best.estimate.interval()));
  const AdvisedRun* simple = first_of(runs, [](const auto& run) { return run.processes == 1 && !run.has_companion; });
  if (simple != nullptr && simple != &best) {
    text += fmt::format(", {} as fast as {}", times(*simple, best), simple->name());
  }
  const AdvisedRun* with = first_of(runs, [](const AdvisedRun& run) { return run.has_companion; });
  const AdvisedRun* without = first_of(runs, [](const AdvisedRun& run) { return !run.has_companion; });
  if (with != nullptr && without != nullptr) {
    text += best.has_companion
                ? fmt::format("; the companion pays ({} as fast as with {})", times(*without, *with), without->units)
                : fmt::format("; a companion does not pay ({} as long with one)", times(*with, *without));
    if (best.has_companion && static_cast<std::size_t>(without->processes) * without->cores <
                                  static_cast<std::size_t>(with->processes) * with->cores) {
      text += "; no model tells of the host with all cores (expected one of steelyard measure --units host)";
    }
  }
  const AdvisedRun* even = first_of(runs, [&](const AdvisedRun& run) {
    return run.partition == "even" && run.processes == best.processes && run.units == best.units &&
           run.variant == best.variant;
  });
  if (even != nullptr && even != &best) text += fmt::format("; balancing gains {} over even", times(*even, best));
  const double exposed = best.forecast.total_s > 0.0 ? best.forecast.exposed_s / best.forecast.total_s : 0.0;
  return text + fmt::format("; {:.0f} % of the time is communication that nothing hides", 100.0 * exposed);
}

}  // namespace steelyard::tool
