// How fast the host unit advances the wave equation: one step per pass and several, beside the memory's bound for a
// plain sweep, which is measured in the same process, and beside the loop that a user would write with OpenMP. All in
// turns; medians of the rounds.

#include <memory>

#include "benchmarks/program.hpp"
#include "core/stream.hpp"
#include "miniapps/wave2d/unit_field.hpp"

namespace {

using namespace steelyard;
using wave2d::Problem;

/// Plain code of a user: two levels, one of them written in place, rows shared out among the threads.
class PlainLoop {
 public:
  explicit PlainLoop(const Problem& problem)
      : rows_(problem.rows),
        columns_(problem.columns),
        centre_(2.0 - 4.0 * problem.courant * problem.courant),
        near_(problem.courant * problem.courant),
        memory_(new double[static_cast<std::size_t>(2 * rows_ * columns_)]),
        previous_(memory_.get()),
        current_(memory_.get() + rows_ * columns_) {
#pragma omp parallel for schedule(static)
    for (std::int64_t i = 0; i < rows_; ++i) {
      for (std::int64_t j = 0; j < columns_; ++j) previous_[i * columns_ + j] = current_[i * columns_ + j] = 0.0;
    }
  }

  void step() {
    double* const old = previous_;
    const double* const now = current_;
    const std::int64_t columns = columns_;
    const double centre = centre_, near = near_;
#pragma omp parallel for schedule(static)
    for (std::int64_t i = 1; i < rows_ - 1; ++i) {
#pragma omp simd
      for (std::int64_t j = 1; j < columns - 1; ++j) {
        const std::int64_t at = i * columns + j;
        old[at] =
            centre * now[at] - old[at] + near * (now[at - columns] + now[at + columns] + now[at - 1] + now[at + 1]);
      }
    }
    std::swap(previous_, current_);
  }

 private:
  std::int64_t rows_, columns_;
  double centre_, near_;
  std::unique_ptr<double[]> memory_;
  double *previous_, *current_;
};

struct Choice {
  std::vector<std::int64_t> sizes{256, 512, 1024, 2048, 4096, 8192, 16384};
  std::vector<int> time_tiles{1, 2, 4, 8, 16, 32};
  int rounds = 5;
  double seconds = 0.1;
};

/// Speeds on an n x n grid in Gpoint/s.
void add_row(Table& table, std::int64_t n, const Choice& choice) {
  using Field = wave2d::UnitField<HostExecution, double>;
  const HostExecution space;
  const Problem problem{n, n, 0.5};
  const partition::Rectangle whole{0, 0, n, n};
  const MemoryBoundProbe<HostExecution> bound(space, n * n);
  PlainLoop plain(problem);
  std::vector<std::unique_ptr<Field>> fields;
  std::vector<Contender> contenders{{"bound", [&] { bound.run(); }}, {"plain loop", [&] { plain.step(); }}};
  for (const int steps : choice.time_tiles) {
    fields.push_back(std::make_unique<Field>(space, problem, whole, steps, wave2d::Overlap::full));
    const auto advance = [steps, field = fields.back().get()] {
      wave2d::UnitTimes times;
      field->begin(steps, {}, {}, times);
      field->finish(steps, times);
    };
    contenders.push_back({fmt::format("k = {}", steps), advance, steps});
  }
  for (int round = 0; round < choice.rounds; ++round) {
    measure_round(space, contenders, choice.seconds, std::numeric_limits<int>::max());
  }
  std::vector<std::string> cells{fmt::format("{}", n)};
  std::vector<double> speeds;
  for (const Contender& contender : contenders) {
    speeds.push_back(problem.points() / contender.time_s() / 1e9);
    cells.push_back(fmt::format("{:.2f}", speeds.back()));
  }
  const double best = *std::max_element(speeds.begin() + 2, speeds.end());
  cells.push_back(fmt::format("{:.2f}", best / speeds[0]));
  cells.push_back(fmt::format("{:.2f}", best / speeds[1]));
  table.add_row(cells);
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App parser("Puts wave2d's kernel beside the memory's bound and a plain OpenMP loop", "steelyard-wave2d-speed");
  add_standard_options(parser);
  Choice choice;
  add_number(parser, "--sizes", choice.sizes, "Rows and columns of the grids", 8, 60000)->capture_default_str();
  add_number(parser, "--time-tiles", choice.time_tiles, "Steps per pass", 1, 64)->capture_default_str();
  add_rounds(parser, choice.rounds);
  parser.add_option("--time", choice.seconds, "Seconds of each timing, about")
      ->check(CLI::Range(0.0, 60.0))
      ->capture_default_str();
  return run_program(argc, argv, parser, [&](Session& session) {
    const StartedUnits started(session, run_options(UnitChoice::host));
    session.print(fmt::format(
        "{} threads, double, order 2; Gpoint/s, medians of {} rounds; bound: 3 elements of traffic per point\n",
        started.units().host->cores.size(), choice.rounds));
    std::vector<std::string> headings{"n", "bound", "plain loop"};
    for (const int steps : choice.time_tiles) headings.push_back(fmt::format("k = {}", steps));
    headings.insert(headings.end(), {"best/bound", "best/plain"});
    Table table(headings);
    for (const std::int64_t n : choice.sizes) add_row(table, n, choice);
    session.print(table.text());
    return ExitCode::good;
  });
}
