// What the split of rows and columns between the units is worth to a 2D transform: even, by smooth speed functions
// (FPM) and by the measured tables as they are (exact). For every size the tables are measured, then the three splits
// run in turns. The improvements of the last over the second are what 002 reports in section 6.2.2.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <complex>
#include <cstdint>
#include <map>
#include <memory>
#include <numeric>
#include <span>
#include <string>
#include <vector>

#include "comm/collective.hpp"
#include "comm/model_builder.hpp"
#include "comm/slots.hpp"
#include "core/base/errors.hpp"
#include "core/base/statistics.hpp"
#include "core/base/table.hpp"
#include "miniapps/app/started_units.hpp"
#include "miniapps/app/timed_region.hpp"
#include "miniapps/fft2d/assignment.hpp"
#include "miniapps/fft2d/measured_kernel.hpp"
#include "miniapps/fft2d/transform.hpp"
#include "models/model_kinds.hpp"
#include "partition/algorithms.hpp"
#include "partition/granularity.hpp"

namespace {

using namespace steelyard;

constexpr std::int64_t point_bytes = 2 * sizeof(double);

struct Options {
  RunOptions run;
  std::vector<std::int64_t> sizes;
  int points = 32;
  int table_rounds = 5;
  int rounds = 15;
};

/// Multiples of 64 from 256 on: 30 lengths of all sorts.
std::vector<std::int64_t> default_sizes() {
  std::vector<std::int64_t> sizes;
  for (std::int64_t i = 0; i < 30; ++i) sizes.push_back(256 + 64 * i);
  return sizes;
}

/// Speeds of rows of n points on both units, as measured: here a table tells what it can, precise or not. Medians of
/// the rounds, for the exact split looks for what is fast, and one that others slow down would send it elsewhere.
std::vector<models::FpmFile> measure_tables(const Session& session, CoExecution& co_execution, const RankUnits& units,
                                            const Options& options, std::int64_t n) {
  const fft2d::MeasuredKernel kernel(n, false, ElementType::float64, {});
  BuildPlan plan;
  // Slices have such sizes only; others are slower.
  const std::int64_t granularity = fft2d::slice_granularity(n, point_bytes);
  const std::int64_t step = std::max<std::int64_t>(1, n / options.points / granularity) * granularity;
  for (std::int64_t rows = step; rows < n; rows += step) plan.sizes.push_back(rows);
  plan.sizes.push_back(n);
  plan.precision.repetitions_min = 3;
  plan.precision.repetitions_max = 20;
  plan.precision.time_limit_s = 0.1;
  std::vector<models::FpmFile> files;
  std::array<std::map<double, std::vector<double>>, 2> rounds_s;  // by rows
  for (int round = 0; round < options.table_rounds; ++round) {
    const BuiltModels built = build_models(session, session.comm(), co_execution, units, kernel, plan);
    files = {built.host->group, built.companion->group};
    for (std::size_t unit = 0; unit < files.size(); ++unit) {
      models::FpmFile& file = files[unit];
      file.points.insert(file.points.end(), file.imprecise.begin(), file.imprecise.end());
      for (const models::MeasuredPoint& point : file.points) rounds_s[unit][point.units].push_back(point.time_s);
    }
  }
  for (std::size_t unit = 0; unit < files.size(); ++unit) {
    std::vector<models::MeasuredPoint>& points = files[unit].points;
    std::sort(points.begin(), points.end(), [](const auto& a, const auto& b) { return a.units < b.units; });
    for (models::MeasuredPoint& point : points) point.time_s = median(rounds_s[unit].at(point.units));
  }
  return files;
}

std::vector<std::int64_t> split(const std::vector<models::FpmFile>& files, const std::string& algorithm,
                                const std::string& kind, std::int64_t n) {
  const partition::Algorithm& chosen = partition::find_algorithm(algorithm);
  std::vector<models::SpeedModelPtr> models;
  std::vector<const models::SpeedModel*> pointers;
  for (const models::FpmFile& file : files) {
    models.push_back(models::make_model(file, kind, {chosen.shape, 0}));
    pointers.push_back(models.back().get());
  }
  return partition::distribute_in_multiples(n, pointers, chosen, fft2d::slice_granularity(n, point_bytes)).units;
}

/// A split, and what it came to.
struct Contender {
  std::vector<std::int64_t> rows;
  std::vector<double> rounds_s = {};

