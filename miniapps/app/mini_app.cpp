#include "miniapps/app/mini_app.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <numeric>
#include <utility>

#include "comm/collective.hpp"
#include "core/base/errors.hpp"
#include "core/base/json_file.hpp"
#include "core/base/statistics.hpp"
#include "core/base/table.hpp"
#include "core/base/text_file.hpp"
#include "core/memory/unit_memory.hpp"
#include "core/spaces.hpp"
#include "miniapps/app/frame.hpp"
#include "models/estimate.hpp"
#include "models/kinds/model_kinds.hpp"

namespace steelyard {
namespace {

/// Turns `--distribution` into the name of a partition, `shares:A:B:...`: numbers with colons between them, or those
/// of a file, which is a run's `run.json` or what `steelyard partition --format json` prints. The numbers of a
/// distribution of as many computation units as there are to share out are kept exactly.
/// @throws InvalidArgument, FileFormatError
std::string partition_of(const std::string& distribution) {
  if (distribution.find_first_not_of("0123456789.:") == std::string::npos) return "shares:" + distribution;
  const nlohmann::json json = read_json_file(distribution);
  const JsonReader reader(distribution, json);
  const std::string key = reader.has("distribution") ? "distribution" : "units";
  if (!reader.has(key) || !json.at(key).is_array())
    reader.fail(key, "is no array (expected computation units of each)");
  std::string name = "shares";
  for (const nlohmann::json& share : json.at(key)) {
    if (!share.is_number()) reader.fail(key, "holds " + excerpt(share) + " (expected numbers)");
    name += fmt::format(":{}", share.get<double>());
  }
  return name;
}

/// Rejects problems larger than the memory of all ranks. A dry run with models from files may be of larger machines.
/// Collective. @throws CollectiveError
void require_memory(const Frame& frame, const AppRun& run) {
  if (frame.options().dry_run && !frame.options().models.empty()) return;
  const Session& session = frame.session();
  const int sharers = session.nodes().ranks_on_node;
  double own_bytes = rank_memory_bytes(session.machine(), sharers);
  if (companion_is_device && frame.units().companion) {
    own_bytes += unit_memory_bytes(session.machine(), frame.units(), ProcessingUnit::Kind::companion, sharers);
  }
  const double bytes = run.memory_bytes(), most = all_sum(session.comm(), own_bytes);
  if (bytes <= most) return;
  throw CollectiveError(fmt::format("the data take {} (expected at most {}, the memory of all ranks)",
                                    format_bytes(bytes), format_bytes(most)),
                        ExitCode::wrong_input, 0);
}

/// Asks, before anything runs, whether `--output` and `--result` could be written at the end, and says where the folder
/// has the result of an earlier run, which this one's will replace. Collective. @throws CollectiveError
void require_outputs(const Session& session, const RunOptions& options) {
  on_root(session.comm(), [&] {
    for (const std::filesystem::path& file : {options.output, options.checkpoint}) {
      if (!file.empty()) require_writable(file);
    }
    if (options.result.empty()) return;
    if (options.result.lexically_normal() == options.output.lexically_normal()) {
      throw InvalidArgument(
          fmt::format("--output and --result both name {} (expected a file and a folder)", options.result.string()));
    }
    require_writable(options.result / "run.json");
    if (options.dry_run || !std::filesystem::exists(options.result / "run.json")) return;
    fmt::print(stderr, "note: {} has the result of an earlier run, which this one's will replace\n",
               options.result.string());
  });
}

/// Keeps a plan. @throws InvalidArgument for one that does not have a value of each kind for every unit
void record_plan(RunRecord& record, const Plan& plan, const Frame& frame) {
  const auto require_one_each = [&](std::size_t count, const std::string& what) {
    if (count == record.units.size()) return;
    throw InvalidArgument(
        fmt::format("{} {} for {} processing units (expected one each)", count, what, record.units.size()));
  };
  require_one_each(plan.distribution.size(), "slices");
  require_one_each(plan.unit_s.size(), "predicted times");
  for (const UnitColumn& column : plan.headings.columns) {
    require_one_each(column.cells.size(), "cells of column " + column.heading);
  }
  record.predicted_interval_s.reset();
  if (!plan.by_model.empty() && !plan.models.empty()) {
    record.predicted_interval_s = frame.estimate(plan).interval();
  }
  record.computation_units = plan.headings.computation_units;
  record.distribution = plan.distribution;
  record.column_distribution = plan.column_distribution;
  record.rectangles = plan.rectangles;
  record.timed_per = plan.headings.per.empty() ? "" : plan.headings.per.substr(1);
  if (plan.time_s) {
    for (std::size_t i = 0; i < record.units.size(); ++i) record.units[i].predicted_s = plan.unit_s[i];
  }
  for (const auto& [name, value] : plan.params) record.params[name] = value;
  for (const auto& [name, value] : plan.figures) record.figures[name] = value;
}

/// Adds a measured value under the record's parameters and settings.
Sample& add_sample(RunRecord& record, const std::string& metric, double value) {
  record.samples.push_back({record.params, metric, value, record.settings});
  return record.samples.back();
}

/// Keeps the seconds of the repetitions and of every unit in them, and how far the prediction is off where both are
/// positive. `confidence_s` is the half width of the 95 % interval, 0 for a single repetition.
void record_measurement(RunRecord& record, const Plan& plan, const Measurement& measurement) {
  const std::vector<double>& times_s = measurement.times_s;
  const double median_s = measurement.median_s, predicted_s = plan.time_s.value_or(0.0);
  record.median_time_s = median_s;
  record.predicted_time_s = plan.time_s;
  record.figures["confidence_s"] = times_s.size() > 1 ? confidence_half_width(times_s, 0.95) : 0.0;
  record.figures["coefficient_of_variation"] = coefficient_of_variation(times_s);
  if (predicted_s > 0.0 && median_s > 0.0) {
    record.figures["percentage_difference"] = percentage_difference(predicted_s, median_s);
    record.figures["proportional_error"] = proportional_error(median_s, predicted_s);
  }
  for (std::size_t repetition = 0; repetition < times_s.size(); ++repetition) {
    add_sample(record, "time_s", times_s[repetition]).keys["repetition"] = std::to_string(repetition);
  }
  for (std::size_t i = 0; i < record.units.size(); ++i) {
    UnitRecord& unit = record.units[i];
    unit.measured_s = measurement.unit_s[i];
    for (std::size_t repetition = 0; repetition < times_s.size(); ++repetition) {
      Sample& sample = add_sample(record, "unit_time_s", measurement.unit_times_s[repetition][i]);
      sample.keys["repetition"] = std::to_string(repetition);
      sample.keys["unit"] = fmt::format("rank {} {}", unit.rank, unit.kind);
    }
  }
}

void record_outcome(RunRecord& record, const Outcome& outcome) {
  record.phases = outcome.phases;
  if (const double value = outcome.figure_of_merit.value; value > 0.0 && std::isfinite(value)) {
    record.figure_of_merit = outcome.figure_of_merit;
  }
  for (const auto& [name, value] : outcome.params) record.params[name] = value;
  for (const auto& [name, word] : outcome.settings) record.settings[name] = word;
  for (const auto& [name, value] : outcome.figures) record.figures[name] = value;
  for (const auto& [name, point] : outcome.points) record.points[name] = point;
  for (const PhaseTime& phase : record.phases) {
    add_sample(record, "phase_time_s", phase.measured_s).keys["callpath"] = phase.name;
  }
}

/// The table of processing units, for `--dry-run` and after a run: who they are, what they get and how long they are
/// predicted to take for it, and where it was measured, how long they took.
std::string unit_table(const RunRecord& record, const Plan& plan) {
  const UnitHeadings& headings = plan.headings;
  const double total = std::accumulate(plan.distribution.begin(), plan.distribution.end(), 0.0);
  std::vector<TableRow> rows;
  for (std::size_t i = 0; i < record.units.size(); ++i) {
    const UnitRecord& unit = record.units[i];
    const auto size = static_cast<double>(plan.distribution[i]);
    const double predicted_s = plan.unit_s[i];
    TableRow row{{"unit", fmt::format("rank {} {}", unit.rank, unit.kind)},
                 {"space", unit.space},
                 {"core-ids", unit.cores},
                 {"slowdown", unit.slowdown > 1.0 ? fmt::format("{:g} (emulated)", unit.slowdown) : "-"}};
    for (const UnitColumn& column : headings.columns) row.emplace_back(column.heading, column.cells[i]);
    row.emplace_back(headings.computation_units, fmt::format("{}", plan.distribution[i]));
    row.emplace_back("share", fmt::format("{:.1f} %", total > 0.0 ? 100.0 * (size / total) : 0.0));
    row.emplace_back("predicted" + headings.per, predicted_s > 0.0 || size == 0.0 ? format_seconds(predicted_s) : "-");
    if (unit.measured_s) {
      const bool comparable = *unit.measured_s > 0.0 && predicted_s > 0.0;
      row.emplace_back("measured" + headings.per, format_seconds(*unit.measured_s));
      row.emplace_back("difference", comparable ? difference_text(*unit.measured_s, predicted_s) : "-");
    }
    rows.push_back(std::move(row));
  }
  return table_text(rows);
}

/// Text of a run that took place: the table of units and the lines `time`, `predicted`, `figure of merit` and `check`,
/// with the app's own.
std::string run_text(const RunRecord& record, const Plan& plan, const Measurement& measurement,
                     const Outcome& outcome) {
  const std::size_t count = measurement.times_s.size();
  std::string spread = "measured once";
  if (count > 1) {
    spread = fmt::format("median of {}, 95 % interval +- {}, coefficient of variation {:.1f} %", count,
                         format_seconds(record.figures.at("confidence_s")),
                         100.0 * record.figures.at("coefficient_of_variation"));
  }
  std::string text = unit_table(record, plan) + outcome.above;
  text += fmt::format("time       {}{}{} ({})\n", format_seconds(record.median_time_s),
                      outcome.of_what.empty() ? "" : " ", outcome.of_what, spread);
  if (plan.time_s) {
    text += fmt::format("predicted  {}{}{}\n", format_seconds(*plan.time_s), interval_text(record.predicted_interval_s),
                        behind_prediction(record.median_time_s, *plan.time_s));
  }
  const CheckResult& check = record.check;
  const char* const verdict = !check.performed ? "not done" : check.passed ? "passed" : "FAILED";
  const std::string found =
      fmt::format("largest error {:.2e} against {} (tolerance {:.2g})", check.error, check.against, check.tolerance);
  text += outcome.below;
  if (const std::optional<FigureOfMerit>& merit = record.figure_of_merit) {
    const int decimals = std::max(0, 3 - static_cast<int>(std::floor(std::log10(merit->value))));
    text += fmt::format("figure of merit  {} {:.{}f}\n", merit->name, merit->value, decimals);
  }
  return text + fmt::format("check      {}: {}\n", verdict, check.performed ? found : check.against);
}

/// Writes `run.json`, `samples.jsonl` and the models into the folder of `--result`. Not collective: for rank 0.
/// @param replaces an earlier run's
/// @return the line that says where that is; nothing is written where the user named no folder @throws RuntimeFailure
std::string write_result(const Frame& frame, const RunRecord& record, const Plan& plan, bool replaces) {
  const std::filesystem::path& folder = frame.options().result;
  if (folder.empty()) return "";
  // The numbers first, should there be no room for all.
  write_run_record(folder, record);
  for (const KeptModels& kept : plan.models) {
    for (std::size_t i = 0; i < kept.files.size(); ++i) {
      const Slot& slot = frame.slots()[i];
      const char* kind = slot.kind == ProcessingUnit::Kind::host ? "host" : "device";
      models::write_fpm_file(folder / "models" / fmt::format("rank{}-{}{}.fpm.json", slot.rank, kind, kept.suffix),
                             kept.files[i]);
    }
  }
  return fmt::format("result     {}{}\n", folder.string(), replaces ? ", in place of an earlier run's" : "");
}

/// The repetitions of a run that are finished.
class Finished {
 public:
  Finished(const Frame& frame, const RunRecord& record, const Plan& plan, bool replaces)
      : frame_(frame), record_(record), plan_(plan), replaces_(replaces) {}

