#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "core/base/errors.hpp"
#include "core/base/table.hpp"
#include "core/machine.hpp"
#include "miniapps/app/outputs.hpp"
#include "miniapps/app/plan.hpp"
#include "miniapps/steelyard/command.hpp"

namespace steelyard::tool {
namespace {

using nlohmann::ordered_json;

struct PredictOptions {
  MiniApp* app = nullptr;
  std::shared_ptr<AppOptions> parsers;
  ProcessCount processes;
  std::string scaling = "none";
  bool detail = false;
  bool advise = false;
  bool json = false;

  std::string name() const { return app->facts().name; }
  Processes on(const ProcessCount& count) const { return {app->run_options(), count, app->facts().takes.platform}; }
};

std::string header(const PredictOptions& options, const Processes& processes) {
  return fmt::format("problem    {}\nprocesses  {} with {} on {}\npartition  {}\n", options.app->problem(),
                     processes.ranks(), counted(std::ssize(processes.slots()), "processing unit"),
                     counted(processes.nodes(), "node"), processes.partition());
}

/// The keys `phases`, `time_s` and `predicted_interval_s`.
void add_times(ordered_json& json, const ModelForecast& forecast, const models::Estimate& total) {
  json["phases"] = ordered_json::array();
  for (const auto& [name, seconds] : forecast.phases) json["phases"].push_back({{"name", name}, {"time_s", seconds}});
  const Interval interval = total.interval();
  json["time_s"] = forecast.total_s;
  json["predicted_interval_s"] = {interval.lower, interval.upper};
}

void add_phases(TableRow& row, const ModelForecast& forecast) {
  for (const auto& [name, seconds] : forecast.phases) row.emplace_back(name, format_seconds(seconds));
}

/// Cells of a time and its interval, numbers each for `--csv`.
void add_interval(TableRow& row, const models::Estimate& estimate) {
  const Interval interval = estimate.interval();
  row.emplace_back("time", format_seconds(estimate.time_s));
  row.emplace_back("90 % from", format_seconds(interval.lower));
  row.emplace_back("90 % to", format_seconds(interval.upper));
}

std::string plan_json(const std::string& app, const Plan& plan, const Processes& processes) {
  const ModelForecast& first = plan.by_model.front();
  ordered_json json{{"app", app}};
  add_times(json, first, processes.estimate(plan));
  json["communication_model"] = first.model;
  for (const ModelForecast& one : plan.by_model) json["models"][one.model] = one.communication_s;
  json["distribution"] = plan.distribution;
  if (!plan.column_distribution.empty()) json["column_distribution"] = plan.column_distribution;
  if (!plan.rectangles.empty()) json["rectangles"] = rectangles_json(plan.rectangles);
  return json.dump(2) + "\n";
}

/// A row for each model of communication, and the total by the first one.
std::string plan_table(const Plan& plan, const Processes& processes) {
  const ModelForecast& first = plan.by_model.front();
  std::vector<TableRow> rows;
  for (const ModelForecast& one : plan.by_model) {
    TableRow& row = rows.emplace_back(TableRow{{"model", one.model}});
    add_phases(row, one);
    row.emplace_back("total", format_seconds(one.total_s));
  }
  return table_text(rows) + fmt::format("total      {}{} ({}{})\n", format_seconds(first.total_s),
                                        interval_text(processes.estimate(plan).interval()), first.model,
                                        processes.has_seconds() ? "" : "; communication alone, for want of --model");
}

/// Text of `--detail`: the app's own table, or a row for every processing unit.
std::string details(const Processes& processes, const Plan& plan) {
  if (!plan.details.empty()) return plan.details;
  Table table({"process", "node", "unit", "computation units"});
  for (std::size_t i = 0; i < processes.slots().size(); ++i) {
    const Slot& slot = processes.slots()[i];
    table.add_row({fmt::format("{}", slot.rank), processes.node_name(slot.rank),
                   slot.kind == ProcessingUnit::Kind::host ? "host" : "device",
                   fmt::format("{}", plan.distribution[i])});
  }
  return table.text();
}

/// 1, 2, 4, … and `most`.
std::vector<int> process_counts(int most) {
  std::vector<int> counts;
  for (int count = 1; count < most; count *= 2) counts.push_back(count);
  counts.push_back(most);
  return counts;
}

/// Strong or weak scaling: 1, 2, 4, … processes up to the number of the options, each beside one process.
std::string predict_scaling(const PredictOptions& options) {
  const RunOptions& run_options = options.app->run_options();
  if (run_options.models.empty() || !run_options.layout.empty()) {
    throw InvalidArgument(
        "--scaling needs --model, and --processes instead of --layout (expected one model of a process)");
  }
  const bool weak = options.scaling == "weak";
  if (weak && !options.app->facts().grows) {
    throw InvalidArgument(fmt::format("--scaling weak is not known of {} (expected strong)", options.name()));
  }
  std::vector<TableRow> rows;
  ordered_json json{{"app", options.name()}, {"scaling", options.scaling}, {"runs", ordered_json::array()}};
  double one_s = 0.0, best_efficiency = 0.0;
  std::string note;
  for (const int count : process_counts(options.processes.processes)) {
    Processes processes = options.on({count, options.processes.per_node});
    const Plan plan = options.app->plan(processes, weak ? count : 1);
    const ModelForecast& run = plan.by_model.front();
    const models::Estimate total = processes.estimate(plan);
    if (count == 1) one_s = run.total_s;
    const double speedup = (weak ? count : 1) * one_s / run.total_s;
    best_efficiency = std::max(best_efficiency, speedup / count);
    TableRow& row = rows.emplace_back(TableRow{{"processes", fmt::format("{}", count)}});
    add_phases(row, run);
    add_interval(row, total);
    row.emplace_back(weak ? "scaled speedup" : "speedup", fmt::format("{:.1f}", speedup));
    row.emplace_back("efficiency", fmt::format("{:.0f} %", 100.0 * speedup / count));
    json["runs"].push_back({{"processes", count}});
    add_times(json["runs"].back(), run, total);
    json["runs"].back()["speedup"] = speedup;
    note = processes.notes();
  }
  if (options.json) return json.dump(2) + "\n";
  if (best_efficiency > 1.005) {
    note +=
        "note       efficiencies above 100 % are those of the speed models: smaller slices are faster, as in caches\n";
  }
  return table_text(rows) + note;
}

/// The units of a process, as their models were measured.
struct UnitSet {
  std::vector<std::filesystem::path> paths;
  std::map<std::string, double> parameters;  ///< of the first model
  UnitChoice choice = UnitChoice::host;
  std::string name;
  CoreList cores;
};

UnitSet read_unit(const std::filesystem::path& path) {
  const models::FpmFile file = models::read_fpm_file(path);
  UnitSet unit{{path}, file.parameters, UnitChoice::host, file.unit_kind.empty() ? "host" : file.unit_kind, {}};
  if (unit.name == "device") {
    const auto devices = file.parameters.find("devices");
    unit.choice = {false, devices == file.parameters.end() ? 1 : static_cast<int>(devices->second)};
    unit.name = format_unit_choice(unit.choice);
    unit.parameters.erase("devices");
  }
  if (!file.unit_cores.empty()) {
    unit.name += " " + file.unit_cores;
    unit.cores = parse_cores(file.unit_cores);
  }
  if (file.slowdown > 1.0) unit.name += fmt::format("/{:g}", file.slowdown);
  return unit;
}

/// Each file alone, and those pairs that one process can drive. Of units that have the same name the first ones count.
std::vector<UnitSet> unit_sets(const std::vector<std::filesystem::path>& paths) {
  std::vector<UnitSet> alone;
  for (const std::filesystem::path& path : paths) alone.push_back(read_unit(path));
  std::vector<UnitSet> sets = alone;
  for (const UnitSet& host : alone) {
    for (const UnitSet& device : alone) {
      const auto &at = host.paths.front(), &other_at = device.paths.front();
      if (host.choice != UnitChoice::host || device.choice.has_host) continue;
      if (at.parent_path() != other_at.parent_path() || host.parameters != device.parameters) continue;
      if (std::ranges::find_first_of(host.cores, device.cores) != host.cores.end()) continue;
      sets.push_back({{at, other_at},
                      host.parameters,
                      {true, device.choice.devices},
                      host.name + " + " + device.name,
                      host.cores});
      sets.back().cores.insert(sets.back().cores.end(), device.cores.begin(), device.cores.end());
    }
  }
  std::set<std::pair<std::string, std::map<std::string, double>>> known;
  std::erase_if(sets, [&](const UnitSet& set) { return !known.emplace(set.name, set.parameters).second; });
  return sets;
}

/// The parameters of a set's models that others' models have with another value, such as `time_tile 4`.
std::string variant_of(const UnitSet& set, const std::vector<UnitSet>& all) {
  std::vector<std::string> differing;
  for (const auto& parameter : set.parameters) {
    const auto differs = [&](const UnitSet& other) {
      return other.parameters.contains(parameter.first) && other.parameters.at(parameter.first) != parameter.second;
    };
    const bool any = std::ranges::any_of(all, differs);
    if (any) differing.push_back(fmt::format("{} {:g}", parameter.first, parameter.second));
  }
  return fmt::format("{}", fmt::join(differing, ", "));
}

/// A way to run an app, and what it is predicted to take.
struct AdvisedRun {
  int processes = 1;
  UnitSet units;  ///< of every process
  std::string variant;
  std::string partition;
  ModelForecast forecast;
  models::Estimate estimate;

