// How fast the host unit transforms a matrix in two passes over its rows, beside FFTW's own 2D plan with the same
// threads and the same planning effort, out of place or in place, whichever is faster; and Steelyard's own kernel
// beside both. All in turns; medians of the rounds. Plans are made before.

#include <fftw3.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <span>

#include "benchmarks/program.hpp"
#include "core/memory/untouched_array.hpp"
#include "core/runtime.hpp"
#include "core/stream.hpp"
#include "miniapps/fft2d/plan.hpp"
#include "miniapps/fft2d/rows/row_pass.hpp"

namespace {

using namespace steelyard;
using Complex = Kokkos::complex<double>;

/// A matrix in huge pages, where the system has some, touched by the threads of the space.
class Memory {
 public:
  Memory(const HostExecution& space, std::int64_t rows, std::int64_t pitch)
      : space_(space), points_(rows * pitch), matrix_("matrix", static_cast<std::size_t>(points_)) {
    fill();
  }

  Complex* data() const { return matrix_.data(); }

  /// Sets the numbers anew, for transforms in place, which grow with every call.
  void fill() const {
    Complex* const data = matrix_.data();
    Kokkos::parallel_for("fill", Kokkos::RangePolicy<HostExecution>(space_, 0, points_), [=](const std::int64_t i) {
      data[i] = Complex(static_cast<double>(i * 7 % 31 - 15), static_cast<double>(i * 5 % 29 - 14));
    });
    space_.fence();
  }

 private:
  HostExecution space_;
  std::int64_t points_;
  UntouchedArray<Complex, HostExecution::memory_space> matrix_;
};

struct Choice {
  std::vector<std::int64_t> sizes{1000, 1024, 1536, 2048, 2187, 3000, 4096, 4099, 5040, 6144, 8192};
  int threads = 0;
  int rounds = 5;
  double seconds = 0.1;
};

using FftwPlan = std::unique_ptr<fftw_plan_s, void (*)(fftw_plan)>;

/// FFTW's plan of an n x n matrix.
FftwPlan make_plan(std::int64_t n, Complex* from, Complex* to) {
  const auto extent = static_cast<int>(n);
  const auto points = [](Complex* data) { return reinterpret_cast<fftw_complex*>(data); };
  FftwPlan plan(fftw_plan_dft_2d(extent, extent, points(from), points(to), FFTW_FORWARD, FFTW_MEASURE),
                fftw_destroy_plan);
  if (!plan) throw RuntimeFailure(fmt::format("FFTW has no plan for {} x {}", n, n));
  return plan;
}

class Size {
 public:
  explicit Size(std::int64_t n)
      : n_(n),
        between_pitch_(padded(n)),
        in_(space_, n, n),
        between_(space_, n, between_pitch_),
        out_(space_, n, n),
        bound_(space_, 2 * n * n) {
    fftw_plan_s_ = seconds_of([&] {
      fftw_plan_with_nthreads(static_cast<int>(space_.concurrency()));
      out_of_place_ = make_plan(n, in_.data(), out_.data());
      in_place_ = make_plan(n, between_.data(), between_.data());
    });
    our_plan_s_ = seconds_of([&] {
      fftw_plan_with_nthreads(1);
      ours_ = fft2d::RowPass<Complex>::make(ProcessingUnit::Kind::host, {n}, n, {"fftw"});
    });
    const auto refill = [this] { between_.fill(); };
    contenders_ = {{"bound", [this] { bound_.run(); }},
                   {"ours", [this] { two_passes(*ours_); }},
                   {"FFTW", [this] { fftw_execute(out_of_place_.get()); }},
                   {"FFTW in place", [this] { fftw_execute(in_place_.get()); }, 1, refill}};
    const std::vector<std::string> libraries = fft2d::row_fft_libraries<HostExecution>();
    if (std::count(libraries.begin(), libraries.end(), "portable") > 0) {
      portable_ = fft2d::RowPass<Complex>::make(ProcessingUnit::Kind::host, {n}, n, {"portable"});
      contenders_.push_back({"portable", [this] { two_passes(*portable_); }});
    }
    in_.fill();
    distances();
  }

  void measure(double seconds) {
    constexpr int most_calls = 10;
    measure_round(space_, contenders_, seconds, most_calls);
  }

  /// Our speed over FFTW's.
  double ratio() const { return fftw_s() / contenders_[1].time_s(); }

  std::vector<std::string> row() const {
    const double ours_s = contenders_[1].time_s();
    const fft2d::Problem problem{n_, n_};
    // Two sweeps that read and write the matrix, at the memory's speed.
    const double bound_s = contenders_[0].time_s() * 4.0 * sizeof(Complex) * problem.points() / bound_.bytes();
    const double flops = fft2d::transform_flops(problem);
    return {fmt::format("{}", n_),
            fmt::format("{:.2f}", flops / ours_s / 1e9),
            fmt::format("{:.2f}", flops / fftw_s() / 1e9),
            fmt::format("{:.2f}", ratio()),
            portable_ ? fmt::format("{:.2f}", contenders_[4].time_s() / fftw_s()) : "-",
            fmt::format("{:.2f}", bound_s / ours_s),
            fmt::format("{:.2f}", our_plan_s_),
            fmt::format("{:.2f}", fftw_plan_s_),
            fmt::format("{:.0e}", our_distance_),
            portable_ ? fmt::format("{:.0e}", portable_distance_) : "-"};
  }

