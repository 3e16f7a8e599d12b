#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <limits>
#include <tuple>
#include <vector>

#include "miniapps/cavity/solvers/conjugate_gradient.hpp"
#include "tests/miniapps/cavity/solvers/solver_run.hpp"

namespace steelyard::test_conjugate_gradient {

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

using Pairs = std::tuple<Pair<Cg, None>, Pair<Cg, Jacobi>, Pair<Cg, JacobiByApply>, Pair<MergedCg, None>,
                         Pair<MergedCg, Jacobi>, Pair<MergedCg, JacobiByApply>>;

}  // namespace

TEMPLATE_LIST_TEST_CASE("conjugate gradients give the same bits however rows are shared out", "", Pairs) {
  TestUnits units;
  const PoissonSystem system{30, 37};
  const Values b = random_values(1110, 1);
  const auto shares = units.shares(system.rows);
  const auto solve_with = [&](const auto& share, int times) {
    return solve<typename TestType::Solver, typename TestType::Preconditioner>(units.group(), share, system, b,
                                                                               to(1e-10), {}, times);
  };
  const Solved first = solve_with(shares.front(), 1);
  CHECK(first.report.outcome == SolveOutcome::converged);
  CHECK(first.report.iterations > 10);
  for (const auto& share : shares) {
    // The second solve of a solver is that of a new one.
    const Solved other = solve_with(share, 2);
    CHECK(other.report.history == first.report.history);
    CHECK(other.report.residual == first.report.residual);
    CHECK(other.values == first.values);
  }
}

TEMPLATE_LIST_TEST_CASE("conjugate gradients solve a small system in as many steps as it has unknowns", "", Pairs) {
  TestUnits units;
  // Well conditioned: rounding would ask for more steps.
  const ShiftedSystem system{4, 5, 1.0};
  const Values b = random_values(20, 2);
  const Values exact = dense_solution(dense(system), b);
  for (const auto& share : units.shares(system.rows)) {
    const Solved solved =
        solve<typename TestType::Solver, typename TestType::Preconditioner>(units.group(), share, system, b, to(1e-10));
    CHECK(solved.report.outcome == SolveOutcome::converged);
    CHECK(solved.report.iterations <= 20);
    CHECK(largest_difference(solved.values, exact) <= 1e-9 * largest(exact));
    CHECK(std::abs(solved.report.right_side - norm(b)) <= 1e-14 * norm(b));
    CHECK(solved.report.initial_residual == solved.report.right_side);
    CHECK(solved.report.history.size() == static_cast<std::size_t>(solved.report.iterations) + 1);
    CHECK(solved.report.history.front() == solved.report.initial_residual);
  }
}

TEMPLATE_LIST_TEST_CASE("conjugate gradients solve between walls once b's mean is left out", "", Pairs) {
  TestUnits units;
  const PoissonSystem system{24, 31};
  const Values b = random_values(744, 3);
  Values guess = random_values(744, 4);
  const Solved solved = solve<typename TestType::Solver, typename TestType::Preconditioner>(
      units.group(), units.shares(system.rows).back(), system, b, to(1e-12), guess);
  CHECK(solved.report.outcome == SolveOutcome::converged);
  double mean = 0.0;
  for (const double value : b) mean += value / static_cast<double>(b.size());
  const Eigen::MatrixXd matrix = dense(system);
  const Eigen::Map<const Eigen::VectorXd> x(solved.values.data(), static_cast<Eigen::Index>(b.size()));
  const Eigen::Map<const Eigen::VectorXd> given(b.data(), static_cast<Eigen::Index>(b.size()));
  const Eigen::VectorXd residual = given - matrix * x - Eigen::VectorXd::Constant(x.size(), mean);
  CHECK(residual.norm() <= 1.2e-12 * norm(b));
}

