#include <Eigen/IterativeLinearSolvers>
#include <Eigen/SparseCore>
#include <cstdint>
#include <vector>

#include "miniapps/cavity/problem.hpp"

namespace steelyard::cavity {
namespace {

using Real = long double;
using Vector = Eigen::VectorX<Real>;
using Matrix = Eigen::SparseMatrix<Real>;

/// The matrices of a step, whose unknowns are numbered component by component and row by row. In walls velocities are
/// 0, by a diagonal of 1 and a gradient of 0.
struct StepMatrices {
  Matrix momentum;  ///< M, see MomentumOperator
  Matrix gradient;  ///< G, from cells to velocities
  Vector known;     ///< u / dt + lid

  StepMatrices(const Problem& problem, const FlowState& w) {
    const std::int64_t rows = problem.rows, columns = problem.columns, cells = rows * columns;
    const Real dx = problem.dx(), dy = problem.dy(), nu = problem.viscosity(), over_dt = 1.0L / problem.time_step;
    const auto cell = [=](std::int64_t j, std::int64_t i) { return j * columns + i; };
    const auto u = [&](std::int64_t j, std::int64_t i) -> Real { return w.u_at(j, i); };
    const auto v = [&](std::int64_t j, std::int64_t i) -> Real { return w.v_at(j, i); };
    std::vector<Eigen::Triplet<Real>> m, g;
    known = Vector::Zero(2 * cells);
    const auto add_unknown = [&](std::int64_t c, std::int64_t j, std::int64_t i) {
      const std::int64_t k = c * cells + cell(j, i), dj = c, di = 1 - c;
      if (c == 0 ? i == 0 : j == 0) {
        m.emplace_back(k, k, 1.0L);
        return;
      }
      g.emplace_back(k, cell(j, i), 1.0L / (c == 0 ? dx : dy));
      g.emplace_back(k, cell(j - dj, i - di), -1.0L / (c == 0 ? dx : dy));
      known[k] = over_dt * (c == 0 ? u(j, i) : v(j, i));
      if (c == 0 && j == rows - 1) known[k] += 2.0L * nu / (dy * dy);
      Real diagonal = over_dt;
      // A side of the control volume and the unknown beyond it, h away. Of its velocity one half is carried out.
      const auto add_side = [&](std::int64_t row, std::int64_t column, Real h, Real outflow) {
        const bool is_inside = row >= 0 && row < rows && column >= 0 && column < columns;
        // Walls that the velocity is along are half a step away.
        const bool is_near_wall = !is_inside && (c == 0 ? row != j : column != i);
        diagonal += (is_near_wall ? 2.0L : 1.0L) * nu / (h * h);
        if (is_inside) m.emplace_back(k, c * cells + cell(row, column), outflow / (2.0L * h) - nu / (h * h));
      };
      add_side(j, i + 1, dx, (u(j - dj, i + 1) + u(j, i + 1 - di)) / 2.0L);
      add_side(j, i - 1, dx, -(u(j - dj, i - di) + u(j, i)) / 2.0L);
      add_side(j + 1, i, dy, (v(j + 1, i - di) + v(j + 1 - dj, i)) / 2.0L);
      add_side(j - 1, i, dy, -(v(j - dj, i - di) + v(j, i)) / 2.0L);
      m.emplace_back(k, k, diagonal);
    };
    for (std::int64_t k = 0; k < 2 * cells; ++k) add_unknown(k / cells, k % cells / columns, k % columns);
    momentum.resize(2 * cells, 2 * cells);
    momentum.setFromTriplets(m.begin(), m.end());
    gradient.resize(2 * cells, cells);
    gradient.setFromTriplets(g.begin(), g.end());
  }
};

/// Solves A x = b from the x given until hardly anything is left of the residual.
template <class Solver>
void solve(const Matrix& matrix, const Vector& b, Vector& x) {
  Solver solver(matrix);
  solver.setTolerance(1e-17L);
  solver.setMaxIterations(10000);
  x = solver.solveWithGuess(b, x).eval();
}

}  // namespace

std::vector<double> reference_step(const Problem& problem, const FlowState& start) {
  const StepMatrices of(problem, start);
  const Vector a = of.momentum.diagonal();
  const Matrix laplacian = of.gradient.transpose() * a.cwiseInverse().asDiagonal() * of.gradient;
  std::vector<Real> velocity(start.u.begin(), start.u.end());
  velocity.insert(velocity.end(), start.v.begin(), start.v.end());
  const std::vector<Real> pressure(start.p.begin(), start.p.end());
  Vector x = Vector::Map(velocity.data(), of.known.size()), p = Vector::Map(pressure.data(), of.gradient.cols());
  solve<Eigen::BiCGSTAB<Matrix, Eigen::IdentityPreconditioner>>(of.momentum, of.known - of.gradient * p, x);
  for (int corrector = 0; corrector < problem.correctors; ++corrector) {
    const Vector h = (of.known - of.momentum * x).cwiseQuotient(a) + x;
    solve<Eigen::ConjugateGradient<Matrix, Eigen::Lower | Eigen::Upper, Eigen::IdentityPreconditioner>>(
        laplacian, of.gradient.transpose() * h, p);
    x = h - (of.gradient * p).cwiseQuotient(a);
  }
  p.array() -= p.mean();
  std::vector<double> values(x.begin(), x.end());
  values.insert(values.end(), p.begin(), p.end());
  return values;
}

}  // namespace steelyard::cavity
