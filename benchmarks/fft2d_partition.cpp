// Gain of a 2D transform by the split of rows and columns between the units: even, by smooth speed functions
// (FPM), and the exact ones by the measured tables as they are and by what of them is not noise. For every size the
// tables are measured, then the four splits run in turns. The improvements of the exact ones over the smooth one
// are what 002 reports in section 6.2.2: there by the tables, where that of the tables as they are cannot lose; here
// also by the clock.

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <memory>
#include <span>

#include "benchmarks/program.hpp"
#include "comm/measurement/kernel_measurement.hpp"
#include "core/base/progress.hpp"
#include "miniapps/app/frame.hpp"
#include "miniapps/fft2d/transform.hpp"
#include "models/kinds/model_kinds.hpp"
#include "partition/algorithms.hpp"

namespace {

using namespace steelyard;

constexpr std::int64_t point_bytes = 2 * sizeof(double);
constexpr double level = 0.95;    ///< of confidence intervals
constexpr double round_s = 0.02;  ///< a split's turn takes at least, warm-up excluded

struct Options {
  RunOptions run;
  std::vector<std::int64_t> sizes;
  int points = 32;
  int table_rounds = 15;
  int rounds = 15;
};

/// Speeds of rows of n points on both units, as measured: here a table tells what it can, precise or not. Medians of
/// the rounds with their intervals, for the exact split looks for what is fast, and one that others slow down would
/// send it elsewhere.
std::vector<models::FpmFile> measure_tables(const Session& session, CoExecution& co_execution, const RankUnits& units,
                                            const Options& options, std::int64_t n) {
  const auto kernel = fft2d::row_kernel(n, false, ElementType::float64, {});
  BuildPlan plan;
  // Slices have such sizes only.
  const std::int64_t granularity = fft2d::slice_granularity(n, point_bytes);
  const std::int64_t step = std::max<std::int64_t>(1, n / options.points / granularity) * granularity;
  for (std::int64_t rows = step; rows < n; rows += step) plan.sizes.push_back(rows);
  plan.sizes.push_back(n);
  // Few at a time, for what slows a machine down that others use as well lasts longer than they do.
  plan.precision.repetitions_min = 2;
  plan.precision.repetitions_max = 20;
  plan.precision.time_limit_s = 0.03;
  std::vector<models::FpmFile> files;
  std::array<std::map<double, std::vector<double>>, 2> rounds_s;  // by rows
  for (int round = 0; round < options.table_rounds; ++round) {
    const BuiltModels built = build_models(session, session.comm(), co_execution, units, *kernel, plan);
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
    for (models::MeasuredPoint& point : points) {
      const std::vector<double>& times_s = rounds_s[unit].at(point.units);
      point.time_s = median(times_s);
      point.confidence_s = median_interval(times_s, level).half_width();
    }
  }
  return files;
}

std::vector<models::SpeedModelPtr> make_models(const std::vector<models::FpmFile>& files, const std::string& kind,
                                               const partition::Algorithm& algorithm) {
  std::vector<models::SpeedModelPtr> models;
  for (const models::FpmFile& file : files) models.push_back(models::make_model(file, kind, algorithm.shape));
  return models;
}

/// A split, and what it came to.
struct Split {
  std::vector<std::int64_t> rows;
  double table_s;  ///< a pass, as the tables say
  std::vector<double> rounds_s = {};

  double time_s() const { return median(rounds_s); }
};

/// The splits of n rows that are compared, made and judged by the tables: even, by smooth speeds, and the exact ones by
/// shrunk points and by the points as they are.
std::vector<Split> make_splits(const std::vector<models::FpmFile>& files, std::int64_t n) {
  const auto tables = make_models(files, "piecewise_linear", partition::find_algorithm("exact"));
  std::vector<Split> splits;
  const auto add = [&](const std::vector<std::int64_t>& rows) {
    double time_s = 0.0;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      time_s = std::max(time_s, tables[i]->time_s(static_cast<double>(rows[i])));
    }
    splits.push_back({rows, time_s});
  };
  const auto add_by = [&](const std::string& name, const std::string& kind) {
    const partition::Algorithm& algorithm = partition::find_algorithm(name);
    const std::vector<models::SpeedModelPtr> models = make_models(files, kind, algorithm);
    std::vector<const models::SpeedModel*> pointers;
    for (const models::SpeedModelPtr& model : models) pointers.push_back(model.get());
    const std::int64_t granularity = fft2d::slice_granularity(n, point_bytes);
    add(partition::distribute_in_multiples(n, pointers, algorithm, granularity).units);
  };
  add({n - n / 2, n / 2});
  add_by("geometric", "polynomial");
  add_by("exact", "shrunk");
  add_by("exact", "piecewise_linear");
  return splits;
}

void run_in_turns(const Session& session, UnitGroup& group, std::int64_t n, int rounds, std::vector<Split>& splits) {
  for (int round = 0; round < rounds; ++round) {
    for (auto split = splits.begin(); split != splits.end(); ++split) {
      const auto same =
          std::find_if(splits.begin(), split, [&](const auto& other) { return other.rows == split->rows; });
      if (same != split) {
        split->rounds_s.push_back(same->rounds_s.back());
        continue;
      }
      // Every round has matrices of its own, for where they lie in memory costs a few percent more or less.
      fft2d::Transform<double> transform(group, {n, n}, {split->rows, split->rows}, fft2d::Exchange::at_once);
      const auto run_once = [&] {
        transform.load([](std::int64_t first_row, std::span<double> values) {
          for (std::size_t k = 0; k < values.size(); ++k) {
            values[k] = static_cast<double>((static_cast<std::int64_t>(k) * 7 + first_row) % 31 - 15);
          }
        });
        return timed_region(session, "steelyard::fft2d::transform", [&] { transform.run(); });
      };
      run_once();
      // Short ones more often.
      std::vector<double> times_s;
      for (double total_s = 0.0; times_s.empty() || (total_s < round_s && times_s.size() < 20);) {
        times_s.push_back(run_once());
        total_s += times_s.back();
      }
      split->rounds_s.push_back(median(times_s));
    }
  }
}

