#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <cstdint>
#include <vector>

#include "miniapps/cavity/multigrid/multigrid_preconditioner.hpp"
#include "miniapps/cavity/operators.hpp"
#include "miniapps/cavity/solvers/conjugate_gradient.hpp"
#include "tests/comm/shared_units.hpp"

namespace steelyard::test_multigrid_preconditioner {

using namespace steelyard::cavity;
using steelyard::tests::TestUnits;

namespace {

/// A pressure equation in a cavity of width 1, whose rows and columns next to walls weigh less by a factor, as the
/// momentum equation makes them.
struct Case {
  std::int64_t rows;
  std::int64_t columns;
  double height = 1.0;
  double wall_weight = 1.0;

  std::vector<MultigridLevel> levels() const {
    const double dx = 1.0 / static_cast<double>(columns), dy = height / static_cast<double>(rows);
    return multigrid_levels(faces(columns, dx), weights(rows, dy), faces(rows, dy), weights(columns, dx));
  }

 private:
  static std::vector<double> faces(std::int64_t cells, double width) {
    std::vector<double> all(static_cast<std::size_t>(cells + 1), 1.0 / width);
    all.front() = all.back() = 0.0;
    return all;
  }
  std::vector<double> weights(std::int64_t cells, double width) const {
    std::vector<double> all(static_cast<std::size_t>(cells), width);
    all.front() *= wall_weight;
    if (cells > 1) all.back() *= wall_weight;
    return all;
  }
};

/// Numbers in [-1, 1) that look random.
KOKKOS_INLINE_FUNCTION double noise(const std::int64_t seed, const std::int64_t j, const std::int64_t i) {
  std::uint64_t bits = static_cast<std::uint64_t>((seed * 7919 + j) * 104729 + i) * 0x9e3779b97f4a7c15ULL;
  bits = (bits ^ (bits >> 29)) * 0xbf58476d1ce4e5b9ULL;
  return static_cast<double>(bits >> 11) / 4503599627370496.0 - 1.0;
}

template <class Execution>
void fill(const UnitGrid<Execution>& grid, RowField<Execution>& field, std::int64_t seed) {
  const auto values = field.access();
  const double sum = grid.template totals<1>(
      "sum", KOKKOS_LAMBDA(const std::int64_t j, const std::int64_t i) { return Terms<1>{{noise(seed, j, i)}}; })[0];
  const double mean = sum / static_cast<double>(grid.shared().rows() * grid.columns());
  grid.for_cells(
      "fill", KOKKOS_LAMBDA(const std::int64_t j, const std::int64_t i) { values(j, i) = noise(seed, j, i) - mean; });
}

template <class Execution>
double product(const UnitGrid<Execution>& grid, const RowField<Execution>& one, const RowField<Execution>& other) {
  const auto a = one.access(), b = other.access();
  return grid.template totals<1>(
      "product",
      KOKKOS_LAMBDA(const std::int64_t j, const std::int64_t i) { return Terms<1>{{a(j, i) * b(j, i)}}; })[0];
}

struct Products {
  double xmy = 0.0;
  double ymx = 0.0;
  double xmx = 0.0;
  double xx = 0.0;
  double weighted = 0.0;  ///< a sum that any change of any value of M^-1 x changes
};

Products products(UnitGroup& group, const std::vector<std::int64_t>& shares, const Case& problem) {
  SharedGrid shared(group, shares, problem.columns);
  MultigridLevels levels(shared, problem.levels());
  Products result;
  group.run([&](const auto& peer) {
    using Execution = std::decay_t<decltype(peer.space())>;
    const UnitGrid<Execution> grid(peer, shared);
    MultigridPreconditioner<Execution> multigrid(grid, levels);
    auto x = grid.field(), y = grid.field(), mx = grid.field(), my = grid.field(), w = grid.field();
    fill(grid, x, 1);
    fill(grid, y, 2);
    fill(grid, w, 3);
    multigrid.apply(grid, x, mx);
    multigrid.apply(grid, y, my);
    const Products own{product(grid, x, my), product(grid, y, mx), product(grid, x, mx), product(grid, x, x),
                       product(grid, w, mx)};
    if (group.drives(peer.kind())) result = own;
  });
  return result;
}

SolveReport solve(UnitGroup& group, const std::vector<std::int64_t>& shares, const Case& problem, double tolerance) {
  SharedGrid shared(group, shares, problem.columns);
  MultigridLevels levels(shared, problem.levels());
  SolveReport result;
  group.run([&](const auto& peer) {
    using Execution = std::decay_t<decltype(peer.space())>;
    const UnitGrid<Execution> grid(peer, shared);
    MultigridPreconditioner<Execution> multigrid(grid, levels);
    const MultigridUnitLevel<Execution> finest(grid.space(), levels.levels().front(), {}, {});
    const LevelAccess& finest_access = finest.access();
    const double dx = 1.0 / static_cast<double>(problem.columns);
    const PressureOperator matrix{{finest_access.column_faces, 1.0 / dx},
                                  finest_access.row_weights,
                                  finest_access.row_faces,
                                  {finest_access.column_weights, dx}};
    auto b = grid.field(), x = grid.field();
    fill(grid, b, 4);
    ConjugateGradient<Execution> solver(grid);
    SolveSettings settings;
    settings.relative = tolerance;
    settings.keep_history = true;
    const SolveReport report =
        solver.solve(matrix, b, x, settings, [&](auto& r, auto& z) { multigrid.apply(grid, r, z); });
    if (group.drives(peer.kind())) result = report;
  });
  return result;
}

std::vector<Case> cases() {
  return {{1, 1},
          {1, 2},
          {3, 1},
          {5, 7},
          {8, 8},
          {9, 8},
          {1, 300},
          {41, 53, 1.0, 0.5},
          {64, 64},
          {65, 129, 0.5},
          {17, 300, 1.0, 0.5},
          {131, 30, 2.0},
          {100, 75, 0.3, 0.6},
          {129, 129, 1.0, 0.5},
          {301, 230, 1.0, 0.5}};
}

}  // namespace

TEST_CASE("multigrid is symmetric, positive definite and the same bits however rows are shared out") {
  TestUnits units;
  for (const Case& problem : cases()) {
    CAPTURE(problem.rows, problem.columns, problem.height, problem.wall_weight);
    const auto shares = units.shares(problem.rows);
    const Products first = products(units.group(), shares.front(), problem);
    CHECK(std::abs(first.xmy - first.ymx) <= 1e-12 * first.xmx);
    if (problem.rows * problem.columns > 1) CHECK(first.xmx > 0.0);
    for (const auto& share : shares) {
      const Products other = products(units.group(), share, problem);
      CHECK(other.xmy == first.xmy);
      CHECK(other.ymx == first.ymx);
      CHECK(other.xmx == first.xmx);
      CHECK(other.weighted == first.weighted);
    }
  }
}

TEST_CASE("conjugate gradients with multigrid need few iterations on any grid") {
  TestUnits units;
  for (const Case& problem : {Case{32, 32},
                              {33, 33},
                              {64, 64},
                              {127, 127},
                              {129, 129},
                              {129, 129, 1.0, 0.5},
                              {255, 63, 2.0},
                              {256, 256},
                              {257, 257, 1.0, 0.5},
                              {100, 100, 0.1},
                              {17, 300, 1.0, 0.5},
                              {300, 17},
                              {127, 509, 4.0},
                              {331, 83, 1.0, 0.7},
                              {512, 512}}) {
    CAPTURE(problem.rows, problem.columns, problem.height, problem.wall_weight);
    const SolveReport report = solve(units.group(), units.shares(problem.rows)[1], problem, 1e-8);
    CHECK(report.outcome == SolveOutcome::converged);
    CHECK(report.iterations <= 12);  // 10 or 11 were measured.
  }
}

TEST_CASE("conjugate gradients with multigrid give the same bits however rows are shared out") {
  TestUnits units;
  // Three levels are shared out, with odd numbers of rows.
  const Case problem{401, 333, 1.5, 0.5};
  const auto shares = units.shares(problem.rows);
  const SolveReport first = solve(units.group(), shares.front(), problem, 1e-10);
  CHECK(first.outcome == SolveOutcome::converged);
  for (const auto& share : shares) CHECK(solve(units.group(), share, problem, 1e-10).history == first.history);
}

TEST_CASE("multigrid levels must have the grid's size") {
  TestUnits units;
  SharedGrid shared(units.group(), units.shares(9).front(), 8);
  CHECK_THROWS_AS(MultigridLevels(shared, Case{8, 8}.levels()), InvalidArgument);
}

}  // namespace steelyard::test_multigrid_preconditioner