  double time_s() const { return median(rounds_s); }
  /// How many times faster this one was in the same round.
  double over(const Contender& other) const {
    std::vector<double> ratios;
    for (std::size_t i = 0; i < rounds_s.size(); ++i) ratios.push_back(other.rounds_s[i] / rounds_s[i]);
    return median(ratios);
  }
};

void run_in_turns(const Session& session, CoExecution& co_execution, const std::vector<Slot>& slots, std::int64_t n,
                  int rounds, std::vector<Contender>& contenders) {
  fft2d::Problem problem;
  problem.rows = problem.columns = n;
  for (int round = 0; round < rounds; ++round) {
    for (auto contender = contenders.begin(); contender != contenders.end(); ++contender) {
      const auto same =
          std::find_if(contenders.begin(), contender, [&](const auto& other) { return other.rows == contender->rows; });
      if (same != contender) {
        contender->rounds_s.push_back(same->rounds_s.back());
        continue;
      }
      // Every round has matrices of its own, for where they lie in memory costs a few percent more or less.
      fft2d::Transform<double> transform(session, co_execution, problem, slots,
                                         fft2d::Shares{contender->rows, contender->rows}, fft2d::TransformChoice{});
      double seconds = 0.0;
      for (int run = 0; run < 2; ++run) {
        transform.load([](std::int64_t first_row, std::span<double> values) {
          for (std::size_t k = 0; k < values.size(); ++k) {
            values[k] = static_cast<double>((static_cast<std::int64_t>(k) * 7 + first_row) % 31 - 15);
          }
        });
        seconds = timed_region(session, "steelyard::fft2d::transform", [&] { transform.run(); });
      }
      contender->rounds_s.push_back(seconds);
    }
  }
}

ExitCode run(Session& session, const Options& options) {
  const StartedUnits started(session, options.run);
  if (session.size() != 1 || !started.units().host || !started.units().companion) {
    throw CollectiveError("splits between the units of a rank (expected one rank with a host unit and a companion)",
                          ExitCode::wrong_input, 0);
  }
  CoExecution co_execution(session.machine(), started.units());
  const std::vector<Slot> slots = gather_slots(session, started.units());
  const double host = 1.0 / started.units().host->slowdown, companion = 1.0 / started.units().companion->slowdown;
  // Of units that are alike but for what slows them down.
  const double ideal = 0.5 * (host + companion) / std::min(host, companion);
  session.print(
      fmt::format("host {:g} and companion {:g} times slower; rows of the host, medians of {} rounds in turns, ratios "
                  "within rounds\n",
                  started.units().host->slowdown, started.units().companion->slowdown, options.rounds));
  session.print(fmt::format("{:>5} {:>12} {:>11} {:>9} {:>9} {:>9} {:>18} {:>11}\n", "n", "smooth rows", "exact rows",
                            "even", "smooth", "exact", "exact over smooth", "even/exact"));
  std::vector<double> improvements, gains;
  for (const std::int64_t n : options.sizes) {
    const std::vector<models::FpmFile> files = measure_tables(session, co_execution, started.units(), options, n);
    std::vector<Contender> contenders{{{n - n / 2, n / 2}},
                                      {split(files, "geometric", "polynomial", n)},
                                      {split(files, "exact", "piecewise_linear", n)}};
    run_in_turns(session, co_execution, slots, n, options.rounds, contenders);
    const Contender &even = contenders[0], &smooth = contenders[1], &exact = contenders[2];
    improvements.push_back(100.0 * (exact.over(smooth) - 1.0));
    gains.push_back(exact.over(even));
    session.print(fmt::format("{:>5} {:>12} {:>11} {:>9} {:>9} {:>9} {:>16.1f} % {:>11.2f}\n", n, smooth.rows[0],
                              exact.rows[0], format_seconds(even.time_s()), format_seconds(smooth.time_s()),
                              format_seconds(exact.time_s()), improvements.back(), gains.back()));
  }
  const auto [least, most] = std::minmax_element(improvements.begin(), improvements.end());
  session.print(fmt::format(
      "exact over smooth: minimum {:.1f} %, average {:.1f} %, maximum {:.1f} %\n", *least,
      std::accumulate(improvements.begin(), improvements.end(), 0.0) / static_cast<double>(improvements.size()),
      *most));
  session.print(
      fmt::format("even/exact: median {:.2f} of {:.2f} for units that are alike but for what slows them down, "
                  "{:.2f} of that gain over 1\n",
                  median(gains), ideal, (median(gains) - 1.0) / (ideal - 1.0)));
  return ExitCode::good;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App parser("2D transforms on splits from smooth and from measured speeds, in turns",
                  "steelyard-fft2d-partition");
  Options options;
  options.sizes = default_sizes();
  add_standard_options(parser);
  parser.add_option("--sizes", options.sizes, "Rows and columns of the matrices (default 30 from 256 to 2112)")
      ->check(CLI::Range(2, 40000))
      ->type_name("N...");
  parser.add_option("--points", options.points, "Sizes of each table")
      ->check(CLI::Range(2, 10000))
      ->type_name("N")
      ->capture_default_str();
  parser.add_option("--table-rounds", options.table_rounds, "Times that a table is measured, medians of which it has")
      ->check(CLI::Range(1, 1000))
      ->type_name("N")
      ->capture_default_str();
  parser.add_option("--rounds", options.rounds, "Times that everything runs, in turns")
      ->check(CLI::Range(1, 1000))
      ->type_name("N")
      ->capture_default_str();
  parser.add_option("--slowdown", options.run.slowdown, "Emulate slower units: host=F or device=F, F >= 1")
      ->type_name("UNIT=F");
  return run_program(argc, argv, parser, [&](Session& session) { return run(session, options); });
}
