// The 2D transform on several ranks beside FFTW's own with MPI: equal ranks with a thread each, the same planning
// effort, result in the same order. FFTW out of place or in place, whichever is faster. All in turns; medians of the
// rounds. Plans are made before. Run it with mpirun.

#include <fftw3-mpi.h>

#include <algorithm>
#include <complex>
#include <memory>
#include <optional>
#include <span>

#include "benchmarks/program.hpp"
#include "comm/collective.hpp"
#include "miniapps/app/frame.hpp"
#include "miniapps/fft2d/transform.hpp"

namespace {

using namespace steelyard;
using Complex = std::complex<double>;

struct Options {
  std::vector<std::int64_t> sizes{1000, 1024, 1536, 2048, 2187, 3000, 4096, 4099, 5040, 6144, 8192};
  int rounds = 5;
};

/// Some number for a point of the input.
Complex value_at(std::int64_t row, std::int64_t column) {
  return {static_cast<double>((row * 7 + column * 3) % 31 - 15), static_cast<double>((row * 5 + column) % 29 - 14)};
}

/// FFTW's transform of an n x n matrix, of which this rank has some rows.
class FftwMpi {
 public:
  FftwMpi(MPI_Comm comm, std::int64_t n, bool in_place) : n_(n) {
    const auto points = static_cast<std::size_t>(fftw_mpi_local_size_2d(n, n, comm, &rows_, &first_row_));
    in_.reset(fftw_alloc_complex(points));
    if (!in_place) out_.reset(fftw_alloc_complex(points));
    if (in_ && (in_place || out_)) {
      plan_.reset(fftw_mpi_plan_dft_2d(n, n, in_.get(), result(), comm, FFTW_FORWARD, FFTW_MEASURE));
    }
    if (!plan_) throw RuntimeFailure(fmt::format("FFTW has no plan for {} x {}", n, n));
  }

  void load() {
    auto* const points = reinterpret_cast<Complex*>(in_.get());
    for (std::ptrdiff_t i = 0; i < rows_; ++i) {
      for (std::ptrdiff_t j = 0; j < n_; ++j) points[i * n_ + j] = value_at(first_row_ + i, j);
    }
  }
  void run() { fftw_execute(plan_.get()); }

  std::int64_t first_row() const { return first_row_; }
  std::int64_t rows() const { return rows_; }
  const Complex* row(std::int64_t i) const { return reinterpret_cast<const Complex*>(result()) + i * n_; }

 private:
  fftw_complex* result() const { return (out_ ? out_ : in_).get(); }

  std::ptrdiff_t n_, rows_ = 0, first_row_ = 0;
  std::unique_ptr<fftw_complex[], void (*)(void*)> in_{nullptr, fftw_free}, out_{nullptr, fftw_free};
  std::unique_ptr<fftw_plan_s, void (*)(fftw_plan)> plan_{nullptr, fftw_destroy_plan};
};

struct Result {
  double ours_s = 0.0;
  double fftw_s = 0.0;
  double error = 0.0;  ///< largest difference over the largest number
};

Result measure(const Session& session, UnitGroup& group, const Options& options, std::int64_t n) {
  const MPI_Comm comm = session.comm();
  std::optional<FftwMpi> out_of_place, in_place;
  collectively(comm, [&] {
    out_of_place.emplace(comm, n, false);
    in_place.emplace(comm, n, true);
  });
  // The rows that FFTW gives everybody.
  std::vector<std::int64_t> rows;
  for (const double count : all_gather(comm, {static_cast<double>(out_of_place->rows())})) {
    rows.push_back(static_cast<std::int64_t>(count));
  }
  fft2d::Transform<double> ours(group, {n, n}, {rows, rows}, fft2d::Exchange::at_once, {"fftw"});
  const auto source = [&](std::int64_t first_row, std::span<double> values) {
    auto* const points = reinterpret_cast<Complex*>(values.data());
    const auto count = static_cast<std::int64_t>(values.size()) / 2;
    for (std::int64_t i = 0; i < count; ++i) points[i] = value_at(first_row + i / n, i % n);
  };
  std::vector<double> ours_s, out_of_place_s, in_place_s;
  for (int round = -1; round < options.rounds; ++round) {
    ours.load(source);
    out_of_place->load();
    in_place->load();
    if (round == 0) ours_s = out_of_place_s = in_place_s = {};
    ours_s.push_back(timed_region(session, "steelyard::fft2d::transform", [&] { ours.run(); }));
    out_of_place_s.push_back(timed_region(session, "fftw::out_of_place", [&] { out_of_place->run(); }));
    in_place_s.push_back(timed_region(session, "fftw::in_place", [&] { in_place->run(); }));
  }
  double error = 0.0, largest = 0.0;
  ours.store([&](std::int64_t first_row, std::span<const Complex> values) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      const auto at = static_cast<std::int64_t>(i);
      const Complex other = out_of_place->row(first_row - out_of_place->first_row() + at / n)[at % n];
      error = std::max(error, std::abs(values[i] - other));
      largest = std::max(largest, std::abs(other));
    }
  });
  return {median(ours_s), std::min(median(out_of_place_s), median(in_place_s)),
          all_max(comm, error) / all_max(comm, largest)};
}

ExitCode run(Session& session, const Options& options) {
  StartedGroup all(session, run_options(UnitChoice::host));
  fftw_mpi_init();
  session.print(fmt::format("{}, planner measure; GFLOP/s (5 N log2 N), medians of {} rounds\n", ranks_text(session),
                            options.rounds));
  Table table({"n", "ours", "FFTW-MPI", "ours/FFTW-MPI", "difference"});
  std::vector<double> ratios;
  for (const std::int64_t n : options.sizes) {
    const Result result = measure(session, all.group, options, n);
    const double flops = fft2d::transform_flops({n, n});
    ratios.push_back(result.fftw_s / result.ours_s);
    table.add_row({fmt::format("{}", n), fmt::format("{:.2f}", flops / result.ours_s / 1e9),
                   fmt::format("{:.2f}", flops / result.fftw_s / 1e9), fmt::format("{:.2f}", ratios.back()),
                   fmt::format("{:.0e}", result.error)});
  }
  if (session.is_root()) session.print(table.text());
  session.print(fmt::format("ours/FFTW-MPI: median {:.2f}, least {:.2f}\n", median(ratios),
                            *std::min_element(ratios.begin(), ratios.end())));
  fftw_mpi_cleanup();
  return ExitCode::good;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App parser("fft2d beside FFTW with MPI on the same ranks, in turns", "steelyard-fft2d-mpi");
  Options options;
  add_standard_options(parser);
  add_number(parser, "--sizes", options.sizes, "Rows and columns of the matrices", 1, 40000)->capture_default_str();
  add_rounds(parser, options.rounds);
  return run_program(argc, argv, parser, [&](Session& session) { return run(session, options); });
}
