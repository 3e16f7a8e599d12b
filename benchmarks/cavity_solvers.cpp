// How fast one unit iterates cavity's linear solvers without a preconditioner, in bytes that an iteration has to move,
// beside the memory's bound for a plain sweep, measured in the same process. All in turns; medians of the rounds. What
// memory gives changes from one second to the next where others use it as well, so that every timing of a solver has
// the bound's own before and after it, of about its length together, and is compared with these.

#include <algorithm>
#include <cmath>
#include <type_traits>

#include "benchmarks/program.hpp"
#include "core/stream.hpp"
#include "miniapps/cavity/operators.hpp"
#include "miniapps/cavity/solvers/bicgstab.hpp"
#include "miniapps/cavity/solvers/conjugate_gradient.hpp"

namespace {

using namespace steelyard;
using namespace steelyard::cavity;

struct Choice {
  std::vector<std::int64_t> sizes{4096, 6144};
  std::int64_t columns = 0;  ///< 0: as many as rows
  std::string units = "host";
  int rounds = 5;
  int iterations = 5;
};

/// A solver's iteration, and the bytes that it has to move.
struct Solver {
  std::string name;
  double bytes_per_cell = 0.0;
  std::function<double()> seconds;
  std::vector<double> measured_s = {};
  std::vector<double> of_bound = {};  ///< speeds, each as a part of the bound's at that time
};

/// Solvers of one size on one unit, which owns the whole grid.
template <class Execution>
class Size {
 public:
  Size(const UnitPeer<Execution>& peer, SharedGrid& shared, int iterations)
      : grid_(peer, shared),
        coefficients_(peer.space(), Coefficients(problem_of(shared))),
        b_(grid_.field()),
        x_(grid_.field()),
        b2_(grid_.template field<2>()),
        x2_(grid_.template field<2>()),
        convecting_(grid_.template field<2>()),
        iterations_(iterations),
        probe_(peer.space(), 2 * shared.rows() * shared.columns()),
        cg_(grid_),
        merged_cg_(grid_, Reductions::merged),
        bicgstab_(grid_),
        merged_bicgstab_(grid_, Reductions::merged) {
    fill();
    using Cg = ConjugateGradient<Execution>;
    using BiCg = BiCgStab<Execution, 2>;
    // Momentum's matrix reads the convecting velocity both times that it is applied.
    constexpr double convecting_bytes = 2.0 * 2.0 * sizeof(double);
    const auto pressure_s = [this](Cg& solver) { return iteration_s(solver, coefficients_.pressure(), b_, x_); };
    const auto momentum_s = [this](BiCg& solver) {
      return iteration_s(solver, coefficients_.momentum(convecting_.access()), b2_, x2_);
    };
    solvers_ = {
        {"CG", Cg::bytes_per_cell, [=, this] { return pressure_s(cg_); }},
        {"merged CG", Cg::bytes_per_cell, [=, this] { return pressure_s(merged_cg_); }},
        {"BiCGSTAB", 2.0 * BiCg::bytes_per_value + convecting_bytes, [=, this] { return momentum_s(bicgstab_); }},
        {"merged BiCGSTAB", 2.0 * BiCg::merged_bytes_per_value + convecting_bytes,
         [=, this] { return momentum_s(merged_bicgstab_); }}};
  }

  /// One round; not kept where it is the first.
  void measure(bool keep) {
    for (Solver& solver : solvers_) {
      const double passes = (2 + iterations_) * solver.bytes_per_cell / bound_bytes_per_cell;
      const int half = std::max(1, static_cast<int>(std::lround(0.5 * passes)));
      const double before_s = bound_s(half), seconds = solver.seconds(), after_s = bound_s(half);
      if (!keep) continue;
      const double mean_s = 0.5 * (before_s + after_s);
      bound_measured_s_.push_back(mean_s);
      solver.measured_s.push_back(seconds);
      solver.of_bound.push_back(solver.bytes_per_cell / seconds / (bound_bytes_per_cell / mean_s));
    }
  }

  void add_rows(Table& table) const {
    add_row(table, "bound", bound_bytes_per_cell, median(bound_measured_s_), "");
    for (const Solver& solver : solvers_) {
      const auto [least, most] = std::minmax_element(solver.of_bound.begin(), solver.of_bound.end());
      add_row(table, solver.name, solver.bytes_per_cell, median(solver.measured_s),
              fmt::format("{:.2f} ({:.2f} to {:.2f})", median(solver.of_bound), *least, *most));
    }
  }

  void fill() {
    const auto b = b_.access();
    const auto b2 = b2_.access(), w = convecting_.access();
    grid_.for_cells(
        "fill", KOKKOS_LAMBDA(const std::int64_t j, const std::int64_t i) {
          const double value = static_cast<double>((j * 7919 + i * 104729) % 1009) / 1009.0 - 0.5;
          b(j, i) = value;
          for (int c = 0; c < 2; ++c) {
            const bool wall = c == 0 ? i == 0 : j == 0;
            b2(c, j, i) = wall ? 0.0 : value;
            w(c, j, i) = wall ? 0.0 : 2.0 * value * value;
          }
        });
  }

