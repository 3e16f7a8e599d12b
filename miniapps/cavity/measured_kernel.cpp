#include "miniapps/cavity/measured_kernel.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/options.hpp"
#include "core/sweep/row_field.hpp"
#include "miniapps/cavity/coefficients.hpp"
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

/// A step of PISO with implicit Euler, see UnitFlow, solved until nothing is left of the residuals. Fields are vectors
/// of numbers, component by component and row by row.
class SerialStep {
 public:
  using Real = long double;
  using Vector = std::vector<Real>;

  SerialStep(const Problem& problem, const FlowState& start)
      : problem_(problem), c_(problem), w_(start.u.begin(), start.u.end()), p_(start.p.begin(), start.p.end()) {
    w_.insert(w_.end(), start.v.begin(), start.v.end());
  }

  /// u, v and p after the step.
  std::vector<double> result() {
    const Vector known = each([&](int c, auto j, auto i) {
      return at(w_, c, j, i) / problem_.time_step + (c == 0 && j == problem_.rows - 1 ? c_.lid_source : 0.0L);
    });
    Vector x = bicgstab(each([&](int c, auto j, auto i) { return at(known, c, j, i) - slope(c, j, i); }), w_);
    for (int corrector = 0; corrector < problem_.correctors; ++corrector) {
      const Vector h = each(
          [&](int c, auto j, auto i) { return (at(known, c, j, i) - neighbours(x, c, j, i)) / diagonal(c, j, i); });
      conjugate_gradient(h);
      x = each([&](int c, auto j, auto i) { return at(h, c, j, i) - slope(c, j, i) / diagonal(c, j, i); });
    }
    const Real mean = std::accumulate(p_.begin(), p_.end(), 0.0L) / static_cast<Real>(p_.size());
    for (Real& value : p_) value -= mean;
    x.insert(x.end(), p_.begin(), p_.end());
    return {x.begin(), x.end()};
  }

 private:
  static constexpr int most_iterations = 10000;
  static constexpr Real least_square = 1e-34L;  ///< of a residual over its right side's

  /// A value for each unknown, 0 for what lies in a wall.
  template <class Value>
  Vector each(const Value& value) const {
    Vector result;
    for (int c = 0; c < 2; ++c) {
      for (std::int64_t j = 0; j < problem_.rows; ++j) {
        for (std::int64_t i = 0; i < problem_.columns; ++i) {
          const bool in_wall = c == 0 ? i == 0 : j == 0;
          result.push_back(in_wall ? 0.0L : static_cast<Real>(value(c, j, i)));
        }
      }
    }
    return result;
  }
  /// 0 outside.
  Real at(const Vector& field, int c, std::int64_t j, std::int64_t i) const {
    if (j < 0 || j >= problem_.rows || i < 0 || i >= problem_.columns) return 0.0L;
    return field[static_cast<std::size_t>((c * problem_.rows + j) * problem_.columns + i)];
  }
  static Real of(const std::vector<double>& values, std::int64_t i) { return values[static_cast<std::size_t>(i)]; }

  /// Component c of grad p.
  Real slope(int c, std::int64_t j, std::int64_t i) const {
    return c == 0 ? (at(p_, 0, j, i) - at(p_, 0, j, i - 1)) / problem_.dx()
                  : (at(p_, 0, j, i) - at(p_, 0, j - 1, i)) / problem_.dy();
  }
  /// See MomentumOperator.
  Real diagonal(int c, std::int64_t j, std::int64_t i) const {
    return c == 0 ? of(c_.row_diagonal, j) : of(c_.column_diagonal, i);
  }
  Real neighbours(const Vector& x, int c, std::int64_t j, std::int64_t i) const {
    const auto w = [&](int component, std::int64_t row, std::int64_t column) { return at(w_, component, row, column); };
    // Velocities at the faces of the control volume, which is half a cell off.
    const int dj = c == 1 ? 1 : 0, di = c == 0 ? 1 : 0;
    const Real east = c_.quarter_x * (w(0, j - dj, i + 1) + w(0, j, i + 1 - di)),
               west = c_.quarter_x * (w(0, j - dj, i - di) + w(0, j, i)),
               north = c_.quarter_y * (w(1, j + 1, i - di) + w(1, j + 1 - dj, i)),
               south = c_.quarter_y * (w(1, j - dj, i - di) + w(1, j, i));
    const Real nu_east = c == 0 ? c_.diffusion_x : of(c_.column_diffusion, i + 1),
               nu_west = c == 0 ? c_.diffusion_x : of(c_.column_diffusion, i),
               nu_north = c == 1 ? c_.diffusion_y : of(c_.row_diffusion, j + 1),
               nu_south = c == 1 ? c_.diffusion_y : of(c_.row_diffusion, j);
    return (east - nu_east) * at(x, c, j, i + 1) - (west + nu_west) * at(x, c, j, i - 1) +
           (north - nu_north) * at(x, c, j + 1, i) - (south + nu_south) * at(x, c, j - 1, i);
  }
  Vector momentum(const Vector& x) const {
    return each([&](int c, auto j, auto i) { return diagonal(c, j, i) * at(x, c, j, i) + neighbours(x, c, j, i); });
  }
  /// See PressureOperator.
  Vector pressure(const Vector& p) const {
    Vector result;
    for (std::int64_t j = 0; j < problem_.rows; ++j) {
      for (std::int64_t i = 0; i < problem_.columns; ++i) {
        const auto to = [&](std::int64_t dj, std::int64_t di) { return at(p, 0, j, i) - at(p, 0, j + dj, i + di); };
        result.push_back(
            of(c_.row_weights, j) * (of(c_.column_faces, i) * to(0, -1) + of(c_.column_faces, i + 1) * to(0, 1)) +
            of(c_.column_weights, i) * (of(c_.row_faces, j) * to(-1, 0) + of(c_.row_faces, j + 1) * to(1, 0)));
      }
    }
    return result;
  }