  bool has_companion() const { return units.choice.has_companion(); }
  std::size_t cores() const { return static_cast<std::size_t>(processes) * units.cores.size(); }
  /// Such as `2 processes with host 0, even`.
  std::string name() const {
    return fmt::format("{} with {}{}, {}", processes == 1 ? "1 process" : fmt::format("{} processes", processes),
                       units.name, variant.empty() ? "" : ", " + variant, partition);
  }
};

/// All ways that models tell of: first the simplest of those that are as good as the fastest (with the fewest
/// processes, then with the fewest units), then the others, the fastest first. Left out are ways that need more cores
/// than the platform's nodes have, those that cannot be predicted, and partitions with the same shares as one before.
/// @param app with its options as the user gave them; those that advice chooses are changed
std::vector<AdvisedRun> advised_runs(MiniApp& app, const ProcessCount& most) {
  // Models are not surer of a difference than this.
  constexpr double as_good = 1.05;
  RunOptions& options = app.run_options();
  if (options.models.empty()) throw InvalidArgument("--advise needs --model (expected models of a process's units)");
  std::vector<AdvisedRun> runs;
  std::string refusal = "no run fits the platform's cores (expected models of fewer)";
  const std::vector<UnitSet> sets = unit_sets(options.models);
  for (const UnitSet& set : sets) {
    options.models = set.paths;
    options.units = set.choice;
    for (const int count : process_counts(most.processes)) {
      Processes processes(options, {count, most.per_node}, app.facts().takes.platform);
      const int per_node = std::min(count, most.per_node > 0 ? most.per_node : count);
      const std::size_t cores = static_cast<std::size_t>(per_node) * set.cores.size();
      const auto has_too_few = [&](const models::PlatformNode& node) {
        return node.cores > 0 && static_cast<std::size_t>(node.cores) < cores;  // 0 where the platform does not say
      };
      if (std::ranges::any_of(processes.platform().nodes, has_too_few)) break;
      std::vector<Plan> known;
      for (const std::string& partition : app.facts().advised_partitions) {
        options.partition = partition;
        try {
          const Plan plan = app.plan(processes, 1);
          const auto has_same_shares = [&](const Plan& one) {
            return one.distribution == plan.distribution && one.column_distribution == plan.column_distribution &&
                   one.rectangles == plan.rectangles;
          };
          if (std::ranges::any_of(known, has_same_shares)) continue;
          known.push_back(plan);
          runs.push_back(
              {count, set, variant_of(set, sets), partition, plan.by_model.front(), processes.estimate(plan)});
        } catch (const InvalidArgument& error) {
          refusal = error.what();
        }
        if (processes.slots().size() == 1) break;
      }
    }
  }
  if (runs.empty()) throw InvalidArgument(refusal);
  const auto time_s = [](const AdvisedRun& run) { return run.estimate.time_s; };
  std::ranges::stable_sort(runs, {}, time_s);
  const double good_s = as_good * time_s(runs.front());
  const auto end = std::ranges::find_if(runs, [&](const AdvisedRun& run) { return time_s(run) > good_s; });
  const auto simplest = std::ranges::min_element(
      runs.begin(), end, {}, [](const AdvisedRun& run) { return std::pair(run.processes, run.units.paths.size()); });
  std::rotate(runs.begin(), simplest, simplest + 1);
  return runs;
}

/// One sentence: which run is the best and by how much, beside the fastest of one process without a companion; what
/// a companion and balancing gain; and where the time goes. @param runs at least one, in the order of advised_runs()
std::string advice_text(const std::vector<AdvisedRun>& runs) {
  const auto first_of = [&](const std::function<bool(const AdvisedRun&)>& which) {
    const auto found = std::ranges::find_if(runs, which);
    return found == runs.end() ? nullptr : &*found;
  };
  const auto times = [](const AdvisedRun& slow, const AdvisedRun& fast) {
    return fmt::format("{:.2f} times", slow.estimate.time_s / fast.estimate.time_s);
  };
  const AdvisedRun& best = runs.front();
  std::string text = fmt::format("{}: {}{}", best.name(), format_seconds(best.estimate.time_s),
                                 interval_text(best.estimate.interval()));
  const AdvisedRun* simple = first_of([](const auto& run) { return run.processes == 1 && !run.has_companion(); });
  if (simple != nullptr && simple != &best) {
    text += fmt::format(", {} as fast as {}", times(*simple, best), simple->name());
  }
  const AdvisedRun* with = first_of([](const AdvisedRun& run) { return run.has_companion(); });
  const AdvisedRun* without = first_of([](const AdvisedRun& run) { return !run.has_companion(); });
  if (with != nullptr && without != nullptr) {
    text +=
        best.has_companion()
            ? fmt::format("; the companion pays ({} as fast as with {})", times(*without, *with), without->units.name)
            : fmt::format("; a companion does not pay ({} as long with one)", times(*with, *without));
    if (best.has_companion() && without->cores() < with->cores()) {
      text += "; no model tells of the host with all cores (expected one of steelyard measure --units host)";
    }
  }
  const AdvisedRun* even = first_of([&](const AdvisedRun& run) {
    return run.partition == "even" && run.processes == best.processes && run.units.name == best.units.name &&
           run.variant == best.variant;
  });
  if (even != nullptr && even != &best) text += fmt::format("; balancing gains {} over even", times(*even, best));
  const double exposed = best.forecast.total_s > 0.0 ? best.forecast.exposed_s / best.forecast.total_s : 0.0;
  return text + fmt::format("; {:.0f} % of the time is communication that nothing hides", 100.0 * exposed);
}

/// A row for each way to run the app, the fastest first, and what follows from them.
std::string advise(const PredictOptions& options) {
  const std::vector<AdvisedRun> runs = advised_runs(*options.app, options.processes);
  ordered_json json{{"app", options.name()}, {"advice", advice_text(runs)}, {"runs", ordered_json::array()}};
  const bool has_variants = !runs.front().variant.empty();
  std::vector<TableRow> rows;
  for (const AdvisedRun& run : runs) {
    json["runs"].push_back({{"processes", run.processes},
                            {"units", run.units.name},
                            {"variant", run.variant},
                            {"partition", run.partition}});
    add_times(json["runs"].back(), run.forecast, run.estimate);
    TableRow& row = rows.emplace_back(TableRow{
        {"processes", fmt::format("{}", run.processes)}, {"units", run.units.name}, {"partition", run.partition}});
    add_interval(row, run.estimate);
    if (has_variants) row.emplace_back("variant", run.variant);
    add_phases(row, run.forecast);
  }
  if (options.json) return json.dump(2) + "\n";
  return fmt::format("problem    {}\n{}advice     {}\n", options.app->problem(), table_text(rows), advice_text(runs));
}

std::string predict(const PredictOptions& options) {
  prepare_options(*options.app);
  if (options.advise) return advise(options);
  Processes processes = options.on(options.processes);
  for (const Slot& slot : processes.slots()) require_devices(options.app->facts(), slot.devices);
  if (options.scaling != "none") return (options.json ? "" : header(options, processes)) + predict_scaling(options);
  const Plan plan = options.app->plan(processes, 1);
  if (options.json) return plan_json(options.name(), plan, processes);
  return header(options, processes) + (options.detail ? details(processes, plan) : "") + plan_table(plan, processes) +
         processes.notes();
}

}  // namespace

void add_predict_command(CLI::App& parser, const MiniApps& apps, Action& chosen) {
  CLI::App* command = add_command_of_apps(
      parser, "predict",
      "Predict how long an app takes on a platform, for any number of processes, without running it");
  for (const std::unique_ptr<MiniApp>& mini_app : apps) {
    const AppFacts facts = mini_app->facts();
    const auto [app, options] = add_command<PredictOptions>(*command, facts.name, facts.description, chosen, predict);
    options->app = mini_app.get();
    options->parsers = add_app_options(*app, *mini_app, Verb::predict);
    CLI::Option* layout = app->get_option("--layout");
    layout->description("Processes by a layout: one a line, on nodes by host name")
        ->excludes(app->get_option("--units"));
    constexpr int most = 1 << 20;
    add_number(*app, "--processes", options->processes.processes, "Processes", 1, most, "P")
        ->capture_default_str()
        ->excludes(layout);
    add_number(*app, "--per-node", options->processes.per_node, "Processes of a node (default: all)", 1, most, "K")
        ->excludes(layout);
    CLI::Option* scaling =
        add_choice(*app, "--scaling", options->scaling, "A table of 1, 2, 4, ... processes up to --processes",
                   {"none", "strong", "weak"});
    CLI::Option* detail = app->add_flag("--detail", options->detail, "What every process gets");
    CLI::Option* advise = app->add_flag(
        "--advise", options->advise,
        "A table of the ways to run it that the models of --model tell of, with up to --processes, and which to take: "
        "the simplest of those that are within 5 % of the fastest");
    for (const char* chosen_by_advice : {"--partition", "--distribution", "--units", "--layout", "--slowdown"}) {
      advise->excludes(app->get_option(chosen_by_advice));
    }
    advise->excludes(scaling)->excludes(detail);
    add_format_option(*app, options->json);
  }
}

}  // namespace steelyard::tool