TEMPLATE_LIST_TEST_CASE("conjugate gradients find nothing to do where b is 0 or x solves", "", Pairs) {
  TestUnits units;
  const ShiftedSystem system{6, 7, 1.0};
  const auto share = units.shares(system.rows).back();
  const auto solve_with = [&](const Values& b, const Values& guess) {
    return solve<typename TestType::Solver, typename TestType::Preconditioner>(units.group(), share, system, b,
                                                                               to(1e-10), guess);
  };
  const Values zero(42, 0.0);
  for (const Values& guess : {zero, random_values(42, 5)}) {
    const Solved solved = solve_with(zero, guess);
    CHECK(solved.report.outcome == SolveOutcome::converged);
    CHECK(solved.report.iterations == 0);
    CHECK(solved.report.residual == 0.0);
    CHECK(solved.values == zero);
  }
  const Values b = random_values(42, 6);
  const Values exact = dense_solution(dense(system), b);
  const Solved solved = solve_with(b, exact);
  CHECK(solved.report.outcome == SolveOutcome::converged);
  CHECK(solved.report.iterations == 0);
  CHECK(solved.values == exact);
}

TEMPLATE_LIST_TEST_CASE("conjugate gradients say why they do not solve", "", Pairs) {
  TestUnits units;
  const std::int64_t rows = 9, columns = 8;
  const auto share = units.shares(rows).back();
  const auto solve_with = [&](double shift, const Values& b, const SolveSettings& settings) {
    return solve<typename TestType::Solver, typename TestType::Preconditioner>(
               units.group(), share, ShiftedSystem{rows, columns, shift}, b, settings)
        .report;
  };
  Values b = random_values(rows * columns, 7);

  SolveSettings few = to(1e-12);
  few.most_iterations = 3;
  CHECK(solve_with(0.01, b, few).outcome == SolveOutcome::too_many_iterations);
  CHECK(solve_with(0.01, b, few).iterations == 3);
  CHECK(solve_with(0.01, b, few).residual > 1e-12);
  few.most_iterations = 0;
  CHECK(solve_with(0.01, b, few).outcome == SolveOutcome::too_many_iterations);

  // Constants have negative energy, other vectors positive.
  CHECK(solve_with(-1e-3, b, to(1e-12)).outcome == SolveOutcome::broke_down);
  CHECK(solve_with(-100.0, b, to(1e-12)).outcome == SolveOutcome::broke_down);

  // Less than what rounding leaves.
  const SolveReport tight = solve_with(0.01, b, to(1e-18));
  CHECK(tight.outcome == SolveOutcome::stagnated);
  CHECK(tight.residual > tight.tolerance);

  b[17] = std::numeric_limits<double>::quiet_NaN();
  CHECK(solve_with(0.01, b, to(1e-12)).outcome == SolveOutcome::not_finite);
  b[17] = std::numeric_limits<double>::infinity();
  CHECK(solve_with(0.01, b, to(1e-12)).outcome == SolveOutcome::not_finite);
}

TEST_CASE("conjugate gradients take the same way with merged reductions") {
  TestUnits units;
  const PoissonSystem system{32, 32};
  const Values b = random_values(1024, 8);
  const auto share = units.shares(system.rows)[1];
  const Solved separate = solve<Cg, None>(units.group(), share, system, b, to(1e-10));
  const Solved merged = solve<MergedCg, None>(units.group(), share, system, b, to(1e-10));
  CHECK(std::abs(separate.report.iterations - merged.report.iterations) <= 2);
  CHECK(largest_difference(separate.values, merged.values) <= 1e-8 * largest(separate.values));
  for (std::size_t i = 0; i < 20; ++i) {
    const double expected = separate.report.history[i];
    CHECK(std::abs(merged.report.history[i] - expected) <= 1e-10 * expected);
  }
}

TEST_CASE("conjugate gradients do not care whether a preconditioner is pointwise") {
  TestUnits units;
  const ShiftedSystem system{20, 21, 1e-3};
  const Values b = random_values(420, 9);
  const auto share = units.shares(system.rows)[1];
  const Solved inside = solve<Cg, Jacobi>(units.group(), share, system, b, to(1e-10));
  const Solved outside = solve<Cg, JacobiByApply>(units.group(), share, system, b, to(1e-10));
  CHECK(inside.report.history == outside.report.history);
  CHECK(inside.values == outside.values);
  const Solved merged = solve<MergedCg, Jacobi>(units.group(), share, system, b, to(1e-10));
  CHECK(largest_difference(inside.values, merged.values) <= 1e-8 * largest(inside.values));
}

}  // namespace steelyard::test_conjugate_gradient
