#include "miniapps/cavity/solvers/krylov_method.hpp"
#include "tests/catch.hpp"
#include "tests/miniapps/cavity/solvers/linear_systems.hpp"

namespace steelyard::test_krylov_solvers {

using namespace steelyard::cavity;
using namespace steelyard::cavity::tests;
using enum Reductions;
using enum SolveOutcome;

namespace {

constexpr Way bicgstab[] = {{false, separate}, {false, merged}}, cg[] = {{true, separate}, {true, merged}};

/// Checks a system's solution, and that it is the same bits however rows are shared out. Where constants are the null
/// space, b's mean is left out. @param most iterations for each unknown
template <class Solvable>
void check_solution(TestUnits& units, const Solvable& system, const Way& way, unsigned seed, int most = 1) {
  CAPTURE(seed, system.problem.rows, system.problem.columns, way.by_cg, way.reductions == merged, way.multigrid);
  const Values b = random_unknowns<Solvable::components>(system.problem, seed);
  const Eigen::MatrixXd matrix = dense(units, system);
  const bool is_singular = matrix.rowwise().sum().norm() < 1e-9;
  Eigen::VectorXd right = Eigen::Map<const Eigen::VectorXd>(b.data(), matrix.rows());
  const double norm = right.norm();
  if (is_singular) right.array() -= right.mean();
  const Eigen::VectorXd x = matrix.completeOrthogonalDecomposition().solve(right);
  Values first;
  for (const Shares& share : units.shares(system.problem.rows)) {
    const auto [report, values] = solve(units, share, system, way, b, to(1e-12));
    CHECK(report.outcome == converged);
    CHECK(report.iterations <= most * static_cast<int>(b.size()));
    CHECK(std::abs(report.right_side - norm) <= 1e-14 * norm);
    CHECK(report.history.size() == static_cast<std::size_t>(report.iterations) + 1);
    if (first.empty()) first = values;
    CHECK(values == first);
    Eigen::VectorXd found = Eigen::Map<const Eigen::VectorXd>(values.data(), matrix.rows());
    if (is_singular) found.array() -= found.mean();
    CHECK((found - x).lpNorm<Eigen::Infinity>() <= 1e-9 * x.lpNorm<Eigen::Infinity>());
  }
}

}  // namespace

TEST_CASE("solvers find the dense solution of random systems, in the same bits however rows are shared out") {
  TestUnits units;
  for (unsigned seed = 1; seed <= 4; ++seed) {
    std::mt19937 random(seed);
    const auto rows = static_cast<std::int64_t>(2 + random() % 6),
               columns = static_cast<std::int64_t>(2 + random() % 7);
    for (Way way : cg) {
      check_solution(units, shifted_system(rows, columns, 0.5), way, seed);
      check_solution(units, pressure_system(rows, columns), way, seed);
      way.multigrid = true;
      check_solution(units, pressure_system(3 * rows, 2 * columns), way, seed);
    }
    for (const Way& way : bicgstab) check_solution(units, momentum_system(rows, columns), way, seed);
  }
}

TEST_CASE("merged reductions take the same way") {
  TestUnits units;
  const auto check = [&](const auto& system, const Way* ways) {
    const Values b = random_unknowns<std::decay_t<decltype(system)>::components>(system.problem, 8);
    const Shares share = units.shares(system.problem.rows)[1];
    const SolveReport one = solve(units, share, system, ways[0], b, to(1e-10)).report;
    const SolveReport other = solve(units, share, system, ways[1], b, to(1e-10)).report;
    CHECK(one.iterations > 5);
    CHECK(std::abs(one.iterations - other.iterations) <= 2);
    for (std::size_t i = 0; i < 5; ++i) CHECK(std::abs(other.history[i] - one.history[i]) <= 1e-8 * one.history[i]);
  };
  check(shifted_system(20, 24, 1e-3), cg);
  check(momentum_system(20, 24), bicgstab);
}

TEST_CASE("solvers find nothing to do where b is 0 or x solves, and say why they do not solve") {
  TestUnits units;
  const auto check = [&](const auto& system, const Way& way) {
    constexpr int components = std::decay_t<decltype(system)>::components;
    const Shares share = units.shares(system.problem.rows).back();
    Values b = random_unknowns<components>(system.problem, 7);
    const Values zero(b.size(), 0.0), exact = solve(units, share, system, way, b, to(1e-12)).values;
    const auto nothing = [&](const Values& right, const Values& guess, const Values& expected) {
      const Solved solved = solve(units, share, system, way, right, to(1e-10), guess);
      CHECK(solved.report.outcome == converged);
      CHECK(solved.report.iterations == 0);
      CHECK(solved.values == expected);
    };
    nothing(zero, {}, zero);
    nothing(zero, b, zero);
    nothing(b, exact, exact);

    const auto report = [&](const SolveSettings& settings) {
      return solve(units, share, system, way, b, settings).report;
    };
    SolveSettings settings = to(1e-12);
    for (const int most : {0, 2}) {
      settings.most_iterations = most;
      const SolveReport few = report(settings);
      CHECK(few.outcome == too_many_iterations);
      CHECK(few.iterations == most);
      CHECK(few.residual > few.tolerance);
    }
    // Less than what rounding leaves.
    const SolveOutcome tight = report(to(1e-19)).outcome;
    CHECK(tight != converged);
    CHECK(tight != not_finite);
    if (way.by_cg) CHECK(tight == stagnated);
    for (const double value : {std::numeric_limits<double>::quiet_NaN(), -std::numeric_limits<double>::infinity()}) {
      b[b.size() / 2 + 1] = value;
      CHECK(report(to(1e-12)).outcome == not_finite);
    }
  };
  for (const Way& way : cg) check(shifted_system(9, 8, 0.01), way);
  for (const Way& way : bicgstab) check(momentum_system(9, 8), way);
}

TEST_CASE("BiCGSTAB ends halfway through an iteration where that is enough, and restarts after breakdowns") {
  TestUnits units;
  for (const Way& way : bicgstab) {
    // A multiple of the identity is solved by alpha alone.
    const auto identity = momentum_system(6, 7, 1e-9, 1e-9);
    const Values right = random_unknowns<2>(identity.problem, 3);
    const SolveReport half = solve(units, units.shares(6).back(), identity, way, right, to(1e-6)).report;
    CHECK(half.outcome == converged);
    CHECK(half.iterations == 1);

    // r0^T A r0 is 0: another shadow vector helps.
    const Values b = random_values(30, 7);
    const Eigen::Map<const Eigen::VectorXd> r(b.data(), 30);
    const double energy = r.dot(dense(units, pressure_system(5, 6)) * r);
    const auto orthogonal = shifted_system(5, 6, -energy / r.squaredNorm());
    CHECK(solve(units, units.shares(5).back(), orthogonal, way, b, to(1e-10)).report.restarts >= 1);
    check_solution(units, orthogonal, way, 7, 3);
  }
}

TEST_CASE("a solve ends where its true residual is small enough or nothing helps any more") {
  /// Once and again: a true residual, the recurrence's after an iteration, and what is true then.
  struct Course {
    std::vector<double> residuals;
    SolveOutcome outcome;
    int restarts;
  };
  // The tolerance is 2.
  const std::vector<Course> courses = {{{2000.0, 2.0, 2.1}, converged, 0},
                                       {{2000.0, 1.0, 500.0, 500.0, 1.0, 2.0}, converged, 1},
                                       {{2000.0, 1.0, 500.0, 500.0, 1.0, 490.0}, stagnated, 1},
                                       {{2000.0, 1.0, 500.0, 500.0, 1.0, 100.0, 100.0, 1.0, 1.9}, converged, 2},
                                       {{2000.0, 1.0, 500.0, 500.0, 1.0, 100.0, 100.0, 1.0, 10.0}, stagnated, 2},
                                       {{2000.0, 1.0, std::nan("")}, not_finite, 0}};
  SolveSettings settings = to(1e-3);
  settings.absolute = 1.0;
  settings.most_iterations = 5000;
  settings.most_restarts = 2;
  for (const auto& [residuals, outcome, restarts] : courses) {
    CAPTURE(residuals);
    SolveMonitor monitor(settings, 4, 5);
    for (std::size_t k = 0; k < residuals.size(); k += 3) {
      CHECK(monitor.should_iterate(residuals[k], 1000.0));
      CHECK_FALSE(monitor.should_continue(residuals[k + 1]));
      CHECK(monitor.should_restart(residuals[k + 2]) == (k + 3 < residuals.size()));
    }
    CHECK(monitor.report().outcome == outcome);
    CHECK(monitor.report().restarts == restarts);
  }
  // Slow progress goes on, none for long ends, and breakdowns end it once restarts are used up.
  SolveMonitor slow(settings, 4, 5), none(settings, 4, 5), broken(settings, 4, 5);
  for (SolveMonitor* const monitor : {&slow, &none, &broken}) CHECK(monitor->should_iterate(2000.0, 1000.0));
  for (double residual = 1996.0; slow.should_continue(residual);) residual *= 0.998;
  CHECK(slow.seems_solved());
  while (none.should_continue(1999.0)) continue;
  CHECK(none.report().outcome == stagnated);
  CHECK(none.report().iterations == none.patience());
  for (const bool helps : {true, true, false}) CHECK(broken.should_restart_after_breakdown(0.0) == helps);
  CHECK(broken.report().outcome == broke_down);
}

}  // namespace steelyard::test_krylov_solvers
