#include "miniapps/cavity/cost.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/sweep/row_field.hpp"
#include "miniapps/cavity/flow.hpp"
#include "miniapps/cavity/multigrid/levels.hpp"
#include "miniapps/cavity/options.hpp"
#include "models/communication/cost_models.hpp"
#include "models/communication/message_pattern.hpp"
#include "partition/algorithms.hpp"

namespace steelyard::cavity {
namespace {

/// The shortest halo is that of the coarsest grids.
constexpr double short_bytes = 512.0;

/// Memory traffic of each part, once, in words of 8 bytes by each cell.
PerPart part_words(const Problem& problem, const Numerics& numerics) {
  // BiCGSTAB's values of each component, and what convects in both products with the matrix.
  const double momentum = 2.0 * (numerics.merged() ? 15.0 : 17.0) + 4.0;
  double pressure = 8.0, multigrid = 0.0;
  if (numerics.multigrid()) {
    // z, or a sweep for r^T z where sums are not merged; a V-cycle's 45 bytes a cell.
    pressure += numerics.merged() ? 3.0 : 2.0;
    multigrid = 45.0 / sizeof(double);
  }
  // Right-hand sides, estimate, divergence, correction and diagnostics.
  return {momentum, pressure, multigrid, 14.0 + 14.0 * problem.correctors};
}

/// How often a step does each of its parts. Before and behind its iterations a solve computes residuals, which move as
/// much memory as a part of an iteration.
PerPart step_calls(const Problem& problem, const Numerics& numerics, const Iterations& iterations) {
  const PerPart words = part_words(problem, numerics);
  // First and last residual of both components; of the pressure also the right side's mean.
  constexpr double momentum_solve_words = 16.0, pressure_solve_words = 6.0;
  // Merged reductions begin with z.
  const double first_cycles = numerics.merged() ? problem.correctors : 0.0;
  return {iterations.momentum + momentum_solve_words / words[StepPhase::momentum],
          iterations.pressure + problem.correctors * pressure_solve_words / words[StepPhase::pressure],
          iterations.pressure + first_cycles, 1.0};
}

double sum_of_products(const PerPart& a, const PerPart& b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

/// Synchronisations of a V-cycle where several units share out the finer levels, see MultigridLevels.
struct SharedCycle {
  SyncCounts syncs;          ///< halos of right sides and corrections, and a gather, which counts as an exchange
  double whole_share = 0.0;  ///< of all levels' cells: those that every unit sweeps, for it has these levels whole
};
/// Nothing without multigrid. As if every unit had rows of all levels that are not small.
SharedCycle shared_cycle(const Problem& problem, const Numerics& numerics) {
  SharedCycle cycle;
  if (!numerics.multigrid()) return cycle;
  const std::vector<MultigridLevel> levels = multigrid_levels(Coefficients(problem));
  const auto exchange = [&](std::int64_t columns, std::int64_t rows) {
    cycle.syncs.add(1.0, {0.0, 1.0, row_bytes(columns) * static_cast<double>(rows)});
  };
  double cells = 0.0, whole_cells = 0.0;
  std::int64_t finer_columns = problem.columns;
  for (std::size_t k = 0; k < levels.size(); ++k) {
    const MultigridLevel& level = levels[k];
    const bool is_whole = k + 1 == levels.size() || (k > 0 && level.cells() <= MultigridLevels::most_whole_cells);
    cells += static_cast<double>(level.cells());
    if (is_whole) {
      if (whole_cells == 0.0) exchange(level.columns(), level.rows());
      whole_cells += static_cast<double>(level.cells());
      continue;
    }
    // Its right side; what corrects it comes from the next level, at its columns, unless all units have that.
    exchange(level.columns(), MultigridLevels::right_side_depth);
    if (k > 0) exchange(finer_columns, MultigridLevels::correction_depth);
    finer_columns = level.columns();
  }
  cycle.whole_share = whole_cells / cells;
  return cycle;
}

/// Costs by each of the platform's models: a sum is a recursive doubling, an exchange a 1D halo, whose seconds are a
/// line through those of a short message and of a long one. Source: 000, Algorithms 2 and 3 (LC, GC).
/// @throws InvalidArgument where no model has parameters, or no channel joins two ranks
std::vector<SyncCosts> sync_costs(double row_bytes, int ranks, const Channels& channels) {
  constexpr double sum_bytes = 32.0;
  const double long_bytes = std::max(row_bytes, 2.0 * short_bytes);
  const models::MessagePattern patterns[] = {models::recursive_doubling_allreduce(ranks, sum_bytes),
                                             models::halo_1d(ranks, short_bytes), models::halo_1d(ranks, long_bytes)};
  std::vector<SyncCosts> all;
  for (const models::PatternCosts& cost : models::pattern_costs(patterns, channels.platform, channels.placement)) {
    const double byte_s = std::max(0.0, (cost.time_s[2] - cost.time_s[1]) / (long_bytes - short_bytes));
    all.push_back({cost.model, cost.time_s[0], std::max(0.0, cost.time_s[1] - short_bytes * byte_s), byte_s});
  }
  return all;
}

/// Seconds of each part once, on a unit with `rows` rows. @param run_s of the measured kernel with these
PerPart once_s(const Problem& problem, const Numerics& numerics, const models::FpmFile* model, double rows,
               double run_s) {
  const PerPart calls = step_calls(problem, numerics, MeasuredKernel::run_iterations(problem));
  PerPart shares = part_words(problem, numerics);
  if (model != nullptr && !model->parts.empty()) {
    shares = model->parts_s(rows);
  } else {
    for (std::size_t part = 0; part < shares.size(); ++part) shares[part] *= calls[part];
  }
  const double whole = std::accumulate(shares.begin(), shares.end(), 0.0);
  PerPart seconds{};
  for (std::size_t part = 0; part < seconds.size(); ++part) {
    if (calls[part] > 0.0 && whole > 0.0) seconds[part] = run_s * shares[part] / whole / calls[part];
  }
  return seconds;
}

/// A flow that is not at rest, and not free of divergence.
FlowState check_start(const Problem& problem) {
  FlowState state = FlowState::at_rest(problem);
  for (std::int64_t j = 0; j < problem.rows; ++j) {
    for (std::int64_t i = 0; i < problem.columns; ++i) {
      const double value = static_cast<double>((7 * j + 3 * i) % 11 - 5) / 16.0;
      const std::size_t at = state.index(j, i);
      state.u[at] = state.u_before[at] = i > 0 ? value : 0.0;
      state.v[at] = state.v_before[at] = j > 0 ? 0.5 - value : 0.0;
    }
  }
  return state;
}

/// One unit alone, which makes one step a run.
class StepRun : public KernelRun {
 public:
  StepRun(ProcessingUnit::Kind kind, const Problem& problem, const Numerics& numerics)
      : kind_(kind),
        start_(check_start(problem)),
        flow_(std::make_unique<UnitGroup>(kind), problem, numerics, std::array{problem.rows}) {}

  void run() override {
    flow_.clear();
    step();
  }
  std::span<const double> parts_s() const override { return std::span(phases_[kind_].seconds).first(part_count); }
  std::vector<double> check_run() override {
    flow_.load(start_);
    step();
    const FlowState state = flow_.gather();
    std::vector<double> values = state.u;
    values.insert(values.end(), state.v.begin(), state.v.end());
    values.insert(values.end(), state.p.begin(), state.p.end());
    return values;
  }

 private:
  void step() {
    phases_ = {};
    flow_.step(phases_);
  }

  ProcessingUnit::Kind kind_;
  FlowState start_;
  Flow flow_;
  PerUnit<StepPhases> phases_;  ///< of the last step
};

}  // namespace

std::vector<std::pair<std::string, double>> named_phases(const StepPhases& phases, const Numerics& numerics) {
  std::vector<std::pair<std::string, double>> named;
  for (std::size_t phase = 0; phase < phase_names.size(); ++phase) {
    const bool is_done = phase != StepPhase::multigrid || numerics.multigrid();
    if (is_done) named.emplace_back(phase_names[phase], phases[phase]);
  }
  return named;
}

double row_bytes(std::int64_t columns) {
  return sizeof(double) * static_cast<double>(RowField<HostExecution>::pitch_of(columns));
}

SyncCounts step_syncs(const Problem& problem, const Numerics& numerics, const Iterations& iterations) {
  const bool merged = numerics.merged();
  const double halo = row_bytes(problem.columns), velocity_halo = 2.0 * halo;
  const double correctors = problem.correctors;
  // Both products with the matrix; one more each before the first iteration of merged reductions, and for the residuals
  // at both ends of a solve.
  const double solve = merged ? 3.0 : 2.0;
  SyncCounts syncs;
  syncs.add(iterations.momentum, {merged ? 2.0 : 3.0, 2.0, 2.0 * velocity_halo});
  syncs.add(1.0, {solve, solve, solve * velocity_halo});
  syncs.add(iterations.pressure, {merged ? 1.0 : numerics.multigrid() ? 3.0 : 2.0, 1.0, halo});
  syncs.add(correctors, {solve + 1.0, solve, solve * halo});
  syncs.add(step_calls(problem, numerics, iterations)[StepPhase::multigrid], shared_cycle(problem, numerics).syncs);
  // Estimate, divergence and correction; the pressure's mean and the new velocity.
  syncs.add(correctors, {0.0, 3.0, 2.0 * velocity_halo + halo});
  syncs.add(1.0, {1.0, 1.0, velocity_halo});
  return syncs;
}

double step_bytes(const Problem& problem, const Numerics& numerics, const Iterations& iterations) {
  return sizeof(double) * problem.cells() *
         sum_of_products(part_words(problem, numerics), step_calls(problem, numerics, iterations));
}

MeasuredKernel::MeasuredKernel(Problem problem, const Numerics& numerics, bool to_the_end)
    : problem_(problem), numerics_(numerics) {
  if (problem_.time_step == 0.0) problem_.time_step = std::min(problem_.dx(), problem_.dy());
  for (SolveSettings* settings : {&numerics_.momentum, &numerics_.pressure}) {
    settings->fixed_iterations = !to_the_end;
    if (to_the_end) settings->relative = 1e-12;
    if (!to_the_end) settings->most_iterations = iterations;
  }
}

KernelFacts MeasuredKernel::facts() const {
  // What a time step of the program has.
  constexpr double held_fields = 40.0;
  // CG: two products with A (13 each), three sums and three updates. BiCGSTAB, of each component: two products with A
  // (22 each), seven sums, and twelve operations in its updates. Those of the other parts are not counted.
  constexpr double cg_flops = 38.0, bicgstab_flops = 2.0 * (2.0 * 22.0 + 7.0 * 2.0 + 12.0);
  const auto columns = static_cast<double>(problem_.columns);
  const Iterations of_step = run_iterations(problem_);
  KernelFacts facts;
  facts.app = "cavity";
  facts.kernel = "time_step";
  facts.element = "double";
  facts.computation_unit = fmt::format("one row of cells in a time step with {} iterations a solve", iterations);
  facts.parameters = {{"columns", columns},
                      {"correctors", problem_.correctors},
                      {"multigrid", numerics_.multigrid() ? 1.0 : 0.0},
                      {"merged_reductions", numerics_.merged() ? 1.0 : 0.0}};
  facts.parts = {phase_names.begin(), phase_names.begin() + part_count};
  facts.flops_per_unit = columns * (bicgstab_flops * of_step.momentum + cg_flops * of_step.pressure);
  facts.bytes_per_unit = step_bytes(problem_.with_rows(1), numerics_, of_step);
  facts.memory_bytes_per_unit = held_fields * row_bytes(problem_.columns);
  facts.memory_bytes_fixed = 4.0 * facts.memory_bytes_per_unit;
  facts.set_sizes_up_to(1024.0 * 1024.0 * 1024.0);
  return facts;
}

std::unique_ptr<KernelRun> MeasuredKernel::allocate(ProcessingUnit::Kind kind, std::int64_t units) const {
  return std::make_unique<StepRun>(kind, problem_.with_rows(units), numerics_);
}

std::vector<ConformanceCase> MeasuredKernel::conformance_cases(ProcessingUnit::Kind /*kind*/) const {
  std::vector<ConformanceCase> cases;
  for (const Reductions reductions : {Reductions::separate, Reductions::merged}) {
    for (const Preconditioner preconditioner : {Preconditioner::none, Preconditioner::multigrid}) {
      const Numerics numerics{reductions, preconditioner, {}, {}};
      ConformanceCase check;
      check.options = fmt::format("--reductions {} --pressure-preconditioner {}", word_of(reduction_names, reductions),
                                  word_of(preconditioner_names, preconditioner));
      for (const std::int64_t columns : {17, 64}) {
        check.shapes.push_back(std::make_shared<MeasuredKernel>(Problem{columns, columns}, numerics, true));
      }
      check.sizes = {1, 7, 40};
      // What is left of the residuals, times the condition of the pressure's matrix.
      check.tolerance = 1e5;
      check.same_bits = SameBits::any_unit;
      check.timed = std::make_shared<MeasuredKernel>(Problem{1024, 1024}, numerics);
      cases.push_back(std::move(check));
    }
  }
  return cases;
}

std::vector<double> MeasuredKernel::reference(std::int64_t units) const {
  const Problem problem = problem_.with_rows(units);
  return reference_step(problem, check_start(problem));
}

StepPlan::StepPlan(Resources& on, const Problem& problem, const Numerics& numerics)
    : problem_(problem), numerics_(numerics), has_seconds_(on.has_seconds()), synchronises_(on.slots().size() > 1) {
  const MeasuredKernel kernel(problem, numerics);
  const SpeedModels models = on.speed_models(kernel, problem.rows, on.partition());
  const auto all_rows = static_cast<double>(problem.rows);
  partition::Distribution slices;
  on.on_all_ranks([&] {
    slices = models.distribute(problem.rows);
    const double even_rows = std::ceil(all_rows / static_cast<double>(slices.units.size()));
    const auto holds_it = [&](const models::SpeedModel* model) { return even_rows <= model->max_units(); };
    if (!std::ranges::all_of(models.pointers(), holds_it)) return;
    gain_over_even_ = partition::even(problem.rows, models.pointers()).makespan_s() / slices.makespan_s();
  });
  plan_.distribution = slices.units;
  plan_.headings = {"rows", "/step"};
  plan_.models = {{"", models.files()}};
  const double whole_share = synchronises_ ? shared_cycle(problem, numerics).whole_share : 0.0;
  for (std::size_t i = 0; i < slices.units.size(); ++i) {
    const auto rows = static_cast<double>(slices.units[i]);
    unit_s_.emplace_back();
    if (!has_seconds_ || rows == 0.0) continue;
    const models::FpmFile* const model = models.files().empty() ? nullptr : &models.files()[i];
    unit_s_.back() = once_s(problem, numerics, model, rows, slices.predicted_s[i]);
    unit_s_.back()[StepPhase::multigrid] *= 1.0 + whole_share * (all_rows / rows - 1.0);
  }
  start_s_ = on.start_s();
  const double halo_bytes = row_bytes(problem.columns);
  constexpr double fields = 8.0;
  const std::optional<Channels> channels =
      on.channels({short_bytes, 2.0 * halo_bytes, fields * halo_bytes * all_rows / on.ranks()});
  costs_.resize(1);
  if (channels && on.ranks() > 1) {
    on.on_all_ranks([&] { costs_ = sync_costs(halo_bytes, on.ranks(), *channels); });
  }
  // A rank's two units wait for each other as they do where they are started.
  if (std::ssize(on.slots()) == on.ranks()) return;
  for (SyncCosts& costs : costs_) {
    costs.sum_s += start_s_;
    costs.exchange_s += start_s_;
  }
}

Plan StepPlan::plan(std::optional<std::int64_t> step_count, const Iterations& of_step) const {
  Plan plan = plan_;
  const PerPart calls = step_calls(problem_, numerics_, of_step);
  for (const PerPart& once : unit_s_) plan.unit_s.push_back(sum_of_products(calls, once));
  if (!step_count) return plan;
  const double steps = static_cast<double>(*step_count);
  const SyncCounts syncs = synchronises_ ? step_syncs(problem_, numerics_, of_step) : SyncCounts{};
  StepPhases step;
  for (const PerPart& once : unit_s_) {
    for (std::size_t part = 0; part < part_count; ++part) step[part] = std::max(step[part], calls[part] * once[part]);
  }
  step[StepPhase::rest] += start_s_;
  for (const SyncCosts& costs : costs_) {
    step[StepPhase::sums] = syncs.sums * costs.sum_s;
    step[StepPhase::halos] = syncs.exchanges * costs.exchange_s + syncs.halo_bytes * costs.byte_s;
    ModelForecast one{costs.model, {}, steps * step.syncs_s(), steps * step.syncs_s(), steps * step.total_s()};
    for (const auto& [name, seconds] : named_phases(step, numerics_)) {
      const bool is_sync = name == "sums" || name == "halos";
      if (is_sync || has_seconds_) one.phases.emplace_back(name, steps * seconds);
    }
    plan.by_model.push_back(one);
  }
  plan.time_s = plan.by_model.front().total_s;
  return plan;
}

}  // namespace steelyard::cavity
