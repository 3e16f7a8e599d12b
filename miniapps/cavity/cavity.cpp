// The flow in a lid-driven cavity on host and companion units of every rank at once.

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <numeric>
#include <optional>
#include <utility>

#include "core/base/errors.hpp"
#include "core/base/json_file.hpp"
#include "core/base/npy.hpp"
#include "core/base/statistics.hpp"
#include "core/base/table.hpp"
#include "core/base/text_file.hpp"
#include "miniapps/app/checkpoint.hpp"
#include "miniapps/app/frame.hpp"
#include "miniapps/cavity/cost.hpp"
#include "miniapps/cavity/flow.hpp"
#include "miniapps/cavity/options.hpp"
#include "miniapps/cavity/output/flow_analysis.hpp"
#include "miniapps/cavity/output/flow_files.hpp"
#include "partition/distribution.hpp"

namespace steelyard::cavity {
namespace {

/// Phases of the unit of all ranks whose own sweeps take longest, and which waits least. Collective.
StepPhases busiest_unit(const Frame& frame, const PerUnit<StepPhases>& own) {
  std::vector<StepPhases> units(frame.slots().size());
  for (std::size_t phase = 0; phase < phase_names.size(); ++phase) {
    const std::vector<double> seconds = frame.gather_seconds({own.host[phase], own.companion[phase]});
    for (std::size_t i = 0; i < units.size(); ++i) units[i][phase] = seconds[i];
  }
  return *std::ranges::max_element(units, {}, &StepPhases::own_s);
}

/// Asks, before anything runs, whether the files that the user named for the flow could be written.
/// @throws RuntimeFailure; InvalidArgument where two have one name
void require_flow_outputs(const Options& options) {
  std::map<std::filesystem::path, std::string> names;
  for (const auto& [option, path] : {std::pair{"--output", options.run.output},
                                     {"--profiles", options.profiles},
                                     {"--picture", options.picture},
                                     {"--checkpoint", options.run.checkpoint}}) {
    if (path.empty()) continue;
    const auto [other, is_new] = names.emplace(std::filesystem::absolute(path).lexically_normal(), option);
    if (!is_new) {
      throw InvalidArgument(
          fmt::format("{} and {} both name {} (expected a file each)", other->second, option, path.string()));
    }
    require_writable(path);
  }
}

class Run : public AppRun {
 public:
  Run(Frame& frame, const Options& options, const Problem& problem)
      : frame_(frame), options_(options), problem_(problem), numerics_(options.numerics) {
    frame.collectively([&] { require_flow_outputs(options); });
  }

  double memory_bytes() const override {
    return static_cast<double>(problem_.rows) * MeasuredKernel(problem_, numerics_).facts().memory_bytes_per_unit;
  }
  void describe(RunRecord& record) const override {
    record.params.insert({{"rows", static_cast<double>(problem_.rows)},
                          {"columns", static_cast<double>(problem_.columns)},
                          {"height", problem_.height},
                          {"reynolds", problem_.reynolds},
                          {"time_step", problem_.time_step},
                          {"correctors", problem_.correctors}});
    record.settings["scheme"] = word_of(scheme_names, problem_.scheme);
    record.settings["pressure_preconditioner"] = word_of(preconditioner_names, numerics_.preconditioner);
    record.settings["reductions"] = word_of(reduction_names, numerics_.reductions);
  }

  std::string title(const RunRecord& record) const override {
    return fmt::format("cavity {} x {}, Re {:g}{}, {}, dt {:.4g}, {} correctors, CG {}, BiCGSTAB", problem_.rows,
                       problem_.columns, problem_.reynolds,
                       problem_.height == 1.0 ? "" : fmt::format(", height {:g}", problem_.height),
                       record.settings.at("scheme"), problem_.time_step, problem_.correctors,
                       numerics_.multigrid() ? "with multigrid" : "alone");
  }