 private:
  static constexpr double bound_bytes_per_cell = 2 * MemoryBoundProbe<Execution>::bytes_per_element;

  /// The app's problem on this grid, with its default time step, in which the lid moves by a cell.
  static Problem problem_of(const SharedGrid& shared) {
    Problem problem{shared.rows(), shared.columns()};
    problem.time_step = std::min(problem.dx(), problem.dy());
    return problem;
  }

  void add_row(Table& table, const std::string& name, double bytes_per_cell, double seconds,
               const std::string& of_bound) const {
    const double cells = static_cast<double>(grid_.shared().rows()) * static_cast<double>(grid_.columns());
    table.add_row({fmt::format("{}", grid_.shared().rows()), fmt::format("{}", grid_.columns()), name,
                   fmt::format("{:.0f}", bytes_per_cell), fmt::format("{:.1f}", 1e3 * seconds),
                   fmt::format("{:.2f}", bytes_per_cell * cells / seconds / 1e9), of_bound});
  }

  /// Seconds of one of `passes` passes of the bound's sweep.
  double bound_s(int passes) const {
    const double start_s = now_s();
    for (int pass = 0; pass < passes; ++pass) probe_.run();
    return (now_s() - start_s) / passes;
  }

  /// Seconds of one iteration, without what a solve begins with.
  template <class Method, class Operator, class Field>
  double iteration_s(Method& solver, const Operator& matrix, const Field& right_side, Field& solution) {
    SolveSettings settings;
    settings.relative = 0.0;
    const auto solve_s = [&](int iterations) {
      set_to_zero(grid_, solution);
      settings.most_iterations = iterations;
      const double start_s = now_s();
      const SolveReport report = solver.solve(matrix, right_side, solution, settings);
      if (report.iterations != iterations || report.restarts > 0) {
        throw RuntimeFailure(fmt::format("a solver ended after {} iterations (expected {}): it {}", report.iterations,
                                         iterations, to_string(report.outcome)));
      }
      return now_s() - start_s;
    };
    const double one_s = solve_s(1);
    return (solve_s(1 + iterations_) - one_s) / iterations_;
  }

  UnitGrid<Execution> grid_;
  UnitCoefficients<Execution> coefficients_;
  RowField<Execution> b_, x_;
  RowField<Execution, 2> b2_, x2_, convecting_;
  int iterations_;
  MemoryBoundProbe<Execution> probe_;
  ConjugateGradient<Execution> cg_, merged_cg_;
  BiCgStab<Execution, 2> bicgstab_, merged_bicgstab_;
  std::vector<Solver> solvers_;
  std::vector<double> bound_measured_s_;
};

ExitCode run(Session& session, const Choice& choice) {
  if (session.size() != 1) throw CollectiveError("one rank is expected", ExitCode::wrong_input, 0);
  StartedGroup all(session, run_options(parse_unit_choice(choice.units)));
  const RankUnits& units = all.started.units();
  session.print(fmt::format("{} unit, {} core(s); medians of {} rounds of {} iterations; bound: a[i] = b[i] - a[i]\n",
                            choice.units, units.host ? units.host->cores.size() : 1, choice.rounds, choice.iterations));
  Table table({"rows", "columns", "solver", "bytes/cell", "ms/iteration", "GB/s", "of bound"});
  for (const std::int64_t n : choice.sizes) {
    SharedGrid shared(all.group, std::vector<std::int64_t>{n}, choice.columns > 0 ? choice.columns : n);
    all.group.run([&](const auto& peer) {
      Size<std::decay_t<decltype(peer.space())>> size(peer, shared, choice.iterations);
      for (int round = -1; round < choice.rounds; ++round) size.measure(round >= 0);
      size.add_rows(table);
    });
  }
  session.print(table.text());
  return ExitCode::good;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App parser("Puts iterations of cavity's solvers beside the memory's bound", "steelyard-cavity-solvers");
  Choice choice;
  add_standard_options(parser);
  add_number(parser, "--sizes", choice.sizes, "Rows of the grids, and columns but for --columns", 8, 30000)
      ->capture_default_str();
  add_number(parser, "--columns", choice.columns, "Columns of all grids", 8, 30000)->default_str("as many as rows");
  parser.add_option("--units", choice.units, "Unit to measure")
      ->check(CLI::IsMember({"host", "device"}))
      ->capture_default_str();
  add_rounds(parser, choice.rounds);
  add_number(parser, "--iterations", choice.iterations, "Iterations of each timing", 1, 1000)->capture_default_str();
  return run_program(argc, argv, parser, [&](Session& session) { return run(session, choice); });
}
