#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>

#include "comm/collective.hpp"
#include "comm/measurement/kernel_measurement.hpp"
#include "core/base/progress.hpp"
#include "core/base/table.hpp"
#include "core/base/text_file.hpp"
#include "core/memory/unit_memory.hpp"
#include "miniapps/app/frame.hpp"
#include "miniapps/app/outputs.hpp"
#include "miniapps/steelyard/command.hpp"
#include "models/size_selection.hpp"

namespace steelyard::tool {
namespace {

using models::MeasuredPoint;

/// Models of every rank's units: measured in the group or, as their files say, alone.
using RankModels = std::vector<std::vector<models::FpmFile>>;

const MeasuredPoint* find(const std::vector<MeasuredPoint>& points, double units) {
  const auto place = std::ranges::find(points, units, &MeasuredPoint::units);
  return place != points.end() ? &*place : nullptr;
}

/// Every round was precise, but they differ by more.
bool drifts(const MeasuredPoint& point, const BuildPlan& plan) {
  return point.confidence_s > plan.precision.relative * point.time_s;
}

std::string share(double part, double whole) {
  return whole > 0.0 ? fmt::format("{:.1f} %", 100.0 * part / whole) : "-";
}

/// Header: what is measured, where and how.
std::string measure_header(const Nodes& nodes, const KernelFacts& kernel, const BuildPlan& plan) {
  std::string parameters;
  for (const auto& [name, value] : kernel.parameters) parameters += fmt::format(", {} {:g}", name, value);
  return fmt::format(
      "{}{} {}{}; a computation unit is {}\n"
      "{} on {}, all units of a node at once{}; {:g} % precise at level {:g}, {} to {} repetitions in each of {}\n",
      kernel.app, kernel.kernel == kernel.app ? "" : " " + kernel.kernel, kernel.element, parameters,
      kernel.computation_unit, counted(std::ssize(nodes.node_of_rank), "rank"), counted(nodes.count(), "node"),
      plan.solo ? ", then each alone" : "", 100.0 * plan.precision.relative, plan.precision.confidence,
      plan.precision.repetitions_min, plan.precision.repetitions_max, counted(plan.rounds, "round"));
}

/// A row for every size of every unit, precise or not. With `plan.solo` also seconds alone and the contention factor
/// t_c(x) / t_1(x), by which the others slow the unit down (000, figures 3.2 and 4.3).
std::string measure_table(const RankModels& models, const BuildPlan& plan) {
  std::vector<TableRow> rows;
  for (std::size_t rank = 0; rank < models.size(); ++rank) {
    for (const models::FpmFile& file : models[rank]) {
      if (file.solo) continue;
      std::vector<MeasuredPoint> alone;
      for (const models::FpmFile& other : models[rank]) {
        if (other.unit_kind == file.unit_kind && other.solo) alone = all_points(other);
      }
      const std::string emulated = file.slowdown > 1.0 ? fmt::format("/{:g} (emulated)", file.slowdown) : "";
      for (const MeasuredPoint& point : all_points(file)) {
        TableRow row{{"unit", fmt::format("rank {} {}{}", rank, file.unit_kind, emulated)},
                     {"size", fmt::format("{:.0f}", point.units)},
                     {"time", format_seconds(point.time_s)},
                     {"+-", share(point.confidence_s, point.time_s)},
                     {"repetitions", fmt::format("{}", point.repetitions)},
                     {"outliers", fmt::format("{}", point.outliers)},
                     {"units/s", fmt::format("{:.4g}", point.speed())},
                     {"GFLOP/s", fmt::format("{:.2f}", 1e-9 * point.speed() * file.flops_per_unit)},
                     {"GB/s", fmt::format("{:.2f}", 1e-9 * point.speed() * file.bytes_per_unit)}};
        if (plan.solo) {
          const MeasuredPoint* const same = find(alone, point.units);
          row.emplace_back("alone", same != nullptr ? format_seconds(same->time_s) : "-");
          row.emplace_back("contention", same != nullptr ? fmt::format("{:.2f}", point.time_s / same->time_s) : "-");
        }
        const bool counts = find(file.points, point.units) != nullptr;
        row.emplace_back("used", file.points.empty()   ? "yes, imprecise"
                                 : !counts             ? "no, imprecise"
                                 : drifts(point, plan) ? "yes, drifts"
                                                       : "yes");
        rows.push_back(std::move(row));
      }
    }
  }
  return table_text(rows);
}

/// Outliers, sizes that drift or do not count, and where the time went.
std::string measure_summary(const RankModels& models, const BuildPlan& plan, const MeasuringTime& time) {
  int points = 0, drifting = 0, imprecise = 0, runs = 0, outliers = 0;
  for (const std::vector<models::FpmFile>& of_rank : models) {
    for (const models::FpmFile& file : of_rank) {
      for (const MeasuredPoint& point : all_points(file)) {
        const bool counts = find(file.points, point.units) != nullptr;
        ++points;
        drifting += counts && drifts(point, plan) ? 1 : 0;
        imprecise += counts ? 0 : 1;
        runs += point.repetitions;
        outliers += point.outliers;
      }
    }
  }
  std::string text = fmt::format("measured   {} points in {}: {} in timed kernels, {} around them ({} of kernel time",
                                 points, format_seconds(time.total_s), format_seconds(time.kernels_s),
                                 format_seconds(time.overhead_s), share(time.overhead_s, time.kernels_s));
  if (time.long_kernels_s > 0.0) {
    text += fmt::format("; {} for points over 10 ms", share(time.long_overhead_s, time.long_kernels_s));
  }
  text += fmt::format(")\noutliers   {} of {} repetitions, kept in the means\n", outliers, runs);
  const auto note = [&](const char* name, int count, const char* what) {
    if (count > 0) text += fmt::format("{:<10} {} of {} points: {}\n", name, count, points, what);
  };
  note("drift", drifting, "rounds differ by more than their precision, as the intervals say");
  note("imprecise", imprecise, "some unit of the node was not precise in time; they count only where no other does");
  return text;
}

/// Whether an adaptive selection reached its goal. @param uncertain the largest error that is left where it did not
std::string adaptive_summary(const BuildPlan& plan, double uncertain) {
  const models::AdaptiveGoal& goal = *plan.adaptive;
  if (uncertain > 0.0) {
    return fmt::format("adaptive   stopped at {} sizes with an estimated error of {:.1f} % (goal {:.1f} %)\n",
                       plan.most_sizes, 100.0 * uncertain, 100.0 * goal.error);
  }
  return fmt::format("adaptive   estimated error below {:.1f} %, beyond what the intervals say, from {} to {} units\n",
                     100.0 * goal.error, goal.smallest, goal.largest);
}

struct MeasureOptions {
  MiniApp* app = nullptr;
  std::shared_ptr<AppOptions> parsers;
  std::shared_ptr<MeasurableKernel> kernel;  ///< as the options say
  RunOptions run;
  BuildPlan plan;  ///< but for sizes that are not given one by one
  std::int64_t from = 0;
  std::int64_t to = 0;
  int points = 0;
  std::string spacing = "geometric";
  std::optional<double> error;
  std::filesystem::path output;
};

/// @param most computation units that fit into some unit's memory
BuildPlan make_plan(const MeasureOptions& options, const KernelFacts& facts, double most) {
  BuildPlan plan = options.plan;
  const bool adaptive = plan.sizes.empty() && options.spacing == "adaptive";
  if (options.error && !adaptive) throw InvalidArgument("--error goes with --spacing adaptive");
  require_precision(plan.precision);
  if (!plan.sizes.empty()) {
    const std::set<std::int64_t> sorted(plan.sizes.begin(), plan.sizes.end());
    plan.sizes.assign(sorted.begin(), sorted.end());
    return plan;
  }
  // A range of which one end is given ends where the app's does, or is that one size.
  std::int64_t from = options.from > 0 ? options.from : facts.smallest;
  const std::int64_t largest =
      most < static_cast<double>(facts.largest) ? static_cast<std::int64_t>(most) : facts.largest;
  std::int64_t to = options.to > 0 ? options.to : std::max<std::int64_t>(1, largest);
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
    plan.sizes = models::geometric_sizes(from, to, count);
  }
  return plan;
}

/// Writes the models that have points, precise or not.
void write_files(const std::filesystem::path& folder, const RankModels& models) {
  for (std::size_t rank = 0; rank < models.size(); ++rank) {
    for (const models::FpmFile& file : models[rank]) {
      if (file.points.empty() && file.imprecise.empty()) continue;
      const char* const alone = file.solo ? ".solo" : "";
      models::write_fpm_file(folder / fmt::format("rank{}-{}{}.fpm.json", rank, file.unit_kind, alone), file);
    }
  }
}

/// Models of this rank's units.
std::vector<models::FpmFile> own_models(const BuiltModels& built) {
  std::vector<models::FpmFile> models;
  for (const std::optional<UnitModels>* unit : {&built.host, &built.companion}) {
    if (!*unit) continue;
    models.push_back((*unit)->group);
    if ((*unit)->solo) models.push_back(*(*unit)->solo);
  }
  return models;
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
  const auto save = [&] {
    RankModels measured(static_cast<std::size_t>(session.size()));
    measured[static_cast<std::size_t>(session.rank())] = own_models(so_far);
    if (!options.output.empty()) write_files(options.output, measured);
    return measured;
  };
  const auto leave = [&] {
    const RankModels measured = save();
    if (!session.is_root()) return;
    session.print(measure_table(measured, plan));
    fmt::print(stderr, "steelyard: interrupted; {} of {} measurements finished{}\n", done, count,
               options.output.empty() ? "" : " and kept");
  };
  Interruption interruption(leave, save);
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

ExitCode measure_app(Session& session, MeasureOptions& options) {
  KernelFacts facts;
  BuildPlan plan;
  collectively(session.comm(), [&] {
    options.app->prepare();
    options.kernel = options.app->kernel();
    facts = options.kernel->facts();
  });
  const StartedUnits started(session, options.run);
  const RankUnits& units = started.units();
  collectively(session.comm(), [&] {
    if (units.companion) require_devices(options.app->facts(), units.companion->devices);
  });
  double most = 0.0;
  for (const ProcessingUnit& unit : units_of(units)) {
    const int ranks = session.nodes().ranks_on_node;
    most = std::max(most, unit_limits(session.machine(), units, unit.kind, ranks, facts).max_units);
  }
  most = all_max(session.comm(), most);
  collectively(session.comm(), [&] {
    plan = make_plan(options, facts, most);
    const std::int64_t largest = plan.adaptive ? plan.adaptive->largest : plan.sizes.back();
    if (static_cast<double>(largest) <= most) return;
    throw InvalidArgument(
        fmt::format("{} computation units fit into no unit's memory (expected at most {:.0f})", largest, most));
  });
  on_root(session.comm(), [&] {
    if (!options.output.empty()) require_writable(options.output / "rank0-host.fpm.json");
  });
  session.print(measure_header(session.nodes(), facts, plan));
  for (const std::string& why : core_doubts(session, units)) print_doubt(session, why);

  const OtherWork other_work(session);
  const BuiltModels built = build(session, options, units, plan);
  const std::string doubt = other_work.doubt(other_work.cores());
  print_doubt(session, doubt);
  RankModels all = all_gather_models(session.comm(), own_models(built));
  for (std::vector<models::FpmFile>& of_rank : all) {
    for (models::FpmFile& file : of_rank) file.note = doubt.empty() ? "" : "speed models were measured while " + doubt;
  }
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
  add_value(parser, "--confidence", precision.confidence, "Level of Student's t confidence interval", "P");
  add_value(parser, "--precision", precision.relative, "Half width of the interval, as a share of the mean, to stop at",
            "SHARE");
  add_value(parser, "--repetitions-min", precision.repetitions_min, "Timed repetitions of a size at least", "N");
  add_value(parser, "--repetitions-max", precision.repetitions_max, "Timed repetitions of a size at most", "N");
  add_value(parser, "--time-limit", precision.time_limit_s, "Seconds for a size at most, warm-up excluded", "S");
  add_number(parser, "--warmups", precision.warmups, "Repetitions before them that do not count", 0, 1000000)
      ->capture_default_str();
}

void add_size_options(CLI::App& parser, MeasureOptions& options) {
  constexpr std::int64_t most = std::int64_t{1} << 40;
  CLI::Option* sizes =
      add_number(parser, "--sizes", options.plan.sizes, "Computation units to measure, one by one", 1, most, "N...");
  add_number(parser, "--from", options.from, "Smallest size (default: the app's)", 1, most)->excludes(sizes);
  add_number(parser, "--to", options.to, "Largest size (default: the app's)", 1, most)->excludes(sizes);
  add_number(parser, "--points", options.points, "Number of sizes (default 16); at most so many if adaptive (64)", 1,
             100000)
      ->excludes(sizes);
  add_choice(parser, "--spacing", options.spacing, "Equal ratios, or where the model is least certain",
             {"geometric", "adaptive"})
      ->excludes(sizes);
  add_value(parser, "--error", options.error, "With --spacing adaptive: error of the speed to stop at (default 0.05)",
            "SHARE");
}

}  // namespace

void add_measure_command(CLI::App& parser, const MiniApps& apps, Action& chosen) {
  CLI::App* command = add_command_of_apps(
      parser, "measure", "Build speed models of an app's kernel on every processing unit, all units of a node at once");
  for (const std::unique_ptr<MiniApp>& mini_app : apps) {
    const AppFacts facts = mini_app->facts();
    const auto [app, options] =
        add_command<MeasureOptions>(*command, facts.name, facts.description, chosen, measure_app);
    options->app = mini_app.get();
    options->plan.rounds = 3;
    options->parsers = add_app_options(*app, *mini_app, Verb::measure);
    add_size_options(*app, *options);
    add_precision_options(*app, options->plan.precision);
    add_number(*app, "--rounds", options->plan.rounds,
               "Times that the sizes are gone through, against a drifting machine", 1, 1000)
        ->capture_default_str();
    app->add_flag("--solo", options->plan.solo,
                  "Also measure every unit with all others idle, and report the contention");
    add_unit_options(*app, options->run);
    add_value(*app, "--output", options->output, "Folder for a model file of each rank and unit", "DIR");
  }
}

}  // namespace steelyard::tool