  void add(double seconds, std::vector<double> unit_s, const CheckResult& check) {
    measurement_.times_s.push_back(seconds);
    measurement_.unit_times_s.push_back(std::move(unit_s));
    record_.check = check;
  }

  /// With medians of what there is. @throws InvalidArgument where there is nothing
  Measurement measurement() const {
    Measurement all = measurement_;
    all.median_s = median(all.times_s);
    Medians unit_s;
    for (const std::vector<double>& seconds : all.unit_times_s) unit_s.add(seconds);
    all.unit_s = unit_s.values();
    return all;
  }

  /// Prints and writes what a run would at its end, but for what the app makes of it. For rank 0, and no other rank is
  /// asked: they may be anywhere.
  void leave() {
    const Session& session = frame_.session();
    if (!session.is_root()) return;
    const RunOptions& options = frame_.options();
    const std::size_t count = measurement_.times_s.size();
    if (count > 0) {
      const RunRecord so_far = record_so_far();
      session.print(run_text(so_far, plan_, measurement(), {}));
      session.print(write_result(frame_, so_far, plan_, replaces_));
    }
    fmt::print(stderr, "{}: interrupted; {} of {} repetitions finished{}\n", record_.app, count, options.repetitions,
               count > 0 && !options.result.empty() ? " and kept" : "");
  }

