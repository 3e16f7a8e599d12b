// The flow in a lid-driven cavity on host and companion units of every rank at once.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "comm/measurement/group_bandwidth.hpp"
#include "core/base/statistics.hpp"
#include "core/base/table.hpp"
#include "miniapps/app/frame.hpp"
#include "miniapps/app/run_text.hpp"
#include "miniapps/cavity/cost.hpp"
#include "miniapps/cavity/flow.hpp"
#include "miniapps/cavity/measured_kernel.hpp"
#include "miniapps/cavity/options.hpp"
#include "miniapps/cavity/output/centre_lines.hpp"
#include "miniapps/cavity/output/checkpoint.hpp"
#include "miniapps/cavity/output/flow_files.hpp"
#include "miniapps/cavity/output/streamfunction.hpp"
#include "miniapps/cavity/prediction.hpp"
#include "miniapps/cavity/time_loop.hpp"
#include "partition/algorithms.hpp"
#include "partition/even.hpp"

namespace steelyard::cavity {
namespace {

class Run : public AppRun {
 public:
  Run(Frame& frame, const Options& options, const Problem& problem)
      : frame_(frame), options_(options), problem_(problem) {
    frame.collectively([&] { require_flow_outputs(options); });
  }

  double memory_bytes() const override {
    return static_cast<double>(problem_.rows) * MeasuredKernel(problem_.columns).facts().memory_bytes_per_unit;
  }
  void describe(RunRecord& record) const override {
    record.params["rows"] = static_cast<double>(problem_.rows);
    record.params["columns"] = static_cast<double>(problem_.columns);
    record.params["height"] = problem_.height;
    record.params["reynolds"] = problem_.reynolds;
    record.params["time_step"] = problem_.time_step;
    record.params["correctors"] = problem_.correctors;
    record.settings["scheme"] = name_of(problem_.scheme);
    record.settings["pressure_preconditioner"] = name_of(options_.numerics.pressure_preconditioner);
    record.settings["momentum_preconditioner"] = name_of(options_.numerics.momentum_preconditioner);
    record.settings["reductions"] = name_of(options_.numerics.reductions);
  }

  std::string title(const RunRecord& record) const override {
    const auto preconditioner = [&](const char* setting) {
      const std::string& name = record.settings.at(setting);
      return name == "none" ? "alone" : "with " + name;
    };
    return fmt::format("cavity {} x {}, Re {:g}{}, {}, dt {:.4g}, {} correctors, CG {}, BiCGSTAB {}", problem_.rows,
                       problem_.columns, problem_.reynolds,
                       problem_.height == 1.0 ? "" : fmt::format(", height {:g}", problem_.height),
                       record.settings.at("scheme"), problem_.time_step, problem_.correctors,
                       preconditioner("pressure_preconditioner"), preconditioner("momentum_preconditioner"));
  }

  Plan plan() override {
    read_start();
    const MeasuredKernel kernel(problem_.columns);
    const std::string& algorithm = options_.run.partition;
    const SpeedModels models = frame_.speed_models(kernel, problem_.rows, algorithm);
    frame_.collectively([&] {
      const partition::Distribution distribution =
          partition::find_algorithm(algorithm).distribute(problem_.rows, models.pointers());
      rows_ = distribution.units;
      if (options_.run.dry_run) return;
      const partition::Distribution even = partition::even(problem_.rows, models.pointers());
      even_rows_ = even.units;
      bound_.computation = even.makespan_s() / distribution.makespan_s();
    });
    prediction_ = predict(frame_, problem_, options_.numerics, rows_, start_);
    const Iterations& sampled = prediction_.sampled;
    Plan plan;
    plan.distribution = rows_;
    plan.headings = {"rows", "/step"};
    plan.unit_s = prediction_.unit_step_s(calls(sampled));
    plan.models = {{"", models.files()}};
    plan.text = no_prediction_line();
    if (!plan.text.empty()) return plan;
    const std::vector<PhaseTime> phases = phase_times(prediction_.step(problem_, options_.numerics, sampled));
    double step_s = 0.0;
    for (const PhaseTime& phase : phases) step_s += phase.measured_s;
    plan.text = fmt::format("predicted  {} per step with {:.3g} iterations for momentum and {:.3g} for pressure\n",
                            format_seconds(step_s), sampled.momentum, sampled.pressure);
    for (const PhaseTime& phase : phases) plan.text += phase_line(phase, 10, 1.0, " per step");
    return plan;
  }

