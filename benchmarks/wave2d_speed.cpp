// How fast the host unit advances the wave equation: one step per pass and several, beside the memory's bound for a
// plain sweep, which is measured in the same process, and beside the loop that a user would write with OpenMP. All in
// turns; medians of the rounds.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "benchmarks/table_result.hpp"
#include "core/base/errors.hpp"
#include "core/base/statistics.hpp"
#include "core/base/table.hpp"
#include "core/runtime.hpp"
#include "core/stream.hpp"
#include "core/timing.hpp"
#include "core/unit_plan.hpp"
#include "miniapps/wave2d/unit_field.hpp"

namespace {

using namespace steelyard;
using wave2d::Problem;

/// Plain code of a user: two levels, one of them written in place, rows shared out among the threads.
template <class Scalar>
class PlainLoop {
 public:
  explicit PlainLoop(const Problem& problem)
      : rows_(problem.rows),
        columns_(problem.columns),
        centre_(static_cast<Scalar>(2.0 - 4.0 * problem.courant * problem.courant)),
        near_(static_cast<Scalar>(problem.courant * problem.courant)),
        memory_(new Scalar[static_cast<std::size_t>(2 * rows_ * columns_)]),
        previous_(memory_.get()),
        current_(memory_.get() + rows_ * columns_) {
#pragma omp parallel for schedule(static)
    for (std::int64_t i = 0; i < rows_; ++i) {
      for (std::int64_t j = 0; j < columns_; ++j) previous_[i * columns_ + j] = current_[i * columns_ + j] = Scalar(0);
    }
  }

  void step() {
    Scalar* const old = previous_;
    const Scalar* const now = current_;
    const std::int64_t columns = columns_;
    const Scalar centre = centre_, near = near_;
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
  std::int64_t rows_;
  std::int64_t columns_;
  Scalar centre_;
  Scalar near_;
  std::unique_ptr<Scalar[]> memory_;
  Scalar* previous_;
  Scalar* current_;
};

/// Something that advances the grid by `steps` steps per call.
struct Contender {
  std::string name;
  int steps = 1;
  std::function<void()> call;
  std::vector<double> step_s = {};
};

template <class Scalar>
class Size {
 public:
  Size(std::int64_t n, int order, const std::vector<int>& time_tiles)
      : problem_{n, n, 0.5, wave2d::Boundary::dirichlet, order} {
    probe_ = std::make_unique<MemoryBoundProbe<HostExecution>>(
        space_, std::max<std::int64_t>(1, n * n * static_cast<std::int64_t>(sizeof(Scalar)) / 8));
    contenders_.push_back({"bound", 1, [this] { probe_->run(); }});
    if (order == 2) {
      plain_ = std::make_unique<PlainLoop<Scalar>>(problem_);
      contenders_.push_back({"plain loop", 1, [this] { plain_->step(); }});
    }
    for (const int steps : time_tiles) {
      const partition::Rectangle whole{0, 0, n, n};
      fields_.push_back(std::make_unique<Field>(space_, problem_, whole, steps, wave2d::Overlap::full));
      contenders_.push_back({fmt::format("k = {}", steps), steps, [steps, field = fields_.back().get()] {
                               wave2d::UnitTimes times;
                               field->begin(steps, {}, {}, times);
                               field->finish(steps, times);
                             }});
    }
  }

  /// One round: every contender for about `seconds`.
  void measure(double seconds) {
    for (Contender& contender : contenders_) {
      contender.call();
      const double once_s = fenced_seconds(space_, contender.call);
      const int calls = 1 + static_cast<int>(seconds / once_s);
      const double all_s = fenced_seconds(space_, [&] {
        for (int i = 0; i < calls; ++i) contender.call();
      });
      contender.step_s.push_back(all_s / calls / contender.steps);
    }
  }