  std::optional<Plan> plan() override {
    read_start();
    steps_.emplace(frame_, problem_, numerics_);
    std::optional<Iterations> iterations;
    frame_.collectively([&] { iterations = given_iterations(options_, problem_); });
    if (!iterations) iterations = sampled_iterations();
    Plan plan = steps_->plan(no_prediction_.empty() ? std::optional(end_.steps) : std::nullopt,
                             iterations.value_or(Iterations()));
    plan.text = no_prediction_;
    if (!plan.text.empty()) return plan;
    plan.text = fmt::format("predicted  {} for {} steps with {:.3g} iterations for momentum and {:.3g} for pressure\n",
                            format_seconds(*plan.time_s), end_.steps, iterations->momentum, iterations->pressure);
    return plan;
  }

  void allocate(const Plan&) override {
    flow_ = make_flow(problem_, steps_->rows());
    if (options_.compare_even) {
      even_flow_ = make_flow(problem_, partition::even_slices(problem_.rows, frame_.slots().size()));
    }
    std::vector<std::int64_t> bytes = steps_->rows();
    for (std::int64_t& rows : bytes) rows *= problem_.columns * static_cast<std::int64_t>(sizeof(double));
    bound_.emplace(frame_, bytes);
  }

  /// Also runs the even split that is compared with, in turns with the repetitions, and measures the memory bound.
  void load() override {
    if (even_flow_) {
      even_flow_->load(start_);
      even_s_ = timed_region(frame_.session(), "steelyard::cavity::even", [&] { run_steps(*even_flow_, end_); });
    }
    flow_->load(start_);
    bound_->measure();
  }
  UnitSeconds run() override {
    log_ = run_steps(*flow_, end_, [&](std::int64_t steps) { return step_done(steps); });
    return UnitSeconds{log_.phases.host.own_s(), log_.phases.companion.own_s()} / std::max(1.0, steps());
  }
  std::optional<FoundError> check() override {
    state_ = flow_->gather();
    return check_mass(problem_, start_, state_, log_);
  }
  void keep(const Repetition& repetition) override {
    if (repetition.is_last && options_.run.check == CheckLevel::none) state_ = flow_->gather();
    const StepPhases phases = busiest_unit(frame_, log_.phases);
    std::vector<double> values(phases.seconds.begin(), phases.seconds.end());
    values.push_back(phases.own_s() > 0.0 ? phases.syncs_s() / phases.own_s() : 0.0);
    phases_.add(std::move(values));
    if (even_flow_) speedups_.push_back(even_s_ / repetition.seconds);
  }

  Outcome outcome(const Measurement& measurement, Plan& plan) override {
    Outcome outcome;
    outcome.of_what = fmt::format("for {:g} steps to t = {:.6g}", steps(), state_.time);
    outcome.params["steps"] = steps();
    outcome.below = no_prediction_;
    // With as many iterations as the run needed.
    plan = steps_->plan(no_prediction_.empty() ? std::optional(log_.steps) : std::nullopt, log_.iterations());
    add_phases(outcome, plan, measurement.median_s);
    add_speed(outcome, measurement.median_s);
    add_flow(outcome);
    add_speedup(outcome);
    if (end_.steady > 0.0 && !log_.steady) {
      outcome.failure =
          fmt::format("not steady after {} steps: velocities still change by {:.2e} per time (--steady {})", log_.steps,
                      log_.change, end_.steady);
    }
    return outcome;
  }
  /// Writes the files that the user named and, with `--result`, flow.vti, centre_lines.csv and flow.png into that
  /// folder: those first that cost most to make again.
  void write_files() override {
    const std::filesystem::path& result = options_.run.result;
    const auto write = [&](const std::filesystem::path& path, const char* in_result, const auto& writer) {
      write_file(path, writer);
      if (!result.empty()) write_file(result / in_result, writer);
    };
    if (!options_.run.checkpoint.empty()) frame_.write([&] { save(state_); });
    write(options_.run.output, "flow.vti", write_flow_vti);
    write(options_.profiles, "centre_lines.csv", write_centre_lines);
    write(options_.picture, "flow.png", write_flow_picture);
  }

