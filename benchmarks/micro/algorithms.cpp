#include "partition/algorithms.hpp"

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <limits>
#include <memory>
#include <random>
#include <vector>

#include "benchmarks/micro/micro.hpp"
#include "models/kinds/model_kinds.hpp"
#include "partition/rectangles/column.hpp"

namespace steelyard::micro {
namespace {

using Points = std::vector<models::MeasuredPoint>;

/// Of a unit whose time grows with the size by steps that differ.
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

/// Models of a kind for as many units, of 20 points up to twice the even share.
std::vector<models::SpeedModelPtr> random_models(const partition::Algorithm& algorithm, int units, double share) {
  constexpr int points = 20;
  std::mt19937_64 random(1);
  std::vector<models::SpeedModelPtr> models;
  for (int i = 0; i < units; ++i) {
    models.push_back(models::find_model_kind(algorithm.model_kind)
                         .build(random_points(random, points, 2.0 * share / points),
                                std::numeric_limits<double>::infinity(), {algorithm.shape, 0}));
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

}  // namespace

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

}  // namespace steelyard::micro