  /// Source: 000, Algorithm 3, without a preconditioner.
  Vector bicgstab(const Vector& b, Vector x) const {
    Vector r = sum(b, -1.0L, momentum(x)), p = r;
    const Vector shadow = r;
    Real rho = product(shadow, r);
    for (int k = 0; k < most_iterations && product(r, r) > least_square * product(b, b); ++k) {
      const Vector v = momentum(p);
      const Real alpha = rho / product(shadow, v);
      const Vector s = sum(r, -alpha, v), t = momentum(s);
      const Real omega = product(t, t) > 0.0L ? product(t, s) / product(t, t) : 0.0L;
      x = sum(sum(x, alpha, p), omega, s);
      r = sum(s, -omega, t);
      if (omega == 0.0L) break;
      const Real beta = alpha / omega * product(shadow, r) / rho;
      rho = product(shadow, r);
      p = sum(r, beta, sum(p, -omega, v));
    }
    return x;
  }
  /// L p = -div h. Source: 000, Algorithm 2, likewise.
  void conjugate_gradient(const Vector& h) {
    Vector b;
    for (std::int64_t j = 0; j < problem_.rows; ++j) {
      for (std::int64_t i = 0; i < problem_.columns; ++i) {
        b.push_back(problem_.dy() * (at(h, 0, j, i) - at(h, 0, j, i + 1)) +
                    problem_.dx() * (at(h, 1, j, i) - at(h, 1, j + 1, i)));
      }
    }
    Vector r = sum(b, -1.0L, pressure(p_)), d = r;
    Real rr = product(r, r);
    for (int k = 0; k < most_iterations && rr > least_square * product(b, b); ++k) {
      const Vector ad = pressure(d);
      const Real alpha = rr / product(d, ad);
      p_ = sum(p_, alpha, d);
      r = sum(r, -alpha, ad);
      const Real before = rr;
      rr = product(r, r);
      d = sum(r, rr / before, d);
    }
  }

  static Real product(const Vector& a, const Vector& b) {
    return std::inner_product(a.begin(), a.end(), b.begin(), 0.0L);
  }
  /// a + factor b
  static Vector sum(Vector a, Real factor, const Vector& b) {
    for (std::size_t n = 0; n < a.size(); ++n) a[n] += factor * b[n];
    return a;
  }

  Problem problem_;
  Coefficients c_;
  Vector w_, p_;
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
                      {"multigrid", numerics_.preconditioner == Preconditioner::multigrid ? 1.0 : 0.0},
                      {"merged_reductions", numerics_.reductions == Reductions::merged ? 1.0 : 0.0}};
  facts.parts = {part_names.begin(), part_names.end()};
  facts.flops_per_unit = columns * (bicgstab_flops * of_step.momentum + cg_flops * of_step.pressure);
  facts.bytes_per_unit = step_bytes(problem_of(1), numerics_, of_step);
  facts.memory_bytes_per_unit =
      held_fields * sizeof(double) * static_cast<double>(RowField<HostExecution>::pitch_of(problem_.columns));
  facts.memory_bytes_fixed = 4.0 * facts.memory_bytes_per_unit;
  // From what a core's cache holds to far more than any cache.
  constexpr double largest_bytes = 1024.0 * 1024.0 * 1024.0;
  facts.smallest = 16;
  facts.largest = std::max<std::int64_t>(64, static_cast<std::int64_t>(largest_bytes / facts.memory_bytes_per_unit));
  return facts;
}

std::unique_ptr<KernelRun> MeasuredKernel::allocate(ProcessingUnit::Kind kind, std::int64_t units) const {
  const Problem problem = problem_of(units);
  return make_step_run(kind, problem, numerics_, check_start(problem));
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
  const Problem problem = problem_of(units);
  return SerialStep(problem, check_start(problem)).result();
}

Problem MeasuredKernel::problem_of(std::int64_t rows) const {
  Problem problem = problem_;
  problem.rows = rows;
  problem.height = problem_.dy() * static_cast<double>(rows);
  return problem;
}

}  // namespace steelyard::cavity
