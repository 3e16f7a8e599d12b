#include "miniapps/app/mini_app.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "comm/collective.hpp"
#include "comm/run_description.hpp"
#include "core/base/statistics.hpp"
#include "core/base/table.hpp"
#include "miniapps/app/frame.hpp"
#include "models/estimate.hpp"

namespace steelyard {
namespace {

void print_header(const Frame& frame, const AppRun& run, const RunRecord& record) {
  const Session& session = frame.session();
  session.print(fmt::format("{}, {} on {}, partition {}\n{}{}", run.title(record), counted(session.size(), "rank"),
                            counted(session.nodes().count(), "node"), record.settings.at("partition"),
                            core_notes(any_oversubscribed(session, frame.units()), any_unbound(session, frame.units())),
                            run.notes(record)));
}

/// The interval of what a plan predicts: kernels by the models of the slowest slots, exchanges by the channels.
std::optional<Interval> predicted_interval(const Plan& plan, double channel_error) {
  if (!plan.time_s || plan.models.empty()) return std::nullopt;
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
  return models::run_estimate(slots, *plan.time_s, plan.exchange_s, channel_error).interval();
}

void record_plan(RunRecord& record, const Plan& plan, double channel_error) {
  record.predicted_interval_s = predicted_interval(plan, channel_error);
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

/// Keeps the seconds of every unit, of each repetition and as medians.
void record_unit_times(RunRecord& record, const Measurement& measurement) {
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
}

/// All repetitions; `region` is the name of a repetition's profiling region.
Measurement repeat(Frame& frame, AppRun& run, const std::string& region) {
  const RunOptions& options = frame.options();
  Measurement measurement;
  std::vector<UnitSeconds> own_times_s;
  for (int repetition = -options.warmups; repetition < options.repetitions; ++repetition) {
    run.load();
    UnitSeconds own_s;
    const double seconds = timed_region(frame.session(), region, [&] { own_s = run.run(); });
    if (is_check_due(options, repetition)) {
      if (const std::optional<FoundError> found = run.check()) {
        add_check(frame.session(), frame.record().check, *found);
      } else if (!run.why_unchecked().empty()) {
        frame.record().check.against = run.why_unchecked();
      }
    }
    if (repetition < 0) continue;
    measurement.times_s.push_back(seconds);
    own_times_s.push_back(own_s);
    run.keep({seconds, repetition + 1 == options.repetitions});
  }
  measurement.median_s = median(measurement.times_s);
  Medians unit_s;
  for (const UnitSeconds& own_s : own_times_s) {
    measurement.unit_times_s.push_back(frame.gather_seconds(own_s));
    unit_s.add(measurement.unit_times_s.back());
  }
  measurement.unit_s = unit_s.values();
  return measurement;
}

ExitCode carry_out(Frame& frame, AppRun& run, const std::string& region, bool has_steps) {
  const RunOptions& options = frame.options();
  const Session& session = frame.session();
  RunRecord& record = frame.record();
  if (has_steps) record.params["steps"] = static_cast<double>(options.steps);
  run.describe(record);
  print_header(frame, run, record);
  Plan plan = run.plan();
  record_plan(record, plan, frame.channel_error());
  if (options.dry_run) {
    session.print(unit_table(record, plan.headings, plan.unit_s));
    session.print(plan.text.empty() ? fmt::format("predicted  {}\n", format_seconds(plan.time_s.value_or(0.0)))
                                    : plan.text);
    if (const std::string interval = interval_text(record.predicted_interval_s); !interval.empty()) {
      session.print(fmt::format("interval  {} in 90 % of runs\n", interval));
    }
    return ExitCode::good;
  }
  run.allocate(plan);
  const Measurement measurement = repeat(frame, run, region);
  const Outcome outcome = run.outcome(measurement, plan);
  record_plan(record, plan, frame.channel_error());
  record_outcome(record, outcome);
  record_times(record, measurement.times_s, plan.time_s);
  record_unit_times(record, measurement);
  session.print(unit_table(record, plan.headings, plan.unit_s, measurement.unit_s));
  session.print(outcome.above + time_line(record, outcome.of_what) + predicted_line(record) + outcome.below +
                check_line(record.check));
  write_result_folder(session, options.result, record, frame.slots(), plan.models);
  if (!outcome.failure.empty()) throw CollectiveError(outcome.failure, ExitCode::failed, 0);
  return exit_code(record.check);
}

}  // namespace

ExitCode run_mini_app(Session& session, MiniApp& app) {
  collectively(session.comm(), [&] { app.prepare(); });
  const RunOptions& options = app.run_options();
  const StartedUnits started(session, options);
  require_outputs(session, options);
  const AppFacts facts = app.facts();
  Frame frame(session, options, started.units(), facts.name);
  const std::unique_ptr<AppRun> run = app.start(frame);
  return carry_out(frame, *run, fmt::format("steelyard::{}::{}", facts.name, facts.timed), facts.has_steps);
}

int mini_app_main(int argc, char** argv, MiniApp& app) {
  const AppFacts facts = app.facts();
  CLI::App parser(facts.description, facts.name);
  add_standard_options(parser);
  if (facts.has_steps) add_steps_option(parser, app.run_options());
  add_run_options(parser, app.run_options());
  if (facts.has_messages) add_platform_option(parser, app.run_options());
  app.add_options(parser);
  return run_program(argc, argv, parser, [&](Session& session) { return run_mini_app(session, app); });
}

}  // namespace steelyard
