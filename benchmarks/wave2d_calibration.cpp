// How near wave2d's calibration by trying out comes to the best split of the rows between host and companion: a sweep
// over splits finds the best one, then calibrations run, and each one's split takes turns with the best.

#include <algorithm>
#include <functional>
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

/// Seconds of the slower unit's pass, measured after another one.
double pass_s(CoExecution& co_execution, const MeasurableKernel& kernel, const PerUnit<std::int64_t>& rows) {
  using Kind = ProcessingUnit::Kind;
  const auto run_both = [&](const auto& work) {
    return co_execution.run(
        [&] {
          if (rows.host > 0) work(Kind::host);
        },
        [&] {
          if (rows.companion > 0) work(Kind::companion);
        });
  };
  PerUnit<std::unique_ptr<KernelRun>> runs;
  run_both([&](Kind kind) { runs[kind] = kernel.allocate(kind, rows[kind]); });
  UnitSeconds seconds;
  for (int pass = 0; pass < 2; ++pass) seconds = run_both([&](Kind kind) { runs[kind]->run(); });
  return std::max(seconds.host_s, seconds.companion_s);
}

/// Seconds of a pass of both units at once at a split, given the host's rows.
using PassSeconds = std::function<double(std::int64_t host_rows)>;

/// Seconds at each split, all in turns, by rounds. Every round has fields of its own, for where they lie in memory
/// costs a few percent more or less.
std::vector<Rounds> measure(const PassSeconds& pass, int rounds, const std::vector<std::int64_t>& host_rows) {
  std::vector<Rounds> passes_s(host_rows.size());
  for (int round = 0; round < rounds; ++round) {
    for (std::size_t i = 0; i < host_rows.size(); ++i) passes_s[i].push_back(pass(host_rows[i]));
  }
  return passes_s;
}

struct Best {
  std::int64_t host_rows = 0;
  double pass_s = 0.0;
};

/// The fastest of splits `step` rows apart around a middle one.
Best sweep(const PassSeconds& pass, const Options& options, std::int64_t middle, std::int64_t step, int count) {
  std::vector<std::int64_t> host_rows;
  for (int i = -count; i <= count; ++i) {
    const std::int64_t host = middle + i * step;
    if (host >= 0 && host <= options.size) host_rows.push_back(host);
  }
  std::vector<double> medians_s;
  for (const Rounds& rounds : measure(pass, options.rounds, host_rows)) medians_s.push_back(median(rounds));
  const auto fastest = static_cast<std::size_t>(std::ranges::min_element(medians_s) - medians_s.begin());
  return {host_rows[fastest], medians_s[fastest]};
}

ExitCode run(Session& session, const Options& options) {
  const StartedUnits started(session, options.run);
  require_two_units(session, started.units());
  Frame frame(session, options.run, started.units(), "wave2d-calibration");
  const wave2d::Problem problem{options.size, options.size};
  const std::shared_ptr<MeasurableKernel> kernel =
      wave2d::pass_kernel(problem, ElementType::float64, options.time_tile);
  const PassSeconds pass = [&](std::int64_t host_rows) {
    return pass_s(frame.co_execution(), *kernel, {host_rows, options.size - host_rows});
  };
  const double start_s = now_s();
  const Best coarse = sweep(pass, options, options.size / 2, options.size / 16, 8);
  const Best fine = sweep(pass, options, coarse.host_rows, options.size / 64, 5);
  const Best best = sweep(pass, options, fine.host_rows, std::max<std::int64_t>(1, options.size / 256), 6);
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
  for (int i = 0; i < options.calibrations; ++i) {
    for (const wave2d::Balancing balancing : {wave2d::Balancing::binary, wave2d::Balancing::ternary}) {
      const wave2d::Calibration found = wave2d::calibrate(frame, *kernel, problem, balancing);
      const std::int64_t host_rows = found.assignment.rectangles[0].rows;
      const std::vector<Rounds> passes_s = measure(pass, options.rounds, {host_rows, best.host_rows});
      const double excess = median(ratios(passes_s[0], passes_s[1])) - 1.0;
      near[balancing] += excess <= 0.02 ? 1 : 0;
      table.add_row(
          {wave2d::balancing_names[static_cast<std::size_t>(balancing)],
           fmt::format("{:.1f} %", 100.0 * static_cast<double>(host_rows) / static_cast<double>(options.size)),
           format_seconds(found.time_s), format_seconds(median(passes_s[0])), format_seconds(median(passes_s[1])),
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
  Options options;
  add_standard_options(parser);
  add_number(parser, "--size", options.size, "Rows and columns of the grid", 64, 1 << 20)->capture_default_str();
  add_number(parser, "--time-tile", options.time_tile, "Steps per pass", 1, 64)->capture_default_str();
  add_number(parser, "--calibrations", options.calibrations, "Runs of each search", 1, 1000)->capture_default_str();
  add_rounds(parser, options.rounds);
  add_slowdown(parser, options.run);
  return run_program(argc, argv, parser, [&](Session& session) { return run(session, options); });
}
