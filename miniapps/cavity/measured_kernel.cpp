#include "miniapps/cavity/measured_kernel.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "miniapps/cavity/flow.hpp"
#include "miniapps/cavity/options.hpp"

namespace steelyard::cavity {
namespace {

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
  // From what a core's cache holds to far more than any cache.
  constexpr double largest_bytes = 1024.0 * 1024.0 * 1024.0;
  facts.smallest = 16;
  facts.largest = std::max<std::int64_t>(64, static_cast<std::int64_t>(largest_bytes / facts.memory_bytes_per_unit));
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
      check.options =
          fmt::format("--reductions {} --pressure-preconditioner {}", name_of(reductions), name_of(preconditioner));
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

}  // namespace steelyard::cavity