 private:
  /// A checkpoint of this cavity, in which a flow's fields lie one below the other. The time step may be another.
  Checkpoint checkpoint() const {
    return {std::ssize(flow_fields) * problem_.rows,
            problem_.columns,
            {{"app", "cavity"},
             {"rows", problem_.rows},
             {"columns", problem_.columns},
             {"height", problem_.height},
             {"reynolds", problem_.reynolds},
             {"scheme", word_of(scheme_names, problem_.scheme)}},
            0};
  }
  /// Writes the checkpoint of a flow that rank 0 has. Collective.
  void save(const FlowState& state) const {
    Checkpoint now = checkpoint();
    now.steps = state.steps;
    now.problem["time"] = state.time;
    now.problem["time_step"] = problem_.time_step;
    write_checkpoint<double>(frame_.session(), options_.run.checkpoint, now, [&](const BlockSink<double>& sink) {
      if (!frame_.session().is_root()) return;
      std::int64_t row = 0;
      for (const auto& [name, field] : flow_fields) {
        sink(row, 0, problem_.columns, state.*field);
        row += problem_.rows;
      }
    });
  }
  /// The flow that the run starts from, and what ends it. Collective.
  void read_start() {
    const std::filesystem::path& restart = options_.run.restart;
    double time_step = problem_.time_step;
    frame_.collectively([&] {
      start_ = FlowState::at_rest(problem_);
      if (!restart.empty()) time_step = read_flow(restart);
      end_ = make_end(options_, problem_, start_.time);
    });
    if (restart.empty()) return;
    frame_.session().print(fmt::format("restart    from step {} at t = {:.6g}\n", start_.steps, start_.time));
    if (time_step == problem_.time_step) return;
    const char* effect = problem_.scheme == TimeScheme::crank_nicolson
                             ? "; the first step's convecting velocity is extrapolated as if steps were equal"
                             : "";
    frame_.session().print(
        fmt::format("           the checkpoint was reached with time steps of {}, this run goes on with {}{}\n",
                    time_step, problem_.time_step, effect));
  }
  /// @return the time step that led to it
  double read_flow(const std::filesystem::path& path) {
    const Checkpoint found = read_checkpoint<double>(path, checkpoint());
    const NpyHeader header = read_npy_matrix_header<double>(path);
    std::int64_t row = 0;
    for (const auto& [name, field] : flow_fields) {
      read_npy_block<double>(path, header, row, 0, problem_.rows, problem_.columns, start_.*field);
      row += problem_.rows;
    }
    const JsonReader problem(path.string(), found.problem, "problem");
    start_.steps = found.steps;
    start_.time = problem.number("time");
    return problem.number("time_step");
  }

  /// Iterations per step of a short run of all units, with fewer rows of the same cells where there are many.
  std::optional<Iterations> sampled_iterations() {
    constexpr std::int64_t most_rows = 256, sampled_steps = 3;
    std::vector<std::int64_t> rows = steps_->rows();
    for (std::int64_t& count : rows) count = std::min(count, most_rows);
    const std::int64_t sampled_rows = std::accumulate(rows.begin(), rows.end(), std::int64_t{0});
    try {
      const std::unique_ptr<Flow> flow = make_flow(problem_.with_rows(sampled_rows), rows);
      if (sampled_rows == problem_.rows) flow->load(start_);
      return run_steps(*flow, {sampled_steps, 0.0}).iterations();
    } catch (const SolveFailure& error) {
      no_prediction_ = fmt::format("predicted  nothing: a sample of the steps failed ({})\n", error.what());
      return std::nullopt;
    }
  }

  std::unique_ptr<Flow> make_flow(const Problem& problem, const std::vector<std::int64_t>& rows) {
    return std::make_unique<Flow>(
        std::make_unique<UnitGroup>(frame_.comm(), frame_.co_execution(), frame_.units(), frame_.slots()), problem,
        numerics_, rows);
  }

