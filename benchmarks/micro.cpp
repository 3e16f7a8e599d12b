// Parts of the suite, timed by Google Benchmark: every app's kernels on each processing unit, every partitioning
// algorithm and every fit of a speed model. Google Benchmark's options, such as --benchmark_filter, come before ours.

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <limits>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "core/co_execution.hpp"
#include "miniapps/app/frame.hpp"
#include "miniapps/steelyard/command.hpp"
#include "miniapps/steelyard/tool.hpp"
#include "models/kinds/model_kinds.hpp"
#include "partition/algorithms.hpp"
#include "partition/rectangles/column.hpp"

namespace steelyard {
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
void register_kernels(const tool::MiniApps& apps, const RankUnits& units, CoExecution& co_execution) {
  for (const std::unique_ptr<MiniApp>& app : apps) {
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

using Points = std::vector<models::MeasuredPoint>;

/// Points of a unit whose time grows with the size, by a different amount each time.
Points random_points(std::mt19937_64& random, int count, double step) {
  std::uniform_real_distribution<double> factor(0.5, 2.0);
  Points points;
  double time_s = 0.0;
  for (int i = 1; i <= count; ++i) {
    time_s += 1e-6 * step * factor(random);
    points.push_back({step * i, time_s, 5, 1e-3 * time_s});
  }
  return points;
}

/// Models of the algorithm's kind for `units` units, each made of 20 points up to twice the even share.
std::vector<models::SpeedModelPtr> random_models(const partition::Algorithm& algorithm, int units, double share) {
  constexpr int points = 20;
  std::mt19937_64 random(1);
  std::vector<models::SpeedModelPtr> models;
  for (int i = 0; i < units; ++i) {
    models.push_back(models::find_model_kind(algorithm.model_kind)
                         .build(random_points(random, points, 2.0 * share / points),
                                std::numeric_limits<double>::infinity(), algorithm.shape));
  }
  return models;
}

void distribute(benchmark::State& state, const partition::Algorithm& algorithm, std::int64_t share) {
  const auto units = static_cast<int>(state.range(0));
  const auto models = random_models(algorithm, units, static_cast<double>(share));
  std::vector<const models::SpeedModel*> pointers;
  for (const models::SpeedModelPtr& model : models) pointers.push_back(model.get());
  for (auto _ : state) benchmark::DoNotOptimize(algorithm.distribute(share * units, pointers));
}

void arrange(benchmark::State& state) {
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> area(0.5, 2.0);
  std::vector<double> areas;
  for (std::int64_t i = 0; i < state.range(0); ++i) areas.push_back(area(random));
  for (auto _ : state) benchmark::DoNotOptimize(partition::column(areas, {1024, 1024}));
}

void fit(benchmark::State& state, const models::ModelKind& kind) {
  std::mt19937_64 random(1);
  const Points points = random_points(random, static_cast<int>(state.range(0)), 100.0);
  for (auto _ : state) benchmark::DoNotOptimize(kind.build(points, std::numeric_limits<double>::infinity(), {}));
}

/// Registers a benchmark for every partitioning algorithm, for rectangles in columns, and for every fit of a speed
/// model.
void register_algorithms() {
  for (const partition::Algorithm& algorithm : partition::algorithms()) {
    // Over speeds of any shape every size counts.
    const bool any_shape = algorithm.shape == models::Shape::as_measured;
    const std::int64_t share = any_shape ? 20 : 1000;
    benchmark::internal::Benchmark* const one = benchmark::RegisterBenchmark(
        ("partition/" + algorithm.name).c_str(),
        [algorithm, share](benchmark::State& state) { distribute(state, algorithm, share); });
    if (any_shape) {
      one->Arg(2)->Arg(4);
    } else {
      one->RangeMultiplier(10)->Range(10, 10000);
    }
  }
  benchmark::RegisterBenchmark("partition/column", arrange)->RangeMultiplier(4)->Range(4, 64);
  for (const models::ModelKind& kind : models::model_kinds()) {
    benchmark::RegisterBenchmark(("model/" + kind.name).c_str(), [&kind](benchmark::State& state) { fit(state, kind); })
        ->Arg(20)
        ->Arg(200);
  }
}

ExitCode run(Session& session, const RunOptions& options, const tool::MiniApps& apps) {
  const StartedUnits started(session, options);
  CoExecution co_execution(session.machine(), started.units());
  register_kernels(apps, started.units(), co_execution);
  register_algorithms();
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return ExitCode::good;
}

}  // namespace

namespace tool {
/// The whole of the main() that steelyard_write_main() writes.
int micro_main(int argc, char** argv, const std::string& name, const MiniApps& apps) {
  benchmark::Initialize(&argc, argv);
  CLI::App parser("Kernels, partitioning algorithms and fits of speed models, timed", name);
  RunOptions options;
  add_standard_options(parser);
  add_unit_options(parser, options);
  return run_program(argc, argv, parser, [&](Session& session) { return run(session, options, apps); });
}
}  // namespace tool

}  // namespace steelyard
