// What going through core/gemm costs the host unit: its multiplication beside a direct call of the same BLAS with the
// same threads, in turns. Ratios are direct over gemm, call by call, so 1 is as fast and less is slower.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdint>
#include <vector>

#include "benchmarks/table_result.hpp"
#include "core/base/errors.hpp"
#include "core/base/statistics.hpp"
#include "core/base/table.hpp"
#include "core/gemm.hpp"
#include "core/runtime.hpp"
#include "core/timing.hpp"
#include "core/unit_plan.hpp"

extern "C" void dgemm_(const char* transpose_a, const char* transpose_b, const int* m, const int* n, const int* k,
                       const double* alpha, const double* a, const int* a_leading, const double* b,
                       const int* b_leading, const double* beta, double* c, const int* c_leading);

namespace {

using namespace steelyard;
using Square = Kokkos::View<double**, Kokkos::LayoutRight, DeviceOf<HostExecution>>;

struct Speeds {
  double direct_s = 0.0;
  double gemm_s = 0.0;
  double ratio = 0.0;
};

Square filled(const HostExecution& space, int n, double step) {
  Square square(Kokkos::view_alloc(space, Kokkos::WithoutInitializing, "square"), static_cast<std::size_t>(n),
                static_cast<std::size_t>(n));
  double value = 0.0;
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j) {
      value += step;
      if (value > 1.0) value -= 2.0;
      square(i, j) = value;
    }
  }
  return square;
}

Speeds measure(const HostExecution& space, int n, int calls) {
  const Square a = filled(space, n, 0.618), b = filled(space, n, 0.414), c = filled(space, n, 0.732);
  const double alpha = 1.0, beta = 0.0;
  const auto direct = [&] { dgemm_("N", "N", &n, &n, &n, &alpha, b.data(), &n, a.data(), &n, &beta, c.data(), &n); };
  const auto through_core = [&] { blas::gemm(space, alpha, a, b, beta, c); };
  // As many multiplications per timing as last about this long.
  constexpr double timing_s = 0.05;
  direct();
  through_core();
  const int repeats = 1 + static_cast<int>(timing_s / fenced_seconds(space, direct));
  const auto repeated = [repeats](const auto& work) {
    return [&work, repeats] {
      for (int i = 0; i < repeats; ++i) work();
    };
  };
  std::vector<double> direct_s, gemm_s, ratios;
  for (int call = 0; call < calls; ++call) {
    const bool direct_first = call % 2 == 0;
    if (direct_first) direct_s.push_back(fenced_seconds(space, repeated(direct)) / repeats);
    gemm_s.push_back(fenced_seconds(space, repeated(through_core)) / repeats);
    if (!direct_first) direct_s.push_back(fenced_seconds(space, repeated(direct)) / repeats);
    ratios.push_back(direct_s.back() / gemm_s.back());
  }
  return {median(direct_s), median(gemm_s), median(ratios)};
}

void run(const std::vector<int>& sizes, int calls, int threads) {
  const Machine machine;
  PlanRequest request;
  request.units = UnitChoice::host;
  RankUnits units = plan_units(machine, request);
  if (threads > 0 && threads < static_cast<int>(units.host->cores.size())) {
    units.host->cores.resize(static_cast<std::size_t>(threads));
  }
  const Runtime runtime(machine, units);
  const HostExecution space;
  fmt::print("{}\n", blas::gemm_library(space));
  Table table({"n", "direct", "GFLOP/s", "core/gemm", "GFLOP/s", "ratio"});
  for (const int n : sizes) {
    const Speeds speeds = measure(space, n, calls);
    const double flops = 2.0 * n * n * n;
    table.add_row({fmt::format("{}", n), format_seconds(speeds.direct_s),
                   fmt::format("{:.1f}", flops / speeds.direct_s / 1e9), format_seconds(speeds.gemm_s),
                   fmt::format("{:.1f}", flops / speeds.gemm_s / 1e9), fmt::format("{:.3f}", speeds.ratio)});
  }
  fmt::print("{}", table.text());
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App parser("Puts the host unit's matrix multiplication beside a direct call of the BLAS",
                  "steelyard-gemm-speed");
  const steelyard::TableResult result(parser, argc, argv);
  std::vector<int> sizes{512, 1024, 2048, 4096};
  int calls = 21;
  int threads = 0;
  parser.add_option("--size", sizes, "Rows and columns of the matrices")
      ->check(CLI::Range(1, 30000))
      ->capture_default_str();
  parser.add_option("--calls", calls, "Timings behind each median")->check(CLI::Range(1, 1000))->capture_default_str();
  parser.add_option("--threads", threads, "At most so many cores (default: all)")->check(CLI::Range(1, 4096));
  CLI11_PARSE(parser, argc, argv);
  try {
    run(sizes, calls, threads);
  } catch (const Error& error) {
    fmt::print(stderr, "steelyard-gemm-speed: {}\n", error.what());
    return static_cast<int>(error.code());
  }
  return 0;
}
