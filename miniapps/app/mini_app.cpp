#include "miniapps/app/mini_app.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "comm/collective.hpp"
#include "core/base/statistics.hpp"
#include "core/base/table.hpp"
#include "miniapps/app/frame.hpp"
#include "miniapps/app/result_folder.hpp"
#include "miniapps/app/run_header.hpp"
#include "miniapps/app/run_times.hpp"
#include "miniapps/app/started_units.hpp"
#include "miniapps/app/timed_region.hpp"

namespace steelyard {
namespace {

void print_header(const Frame& frame, const AppRun& run, const RunRecord& record) {
  frame.session().print(fmt::format("{}, {}\n{}{}", run.title(record), rank_text(frame.session(), record),
                                    core_notes(record), run.notes(record)));
}

void record_plan(RunRecord& record, const Plan& plan) {
  record.computation_units = plan.headings.computation_units;
  record.distribution = plan.distribution;
  record.column_distribution = plan.column_distribution;
  record.rectangles = plan.rectangles;
  record.params.insert(plan.params.begin(), plan.params.end());
  record.figures.insert(plan.figures.begin(), plan.figures.end());
}

/// All repetitions; `region` is the name of a repetition's profiling region.
Measurement repeat(Frame& frame, AppRun& run, const std::string& region) {
  const RunOptions& options = frame.options();
  Measurement measurement;
  Medians unit_s;
  for (int repetition = -options.warmups; repetition < options.repetitions; ++repetition) {
    run.load();
    UnitSeconds own_s;
    const double seconds = timed_region(frame.session(), region, [&] { own_s = run.run(); });
    if (is_check_due(options, repetition)) {
      if (const std::optional<FoundError> found = run.check()) {
        add_check(frame.session(), frame.record().check, *found);
      }
    }
    if (repetition < 0) continue;
    measurement.times_s.push_back(seconds);
    unit_s.add({own_s.host_s, own_s.companion_s});
    run.keep({seconds, repetition + 1 == options.repetitions});
  }
  measurement.median_s = median(measurement.times_s);
  const std::vector<double> medians = unit_s.values();
  measurement.unit_s = frame.gather_seconds({medians[0], medians[1]});
  return measurement;
}

ExitCode carry_out(Frame& frame, AppRun& run, const std::string& region) {
  const RunOptions& options = frame.options();
  const Session& session = frame.session();
  RunRecord& record = frame.record();
  run.describe(record);
  print_header(frame, run, record);
  Plan plan = run.plan();
  record_plan(record, plan);
  if (options.dry_run) {
    session.print(unit_table(record, plan.headings, plan.unit_s));
    session.print(plan.text.empty() ? fmt::format("predicted  {}\n", format_seconds(plan.time_s.value_or(0.0)))
                                    : plan.text);
    return ExitCode::good;
  }
  run.allocate(plan);
  const Measurement measurement = repeat(frame, run, region);
  const Outcome outcome = run.outcome(measurement, plan);
  record_plan(record, plan);
  record_times(record, measurement.times_s, plan.time_s);
  record.phases = outcome.phases;
  record.figures.insert(outcome.figures.begin(), outcome.figures.end());
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
  return carry_out(frame, *run, fmt::format("steelyard::{}::{}", facts.name, facts.timed));
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
