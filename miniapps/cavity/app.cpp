#include "miniapps/cavity/app.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>

#include "comm/collective.hpp"
#include "comm/group_bandwidth.hpp"
#include "comm/run_description.hpp"
#include "core/base/statistics.hpp"
#include "core/base/table.hpp"
#include "miniapps/app/channels.hpp"
#include "miniapps/app/result_folder.hpp"
#include "miniapps/app/run_header.hpp"
#include "miniapps/app/slot_shares.hpp"
#include "miniapps/app/speed_models.hpp"
#include "miniapps/app/started_units.hpp"
#include "miniapps/app/timed_region.hpp"
#include "miniapps/app/unit_table.hpp"
#include "miniapps/app/verification.hpp"
#include "miniapps/cavity/checkpoint.hpp"
#include "miniapps/cavity/flow.hpp"
#include "miniapps/cavity/flow_files.hpp"
#include "miniapps/cavity/mass_check.hpp"
#include "miniapps/cavity/measured_kernel.hpp"
#include "miniapps/cavity/numerics_options.hpp"
#include "miniapps/cavity/prediction.hpp"
#include "miniapps/cavity/report.hpp"
#include "miniapps/cavity/run_log.hpp"
#include "partition/even.hpp"

namespace steelyard::cavity {
namespace {

class App {
 public:
  App(const Session& session, const Options& options, const Problem& problem, const RankUnits& units)
      : session_(session),
        options_(options),
        problem_(problem),
        units_(units),
        co_execution_(session.machine(), units),
        slots_(gather_slots(session, units)),
        record_(describe_run(session, "cavity", options.run, units)) {
    record_.check = unchecked(options.run);
    record_.params["rows"] = static_cast<double>(problem.rows);
    record_.params["columns"] = static_cast<double>(problem.columns);
    record_.params["height"] = problem.height;
    record_.params["reynolds"] = problem.reynolds;
    record_.params["time_step"] = problem.time_step;
    record_.params["correctors"] = problem.correctors;
    record_.settings["scheme"] = problem.scheme == TimeScheme::euler ? "euler" : "crank-nicolson";
    record_.settings["pressure_preconditioner"] = name_of(options.numerics.pressure_preconditioner);
    record_.settings["momentum_preconditioner"] = name_of(options.numerics.momentum_preconditioner);
    record_.settings["reductions"] = name_of(options.numerics.reductions);
  }

  ExitCode run() {
    require_outputs(session_, options_.run);
    collectively(session_.comm(), [&] { require_flow_outputs(options_); });
    print_header();
    load_start();
    const SpeedModels models = obtain_speed_models(session_, co_execution_, units_, options_.run,
                                                   MeasuredKernel(problem_.columns), problem_.rows, slots_, record_);
    partition::Distribution distribution;
    collectively(session_.comm(), [&] {
      distribution = partition::find_algorithm(options_.run.partition).distribute(problem_.rows, models.pointers());
    });
    record_.distribution = distribution.units;
    const std::optional<models::Platform> platform =
        obtain_platform(session_, options_.run, message_facts(session_, problem_), record_);
    const Prediction prediction =
        predict(session_, co_execution_, units_, problem_, options_.numerics, slots_, distribution.units, platform);
    if (options_.run.dry_run) {
      session_.print(
          unit_table(record_, unit_headings(),
                     prediction.unit_step_s(prediction.cost.momentum_iterations, prediction.cost.pressure_iterations)));
      session_.print(prediction_text(prediction));
      return ExitCode::good;
    }
    const Measurement measurement = measure(distribution, models);
    complete_record(record_, problem_, options_, prediction, measurement);
    session_.print(
        unit_table(record_, unit_headings(), predicted_unit_s(prediction, measurement.log), measurement.slot_step_s));
    session_.print(summary(record_));
    write_outputs(measurement);
    write_result_folder(session_, options_.run.result, record_, slots_, models.files());
    if (end_.steady > 0.0 && !measurement.log.steady) {
      throw CollectiveError(
          fmt::format("not steady after {} steps: velocities still change by {:.2e} per time (--steady {})",
                      measurement.log.steps, measurement.log.change, end_.steady),
          ExitCode::failed, 0);
    }
    return exit_code(record_.check);
  }

 private:
  void print_header() const {
    session_.print(fmt::format("cavity {} x {}, Re {:g}{}, {}, dt {:.4g}, {} correctors, CG {}, BiCGSTAB {}, {}\n",
                               problem_.rows, problem_.columns, problem_.reynolds,
                               problem_.height == 1.0 ? "" : fmt::format(", height {:g}", problem_.height),
                               record_.settings.at("scheme"), problem_.time_step, problem_.correctors,
                               preconditioner_text("pressure_preconditioner"),
                               preconditioner_text("momentum_preconditioner"), rank_text(session_, record_)));
    session_.print(core_notes(record_));
  }
  std::string preconditioner_text(const std::string& setting) const {
    const std::string& name = record_.settings.at(setting);
    return name == "none" ? "alone" : "with " + name;
  }

