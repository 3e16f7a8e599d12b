#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <limits>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "miniapps/cavity/solvers/bicgstab.hpp"
#include "miniapps/cavity/solvers/conjugate_gradient.hpp"
#include "tests/miniapps/cavity/solvers/solver_run.hpp"

namespace steelyard::test_krylov_solvers {

using namespace steelyard::cavity;
using namespace steelyard::cavity::tests;

namespace {

template <class ChosenSolver, class ChosenPreconditioner>
struct Pair {
  using Solver = ChosenSolver;
  using Preconditioner = ChosenPreconditioner;
  static constexpr bool is_cg = Solver::is_cg;

  /// One that the solver is for: for BiCGSTAB far from symmetric, since convection across a cell is some ten times the
  /// diffusion. @param shift of CG's: the larger, the better is the condition
  static auto system(std::int64_t rows, std::int64_t columns, double shift = 1.0) {
    if constexpr (is_cg) {
      return ShiftedSystem{rows, columns, shift};
    } else {
      return MomentumSystem{rows, columns, 0.05, 4.0};
    }
  }
};
using CgPairs = std::tuple<Pair<Cg, None>, Pair<Cg, Jacobi>, Pair<MergedCg, None>, Pair<MergedCg, Jacobi>>;
using BicgstabPairs = std::tuple<Pair<Bicgstab, None>, Pair<MergedBicgstab, None>>;
using Pairs = decltype(std::tuple_cat(CgPairs(), BicgstabPairs()));

SolveSettings to(double relative) {
  SolveSettings settings;
  settings.relative = relative;
  settings.keep_history = true;
  return settings;
}

template <class System>
Values right_side(const System& system, unsigned seed) {
  Values b = random_values(System::components * system.rows * system.columns, seed);
  if constexpr (std::is_same_v<System, MomentumSystem>) system.clear_walls(b);
  return b;
}

template <class Pairing, class System>
Solved solve_by(TestUnits& units, const std::vector<std::int64_t>& share, const System& system, const Values& b,
                const SolveSettings& settings, const Values& guess = {}, int times = 1) {
  return solve<typename Pairing::Solver, typename Pairing::Preconditioner>(units.group(), share, system, b, settings,
                                                                           guess, times);
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("solvers give the same bits however rows are shared out, and again the second time", "",
                        Pairs) {
  TestUnits units;
  const auto system = TestType::system(30, 37, 0.01);
  const Values b = right_side(system, 1);
  const auto shares = units.shares(system.rows);
  const Solved first = solve_by<TestType>(units, shares.front(), system, b, to(1e-10));
  CHECK(first.report.outcome == SolveOutcome::converged);
  CHECK(first.report.iterations > 5);
  for (const auto& share : shares) {
    const Solved other = solve_by<TestType>(units, share, system, b, to(1e-10), {}, 2);
    CHECK(other.report.history == first.report.history);
    CHECK(other.report.residual == first.report.residual);
    CHECK(other.values == first.values);
  }
}

TEMPLATE_LIST_TEST_CASE("solvers solve a small system in as many steps as it has unknowns", "", Pairs) {
  TestUnits units;
  // Well conditioned: rounding would ask for more steps.
  const auto system = TestType::system(4, 5);
  const Values b = right_side(system, 2);
  const Eigen::MatrixXd matrix = dense(system);
  if (!TestType::is_cg) CHECK((matrix - matrix.transpose()).norm() > 0.3 * matrix.norm());
  const Values exact = dense_solution(matrix, b);
  for (const auto& share : units.shares(system.rows)) {
    const auto [report, values] = solve_by<TestType>(units, share, system, b, to(1e-10));
    CHECK(report.outcome == SolveOutcome::converged);
    CHECK(report.iterations <= static_cast<int>(b.size()));
    CHECK(largest_difference(values, exact) <= 1e-9 * largest(exact));
    CHECK(std::abs(report.right_side - norm(b)) <= 1e-14 * norm(b));
    CHECK(report.initial_residual == report.right_side);
    CHECK(report.history.size() == static_cast<std::size_t>(report.iterations) + 1);
    CHECK(report.history.front() == report.initial_residual);
  }
}

TEMPLATE_LIST_TEST_CASE("solvers find nothing to do where b is 0 or x solves", "", Pairs) {
  TestUnits units;
  const auto system = TestType::system(6, 7);
  const auto share = units.shares(system.rows).back();
  const Values b = right_side(system, 5), exact = dense_solution(dense(system), b), zero(b.size(), 0.0);
  const auto check = [&](const Values& right, const Values& guess, const Values& expected) {
    const Solved solved = solve_by<TestType>(units, share, system, right, to(1e-10), guess);
    CHECK(solved.report.outcome == SolveOutcome::converged);
    CHECK(solved.report.iterations == 0);
    CHECK(solved.values == expected);
  };
  check(zero, zero, zero);
  check(zero, b, zero);
  check(b, exact, exact);
}

TEMPLATE_LIST_TEST_CASE("solvers say why they do not solve", "", Pairs) {
  TestUnits units;
  const auto system = TestType::system(9, 8, 0.01);
  const auto share = units.shares(system.rows).back();
  Values b = right_side(system, 7);
  SolveSettings few = to(1e-12);
  for (const int most : {0, 2}) {
    few.most_iterations = most;
    const SolveReport report = solve_by<TestType>(units, share, system, b, few).report;
    CHECK(report.outcome == SolveOutcome::too_many_iterations);
    if (most > 0) CHECK(report.iterations == most);
    CHECK(report.residual > report.tolerance);
  }
  // Less than what rounding leaves.
  const SolveReport tight = solve_by<TestType>(units, share, system, b, to(1e-19)).report;
  CHECK(tight.outcome != SolveOutcome::converged);
  CHECK(tight.outcome != SolveOutcome::not_finite);
  if (TestType::is_cg) CHECK(tight.outcome == SolveOutcome::stagnated);
  for (const double value : {std::numeric_limits<double>::quiet_NaN(), -std::numeric_limits<double>::infinity()}) {
    b[40] = value;
    CHECK(solve_by<TestType>(units, share, system, b, to(1e-12)).report.outcome == SolveOutcome::not_finite);
  }
}

TEMPLATE_TEST_CASE("merged reductions take the same way", "", (std::pair<Cg, MergedCg>),
                   (std::pair<Bicgstab, MergedBicgstab>)) {
  using Separate = typename TestType::first_type;
  using Merged = typename TestType::second_type;
  TestUnits units;
  const auto system = Pair<Separate, None>::system(20, 24, 1e-3);
  const Values b = right_side(system, 8);
  const auto share = units.shares(system.rows)[1];
  const Solved separate = solve_by<Pair<Separate, None>>(units, share, system, b, to(1e-10));
  const Solved merged = solve_by<Pair<Merged, None>>(units, share, system, b, to(1e-10));
  CHECK(separate.report.outcome == SolveOutcome::converged);
  CHECK(merged.report.outcome == SolveOutcome::converged);
  CHECK(std::abs(separate.report.iterations - merged.report.iterations) <= 2);
  CHECK(largest_difference(separate.values, merged.values) <= 1e-8 * largest(separate.values));
  for (std::size_t i = 0; i < 5; ++i) {
    const double expected = separate.report.history[i];
    CHECK(std::abs(merged.report.history[i] - expected) <= 1e-8 * expected);
  }
}

TEMPLATE_LIST_TEST_CASE("conjugate gradients solve between walls once b's mean is left out", "", CgPairs) {
  TestUnits units;
  const PoissonSystem system{24, 31};
  const Values b = right_side(system, 3), guess = right_side(system, 4);
  const Solved solved = solve_by<TestType>(units, units.shares(system.rows).back(), system, b, to(1e-12), guess);
  CHECK(solved.report.outcome == SolveOutcome::converged);
  double mean = 0.0;
  for (const double value : b) mean += value / static_cast<double>(b.size());
  const Eigen::Map<const Eigen::VectorXd> x(solved.values.data(), static_cast<Eigen::Index>(b.size()));
  const Eigen::Map<const Eigen::VectorXd> given(b.data(), static_cast<Eigen::Index>(b.size()));
  const Eigen::VectorXd residual = given - dense(system) * x - Eigen::VectorXd::Constant(x.size(), mean);
  CHECK(residual.norm() <= 1.2e-12 * norm(b));
}

TEMPLATE_LIST_TEST_CASE("conjugate gradients break down where constants have negative energy, other vectors positive",
                        "", CgPairs) {
  TestUnits units;
  for (const double shift : {-1e-3, -100.0}) {
    const ShiftedSystem system{9, 8, shift};
    CHECK(solve_by<TestType>(units, units.shares(9).back(), system, right_side(system, 7), to(1e-12)).report.outcome ==
          SolveOutcome::broke_down);
  }
}

TEMPLATE_LIST_TEST_CASE("BiCGSTAB ends halfway through an iteration where that is enough", "", BicgstabPairs) {
  // A multiple of the identity is solved by alpha alone.
  TestUnits units;
  const MomentumSystem system{6, 7, 1e-9, 1e-9};
  const Values b = right_side(system, 3), exact = dense_solution(dense(system), b);
  const Solved solved = solve_by<TestType>(units, units.shares(system.rows).back(), system, b, to(1e-6));
  CHECK(solved.report.outcome == SolveOutcome::converged);
  CHECK(solved.report.iterations == 1);
  CHECK(largest_difference(solved.values, exact) <= 1e-6 * largest(exact));
}

TEMPLATE_TEST_CASE("BiCGSTAB restarts with another shadow vector where r0^T A r0 is 0", "", Bicgstab, MergedBicgstab) {
  using Alone = Pair<TestType, None>;
  TestUnits units;
  const PoissonSystem poisson{5, 6};
  const Values b = right_side(poisson, 7);
  const Eigen::Map<const Eigen::VectorXd> r(b.data(), static_cast<Eigen::Index>(b.size()));
  const ShiftedSystem system{5, 6, -r.dot(dense(poisson) * r) / r.squaredNorm()};
  const Values exact = dense_solution(dense(system), b);
  const auto shares = units.shares(system.rows);
  const Solved first = solve_by<Alone>(units, shares.front(), system, b, to(1e-10));
  CHECK(first.report.outcome == SolveOutcome::converged);
  CHECK(first.report.restarts >= 1);
  CHECK(largest_difference(first.values, exact) <= 1e-7 * largest(exact));
  for (const auto& share : shares) CHECK(solve_by<Alone>(units, share, system, b, to(1e-10)).values == first.values);
}

TEMPLATE_TEST_CASE("BiCGSTAB gives up where breakdowns do not end", "", Bicgstab, MergedBicgstab) {
  TestUnits units;
  const auto report = [&](double shift) {
    const SkewSystem system{7, 8, shift};
    return solve_by<Pair<TestType, None>>(units, units.shares(7).back(), system, right_side(system, 10), to(1e-10))
        .report;
  };
  // s^T A s is always 0, and omega as well.
  const SolveReport skew = report(0.0);
  CHECK(skew.outcome == SolveOutcome::broke_down);
  CHECK(skew.restarts == SolveSettings{}.most_restarts);
  CHECK(skew.residual > skew.tolerance);
  // Not so with a little of the identity in it.
  CHECK(report(1.0).outcome == SolveOutcome::converged);
}

}  // namespace steelyard::test_krylov_solvers