  /// Does nothing without a path.
  template <class Writer>
  void write_file(const std::filesystem::path& path, const Writer& writer) {
    if (!path.empty()) frame_.write([&] { frame_.on_root([&] { writer(path, problem_, state_); }); });
  }

  /// @return whether the run goes on. Collective.
  bool step_done(std::int64_t steps) {
    frame_.step_done(steps, end_.steady > 0.0 ? 0 : end_.steps);
    return frame_.checkpoint(steps, steps - 1, [&] { save(flow_->gather()); });
  }

  double steps() const { return static_cast<double>(log_.steps); }

  /// Measured and predicted seconds of a repetition's phases, which add up to its time.
  void add_phases(Outcome& outcome, const Plan& plan, double time_s) const {
    StepPhases measured;
    std::ranges::copy_n(phases_.values().begin(), std::ssize(phase_names), measured.seconds.begin());
    measured[StepPhase::rest] = 0.0;
    measured[StepPhase::rest] = std::max(0.0, time_s - measured.total_s());
    outcome.phases = beside_prediction(plan, named_phases(measured, numerics_));
  }

  /// How fast steps were, beside the memory bound and part by part beside the prediction.
  void add_speed(Outcome& outcome, double time_s) const {
    const Iterations iterations = log_.iterations();
    outcome.figure_of_merit = {"Mcell/s", 1e-6 * steps() * problem_.cells() / time_s};
    const double share_of_bound =
        steps() * step_bytes(problem_, numerics_, iterations) / bound_->bytes_per_s() / time_s;
    const std::string share = bound_->sum_up(outcome, share_of_bound);
    outcome.figures.insert({{"momentum_iterations", static_cast<double>(log_.momentum_iterations)},
                            {"pressure_iterations", static_cast<double>(log_.pressure_iterations)},
                            {"change", log_.change},
                            {"mass_imbalance", log_.mass_imbalance}});
    if (log_.steps == 0) return;
    outcome.below += fmt::format("{}iterations {:.3g} per step for momentum, {:.3g} for pressure\n", share,
                                 iterations.momentum, iterations.pressure);
    for (const PhaseTime& phase : outcome.phases) outcome.below += phase_line(phase, 10, steps(), " per step");
    outcome.below += fmt::format("change     {:.2e} of lid speed per time in the last step\n", log_.change);
  }

  /// By what lid-driven cavities are compared. On rank 0, which has the flow.
  void add_flow(Outcome& outcome) const {
    if (state_.u.empty()) return;
    if (const auto vortex = primary_vortex(problem_, streamfunction(problem_, state_))) {
      const auto& [x, y] = vortex->position;
      outcome.figures["streamfunction_min"] = vortex->streamfunction;
      outcome.points["vortex_centre"] = {x, y};
      outcome.below +=
          fmt::format("vortex     streamfunction {:.6f} at ({:.4f}, {:.4f})\n", vortex->streamfunction, x, y);
    }
    const Profile u = u_on_vertical_centre_line(problem_, state_), v = v_on_horizontal_centre_line(problem_, state_);
    const double u_min = u.minimum(), v_min = v.minimum(), v_max = v.maximum();
    outcome.figures.insert({{"u_min", u_min}, {"v_min", v_min}, {"v_max", v_max}});
    outcome.below +=
        fmt::format("velocity   u at least {:.5f}, v {:.5f} to {:.5f} on the centre lines\n", u_min, v_min, v_max);
    const std::vector<GhiaComparison> points = ghia_comparison(problem_, state_);
    if (points.empty()) return;
    const double difference = largest_difference(points);
    constexpr double steady = 1e-4;
    outcome.below += fmt::format("Ghia       largest difference {:.5f} of lid speed on the centre lines{}\n",
                                 difference, log_.change > steady ? " from a steady flow, which this is not yet" : "");
  }