  void allocate(const Plan&) override {
    flow_ = make_flow(rows_);
    if (options_.compare_even) even_flow_ = make_flow(even_rows_);
    // Arrays as large as the fields of a unit's share.
    const UnitSizes share = frame_.own_share(rows_);
    bandwidth_ = std::make_unique<GroupBandwidth>(frame_.comm(), frame_.co_execution(), share.host * problem_.columns,
                                                  share.companion * problem_.columns);
  }

  /// Also runs the even split that is compared with, in turns with the repetitions, and measures the memory bound.
  void load() override {
    if (even_flow_) {
      even_flow_->load(start_);
      even_s_ = timed_region(frame_.session(), "steelyard::cavity::even",
                             [&] { run_steps(*even_flow_, problem_, options_.numerics.pressure, end_, false); });
    }
    flow_->load(start_);
    bandwidths_.push_back(bandwidth_->measure_bytes_per_s());
  }
  UnitSeconds run() override {
    log_ = run_steps(*flow_, problem_, options_.numerics.pressure, end_, keeps_histories(),
                     [&](std::int64_t steps) { return step_done(steps); });
    return UnitSeconds{log_.times.units.host.own_s(), log_.times.units.companion.own_s()} / std::max(1.0, steps());
  }
  std::optional<FoundError> check() override {
    state_ = flow_->gather();
    return check_mass(problem_, start_, state_, log_);
  }
  void keep(const Repetition& repetition) override {
    if (repetition.is_last && options_.run.check == CheckLevel::none) state_ = flow_->gather();
    const StepPhases phases = busiest(gather_phases(frame_, log_.times));
    std::vector<double> seconds;
    for (const PhaseTime& phase : phase_times(phases)) seconds.push_back(phase.measured_s);
    seconds.push_back(phases.own_s() > 0.0 ? phases.syncs_s() / phases.own_s() : 0.0);
    phases_.add(std::move(seconds));
    if (even_flow_) speedups_.push_back(even_s_ / repetition.seconds);
  }

  bool ends_itself() const override { return !options_.checkpoint.empty(); }

  Outcome outcome(const Measurement& measurement, Plan& plan) override {
    Outcome outcome;
    const double time_s = measurement.median_s;
    outcome.of_what = fmt::format("for {:g} steps to t = {:.6g}", steps(), state_.time);
    outcome.params["steps"] = steps();
    outcome.below = no_prediction_line();
    // With as many iterations as the run needed.
    add_phases(outcome, time_s);
    for (const PhaseTime& phase : outcome.phases) {
      if (phase.predicted_s) plan.time_s = plan.time_s.value_or(0.0) + *phase.predicted_s;
    }
    if (prediction_.by_channels) {
      plan.exchange_s = steps() * prediction_.step(problem_, options_.numerics, iterations()).syncs_s();
    }
    plan.unit_s = prediction_.unit_step_s(calls(iterations()));
    add_speed(outcome, time_s);
    add_flow(outcome);
    add_speedup(outcome);
    if (end_.steady > 0.0 && !log_.steady) {
      outcome.failure =
          fmt::format("not steady after {} steps: velocities still change by {:.2e} per time (--steady {})", log_.steps,
                      log_.change, end_.steady);
    }
    return outcome;
  }
  void write_files() override {
    frame_.write([&] { frame_.on_root([&] { write_flow_outputs(options_, problem_, state_); }); });
    if (!keeps_histories()) return;
    frame_.write(
        [&] { frame_.on_root([&] { write_histories(options_.run.result, problem_, start_, log_.reports); }); });
  }

