// The worked example of dynamic load balancing: a Jacobi solver on units that are emulated with a virtual clock.
// Source: 000, section 6.1.5.
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <cmath>

#include "models/kinds/constant_model.hpp"
#include "partition/balancing/load_balancer.hpp"
#include "tests/partition/balancing/synthetic_units.hpp"

namespace steelyard::test_jacobi {

using namespace steelyard::partition;
using tests::SyntheticUnits;

namespace {

/// A x = b with a dominant diagonal, so that the iteration converges.
struct System {
  std::vector<std::vector<double>> a;
  std::vector<double> b;

  explicit System(std::size_t rows) : a(rows, std::vector<double>(rows)), b(rows) {
    tests::Random random(1);
    for (std::size_t i = 0; i < rows; ++i) {
      double others = 0.0;
      for (std::size_t j = 0; j < rows; ++j) others += std::abs(a[i][j] = tests::uniform(random, -1.0, 1.0));
      a[i][i] = 1.2 * others;
      b[i] = tests::uniform(random, -1.0, 1.0);
    }
  }

  double residual(const std::vector<double>& x) const {
    double largest = 0.0;
    for (std::size_t i = 0; i < b.size(); ++i) {
      double sum = -b[i];
      for (std::size_t j = 0; j < b.size(); ++j) sum += a[i][j] * x[j];
      largest = std::max(largest, std::abs(sum));
    }
    return largest;
  }
};

/// Advances the rows of one slice.
void jacobi_rows(const System& system, std::size_t first, std::size_t end, const std::vector<double>& x,
                 std::vector<double>& next) {
  for (std::size_t row = first; row < end; ++row) {
    double sum = system.b[row];
    for (std::size_t j = 0; j < x.size(); ++j) sum -= j == row ? 0.0 : system.a[row][j] * x[j];
    next[row] = sum / system.a[row][row];
  }
}

struct Run {
  std::vector<double> x;
  double clock_s = 0.0;
  double redistribution_s = 0.0;
  int repartitions = 0;
  int iterations = 0;
};

constexpr std::int64_t rows = 120;
constexpr double moved_row_s = 0.02;

/// Rows per second of each unit: one of them is slowed down by others' work from iteration 150 on.
SyntheticUnits units_at(int iteration) {
  SyntheticUnits units;
  for (const double speed : {40.0, 120.0, iteration < 150 ? 240.0 : 60.0}) {
    units.add(std::make_unique<models::ConstantModel>(speed));
  }
  return units;
}

Run solve(const System& system, bool balanced, double noise) {
  LoadBalancerOptions options;
  options.redistribution_s_per_unit = moved_row_s;
  LoadBalancer balancer(rows, 3, find_algorithm("geometric"), options);
  Run run{std::vector<double>(rows, 0.0)};
  tests::Random random(5);
  std::normal_distribution<double> error;
  constexpr int iterations = 400;
  for (; run.iterations < iterations; ++run.iterations) {
    const SyntheticUnits units = units_at(run.iterations);
    const std::vector<std::int64_t> before = balancer.current().units;
    std::vector<double> next(rows), times_s;
    std::size_t first = 0;
    for (const std::int64_t count : before) {
      const std::size_t end = first + static_cast<std::size_t>(count);
      jacobi_rows(system, first, end, run.x, next);
      first = end;
      times_s.push_back(units.models[times_s.size()]->time_s(static_cast<double>(count)) *
                        (1.0 + noise * error(random)));
    }
    run.x = next;
    run.clock_s += *std::max_element(times_s.begin(), times_s.end());
    if (!balanced) continue;
    if (balancer.record(times_s, iterations - 1 - run.iterations) == BalancingDecision::repartitioned) {
      run.redistribution_s += moved_row_s * moved_share(before, balancer.current().units) * rows;
    }
  }
  run.repartitions = balancer.repartitions();
  run.clock_s += run.redistribution_s;
  return run;
}

}  // namespace

TEST_CASE("a balanced Jacobi solver gives the same bits in less time, through a change of speed") {
  const double noise = GENERATE(0.0, 0.03);
  const System system(rows);
  const Run even = solve(system, false, noise);
  const Run balanced = solve(system, true, noise);
  INFO("noise " << noise << ": " << even.clock_s << " s even, " << balanced.clock_s << " s balanced, "
                << balanced.repartitions << " redistributions in " << balanced.redistribution_s << " s");
  REQUIRE(system.residual(balanced.x) < 1e-10);
  CHECK(balanced.x == even.x);
  // Perfect balance: 120 rows at 400 a second for 150 iterations, then at 220 a second for 250.
  const double perfect_s = 150 * rows / 400.0 + 250 * rows / 220.0;
  CHECK(balanced.clock_s < even.clock_s / 1.5);
  CHECK(balanced.clock_s < perfect_s * (1.12 + 2.0 * noise));
  CHECK(balanced.repartitions >= 2);
  CHECK(balanced.repartitions <= 10);
}

}  // namespace steelyard::test_jacobi