 private:
  /// Whole cache lines, and not a power of two of them.
  static std::int64_t padded(std::int64_t n) {
    constexpr std::int64_t line = 64 / sizeof(Complex);
    return ((n + line - 1) / line | 1) * line;
  }

  void two_passes(fft2d::RowPass<Complex>& pass) const {
    sweep(pass, in_.data(), n_, between_.data(), between_pitch_);
    sweep(pass, between_.data(), between_pitch_, out_.data(), n_);
  }
  void sweep(fft2d::RowPass<Complex>& pass, const Complex* from, std::int64_t from_pitch, Complex* to,
             std::int64_t to_pitch) const {
    const fft2d::RowPiece<Complex> in{from, from_pitch, 0, n_};
    const fft2d::StoredPiece<Complex> out{to, to_pitch, 0, n_};
    pass.run(0, n_, std::span(&in, 1), std::span(&out, 1));
  }

  double fftw_s() const { return std::min(contenders_[2].time_s(), contenders_[3].time_s()); }

  /// How far results are from FFTW's, relative to them.
  void distances() {
    fftw_execute(out_of_place_.get());
    const Memory right(space_, n_, n_);
    std::copy_n(out_.data(), n_ * n_, right.data());
    const auto distance = [&](fft2d::RowPass<Complex>& pass) {
      two_passes(pass);
      double apart = 0.0, length = 0.0;
      for (std::int64_t i = 0; i < n_ * n_; ++i) {
        const Complex expected = right.data()[i], difference = out_.data()[i] - expected;
        apart += difference.real() * difference.real() + difference.imag() * difference.imag();
        length += expected.real() * expected.real() + expected.imag() * expected.imag();
      }
      return std::sqrt(apart / length);
    };
    our_distance_ = distance(*ours_);
    if (portable_) portable_distance_ = distance(*portable_);
  }

  HostExecution space_;
  std::int64_t n_, between_pitch_;
  Memory in_, between_, out_;
  MemoryBoundProbe<HostExecution> bound_;
  FftwPlan out_of_place_{nullptr, fftw_destroy_plan}, in_place_{nullptr, fftw_destroy_plan};
  std::unique_ptr<fft2d::RowPass<Complex>> ours_, portable_;
  double fftw_plan_s_ = 0.0, our_plan_s_ = 0.0;
  double our_distance_ = 0.0, portable_distance_ = 0.0;
  std::vector<Contender> contenders_;
};

ExitCode run(Session& session, const Choice& choice) {
  RankUnits units = session.plan_units(run_options(UnitChoice::host));
  if (choice.threads > 0) {
    if (units.host->cores.size() < static_cast<std::size_t>(choice.threads)) {
      throw InvalidArgument(fmt::format("--threads {}: there are {}", choice.threads, units.host->cores.size()));
    }
    units.host->cores.resize(static_cast<std::size_t>(choice.threads));
  }
  const Runtime runtime(session.machine(), units);
  fftw_init_threads();
  session.print(
      fmt::format("{} threads, double, planner measure; GFLOP/s (5 N log2 N), medians of {} rounds; portable: its time "
                  "over FFTW's; bound: two sweeps that read and write\n",
                  units.host->cores.size(), choice.rounds));
  Table table(
      {"n", "ours", "FFTW", "ours/FFTW", "portable time", "of bound", "plan s", "FFTW plan s", "error", "portable"});
  std::vector<double> ratios;
  for (const std::int64_t n : choice.sizes) {
    Size size(n);
    for (int round = 0; round < choice.rounds; ++round) size.measure(choice.seconds);
    table.add_row(size.row());
    ratios.push_back(size.ratio());
  }
  session.print(table.text());
  session.print(fmt::format("ours/FFTW: median {:.2f}, least {:.2f}\n", median(ratios),
                            *std::min_element(ratios.begin(), ratios.end())));
  return ExitCode::good;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App parser("Puts 2D transforms by passes over rows beside FFTW's own 2D plan", "steelyard-fft2d-speed");
  add_standard_options(parser);
  Choice choice;
  add_number(parser, "--sizes", choice.sizes, "Rows and columns of the matrices", 1, 40000)->capture_default_str();
  add_number(parser, "--threads", choice.threads, "Threads of the host unit; 0: one per core", 0, 4096)
      ->capture_default_str();
  add_rounds(parser, choice.rounds);
  parser.add_option("--time", choice.seconds, "Seconds of each timing, about")
      ->check(CLI::Range(0.0, 60.0))
      ->capture_default_str();
  return run_program(argc, argv, parser, [&](Session& session) { return run(session, choice); });
}