  /// Writes the repetitions so far, of a run that is interrupted unless its end replaces them. For rank 0.
  void save() const { write_result(frame_, record_so_far(), plan_, replaces_); }

 private:
  RunRecord record_so_far() const {
    RunRecord record = record_;
    record_measurement(record, plan_, measurement());
    record.is_interrupted = true;
    if (!record.check.performed) record.check.against = "the run was interrupted";
    return record;
  }

  const Frame& frame_;
  RunRecord record_;
  Plan plan_;
  bool replaces_;
  Measurement measurement_;
};

/// All repetitions, or those until the user interrupted a run that ends itself. @param region is the name of a
/// repetition's profiling region @return whether they are all
bool repeat(Session& session, Frame& frame, AppRun& run, RunRecord& record, const std::string& region,
            Finished& finished) {
  const RunOptions& options = frame.options();
  std::function<void()> leave;
  if (options.checkpoint.empty()) leave = [&] { finished.leave(); };
  std::function<void()> save;
  if (session.is_root() && !options.result.empty()) save = [&] { finished.save(); };
  Interruption interruption(std::move(leave), std::move(save));
  frame.progress().emplace(fmt::format("repetitions of {}", record.app), options.warmups + options.repetitions,
                           session.is_root());
  for (int repetition = -options.warmups; repetition < options.repetitions; ++repetition) {
    session.enter(repetition < 0 ? "warm-up" : fmt::format("repetition {}", repetition + 1));
    run.load();
    UnitSeconds own_s;
    const double seconds = timed_region(session, region, [&] { own_s = run.run(); });
    if (!options.checkpoint.empty() && frame.is_interrupted()) return false;
    const bool is_last = repetition + 1 == options.repetitions;
    session.enter("check");
    if (options.check == CheckLevel::all || (options.check == CheckLevel::last && is_last)) {
      if (const std::optional<FoundError> found = run.check()) {
        add_check(session, record.check, *found);
      } else if (!run.why_unchecked().empty()) {
        record.check.against = run.why_unchecked();
      }
    }
    frame.progress()->advance();
    if (repetition < 0) continue;
    std::vector<double> unit_s = frame.gather_seconds(own_s);
    interruption.update([&] { finished.add(seconds, std::move(unit_s), record.check); });
    run.keep({seconds, is_last});
  }
  frame.progress().reset();
  return true;
}

/// Prints a plan and keeps it in the record, of a run that does not take place.
void print_plan(const Session& session, const Plan& plan, RunRecord& record) {
  session.print(unit_table(record, plan));
  session.print(!plan.text.empty() ? plan.text
                : plan.time_s      ? fmt::format("predicted  {}\n", format_seconds(*plan.time_s))
                                   : "predicted  nothing: no model says how long this run takes\n");
  if (const std::string interval = interval_text(record.predicted_interval_s); !interval.empty()) {
    session.print(fmt::format("interval  {} in 90 % of runs\n", interval));
  }
  record.is_dry_run = true;
  record.predicted_time_s = plan.time_s;
  if (plan.by_model.empty()) return;
  for (const auto& [name, seconds] : plan.by_model.front().phases) record.phases.push_back({name, 0.0, seconds});
}

ExitCode carry_out(Session& session, Frame& frame, const MiniApp& app, AppRun& run, RunRecord& record) {
  const AppFacts facts = app.facts();
  require_memory(frame, run);
  if (facts.takes.steps) record.params["steps"] = static_cast<double>(frame.options().steps);
  run.describe(record);
  session.print(fmt::format("{}, {} on {}, partition {}\n", run.title(record), counted(session.size(), "rank"),
                            counted(session.nodes().count(), "node"), record.settings.at("partition")));
  for (const std::string& why : core_doubts(session, frame.units())) frame.doubt(why);
  session.print(run.notes(record));
  session.enter("plan");
  std::optional<Plan> own_plan = run.plan();
  Plan plan = own_plan ? std::move(*own_plan) : app.plan(frame, 1);
  record_plan(record, plan, frame);
  const bool replaces = std::filesystem::exists(frame.options().result / "run.json");
  const auto write_files = [&](const std::string& failure) {
    frame.write([&] {
      std::string line;
      frame.on_root([&] { line = write_result(frame, record, plan, replaces); });
      session.print(line);
    });
    frame.require_success(failure);
  };
  frame.on_root([&] {
    if (frame.options().strict && !record.notes.empty()) throw InvalidArgument(record.notes.front() + " (--strict)");
  });
  if (frame.options().dry_run) {
    print_plan(session, plan, record);
    write_files("");
    return ExitCode::good;
  }
  session.enter("allocation");
  run.allocate(plan);
  Finished finished(frame, record, plan, replaces);
  const OtherWork other_work(session);
  if (!repeat(session, frame, run, record, fmt::format("steelyard::{}::{}", facts.name, facts.timed), finished)) {
    frame.write([&] { frame.on_root([&] { finished.leave(); }); });
    frame.require_success("");
    return Interruption::exit_code();
  }
  const Measurement measurement = finished.measurement();
  const double other_cores = other_work.cores();
  if (std::isfinite(other_cores)) record.figures["other_busy_cores"] = other_cores;
  session.enter("output");
  run.write_files();
  const Outcome outcome = run.outcome(measurement, plan);
  record_plan(record, plan, frame);
  record_outcome(record, outcome);
  record_measurement(record, plan, measurement);
  session.print(run_text(record, plan, measurement, outcome));
  const std::string busy = other_work.doubt(other_cores);
  if (!busy.empty()) frame.doubt(busy);
  write_files(outcome.failure.empty() && frame.options().strict ? busy : outcome.failure);
  return record.check.performed && !record.check.passed ? ExitCode::check_failed : ExitCode::good;
}

}  // namespace

void require_devices(const AppFacts& facts, int devices) {
  if (devices <= 1 || facts.takes.devices) return;
  throw InvalidArgument(
      fmt::format("{} devices in a unit of {} (expected one; gemm and summa share out a matrix)", devices, facts.name));
}

void prepare_options(MiniApp& app) {
  RunOptions& given = app.run_options();
  if (!given.distribution.empty()) given.partition = partition_of(given.distribution);
  if (!given.kind.empty()) models::find_model_kind(given.kind);
  if (given.levels == 2 && (given.partition == "dynamic" || given.partition.find(':') != std::string::npos)) {
    throw InvalidArgument(fmt::format(
        "--levels 2 with --partition {} (expected an algorithm that goes by speed models)", given.partition));
  }
  app.prepare();
}

/// Runs a mini-app as its options say. Collective. @throws CollectiveError for what the user got wrong
ExitCode run_mini_app(Session& session, MiniApp& app) {
  collectively(session.comm(), [&] { prepare_options(app); });
  const RunOptions& options = app.run_options();
  session.enter("start of its units");
  const StartedUnits started(session, options);
  collectively(session.comm(), [&] {
    if (started.units().companion) require_devices(app.facts(), started.units().companion->devices);
  });
  require_outputs(session, options);
  Frame frame(session, options, started.units(), app.facts().name);
  const std::unique_ptr<AppRun> run = app.start(frame);
  return carry_out(session, frame, app, *run, frame.record_);
}

std::shared_ptr<AppOptions> add_app_options(CLI::App& parser, MiniApp& app, Verb verb) {
  auto options = std::make_shared<AppOptions>(parser, verb);
  add_run_options(*options, app.run_options(), app.facts().takes);
  app.add_options(*options);
  return options;
}

int mini_app_main(int argc, char** argv, MiniApp& app) {
  const AppFacts facts = app.facts();
  CLI::App parser(facts.description, facts.name);
  add_standard_options(parser);
  const std::shared_ptr<AppOptions> options = add_app_options(parser, app, Verb::run);
  return run_program(argc, argv, parser, [&](Session& session) { return run_mini_app(session, app); });
}

}  // namespace steelyard
