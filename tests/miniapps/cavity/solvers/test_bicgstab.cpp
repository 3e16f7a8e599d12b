#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <limits>
#include <tuple>
#include <vector>

#include "miniapps/cavity/solvers/bicgstab.hpp"
#include "tests/miniapps/cavity/solvers/solver_run.hpp"

namespace steelyard::test_bicgstab {

using namespace steelyard::cavity;
using namespace steelyard::cavity::tests;

namespace {

SolveSettings to(double relative) {
  SolveSettings settings;
  settings.relative = relative;
  settings.keep_history = true;
  return settings;
}

template <class ChosenSolver, class ChosenPreconditioner>
struct Pair {
  using Solver = ChosenSolver;
  using Preconditioner = ChosenPreconditioner;
};

using Pairs = std::tuple<Pair<Bicgstab, None>, Pair<Bicgstab, Jacobi>, Pair<Bicgstab, JacobiByApply>,
                         Pair<MergedBicgstab, None>, Pair<MergedBicgstab, Jacobi>, Pair<MergedBicgstab, JacobiByApply>>;

/// Far from symmetric: convection across a cell is some ten times the diffusion.
MomentumSystem momentum(std::int64_t rows, std::int64_t columns) { return {rows, columns, 0.05, 4.0}; }

Values momentum_right_side(const MomentumSystem& system, unsigned seed) {
  Values b = random_values(2 * system.rows * system.columns, seed);
  system.clear_walls(b);
  return b;
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("BiCGSTAB gives the same bits however rows are shared out", "", Pairs) {
  TestUnits units;
  const MomentumSystem system = momentum(22, 27);
  const Values b = momentum_right_side(system, 1);
  const auto shares = units.shares(system.rows);
  const auto solve_with = [&](const auto& share, int times) {
    return solve<typename TestType::Solver, typename TestType::Preconditioner>(units.group(), share, system, b,
                                                                               to(1e-10), {}, times);
  };
  const Solved first = solve_with(shares.front(), 1);
  CHECK(first.report.outcome == SolveOutcome::converged);
  CHECK(first.report.iterations > 5);
  for (const auto& share : shares) {
    const Solved other = solve_with(share, 2);
    CHECK(other.report.history == first.report.history);
    CHECK(other.report.residual == first.report.residual);
    CHECK(other.values == first.values);
  }
}

TEMPLATE_LIST_TEST_CASE("BiCGSTAB solves systems that are not symmetric", "", Pairs) {
  TestUnits units;
  const MomentumSystem system = momentum(5, 6);
  const Values b = momentum_right_side(system, 2);
  const Eigen::MatrixXd matrix = dense(system);
  CHECK((matrix - matrix.transpose()).norm() > 0.3 * matrix.norm());
  const Values exact = dense_solution(matrix, b);
  for (const auto& share : units.shares(system.rows)) {
    const Solved solved =
        solve<typename TestType::Solver, typename TestType::Preconditioner>(units.group(), share, system, b, to(1e-12));
    CHECK(solved.report.outcome == SolveOutcome::converged);
    CHECK(solved.report.iterations <= 60);
    CHECK(largest_difference(solved.values, exact) <= 1e-10 * largest(exact));
    CHECK(std::abs(solved.report.right_side - norm(b)) <= 1e-14 * norm(b));
    CHECK(solved.report.history.size() == static_cast<std::size_t>(solved.report.iterations) + 1);
  }
}

TEMPLATE_LIST_TEST_CASE("BiCGSTAB ends halfway through an iteration where that is enough", "", Pairs) {
  // A multiple of the identity is solved by alpha alone.
  TestUnits units;
  const MomentumSystem system{6, 7, 1e-9, 1e-9};
  const Values b = momentum_right_side(system, 3);
  const Solved solved = solve<typename TestType::Solver, typename TestType::Preconditioner>(
      units.group(), units.shares(system.rows).back(), system, b, to(1e-6));
  CHECK(solved.report.outcome == SolveOutcome::converged);
  CHECK(solved.report.iterations == 1);
  const Values exact = dense_solution(dense(system), b);
  CHECK(largest_difference(solved.values, exact) <= 1e-6 * largest(exact));
}

TEMPLATE_LIST_TEST_CASE("BiCGSTAB finds nothing to do where b is 0 or x solves", "", Pairs) {
  TestUnits units;
  const MomentumSystem system = momentum(6, 5);
  const auto share = units.shares(system.rows).back();
  const auto solve_with = [&](const Values& b, const Values& guess) {
    return solve<typename TestType::Solver, typename TestType::Preconditioner>(units.group(), share, system, b,
                                                                               to(1e-10), guess);
  };
  const Values zero(60, 0.0);
  for (const Values& guess : {zero, momentum_right_side(system, 4)}) {
    const Solved solved = solve_with(zero, guess);
    CHECK(solved.report.outcome == SolveOutcome::converged);
    CHECK(solved.report.iterations == 0);
    CHECK(solved.values == zero);
  }
  const Values b = momentum_right_side(system, 5);
  const Values exact = dense_solution(dense(system), b);
  const Solved solved = solve_with(b, exact);
  CHECK(solved.report.outcome == SolveOutcome::converged);
  CHECK(solved.report.iterations == 0);
  CHECK(solved.values == exact);
}

TEMPLATE_LIST_TEST_CASE("BiCGSTAB says why it does not solve", "", Pairs) {
  TestUnits units;
  const MomentumSystem system = momentum(8, 9);
  const auto share = units.shares(system.rows).back();
  const auto solve_with = [&](const Values& b, const SolveSettings& settings) {
    return solve<typename TestType::Solver, typename TestType::Preconditioner>(units.group(), share, system, b,
                                                                               settings)
        .report;
  };
  Values b = momentum_right_side(system, 6);
  SolveSettings few = to(1e-12);
  few.most_iterations = 2;
  CHECK(solve_with(b, few).outcome == SolveOutcome::too_many_iterations);
  CHECK(solve_with(b, few).iterations == 2);

  const SolveReport tight = solve_with(b, to(1e-19));
  CHECK(tight.outcome != SolveOutcome::converged);
  CHECK(tight.outcome != SolveOutcome::not_finite);

  b[40] = std::numeric_limits<double>::quiet_NaN();
  CHECK(solve_with(b, to(1e-12)).outcome == SolveOutcome::not_finite);
  b[40] = -std::numeric_limits<double>::infinity();
  CHECK(solve_with(b, to(1e-12)).outcome == SolveOutcome::not_finite);
}

TEMPLATE_TEST_CASE("BiCGSTAB begins again with another shadow vector where r0^T A r0 is 0", "", Bicgstab,
                   MergedBicgstab) {
  TestUnits units;
  const std::int64_t rows = 5, columns = 6;
  const Values b = random_values(rows * columns, 7);
  const Eigen::Map<const Eigen::VectorXd> r(b.data(), static_cast<Eigen::Index>(b.size()));
  const Eigen::MatrixXd poisson = dense(PoissonSystem{rows, columns});
  const ShiftedSystem system{rows, columns, -r.dot(poisson * r) / r.squaredNorm()};
  const Values exact = dense_solution(dense(system), b);
  const auto shares = units.shares(rows);
  const auto solve_with = [&](const auto& share) {
    return solve<TestType, None>(units.group(), share, system, b, to(1e-10));
  };
  const Solved first = solve_with(shares.front());
  CHECK(first.report.outcome == SolveOutcome::converged);
  CHECK(first.report.restarts >= 1);
  CHECK(largest_difference(first.values, exact) <= 1e-7 * largest(exact));
  for (const auto& share : shares) CHECK(solve_with(share).values == first.values);
}

TEMPLATE_TEST_CASE("BiCGSTAB gives up where breakdowns do not end", "", Bicgstab, MergedBicgstab) {
  TestUnits units;
  const Values b = random_values(56, 10);
  const auto share = units.shares(7).back();
  // s^T A s is always 0, and omega as well.
  const SolveReport skew = solve<TestType, None>(units.group(), share, SkewSystem{7, 8, 0.0}, b, to(1e-10)).report;
  CHECK(skew.outcome == SolveOutcome::broke_down);
  CHECK(skew.restarts == SolveSettings{}.most_restarts);
  CHECK(skew.residual > skew.tolerance);
  // Not so with a little of the identity in it.
  CHECK(solve<TestType, None>(units.group(), share, SkewSystem{7, 8, 1.0}, b, to(1e-10)).report.outcome ==
        SolveOutcome::converged);
}

TEST_CASE("BiCGSTAB takes the same way with merged reductions") {
  TestUnits units;
  const MomentumSystem system = momentum(20, 24);
  const Values b = momentum_right_side(system, 8);
  const auto share = units.shares(system.rows)[1];
  const Solved separate = solve<Bicgstab, None>(units.group(), share, system, b, to(1e-10));
  const Solved merged = solve<MergedBicgstab, None>(units.group(), share, system, b, to(1e-10));
  CHECK(separate.report.outcome == SolveOutcome::converged);
  CHECK(merged.report.outcome == SolveOutcome::converged);
  CHECK(std::abs(separate.report.iterations - merged.report.iterations) <= 2);
  CHECK(largest_difference(separate.values, merged.values) <= 1e-8 * largest(separate.values));
  for (std::size_t i = 0; i < 5; ++i) {
    const double expected = separate.report.history[i];
    CHECK(std::abs(merged.report.history[i] - expected) <= 1e-8 * expected);
  }
}

TEST_CASE("BiCGSTAB does not care whether a preconditioner is pointwise") {
  TestUnits units;
  const MomentumSystem system = momentum(12, 13);
  const Values b = momentum_right_side(system, 9);
  const auto share = units.shares(system.rows)[1];
  const Solved inside = solve<Bicgstab, Jacobi>(units.group(), share, system, b, to(1e-10));
  const Solved outside = solve<Bicgstab, JacobiByApply>(units.group(), share, system, b, to(1e-10));
  CHECK(inside.report.history == outside.report.history);
  CHECK(inside.values == outside.values);
}

}  // namespace steelyard::test_bicgstab
