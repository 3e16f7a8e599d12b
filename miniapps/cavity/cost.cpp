#include "miniapps/cavity/cost.hpp"

#include <algorithm>

#include "models/communication/collective_patterns.hpp"
#include "models/communication/pattern_costs.hpp"

namespace steelyard::cavity {

std::vector<SyncCosts> sync_costs(double row_bytes, int ranks, const models::Platform& platform,
                                  const models::Placement& placement) {
  if (ranks < 2) return {{"no messages"}};
  // The shortest halo is that of the coarsest grids; what is longer is interpolated.
  constexpr double short_bytes = 512.0;
  constexpr double sum_bytes = 32.0;
  const double long_bytes = std::max(row_bytes, 2.0 * short_bytes);
  const models::MessagePattern patterns[] = {models::recursive_doubling_allreduce(ranks, sum_bytes),
                                             models::halo_1d(ranks, short_bytes), models::halo_1d(ranks, long_bytes)};
  std::vector<SyncCosts> all;
  for (const models::PatternCosts& cost : models::pattern_costs(patterns, platform, placement)) {
    const double byte_s = std::max(0.0, (cost.time_s[2] - cost.time_s[1]) / (long_bytes - short_bytes));
    all.push_back({cost.model, cost.time_s[0], std::max(0.0, cost.time_s[1] - short_bytes * byte_s), byte_s});
  }
  return all;
}

PerPart<double> part_words(const Problem& problem, const Numerics& numerics) {
  const bool merged = numerics.reductions == Reductions::merged;
  // BiCGSTAB's values of each component, and what convects in both products with the matrix.
  double momentum = 2.0 * (merged ? 15.0 : 17.0) + 4.0;
  if (numerics.momentum_preconditioner == PreconditionerKind::jacobi) momentum += 2.0 * (merged ? 4.0 : 3.0);
  double pressure = 8.0, multigrid = 0.0;
  if (merged && numerics.pressure_preconditioner != PreconditionerKind::none) pressure += 3.0;
  if (numerics.pressure_preconditioner == PreconditionerKind::multigrid) {
    // r^T z is a sweep of its own where sums are not merged; a V-cycle's 45 bytes a cell.
    if (!merged) pressure += 2.0;
    multigrid = 45.0 / sizeof(double);
  }
  // Right-hand sides, estimate, divergence, correction and diagnostics.
  return {momentum, pressure, multigrid, 14.0 + 14.0 * problem.correctors};
}

PerPart<double> step_calls(const Problem& problem, const Numerics& numerics, const Iterations& iterations) {
  const PerPart<double> words = part_words(problem, numerics);
  // First and last residual of both components; of the pressure also the right side's mean.
  constexpr double momentum_solve_words = 16.0, pressure_solve_words = 6.0;
  // Merged reductions begin with z.
  const double first_cycles = numerics.reductions == Reductions::merged ? problem.correctors : 0.0;
  return {iterations.momentum + momentum_solve_words / words[StepPart::momentum],
          iterations.pressure + problem.correctors * pressure_solve_words / words[StepPart::pressure],
          iterations.pressure + first_cycles, 1.0};
}

double step_bytes(const Problem& problem, const Numerics& numerics, const Iterations& iterations) {
  const PerPart<double> words = part_words(problem, numerics), calls = step_calls(problem, numerics, iterations);
  const double cells = static_cast<double>(problem.rows) * static_cast<double>(problem.columns);
  return sizeof(double) * cells * std::inner_product(words.begin(), words.end(), calls.begin(), 0.0);
}

std::vector<std::pair<std::string, double>> named_phases(const StepPhases& phases, const Numerics& numerics) {
  std::vector<std::pair<std::string, double>> named;
  for (std::size_t part = 0; part < part_names.size(); ++part) {
    const bool is_done =
        part != StepPart::multigrid || numerics.pressure_preconditioner == PreconditionerKind::multigrid;
    if (is_done) named.emplace_back(part_names[part], phases.work_s[part]);
  }
  named.emplace_back("sums", phases.sums_s);
  named.emplace_back("halos", phases.halos_s);
  return named;
}

StepPhases step_phases(const PerPart<double>& calls, std::span<const PerPart<double>> unit_s, const SyncCounts& syncs,
                       const SyncCosts& costs) {
  StepPhases phases;
  for (const PerPart<double>& unit : unit_s) {
    for (std::size_t part = 0; part < calls.size(); ++part) {
      phases.work_s[part] = std::max(phases.work_s[part], calls[part] * unit[part]);
    }
  }
  phases.sums_s = syncs.sums * costs.sum_s;
  phases.halos_s = costs.halos_s(syncs);
  return phases;
}

}  // namespace steelyard::cavity