  /// How much faster than with an even split a run can be: S_exec = (S_comp + r_f) / (1 + r_f), where S_comp is the
  /// same of computation alone, as speed models say, and r_f is communication over computation of the balanced run,
  /// whose communication counts for both. Source: 000, section 5.3.4.
  void add_speedup(Outcome& outcome) const {
    const double computation = steps_->gain_over_even(), communication = phases_.values().back();
    const double bound = (computation + communication) / (1.0 + communication);
    outcome.figures["speedup_computation"] = computation;
    outcome.figures["communication_ratio"] = communication;
    outcome.figures["speedup_bound"] = bound;
    if (speedups_.empty()) return;
    outcome.figures["speedup"] = median(speedups_);
    outcome.below += fmt::format(
        "speedup    {:.3f} over an even split, beside a bound of {:.3f} by the models (computation {:.3f}, "
        "communication {:.3f} of it)\n",
        median(speedups_), bound, computation, communication);
  }

  Frame& frame_;
  const Options& options_;
  Problem problem_;
  const Numerics& numerics_;
  FlowState start_;
  RunEnd end_;
  std::optional<StepPlan> steps_;
  std::string no_prediction_;  ///< line in its place, where a linear solver has failed in the sample
  std::unique_ptr<Flow> flow_, even_flow_;
  std::optional<MemoryBound> bound_;  ///< of arrays as large as the fields of a unit's share
  double even_s_ = 0.0;               ///< of the last repetition's even split
  RunLog log_;                        ///< of the last repetition
  FlowState state_;                   ///< at its end; on rank 0
  std::vector<double> speedups_;
  Medians phases_;  ///< seconds of each, and communication over computation
};

class Cavity : public MiniAppOf<Options> {
 public:
  AppFacts facts() const override {
    return {"cavity",
            "Lid-driven cavity flow on host and companion units at once, on slices sized by speed models",
            "steps",
            {.steps = true, .platform = true, .output = true, .checkpoint = true},
            true};
  }
  void add_options(const AppOptions& parsers) override { cavity::add_options(parsers, options_); }
  void prepare() override { problem_ = make_problem(options_); }
  std::unique_ptr<AppRun> start(Frame& frame) const override {
    return std::make_unique<Run>(frame, options_, problem_);
  }
  std::shared_ptr<MeasurableKernel> kernel() const override {
    return std::make_shared<MeasuredKernel>(problem_, options_.numerics);
  }
  std::string problem() const override {
    const std::optional<Iterations> iterations = given_iterations(options_, problem_);
    if (!iterations) return fmt::format("cavity, {} x {} cells", problem_.rows, problem_.columns);
    const SyncCounts syncs = step_syncs(problem_, options_.numerics, *iterations);
    return fmt::format(
        "cavity, {} x {} cells: {} steps with {:.3g} iterations for momentum and {:.3g} for pressure\n"
        "per step   {:.4g} sums and {:.4g} exchanges of halos, which are {:.0f} B to a neighbour",
        problem_.rows, problem_.columns, make_end(options_, problem_, 0.0).steps, iterations->momentum,
        iterations->pressure, syncs.sums, syncs.exchanges, syncs.halo_bytes);
  }
  Plan plan(Resources& on, std::int64_t times) const override {
    // As many times the rows, of the same height each.
    Problem problem = problem_;
    problem.rows *= times;
    problem.height *= static_cast<double>(times);
    const std::optional<Iterations> iterations = given_iterations(options_, problem);
    if (!iterations) {
      throw InvalidArgument("--iterations is missing (expected those of a time step, or a --sample that has them)");
    }
    return StepPlan(on, problem, options_.numerics).plan(make_end(options_, problem, 0.0).steps, *iterations);
  }

 private:
  Problem problem_;
};

}  // namespace
}  // namespace steelyard::cavity

namespace steelyard {
STEELYARD_MINIAPP(cavity, cavity::Cavity)
}
