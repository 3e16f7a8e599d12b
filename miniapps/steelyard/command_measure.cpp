#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <optional>

#include "comm/collective.hpp"
#include "comm/communicator.hpp"
#include "comm/measurement/model_builder.hpp"
#include "comm/run_description.hpp"
#include "core/base/progress.hpp"
#include "core/base/text_file.hpp"
#include "core/memory/unit_memory.hpp"
#include "miniapps/app/frame.hpp"
#include "miniapps/app/interruption.hpp"
#include "miniapps/steelyard/command.hpp"
#include "miniapps/steelyard/measure_report.hpp"
#include "miniapps/steelyard/rank_rates.hpp"
#include "models/size_selection.hpp"

namespace steelyard::tool {
namespace {

using nlohmann::ordered_json;

struct MeasureOptions {
  MiniApp* app = nullptr;
  std::shared_ptr<AppOptions> parsers;
  std::shared_ptr<MeasurableKernel> kernel;  ///< as the options say
  RunOptions run;
  Precision precision;
  std::vector<std::int64_t> sizes;
  std::int64_t from = 0;
  std::int64_t to = 0;
  int points = 0;
  std::string spacing = "geometric";
  std::optional<double> error;
  int rounds = 3;
  bool solo = false;
  std::filesystem::path output;
};

std::int64_t smaller(std::int64_t size, double most) {
  return most < static_cast<double>(size) ? static_cast<std::int64_t>(most) : size;
}

/// @param most computation units that fit into some unit's memory
BuildPlan make_plan(const MeasureOptions& options, const KernelFacts& facts, double most) {
  const bool adaptive = options.sizes.empty() && options.spacing == "adaptive";
  if (options.error && !adaptive) throw InvalidArgument("--error goes with --spacing adaptive");
  BuildPlan plan;
  plan.solo = options.solo;
  plan.rounds = options.rounds;
  plan.precision = options.precision;
  require_precision(plan.precision);
  if (!options.sizes.empty()) {
    plan.sizes = options.sizes;
    std::sort(plan.sizes.begin(), plan.sizes.end());
    plan.sizes.erase(std::unique(plan.sizes.begin(), plan.sizes.end()), plan.sizes.end());
    return plan;
  }
  // A range of which one end is given ends where the app's does, or is that one size.
  std::int64_t from = options.from > 0 ? options.from : facts.smallest;
  std::int64_t to = options.to > 0 ? options.to : std::max<std::int64_t>(1, smaller(facts.largest, most));
  if (options.from == 0) from = std::min(from, to);
  if (options.to == 0) to = std::max(from, to);
  if (adaptive) {
    const double error = options.error.value_or(0.05);
    plan.adaptive = models::AdaptiveGoal{from, to, error};
    plan.sizes = models::first_sizes(*plan.adaptive);
    if (options.points > 0) plan.most_sizes = options.points;
    if (plan.most_sizes < static_cast<int>(plan.sizes.size())) {
      throw InvalidArgument(fmt::format("--points {} (an adaptive selection from {} to {} starts with {})",
                                        plan.most_sizes, from, to, plan.sizes.size()));
    }
    // Noise must leave room for the error that is asked for.
    plan.precision.relative = std::min(plan.precision.relative, 0.5 * error);
  } else {
    const int count = options.points > 0 ? options.points : 16;
    plan.sizes =
        options.spacing == "linear" ? models::linear_sizes(from, to, count) : models::geometric_sizes(from, to, count);
  }
  return plan;
}

/// The most computation units that fit into some unit's memory. Collective.
double most_units(const Session& session, const RankUnits& units, const KernelFacts& facts) {
  double most = 0.0;
  for (const ProcessingUnit& unit : units_of(units)) {
    const int ranks = session.nodes().ranks_on_node;
    most = std::max(most, unit_limits(session.machine(), units, unit.kind, ranks, facts).max_units);
  }
  return all_max(session.comm(), most);
}

void require_room(const BuildPlan& plan, double most) {
  const std::int64_t largest = plan.adaptive ? plan.adaptive->largest : plan.sizes.back();
  if (static_cast<double>(largest) > most) {
    throw InvalidArgument(
        fmt::format("{} computation units fit into no unit's memory (expected at most {:.0f})", largest, most));
  }
}

/// Those that have points, be they imprecise.
void write_files(const std::filesystem::path& folder, const std::vector<MeasuredUnit>& units) {
  const auto write = [&](const std::string& name, const models::FpmFile& file) {
    if (!file.points.empty() || !file.imprecise.empty()) models::write_fpm_file(folder / name, file);
  };
  for (const MeasuredUnit& unit : units) {
    const std::string stem = fmt::format("rank{}-{}", unit.rank, unit.group.unit_kind);
    write(stem + ".fpm.json", unit.group);
    if (unit.solo) write(stem + ".solo.fpm.json", *unit.solo);
  }
}

/// Models of this rank's units.
std::vector<MeasuredUnit> own_units(const Session& session, const BuiltModels& built) {
  std::vector<MeasuredUnit> units;
  for (const std::optional<UnitModels>* unit : {&built.host, &built.companion}) {
    if (*unit) units.push_back({session.rank(), (*unit)->group, (*unit)->solo});
  }
  return units;
}

/// Models of all ranks' units, on every rank.
std::vector<MeasuredUnit> gather_units(const Session& session, const BuiltModels& built) {
  ordered_json mine = ordered_json::array();
  for (const MeasuredUnit& unit : own_units(session, built)) {
    mine.push_back(
        {unit.rank, models::format_fpm(unit.group), unit.solo ? models::format_fpm(*unit.solo) : std::string()});
  }
  std::vector<MeasuredUnit> units;
  for (const ordered_json& unit : join_arrays(session, mine)) {
    units.push_back({unit[0], models::parse_fpm_description(unit[1], "rank"), std::nullopt});
    const std::string solo = unit[2];
    if (!solo.empty()) units.back().solo = models::parse_fpm_description(solo, "rank");
  }
  return units;
}

MeasuringTime slowest(const Session& session, const MeasuringTime& time) {
  const std::vector<double> most = all_max(
      session.comm(), {time.kernels_s, time.overhead_s, time.long_kernels_s, time.long_overhead_s, time.total_s});
  return {most[0], most[1], most[2], most[3], most[4]};
}

/// Warns once, when the first sizes are measured, where none of them is precise. @param done sizes so far
void warn_of_noise(const BuiltModels& built, std::size_t done, const BuildPlan& plan) {
  constexpr std::size_t first = 3;
  const models::FpmFile& file = (built.host ? built.host : built.companion)->group;
  if (done != std::min(first, plan.sizes.size()) || !file.points.empty() || file.imprecise.empty()) return;
  const models::MeasuredPoint& point = file.imprecise.back();
  fmt::print(stderr,
             "steelyard: warning: no size is precise so far (the last one's +- {:.2g} % is not the {:g} % of "
             "--precision); this helps: nothing else running here, no more threads than cores, a --time-limit above "
             "{:g} s, a --repetitions-max above {} or a larger --precision\n",
             100.0 * point.confidence_s / point.time_s, 100.0 * plan.precision.relative, plan.precision.time_limit_s,
             plan.precision.repetitions_max);
}

/// Measures all; an interruption leaves what is measured so far. Collective.
BuiltModels build(const Session& session, const MeasureOptions& options, const RankUnits& units,
                  const BuildPlan& plan) {
  CoExecution co_execution(session.machine(), units);
  const Communicator node(session.comm(), session.nodes().node_of_rank[static_cast<std::size_t>(session.rank())]);
  const std::size_t count = plan.sizes.size() * static_cast<std::size_t>(plan.rounds);
  BuiltModels so_far;
  std::size_t done = 0;
  Interruption interruption(Interruption::By::signal, [&] {
    const std::vector<MeasuredUnit> measured = own_units(session, so_far);
    if (!options.output.empty()) write_files(options.output, measured);
    if (!session.is_root()) return;
    session.print(measure_table(measured, plan));
    fmt::print(stderr, "steelyard: interrupted; {} of {} measurements finished{}\n", done, count,
               options.output.empty() ? "" : " and kept");
  });
  Progress progress(fmt::format("measuring {}", options.kernel->facts().app), static_cast<std::int64_t>(count),
                    session.is_root());
  BuiltModels built;
  // The ranks of a node fail together, but other nodes would wait for them further on.
  collectively(session.comm(), [&] {
    built = build_models(session, node.get(), co_execution, units, *options.kernel, plan,
                         [&](std::int64_t size, const BuiltModels& measured) {
                           interruption.update([&] {
                             so_far = measured;
                             ++done;
                           });
                           progress.advance(1, fmt::format("(size {})", size));
                           if (session.is_root()) warn_of_noise(measured, done, plan);
                         });
  });
  return built;
}

ExitCode measure(Session& session, MeasureOptions& options) {
  KernelFacts facts;
  BuildPlan plan;
  collectively(session.comm(), [&] {
    options.app->prepare();
    options.kernel = options.app->kernel();
    facts = options.kernel->facts();
  });
  const StartedUnits started(session, options.run);
  const RankUnits& units = started.units();
  const double most = most_units(session, units, facts);
  collectively(session.comm(), [&] {
    plan = make_plan(options, facts, most);
    require_room(plan, most);
  });
  on_root(session.comm(), [&] {
    if (!options.output.empty()) require_writable(options.output / "rank0-host.fpm.json");
  });
  const bool oversubscribed = any_oversubscribed(session, units);
  session.print(measure_header(session.nodes(), facts, plan) + core_notes(oversubscribed, any_unbound(session, units)));

  const BuiltModels built = build(session, options, units, plan);
  const std::vector<MeasuredUnit> all = gather_units(session, built);
  session.print(measure_table(all, plan));
  session.print(measure_summary(all, plan, slowest(session, built.time)));
  const double uncertain = all_max(session.comm(), built.uncertain ? built.uncertain->error : 0.0);
  if (plan.adaptive) session.print(adaptive_summary(plan, uncertain));
  if (!options.output.empty()) {
    on_root(session.comm(), [&] { write_files(options.output, all); });
    session.print(fmt::format("models     {}\n", options.output.string()));
  }
  return ExitCode::good;
}

void add_precision_options(CLI::App& parser, Precision& precision) {
  parser.add_option("--confidence", precision.confidence, "Level of Student's t confidence interval")
      ->type_name("P")
      ->capture_default_str();
  parser
      .add_option("--precision", precision.relative, "Half width of the interval, as a share of the mean, to stop at")
      ->type_name("SHARE")
      ->capture_default_str();
  parser.add_option("--repetitions-min", precision.repetitions_min, "Timed repetitions of a size at least")
      ->type_name("N")
      ->capture_default_str();
  parser.add_option("--repetitions-max", precision.repetitions_max, "Timed repetitions of a size at most")
      ->type_name("N")
      ->capture_default_str();
  parser.add_option("--time-limit", precision.time_limit_s, "Seconds for a size at most, warm-up excluded")
      ->type_name("S")
      ->capture_default_str();
  add_number(parser, "--warmups", precision.warmups, "Repetitions before them that do not count", 0, 1000000)
      ->capture_default_str();
}

void add_size_options(CLI::App& parser, MeasureOptions& options) {
  constexpr std::int64_t most = std::int64_t{1} << 40;
  CLI::Option* sizes =
      add_number(parser, "--sizes", options.sizes, "Computation units to measure, one by one", 1, most, "N...");
  add_number(parser, "--from", options.from, "Smallest size (default: the app's)", 1, most)->excludes(sizes);
  add_number(parser, "--to", options.to, "Largest size (default: the app's)", 1, most)->excludes(sizes);
  add_number(parser, "--points", options.points, "Number of sizes (default 16); at most so many if adaptive (64)", 1,
             100000)
      ->excludes(sizes);
  add_choice(parser, "--spacing", options.spacing, "Equal steps, equal ratios, or where the model is least certain",
             {"linear", "geometric", "adaptive"})
      ->capture_default_str()
      ->excludes(sizes);
  parser.add_option("--error", options.error, "With --spacing adaptive: error of the speed to stop at (default 0.05)")
      ->type_name("SHARE");
}

}  // namespace

void add_measure_command(CLI::App& parser, const MiniApps& apps, Action& chosen) {
  CLI::App* command = add_command_of_apps(
      parser, "measure", "Build speed models of an app's kernel on every processing unit, all units of a node at once",
      "An app to measure");
  for (const std::unique_ptr<MiniApp>& mini_app : apps) {
    auto options = std::make_shared<MeasureOptions>();
    options->app = mini_app.get();
    CLI::App* app = command->add_subcommand(mini_app->facts().name, mini_app->facts().description);
    options->parsers = add_app_options(*app, *mini_app, Verb::measure);
    add_size_options(*app, *options);
    add_precision_options(*app, options->precision);
    add_number(*app, "--rounds", options->rounds, "Times that the sizes are gone through, against a drifting machine",
               1, 1000)
        ->capture_default_str();
    app->add_flag("--solo", options->solo, "Also measure every unit with all others idle, and report the contention");
    add_unit_options(*app, options->run);
    app->add_option("--output", options->output, "Folder for a model file of each rank and unit")->type_name("DIR");
    app->callback([options, &chosen] { chosen = [options](Session& session) { return measure(session, *options); }; });
  }
}

}  // namespace steelyard::tool