/// Compares one split with another one over all sizes.
struct Comparison {
  std::string name;
  std::vector<double> by_clock = {}, by_tables = {};  ///< by size
  double half_width = 0.0;                            ///< of the last size's interval
  int slower = 0;

  void add(const Split& split, const Split& other) {
    const std::vector<double> by_round = ratios(other.rounds_s, split.rounds_s);
    by_clock.push_back(median(by_round));
    by_tables.push_back(other.table_s / split.table_s);
    const Interval interval = median_interval(by_round, level);
    half_width = interval.half_width();
    if (interval.upper < 1.0) ++slower;
  }

  static double percent(double ratio) { return 100.0 * (ratio - 1.0); }
  /// Improvements at the last size.
  std::string last() const {
    // Too few rounds have no interval.
    const std::string interval = std::isfinite(half_width) ? fmt::format(" +- {:.1f}", 100.0 * half_width) : "";
    return fmt::format("{:.1f}{} % ({:.1f} %)", percent(by_clock.back()), interval, percent(by_tables.back()));
  }
  static std::string improvements(const std::vector<double>& ratios) {
    const auto [least, most] = std::minmax_element(ratios.begin(), ratios.end());
    return fmt::format("minimum {:.1f} %, average {:.1f} %, maximum {:.1f} %", percent(*least), percent(mean(ratios)),
                       percent(*most));
  }
  std::string summary() const {
    return fmt::format("{}: {}; slower by more than the median's 95 % interval at {} of {} sizes; by the tables: {}\n",
                       name, improvements(by_clock), slower, by_clock.size(), improvements(by_tables));
  }
};

ExitCode run(Session& session, const Options& options) {
  StartedGroup all(session, options.run);
  const RankUnits& units = all.started.units();
  require_two_units(session, units);
  const double host = 1.0 / units.host->slowdown, companion = 1.0 / units.companion->slowdown;
  // Of units that are alike but for what slows them down.
  const double ideal = 0.5 * (host + companion) / std::min(host, companion);
  session.print(fmt::format(
      "host {:g} and companion {:g} times slower; rows of the host by a smooth speed, by the one with those "
      "deviations of the measured points that are too large to be noise (shrunk), and by the points "
      "themselves; medians of {} rounds in turns, ratios within rounds with the median's 95 % interval; in "
      "brackets: a pass, by the tables as measured\n",
      units.host->slowdown, units.companion->slowdown, options.rounds));
  Table table(
      {"n", "smooth", "shrunk", "points", "even", "shrunk", "shrunk over smooth", "points over smooth", "even/shrunk"});
  Progress progress("transforming", std::ssize(options.sizes), session.is_root());
  Comparison shrunk_over_smooth{"exact by shrunk points over smooth"};
  Comparison measured_over_smooth{"exact by points as measured over smooth"},
      over_even{"exact by shrunk points over even"};
  for (const std::int64_t n : options.sizes) {
    const std::vector<models::FpmFile> files = measure_tables(session, all.co_execution, units, options, n);
    std::vector<Split> splits = make_splits(files, n);
    run_in_turns(session, all.group, n, options.rounds, splits);
    const Split &even = splits[0], &smooth = splits[1], &shrunk = splits[2], &measured = splits[3];
    shrunk_over_smooth.add(shrunk, smooth);
    measured_over_smooth.add(measured, smooth);
    over_even.add(shrunk, even);
    table.add_row({fmt::format("{}", n), fmt::format("{}", smooth.rows[0]), fmt::format("{}", shrunk.rows[0]),
                   fmt::format("{}", measured.rows[0]), format_seconds(even.time_s()), format_seconds(shrunk.time_s()),
                   shrunk_over_smooth.last(), measured_over_smooth.last(),
                   fmt::format("{:.2f}", over_even.by_clock.back())});
    progress.advance(1, fmt::format("(n = {})", n));
  }
  session.print(table.text());
  session.print(shrunk_over_smooth.summary());
  session.print(measured_over_smooth.summary());
  const double gain = median(over_even.by_clock);
  session.print(
      fmt::format("even/shrunk: median {:.2f}, {:.2f} by the tables; {:.2f} for units that are alike but for what "
                  "slows them down: {:.2f} of that gain over 1\n",
                  gain, median(over_even.by_tables), ideal, (gain - 1.0) / (ideal - 1.0)));
  return ExitCode::good;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App parser("2D transforms on splits from smooth and from measured speeds, in turns",
                  "steelyard-fft2d-partition");
  Options options;
  for (std::int64_t i = 0; i < 30; ++i) options.sizes.push_back(256 + 64 * i);
  add_standard_options(parser);
  parser.add_option("--sizes", options.sizes, "Rows and columns of the matrices (default 30 from 256 to 2112)")
      ->check(CLI::Range(2, 40000));
  add_number(parser, "--points", options.points, "Sizes of each table", 2, 10000)->capture_default_str();
  add_number(parser, "--table-rounds", options.table_rounds, "Times that a table is measured, medians of which it has",
             1, 1000)
      ->capture_default_str();
  add_rounds(parser, options.rounds);
  add_slowdown(parser, options.run);
  return run_program(argc, argv, parser, [&](Session& session) { return run(session, options); });
}
