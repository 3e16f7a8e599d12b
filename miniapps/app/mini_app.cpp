#include "miniapps/app/mini_app.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <utility>

#include "comm/collective.hpp"
#include "core/base/json_file.hpp"
#include "core/base/statistics.hpp"
#include "core/base/table.hpp"
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

void print_header(const Frame& frame, const AppRun& run, const RunRecord& record) {
  const Session& session = frame.session();
  session.print(fmt::format("{}, {} on {}, partition {}\n{}{}", run.title(record), counted(session.size(), "rank"),
                            counted(session.nodes().count(), "node"), record.settings.at("partition"),
                            core_notes(session, frame.units()), run.notes(record)));
}

void record_plan(RunRecord& record, const Plan& plan, double channel_error) {
  record.predicted_interval_s.reset();
  if (!plan.by_model.empty() && !slot_estimates(plan).empty()) {
    record.predicted_interval_s = estimate(plan, plan.by_model.front(), channel_error).interval();
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

/// Keeps the seconds of the repetitions and of every unit in them.
void record_measurement(RunRecord& record, const Plan& plan, const Measurement& measurement) {
  record_times(record, measurement.times_s, plan.time_s);
  for (std::size_t i = 0; i < record.units.size(); ++i) {
    UnitRecord& unit = record.units[i];
    unit.measured_s = measurement.unit_s[i];
    for (std::size_t repetition = 0; repetition < measurement.unit_times_s.size(); ++repetition) {
      Sample sample{record.params, "unit_time_s", measurement.unit_times_s[repetition][i], record.settings};
      sample.params["repetition"] = static_cast<double>(repetition);
      sample.keys["unit"] = fmt::format("rank {} {}", unit.rank, unit.kind);
      record.samples.push_back(sample);
    }
  }
}

void record_outcome(RunRecord& record, const Outcome& outcome) {
  record.phases = outcome.phases;
  for (const auto& [name, value] : outcome.params) record.params[name] = value;
  for (const auto& [name, value] : outcome.figures) record.figures[name] = value;
  for (const auto& [name, point] : outcome.points) record.points[name] = point;
  for (const PhaseTime& phase : record.phases) {
    record.samples.push_back({record.params, "phase_time_s", phase.measured_s, record.settings});
    record.samples.back().keys["phase"] = phase.name;
  }
}

/// The repetitions of a run that are finished.
class Finished {
 public:
  Finished(const Frame& frame, const RunRecord& record, const Plan& plan)
      : frame_(frame), record_(record), plan_(plan) {}

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
      const Measurement all = measurement();
      record_measurement(record_, plan_, all);
      record_.is_interrupted = true;
      if (!record_.check.performed) record_.check.against = "the run was interrupted";
      session.print(unit_table(record_, plan_.headings, plan_.unit_s, all.unit_s) + time_line(record_, "") +
                    predicted_line(record_) + check_line(record_.check));
      session.print(write_result(options.result, record_, frame_.slots(), plan_.models));
    }
    fmt::print(stderr, "{}: interrupted; {} of {} repetitions finished{}\n", record_.app, count, options.repetitions,
               count > 0 && !options.result.empty() ? " and kept" : "");
  }

 private:
  const Frame& frame_;
  RunRecord record_;
  Plan plan_;
  Measurement measurement_;
};

/// All repetitions, or those until the user interrupted a run that ends itself. @param region is the name of a
/// repetition's profiling region @return whether they are all
bool repeat(Frame& frame, AppRun& run, RunRecord& record, const std::string& region, Finished& finished) {
  const RunOptions& options = frame.options();
  std::function<void()> leave;
  if (!run.ends_itself()) leave = [&] { finished.leave(); };
  Interruption interruption(std::move(leave));
  frame.progress().emplace(fmt::format("repetitions of {}", record.app), options.warmups + options.repetitions,
                           frame.session().is_root());
  for (int repetition = -options.warmups; repetition < options.repetitions; ++repetition) {
    run.load();
    UnitSeconds own_s;
    const double seconds = timed_region(frame.session(), region, [&] { own_s = run.run(); });
    if (run.ends_itself() && frame.is_interrupted()) return false;
    if (is_check_due(options, repetition)) {
      if (const std::optional<FoundError> found = run.check()) {
        add_check(frame.session(), record.check, *found);
      } else if (!run.why_unchecked().empty()) {
        record.check.against = run.why_unchecked();
      }
    }
    frame.progress()->advance();
    if (repetition < 0) continue;
    std::vector<double> unit_s = frame.gather_seconds(own_s);
    interruption.update([&] { finished.add(seconds, std::move(unit_s), record.check); });
    run.keep({seconds, repetition + 1 == options.repetitions});
  }
  frame.progress().reset();
  return true;
}

/// Prints a plan and keeps it in the record, of a run that does not take place.
void print_plan(const Session& session, const Plan& plan, RunRecord& record) {
  session.print(unit_table(record, plan.headings, plan.unit_s));
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

ExitCode carry_out(Frame& frame, const MiniApp& app, AppRun& run, RunRecord& record) {
  const AppFacts facts = app.facts();
  const Session& session = frame.session();
  require_memory(frame, run);
  if (facts.takes.steps) record.params["steps"] = static_cast<double>(frame.options().steps);
  run.describe(record);
  print_header(frame, run, record);
  std::optional<Plan> own_plan = run.plan();
  Plan plan = own_plan ? std::move(*own_plan) : app.plan(frame, 1);
  record_plan(record, plan, frame.channel_error());
  const auto write_result_folder = [&] {
    std::string line;
    frame.on_root([&] { line = write_result(frame.options().result, record, frame.slots(), plan.models); });
    session.print(line);
  };
  if (frame.options().dry_run) {
    print_plan(session, plan, record);
    frame.write(write_result_folder);
    frame.require_success("");
    return ExitCode::good;
  }
  run.allocate(plan);
  Finished finished(frame, record, plan);
  if (!repeat(frame, run, record, fmt::format("steelyard::{}::{}", facts.name, facts.timed), finished)) {
    frame.write([&] { frame.on_root([&] { finished.leave(); }); });
    frame.require_success("");
    return ExitCode::interrupted;
  }
  const Measurement measurement = finished.measurement();
  run.write_files();
  const Outcome outcome = run.outcome(measurement, plan);
  record_plan(record, plan, frame.channel_error());
  record_outcome(record, outcome);
  record_measurement(record, plan, measurement);
  session.print(unit_table(record, plan.headings, plan.unit_s, measurement.unit_s));
  session.print(outcome.above + time_line(record, outcome.of_what) + predicted_line(record) + outcome.below +
                check_line(record.check));
  frame.write(write_result_folder);
  frame.require_success(outcome.failure);
  return exit_code(record.check);
}

}  // namespace

void prepare_options(MiniApp& app) {
  RunOptions& given = app.run_options();
  if (!given.distribution.empty()) given.partition = partition_of(given.distribution);
  if (!given.kind.empty()) models::find_model_kind(given.kind);
  app.prepare();
}

ExitCode run_mini_app(Session& session, MiniApp& app) {
  collectively(session.comm(), [&] { prepare_options(app); });
  const RunOptions& options = app.run_options();
  const StartedUnits started(session, options);
  require_outputs(session, options);
  Frame frame(session, options, started.units(), app.facts().name);
  const std::unique_ptr<AppRun> run = app.start(frame);
  return carry_out(frame, app, *run, frame.record_);
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