  void load_start() {
    std::string note;
    collectively(session_.comm(), [&] {
      if (options_.restart.empty()) {
        start_ = FlowState::at_rest(problem_);
      } else {
        Checkpoint checkpoint = read_checkpoint(options_.restart, problem_);
        note = checkpoint.note(problem_);
        start_ = std::move(checkpoint.state);
      }
      end_ = make_end(options_, problem_, start_.time);
    });
    if (options_.restart.empty()) return;
    session_.print(fmt::format("restart    from step {} at t = {:.6g}\n", start_.steps, start_.time));
    if (!note.empty()) session_.print(fmt::format("           {}\n", note));
  }

  std::unique_ptr<Flow> make_flow(const std::vector<std::int64_t>& rows) {
    return std::make_unique<Flow>(session_, co_execution_, units_, slots_, problem_, numerics(), rows);
  }

  /// Histories take memory, so they are kept for results only.
  Numerics numerics() const {
    Numerics numerics = options_.numerics;
    numerics.pressure.keep_history = numerics.momentum.keep_history = !options_.run.result.empty();
    return numerics;
  }

  Measurement measure(const partition::Distribution& distribution, const SpeedModels& models) {
    const std::unique_ptr<Flow> flow = make_flow(distribution.units);
    std::unique_ptr<Flow> even_flow;
    const partition::Distribution even = partition::even(problem_.rows, models.pointers());
    if (options_.compare_even) even_flow = make_flow(even.units);
    GroupBandwidth bandwidth = make_bandwidth(distribution.units);
    Measurement measurement;
    std::vector<double> bandwidths, host_s, companion_s, momentum_s, pressure_s, communication;
    for (int repetition = -options_.run.warmups; repetition < options_.run.repetitions; ++repetition) {
      if (even_flow) {
        even_flow->load(start_);
        const double seconds = timed_region(session_, "steelyard::cavity::even", [&] {
          run_steps(*even_flow, problem_, options_.numerics.pressure, end_, false);
        });
        if (repetition >= 0) measurement.even_times_s.push_back(seconds);
      }
      flow->load(start_);
      bandwidths.push_back(bandwidth.measure_bytes_per_s());
      const double seconds = timed_region(session_, "steelyard::cavity::steps", [&] {
        measurement.log = run_steps(*flow, problem_, options_.numerics.pressure, end_, !options_.run.result.empty());
      });
      const RunLog& log = measurement.log;
      const bool is_last = repetition + 1 == options_.run.repetitions;
      const bool check_due = is_check_due(options_.run, repetition);
      if (check_due || is_last) measurement.state = flow->gather();
      if (check_due) {
        add_check(session_, record_.check, check_mass(problem_, measurement.state, log));
      }
      if (repetition < 0) continue;
      measurement.times_s.push_back(seconds);
      const double per_step = log.steps > 0 ? 1.0 / static_cast<double>(log.steps) : 0.0;
      host_s.push_back(per_step * log.times.host_s);
      companion_s.push_back(per_step * log.times.companion_s);
      momentum_s.push_back(all_max(session_.comm(), log.times.momentum.total_s));
      pressure_s.push_back(all_max(session_.comm(), log.times.pressure.total_s));
      const double computing_s = all_max(session_.comm(), std::max(log.times.host_s, log.times.companion_s));
      if (computing_s > 0.0) communication.push_back(std::max(0.0, seconds / computing_s - 1.0));
    }
    measurement.momentum_s = median(momentum_s);
    measurement.pressure_s = median(pressure_s);
    measurement.bound_bytes_per_s = median(bandwidths);
    measurement.slot_step_s = gather_seconds(session_, slots_, {median(host_s), median(companion_s)});
    measurement.bound.computation = even.makespan_s() / distribution.makespan_s();
    measurement.bound.communication = communication.empty() ? 0.0 : median(communication);
    return measurement;
  }

  /// With as many iterations as the run needed.
  static std::vector<double> predicted_unit_s(const Prediction& prediction, const RunLog& log) {
    const double steps = std::max(1.0, static_cast<double>(log.steps));
    return prediction.unit_step_s(static_cast<double>(log.momentum_iterations) / steps,
                                  static_cast<double>(log.pressure_iterations) / steps);
  }

  /// As large as the fields of a unit's share.
  GroupBandwidth make_bandwidth(const std::vector<std::int64_t>& rows) {
    const UnitSizes share = own_share(session_, slots_, rows);
    return {session_.comm(), co_execution_, share.host * problem_.columns, share.companion * problem_.columns};
  }

  void write_outputs(const Measurement& measurement) const {
    on_root(session_.comm(), [&] { write_flow_outputs(options_, problem_, measurement.state); });
    if (options_.run.result.empty()) return;
    on_root(session_.comm(), [&] { write_histories(options_.run.result, problem_, start_, measurement.log); });
  }

  const Session& session_;
  const Options& options_;
  Problem problem_;
  RankUnits units_;
  CoExecution co_execution_;
  std::vector<Slot> slots_;
  FlowState start_;
  RunEnd end_;
  RunRecord record_;
};

}  // namespace

ExitCode run(Session& session, const Options& options) {
  Problem problem;
  collectively(session.comm(), [&] { problem = make_problem(options); });
  const StartedUnits started(session, options.run);
  return App(session, options, problem, started.units()).run();
}

}  // namespace steelyard::cavity
