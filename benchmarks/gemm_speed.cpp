// Overhead of core/gemm for the host unit: its multiplication beside a direct call of the same BLAS with the
// same threads, in turns. Ratios are direct over gemm, call by call, so 1 is as fast and less is slower.

#include "benchmarks/program.hpp"
#include "core/gemm.hpp"

extern "C" void dgemm_(const char* transpose_a, const char* transpose_b, const int* m, const int* n, const int* k,
                       const double* alpha, const double* a, const int* a_leading, const double* b,
                       const int* b_leading, const double* beta, double* c, const int* c_leading);

namespace {

using namespace steelyard;
using Square = Kokkos::View<double**, Kokkos::LayoutRight, DeviceOf<HostExecution>>;

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

void add_row(Table& table, int n, int calls) {
  const HostExecution space;
  const Square a = filled(space, n, 0.618), b = filled(space, n, 0.414), c = filled(space, n, 0.732);
  const double alpha = 1.0, beta = 0.0;
  const auto direct = [&] { dgemm_("N", "N", &n, &n, &n, &alpha, b.data(), &n, a.data(), &n, &beta, c.data(), &n); };
  const auto through_core = [&] { blas::gemm(space, alpha, a, b, beta, c); };
  // As many multiplications per timing as last about this long.
  constexpr double timing_s = 0.05;
  direct();
  through_core();
  const int repeats = 1 + static_cast<int>(timing_s / fenced_seconds(space, direct));
  const auto seconds = [&](const auto& work) {
    const auto several = [&] {
      for (int i = 0; i < repeats; ++i) work();
    };
    return fenced_seconds(space, several) / repeats;
  };
  std::vector<double> direct_s, gemm_s;
  for (int call = 0; call < calls; ++call) {
    const bool direct_first = call % 2 == 0;
    if (direct_first) direct_s.push_back(seconds(direct));
    gemm_s.push_back(seconds(through_core));
    if (!direct_first) direct_s.push_back(seconds(direct));
  }
  const double gflop = 2e-9 * n * n * n;
  table.add_row({fmt::format("{}", n), format_seconds(median(direct_s)),
                 fmt::format("{:.1f}", gflop / median(direct_s)), format_seconds(median(gemm_s)),
                 fmt::format("{:.1f}", gflop / median(gemm_s)),
                 fmt::format("{:.3f}", median(ratios(direct_s, gemm_s)))});
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App parser("Puts the host unit's matrix multiplication beside a direct call of the BLAS",
                  "steelyard-gemm-speed");
  const TableResult result(parser, argc, argv);
  add_standard_options(parser);
  std::vector<int> sizes{512, 1024, 2048, 4096};
  int calls = 21;
  add_number(parser, "--size", sizes, "Rows and columns of the matrices", 1, 30000)->capture_default_str();
  add_number(parser, "--calls", calls, "Timings behind each median", 1, 1000)->capture_default_str();
  return run_program(argc, argv, parser, [&](Session& session) {
    const StartedUnits started(session, run_options(UnitChoice::host));
    session.print(blas::gemm_library(HostExecution()) + "\n");
    Table table({"n", "direct", "GFLOP/s", "core/gemm", "GFLOP/s", "ratio"});
    for (const int n : sizes) add_row(table, n, calls);
    session.print(table.text());
    return ExitCode::good;
  });
}