  std::vector<std::string> headings() const {
    std::vector<std::string> headings{"n", "bound"};
    for (std::size_t i = 1; i < contenders_.size(); ++i) headings.push_back(contenders_[i].name);
    headings.insert(headings.end(), {"best/bound", "best/plain"});
    return headings;
  }

  /// Speeds in Gpoint/s.
  std::vector<std::string> row() const {
    std::vector<std::string> cells{fmt::format("{}", problem_.rows)};
    std::vector<double> speeds;
    for (const Contender& contender : contenders_) {
      speeds.push_back(problem_.points() / median(contender.step_s) / 1e9);
      cells.push_back(fmt::format("{:.2f}", speeds.back()));
    }
    const std::size_t first = plain_ ? 2 : 1;
    double best = 0.0;
    for (std::size_t i = first; i < speeds.size(); ++i) best = std::max(best, speeds[i]);
    cells.push_back(fmt::format("{:.2f}", best / speeds[0]));
    cells.push_back(plain_ ? fmt::format("{:.2f}", best / speeds[1]) : "-");
    return cells;
  }

 private:
  using Field = wave2d::UnitField<HostExecution, Scalar>;

  HostExecution space_;
  Problem problem_;
  std::unique_ptr<MemoryBoundProbe<HostExecution>> probe_;
  std::unique_ptr<PlainLoop<Scalar>> plain_;
  std::vector<std::unique_ptr<Field>> fields_;
  std::vector<Contender> contenders_;
};

struct Choice {
  std::vector<std::int64_t> sizes{256, 512, 1024, 2048, 4096, 8192, 16384};
  std::vector<int> time_tiles{1, 2, 4, 8, 16, 32};
  std::string type = "double";
  int order = 2;
  int rounds = 5;
  double seconds = 0.1;
};

template <class Scalar>
void run(const Choice& choice) {
  const Machine machine;
  PlanRequest request;
  request.units = UnitChoice::host;
  const RankUnits units = plan_units(machine, request);
  const Runtime runtime(machine, units);
  fmt::print("{} threads, {}, order {}; Gpoint/s, medians of {} rounds; bound: 3 elements of traffic per point\n",
             units.host->cores.size(), choice.type, choice.order, choice.rounds);
  std::unique_ptr<Table> table;
  for (const std::int64_t n : choice.sizes) {
    Size<Scalar> size(n, choice.order, choice.time_tiles);
    for (int round = 0; round < choice.rounds; ++round) size.measure(choice.seconds);
    if (!table) table = std::make_unique<Table>(size.headings());
    table->add_row(size.row());
  }
  if (table) fmt::print("{}", table->text());
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App parser("Puts wave2d's kernel beside the memory's bound and a plain OpenMP loop", "steelyard-wave2d-speed");
  const steelyard::TableResult result(parser, argc, argv);
  Choice choice;
  parser.add_option("--sizes", choice.sizes, "Rows and columns of the grids")
      ->check(CLI::Range(8, 60000))
      ->capture_default_str();
  parser.add_option("--time-tiles", choice.time_tiles, "Steps per pass")
      ->check(CLI::Range(1, 64))
      ->capture_default_str();
  parser.add_option("--type", choice.type, "Element type")
      ->check(CLI::IsMember({"double", "float"}))
      ->capture_default_str();
  parser.add_option("--order", choice.order, "Order in space; the plain loop is of order 2")
      ->check(CLI::IsMember({2, 4}))
      ->capture_default_str();
  parser.add_option("--rounds", choice.rounds, "Rounds behind each median")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  parser.add_option("--time", choice.seconds, "Seconds of each timing, about")
      ->check(CLI::Range(0.0, 60.0))
      ->capture_default_str();
  CLI11_PARSE(parser, argc, argv);
  try {
    choice.type == "double" ? run<double>(choice) : run<float>(choice);
  } catch (const Error& error) {
    fmt::print(stderr, "steelyard-wave2d-speed: {}\n", error.what());
    return static_cast<int>(error.code());
  }
  return 0;
}
