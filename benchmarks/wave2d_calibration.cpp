// How near wave2d's calibration by trying out comes to the best split of the rows between host and companion: a sweep
// over splits finds the best one, then calibrations run, and each one's split takes turns with the best.

#include <algorithm>
#include <limits>
#include <map>
#include <memory>

#include "benchmarks/program.hpp"
#include "comm/measurement/kernel_measurement.hpp"
#include "miniapps/app/frame.hpp"
#include "miniapps/wave2d/calibration.hpp"

namespace {

using namespace steelyard;

struct Options {
  RunOptions run;
  std::int64_t size = 2048;
  int time_tile = 8;
  int calibrations = 10;
  int rounds = 9;
};

using Rounds = std::vector<double>;

/// Passes of both units at once, at splits of the rows between them.
class Splits {
 public:
  Splits(CoExecution& co_execution, const Options& options)
      : co_execution_(co_execution), options_(options), problem_{options.size, options.size} {}

  std::shared_ptr<MeasurableKernel> kernel() const {
    return wave2d::pass_kernel(problem_, ElementType::float64, options_.time_tile);
  }

  /// Seconds of the slower unit's pass at each split, all splits in turns, by rounds. Every round has fields of its
  /// own, for where they lie in memory costs a few percent more or less. @param host_rows of each
  std::vector<Rounds> measure(const std::vector<std::int64_t>& host_rows) {
    std::vector<Rounds> passes_s(host_rows.size());
    for (int round = 0; round < options_.rounds; ++round) {
      for (std::size_t i = 0; i < host_rows.size(); ++i) passes_s[i].push_back(pass_s(host_rows[i]));
    }
    return passes_s;
  }

 private:
  struct Runs {
    std::unique_ptr<KernelRun> host, companion;
  };

  /// Seconds of a pass, measured after another one.
  double pass_s(std::int64_t host_rows) {
    Runs runs;
    allocate(runs, host_rows);
    UnitSeconds seconds;
    for (int pass = 0; pass < 2; ++pass) {
      seconds = co_execution_.run(
          [&] {
            if (runs.host) runs.host->run();
          },
          [&] {
            if (runs.companion) runs.companion->run();
          });
    }
    return std::max(seconds.host_s, seconds.companion_s);
  }

  void allocate(Runs& runs, std::int64_t host_rows) {
    const auto make = [&](ProcessingUnit::Kind kind, std::int64_t rows) {
      return rows > 0 ? kernel()->allocate(kind, rows) : nullptr;
    };
    co_execution_.run([&] { runs.host = make(ProcessingUnit::Kind::host, host_rows); },
                      [&] { runs.companion = make(ProcessingUnit::Kind::companion, problem_.rows - host_rows); });
  }

  CoExecution& co_execution_;
  Options options_;
  wave2d::Problem problem_;
};

struct Best {
  std::int64_t host_rows = 0;
  double pass_s = std::numeric_limits<double>::infinity();
};

/// The fastest of splits `step` rows apart around a middle one.
Best sweep(Splits& splits, std::int64_t rows, std::int64_t middle, std::int64_t step, int count) {
  std::vector<std::int64_t> host_rows;
  for (int i = -count; i <= count; ++i) {
    const std::int64_t host = middle + i * step;
    if (host >= 0 && host <= rows) host_rows.push_back(host);
  }
  std::vector<double> pass_s;
  for (const Rounds& rounds : splits.measure(host_rows)) pass_s.push_back(median(rounds));
  const auto fastest = static_cast<std::size_t>(std::min_element(pass_s.begin(), pass_s.end()) - pass_s.begin());
  return {host_rows[fastest], pass_s[fastest]};
}

ExitCode run(Session& session, const Options& options) {
  const StartedUnits started(session, options.run);
  require_two_units(session, started.units());
  Frame frame(session, options.run, started.units(), "wave2d-calibration");
  Splits splits(frame.co_execution(), options);
  const double start_s = now_s();
  const Best coarse = sweep(splits, options.size, options.size / 2, options.size / 16, 8);
  const Best fine = sweep(splits, options.size, coarse.host_rows, options.size / 64, 5);
  const Best best = sweep(splits, options.size, fine.host_rows, std::max<std::int64_t>(1, options.size / 256), 6);
  session.print(
      fmt::format("{} x {} double, {} steps per pass, host {:g} and companion {:g} times slower; best split of a "
                  "sweep: {:.1f} % for the host, {} per "
                  "pass ({})\n",
                  options.size, options.size, options.time_tile, started.units().host->slowdown,
                  started.units().companion->slowdown,
                  100.0 * static_cast<double>(best.host_rows) / static_cast<double>(options.size),
                  format_seconds(best.pass_s), format_seconds(now_s() - start_s)));
  Table table({"balance", "host share", "seconds spent", "pass", "best split's", "slower by"});
  std::map<wave2d::Balancing, int> near;
  const std::shared_ptr<MeasurableKernel> kernel = splits.kernel();
  for (int i = 0; i < options.calibrations; ++i) {
    for (const wave2d::Balancing balancing : {wave2d::Balancing::binary, wave2d::Balancing::ternary}) {
      const wave2d::Calibration found = wave2d::calibrate(frame, *kernel, {options.size, options.size}, balancing);
      const std::int64_t host_rows = found.assignment.rectangles[0].rows;
      const std::vector<Rounds> pass_s = splits.measure({host_rows, best.host_rows});
      const double excess = median(ratios(pass_s[0], pass_s[1])) - 1.0;
      near[balancing] += excess <= 0.02 ? 1 : 0;
      table.add_row(
          {wave2d::balancing_names[static_cast<std::size_t>(balancing)],
           fmt::format("{:.1f} %", 100.0 * static_cast<double>(host_rows) / static_cast<double>(options.size)),
           format_seconds(found.time_s), format_seconds(median(pass_s[0])), format_seconds(median(pass_s[1])),
           fmt::format("{:.1f} %", 100.0 * excess)});
    }
  }
  session.print(table.text());
  for (const auto& [balancing, count] : near) {
    session.print(fmt::format("{}: within 2 % of the best split in {} of {} runs\n",
                              wave2d::balancing_names[static_cast<std::size_t>(balancing)], count,
                              options.calibrations));
  }
  return ExitCode::good;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App parser("wave2d's calibration beside the best split of a sweep", "steelyard-wave2d-calibration");
  const TableResult result(parser, argc, argv);
  Options options;
  add_standard_options(parser);
  add_number(parser, "--size", options.size, "Rows and columns of the grid", 64, 1 << 20)->capture_default_str();
  add_number(parser, "--time-tile", options.time_tile, "Steps per pass", 1, 64)->capture_default_str();
  add_number(parser, "--calibrations", options.calibrations, "Runs of each search", 1, 1000)->capture_default_str();
  add_rounds(parser, options.rounds);
  add_slowdown(parser, options.run);
  return run_program(argc, argv, parser, [&](Session& session) { return run(session, options); });
}