 private:
  /// The flow that the run starts from, and what ends it.
  void read_start() {
    std::string note;
    frame_.collectively([&] {
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
    frame_.session().print(fmt::format("restart    from step {} at t = {:.6g}\n", start_.steps, start_.time));
    if (!note.empty()) frame_.session().print(fmt::format("           {}\n", note));
  }

  /// Empty where there is a prediction.
  std::string no_prediction_line() const {
    if (prediction_.failure.empty()) return "";
    return fmt::format("predicted  nothing: a sample of the steps failed ({})\n", prediction_.failure);
  }

  std::unique_ptr<Flow> make_flow(const std::vector<std::int64_t>& rows) {
    Numerics numerics = options_.numerics;
    numerics.pressure.keep_history = numerics.momentum.keep_history = keeps_histories();
    return std::make_unique<Flow>(frame_.session(), frame_.co_execution(), frame_.units(), frame_.slots(), problem_,
                                  numerics, rows);
  }
  /// Histories of solves take memory, so they are kept for results only.
  bool keeps_histories() const { return !options_.run.result.empty(); }

  /// Writes a checkpoint where one is due. @return whether the run goes on. Collective.
  bool step_done(std::int64_t steps) {
    frame_.step_done(steps, end_.steady > 0.0 ? 0 : end_.steps);
    if (options_.checkpoint.empty()) return true;
    const bool is_interrupted = frame_.is_interrupted();
    const bool is_due = options_.checkpoint_every > 0 && steps % options_.checkpoint_every == 0;
    if (is_interrupted || is_due) {
      const FlowState now = flow_->gather();
      frame_.write([&] { frame_.on_root([&] { write_checkpoint(options_.checkpoint, problem_, now); }); });
    }
    if (is_interrupted) {
      frame_.session().print(fmt::format("checkpoint {} after {} steps\n", options_.checkpoint.string(), steps));
    }
    return !is_interrupted;
  }

  double steps() const { return static_cast<double>(log_.steps); }
  /// Of a step of the last repetition.
  Iterations iterations() const {
    const double count = std::max(1.0, steps());
    return {static_cast<double>(log_.momentum_iterations) / count,
            static_cast<double>(log_.pressure_iterations) / count};
  }
  PerPart<double> calls(const Iterations& of_step) const { return step_calls(problem_, options_.numerics, of_step); }

  /// What the run prints and keeps of phases, as if they were measured.
  std::vector<PhaseTime> phase_times(const StepPhases& phases) const {
    std::vector<PhaseTime> times;
    for (const auto& [name, seconds] : named_phases(phases, options_.numerics)) times.push_back({name, seconds, {}});
    return times;
  }

  /// Measured and predicted seconds of a repetition's phases, which add up to its time.
  void add_phases(Outcome& outcome, double time_s) const {
    const std::vector<double> measured_s = phases_.values();
    outcome.phases = phase_times(prediction_.step(problem_, options_.numerics, iterations()));
    double others_s = 0.0;
    for (std::size_t i = 0; i < outcome.phases.size(); ++i) {
      PhaseTime& phase = outcome.phases[i];
      if (prediction_.failure.empty()) phase.predicted_s = steps() * phase.measured_s;
      phase.measured_s = measured_s[i];
      if (phase.name != part_names[StepPart::rest]) others_s += phase.measured_s;
    }
    for (PhaseTime& phase : outcome.phases) {
      if (phase.name == part_names[StepPart::rest]) phase.measured_s = std::max(0.0, time_s - others_s);
    }
  }

  /// How fast steps were, beside the memory bound and part by part beside the prediction.
  void add_speed(Outcome& outcome, double time_s) const {
    const double bound_bytes_per_s = median(bandwidths_);
    const double cells_per_s =
        steps() * static_cast<double>(problem_.rows) * static_cast<double>(problem_.columns) / time_s;
    const double share_of_bound =
        steps() * step_bytes(problem_, options_.numerics, iterations()) / bound_bytes_per_s / time_s;
    outcome.figures.insert({{"momentum_iterations", static_cast<double>(log_.momentum_iterations)},
                            {"pressure_iterations", static_cast<double>(log_.pressure_iterations)},
                            {"restarts", static_cast<double>(log_.restarts)},
                            {"change", log_.change},
                            {"mass_imbalance", log_.mass_imbalance},
                            {"cells_per_s", cells_per_s},
                            {"bound_bytes_per_s", bound_bytes_per_s},
                            {"share_of_bound", share_of_bound}});
    if (log_.steps == 0) return;
    outcome.below +=
        fmt::format("speed      {:.2f} Mcell/s, {:.0f} % of the {} bound ({:.1f} GB/s)\n", cells_per_s / 1e6,
                    100.0 * share_of_bound, frame_.bound_name(bandwidth_->array_bytes()), bound_bytes_per_s / 1e9);
    outcome.below += fmt::format("iterations {:.3g} per step for momentum, {:.3g} for pressure\n",
                                 iterations().momentum, iterations().pressure);
    for (const PhaseTime& phase : outcome.phases) outcome.below += phase_line(phase, 10, steps(), " per step");
    outcome.below += fmt::format("change     {:.2e} of lid speed per time in the last step\n", log_.change);
  }

  /// By what lid-driven cavities are compared. On rank 0, which has the flow.
  void add_flow(Outcome& outcome) const {
    outcome.figures["time"] = state_.time;
    if (state_.u.empty()) return;
    const FlowFigures flow = flow_figures(problem_, state_);
    if (flow.vortex) {
      const auto& [x, y] = flow.vortex->position;
      outcome.figures["streamfunction_min"] = flow.vortex->streamfunction;
      outcome.points["vortex_centre"] = {x, y};
      outcome.below +=
          fmt::format("vortex     streamfunction {:.6f} at ({:.4f}, {:.4f})\n", flow.vortex->streamfunction, x, y);
    }
    outcome.figures["u_min"] = flow.u_min.value;
    outcome.figures["v_min"] = flow.v_min.value;
    outcome.figures["v_max"] = flow.v_max.value;
    outcome.below += fmt::format("velocity   u at least {:.5f}, v {:.5f} to {:.5f} on the centre lines\n",
                                 flow.u_min.value, flow.v_min.value, flow.v_max.value);
    if (!ghia_has(problem_)) return;
    const double difference = largest_difference(ghia_comparison(problem_, state_));
    outcome.figures["ghia_difference"] = difference;
    constexpr double steady = 1e-4;
    outcome.below += fmt::format("Ghia       largest difference {:.5f} of lid speed on the centre lines{}\n",
                                 difference, log_.change > steady ? " from a steady flow, which this is not yet" : "");
  }

  void add_speedup(Outcome& outcome) const {
    const SpeedupBound bound{bound_.computation, phases_.values().back()};
    outcome.figures["speedup_computation"] = bound.computation;
    outcome.figures["communication_ratio"] = bound.communication;
    outcome.figures["speedup_bound"] = bound.execution();
    if (speedups_.empty()) return;
    outcome.figures["speedup"] = median(speedups_);
    outcome.below += fmt::format(
        "speedup    {:.3f} over an even split, beside a bound of {:.3f} by the models (computation {:.3f}, "
        "communication "
        "{:.3f} of it)\n",
        median(speedups_), bound.execution(), bound.computation, bound.communication);
  }

  Frame& frame_;
  const Options& options_;
  Problem problem_;
  FlowState start_;
  RunEnd end_;
  std::vector<std::int64_t> rows_, even_rows_;  ///< of every slot
  Prediction prediction_;
  SpeedupBound bound_;
  std::unique_ptr<Flow> flow_, even_flow_;
  std::unique_ptr<GroupBandwidth> bandwidth_;
  double even_s_ = 0.0;  ///< of the last repetition's even split
  RunLog log_;           ///< of the last repetition
  FlowState state_;      ///< at its end; on rank 0
  std::vector<double> bandwidths_, speedups_;
  Medians phases_;  ///< their seconds, and communication over computation
};

class Cavity : public MiniApp {
 public:
  AppFacts facts() const override {
    return {"cavity",
            "Lid-driven cavity flow on host and companion units at once, on slices sized by speed models",
            "steps",
            {.steps = true, .platform = true, .output = true}};
  }
  RunOptions& run_options() override { return options_.run; }
  void add_options(const AppOptions& parsers) override { cavity::add_options(parsers, options_); }
  void prepare() override { problem_ = make_problem(options_); }
  std::unique_ptr<AppRun> start(Frame& frame) const override {
    return std::make_unique<Run>(frame, options_, problem_);
  }
  std::shared_ptr<MeasurableKernel> kernel() const override {
    return std::make_shared<MeasuredKernel>(problem_.columns);
  }
  std::unique_ptr<Forecaster> forecaster() const override { return make_forecaster(problem_, options_); }

 private:
  Options options_;
  Problem problem_;
};

}  // namespace
}  // namespace steelyard::cavity

namespace steelyard {
STEELYARD_MINIAPP(cavity, cavity::Cavity)
}
