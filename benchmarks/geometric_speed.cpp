// What the algorithms on speed models cost for many processing units: random monotone piecewise linear models of 20
// points each. Medians of several calls on one core.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <random>

#include "benchmarks/table_result.hpp"
#include "core/base/statistics.hpp"
#include "core/base/table.hpp"
#include "models/piecewise_linear_model.hpp"
#include "partition/algorithms.hpp"

namespace {

using namespace steelyard;

struct Units {
  std::vector<models::PiecewiseLinearModel> owned;
  std::vector<const models::SpeedModel*> models;
};

Units random_units(std::mt19937_64& random, int count, double most_units) {
  constexpr int points = 20;
  std::uniform_real_distribution<double> factor(0.5, 2.0);
  Units units;
  for (int i = 0; i < count; ++i) {
    std::vector<models::MeasuredPoint> measured;
    double size = 0.0;
    double time_s = 0.0;
    for (int k = 0; k < points; ++k) {
      const double step = most_units / points * factor(random);
      size += step;
      time_s += 1e-6 * step * factor(random);
      measured.push_back({size, time_s});
    }
    units.owned.emplace_back(measured);
  }
  for (const models::PiecewiseLinearModel& model : units.owned) units.models.push_back(&model);
  return units;
}

double seconds(const partition::Algorithm& algorithm, std::int64_t total, const Units& units, int calls) {
  std::vector<double> times_s;
  for (int call = 0; call < calls; ++call) {
    const auto start = std::chrono::steady_clock::now();
    const partition::Distribution distribution = algorithm.distribute(total, units.models);
    times_s.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
    if (distribution.units.size() != units.models.size()) throw std::logic_error("a unit without a slice");
  }
  return median(times_s);
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App parser("Times partitioning algorithms on speed models of many processing units",
                  "steelyard-geometric-speed");
  const steelyard::TableResult result(parser, argc, argv);
  int calls = 11;
  parser.add_option("--calls", calls, "Calls behind each median")->check(CLI::Range(1, 1000))->capture_default_str();
  CLI11_PARSE(parser, argc, argv);
  std::mt19937_64 random(1);
  Table table({"algorithm", "p", "n", "median"});
  for (const int count : {10, 100, 1000, 10000}) {
    constexpr double share = 1000.0;
    const Units units = random_units(random, count, 2.0 * share);
    const auto total = static_cast<std::int64_t>(share * count);
    for (const char* name : {"constant", "geometric", "numerical"}) {
      const double time_s = seconds(partition::find_algorithm(name), total, units, calls);
      table.add_row({name, fmt::format("{}", count), fmt::format("{}", total), format_seconds(time_s)});
    }
  }
  fmt::print("{}", table.text());
  return 0;
}
