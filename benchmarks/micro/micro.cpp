// What the suite is made of, timed by Google Benchmark: every app's kernels on each processing unit, every partitioning
// algorithm and every fit of a speed model. Google Benchmark's options, such as --benchmark_filter, come before ours.

#include "benchmarks/micro/micro.hpp"

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "core/co_execution.hpp"
#include "miniapps/app/frame.hpp"
#include "miniapps/steelyard/command.hpp"

namespace steelyard::micro {
namespace {

/// Runs of `units` computation units on the unit's own thread, with the flops and bytes of a second.
void run_kernel(benchmark::State& state, const MeasurableKernel& kernel, ProcessingUnit::Kind kind,
                CoExecution& co_execution) {
  const std::int64_t units = state.range(0);
  tool::run_on(kind, co_execution, [&] {
    const std::unique_ptr<KernelRun> run = kernel.allocate(kind, units);
    run->run();
    for (auto _ : state) run->run();
  });
  const KernelFacts facts = kernel.facts();
  const auto rate = [&](double per_unit) {
    return benchmark::Counter(per_unit * static_cast<double>(units), benchmark::Counter::kIsIterationInvariantRate);
  };
  state.counters["flop/s"] = rate(facts.flops_per_unit);
  state.counters["B/s"] = rate(facts.bytes_per_unit);
}

/// Every kernel that `steelyard conformance` knows, in a shape that users run, at two sizes.
void register_kernels(const RankUnits& units, CoExecution& co_execution) {
  for (const auto& app : mini_apps()) {
    app->prepare();
    for (const ProcessingUnit& unit : tool::units_of(units)) {
      const char* const name = unit.kind == ProcessingUnit::Kind::host ? "host" : "device";
      for (const ConformanceCase& one : app->kernel()->conformance_cases(unit.kind)) {
        if (one.timed == nullptr) continue;
        const std::int64_t smallest = one.timed->facts().smallest, largest = one.timed->facts().largest;
        benchmark::RegisterBenchmark(
            fmt::format("kernel/{}{}{}/{}", app->facts().name, one.options.empty() ? "" : " ", one.options, name)
                .c_str(),
            [kernel = one.timed, kind = unit.kind, &co_execution](benchmark::State& state) {
              run_kernel(state, *kernel, kind, co_execution);
            })
            ->Arg(smallest)
            ->Arg(std::min(8 * smallest, largest))
            ->UseRealTime();
      }
    }
  }
}

ExitCode run(Session& session, const RunOptions& options) {
  const StartedUnits started(session, options);
  CoExecution co_execution(session.machine(), started.units());
  register_kernels(started.units(), co_execution);
  register_algorithms();
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return ExitCode::good;
}

}  // namespace
}  // namespace steelyard::micro

int main(int argc, char** argv) {
  using namespace steelyard;
  benchmark::Initialize(&argc, argv);
  CLI::App parser("Kernels, partitioning algorithms and fits of speed models, timed", "steelyard-micro");
  RunOptions options;
  add_standard_options(parser);
  add_unit_options(parser, options);
  return run_program(argc, argv, parser, [&](Session& session) { return micro::run(session, options); });
}
