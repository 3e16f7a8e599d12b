// How fast the host unit transforms a matrix in two passes over its rows, beside FFTW's own 2D plan with the same
// threads and the same planning effort, out of place or in place, whichever is faster; and Steelyard's own kernel
// beside both. All in turns; medians of the rounds. Plans are made before.

#include <fftw3.h>
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "benchmarks/table_result.hpp"
#include "core/base/errors.hpp"
#include "core/base/statistics.hpp"
#include "core/base/table.hpp"
#include "core/memory/untouched_array.hpp"
#include "core/runtime.hpp"
#include "core/stream.hpp"
#include "core/timing.hpp"
#include "core/unit_plan.hpp"
#include "miniapps/fft2d/rows/row_pass.hpp"

namespace {

using namespace steelyard;
using fft2d::Planner;

/// FFTW's 2D plan: double and float.
template <class Scalar>
struct Fftw2d;

template <>
struct Fftw2d<double> {
  using Complex = fftw_complex;
  static constexpr auto start = fftw_init_threads;
  static constexpr auto use_threads = fftw_plan_with_nthreads;
  static constexpr auto plan = fftw_plan_dft_2d;
  static constexpr auto execute = fftw_execute;
  static constexpr auto destroy = fftw_destroy_plan;
};

template <>
struct Fftw2d<float> {
  using Complex = fftwf_complex;
  static constexpr auto start = fftwf_init_threads;
  static constexpr auto use_threads = fftwf_plan_with_nthreads;
  static constexpr auto plan = fftwf_plan_dft_2d;
  static constexpr auto execute = fftwf_execute;
  static constexpr auto destroy = fftwf_destroy_plan;
};

/// A matrix in huge pages, where the system has some, touched by the threads of the space.
template <class Scalar>
class Memory {
 public:
  using Complex = Kokkos::complex<Scalar>;

  Memory(const HostExecution& space, std::int64_t rows, std::int64_t pitch)
      : space_(space), points_(rows * pitch), matrix_("matrix", static_cast<std::size_t>(points_)) {
    fill();
  }

  Complex* data() const { return matrix_.data(); }

  /// Sets the numbers anew, for transforms in place.
  void fill() const {
    Complex* const data = matrix_.data();
    Kokkos::parallel_for("fill", Kokkos::RangePolicy<HostExecution>(space_, 0, points_), [=](const std::int64_t i) {
      data[i] = Complex(static_cast<Scalar>(i * 7 % 31 - 15), static_cast<Scalar>(i * 5 % 29 - 14));
    });
    space_.fence();
  }

 private:
  HostExecution space_;
  std::int64_t points_;
  UntouchedArray<Complex, HostExecution::memory_space> matrix_;
};

struct Contender {
  std::function<void()> call;
  std::vector<double> call_s = {};
};

struct Choice {
  std::vector<std::int64_t> sizes{1000, 1024, 1536, 2048, 2187, 3000, 4096, 4099, 5040, 6144, 8192};
  std::string type = "double";
  std::string planner = "measure";
  int threads = 0;
  int rounds = 5;
  double seconds = 0.1;
};

template <class Scalar>
class Size {
 public:
  using Complex = Kokkos::complex<Scalar>;
  using Fftw = Fftw2d<Scalar>;

  Size(std::int64_t n, const Choice& choice)
      : n_(n),
        between_pitch_(padded(n)),
        in_(space_, n, n),
        between_(space_, n, between_pitch_),
        out_(space_, n, n),
        probe_(space_, std::max<std::int64_t>(1, n * n * static_cast<std::int64_t>(sizeof(Complex)) / 8)) {
    const Planner planner = choice.planner == "estimate"  ? Planner::estimate
                            : choice.planner == "patient" ? Planner::patient
                                                          : Planner::measure;
    double start = now_s();
    Fftw::use_threads(static_cast<int>(space_.concurrency()));
    out_of_place_ = plan(in_.data(), out_.data(), planner);
    in_place_ = plan(between_.data(), between_.data(), planner);
    fftw_plan_s_ = now_s() - start;
    start = now_s();
    Fftw::use_threads(1);
    ours_ = fft2d::RowPass<Complex>::make(ProcessingUnit::Kind::host, {n}, n, {"fftw", planner});
    our_plan_s_ = now_s() - start;
    contenders_ = {{[this] { probe_.run(); }},
                   {[this] { two_passes(*ours_); }},
                   {[this] { Fftw::execute(out_of_place_); }},
                   {[this] { Fftw::execute(in_place_); }}};
    const std::vector<std::string> libraries = fft2d::row_fft_libraries<HostExecution>();
    if (std::count(libraries.begin(), libraries.end(), "portable") > 0) {
      portable_ = fft2d::RowPass<Complex>::make(ProcessingUnit::Kind::host, {n}, n, {"portable", planner});
      contenders_.push_back({[this] { two_passes(*portable_); }});
    }
    in_.fill();
    distances();
  }
  ~Size() {
    Fftw::destroy(out_of_place_);
    Fftw::destroy(in_place_);
  }
  Size(const Size&) = delete;
  Size& operator=(const Size&) = delete;

  /// One round: every contender for about `seconds`.
  void measure(double seconds) {
    for (Contender& contender : contenders_) {
      // Transforms in place grow with every call.
      between_.fill();
      const double once_s = fenced_seconds(space_, contender.call);
      const int calls = std::min(10, 1 + static_cast<int>(seconds / once_s));
      const double all_s = fenced_seconds(space_, [&] {
        for (int i = 0; i < calls; ++i) contender.call();
      });
      contender.call_s.push_back(all_s / calls);
    }
  }

  /// Our time over FFTW's.
  double ratio() const { return fftw_s() / median(contenders_[1].call_s); }

  std::vector<std::string> row() const {
    const double ours_s = median(contenders_[1].call_s);
    const double points = static_cast<double>(n_) * static_cast<double>(n_);
    // Two sweeps that read and write the matrix, at the memory's speed.
    const double bound_s = median(contenders_[0].call_s) * 4.0 * sizeof(Complex) * points / probe_.bytes();
    const double flops = 5.0 * points * std::log2(points);
    return {fmt::format("{}", n_),
            fmt::format("{:.2f}", flops / ours_s / 1e9),
            fmt::format("{:.2f}", flops / fftw_s() / 1e9),
            fmt::format("{:.2f}", ratio()),
            contenders_.size() > 4 ? fmt::format("{:.2f}", median(contenders_[4].call_s) / fftw_s()) : "-",
            fmt::format("{:.2f}", bound_s / ours_s),
            fmt::format("{:.2f}", our_plan_s_),
            fmt::format("{:.2f}", fftw_plan_s_),
            fmt::format("{:.0e}", our_distance_),
            portable_ ? fmt::format("{:.0e}", portable_distance_) : "-"};
  }

  static std::vector<std::string> headings() {
    return {"n",        "ours",   "FFTW",        "ours/FFTW", "portable time",
            "of bound", "plan s", "FFTW plan s", "error",     "portable"};
  }

 private:
  /// Whole cache lines, and not a power of two of them.
  static std::int64_t padded(std::int64_t n) {
    constexpr std::int64_t line = 64 / sizeof(Complex);
    return ((n + line - 1) / line | 1) * line;
  }

  auto plan(Complex* from, Complex* to, Planner planner) const {
    const unsigned effort = planner == Planner::estimate  ? FFTW_ESTIMATE
                            : planner == Planner::patient ? FFTW_PATIENT
                                                          : FFTW_MEASURE;
    using Data = typename Fftw::Complex;
    const auto made = Fftw::plan(static_cast<int>(n_), static_cast<int>(n_), reinterpret_cast<Data*>(from),
                                 reinterpret_cast<Data*>(to), FFTW_FORWARD, effort);
    if (made == nullptr) throw RuntimeFailure(fmt::format("FFTW has no plan for {} x {}", n_, n_));
    return made;
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

  double fftw_s() const { return std::min(median(contenders_[2].call_s), median(contenders_[3].call_s)); }

  /// How far results are from FFTW's, relative to them.
  void distances() {
    Fftw::execute(out_of_place_);
    const Memory<Scalar> right(space_, n_, n_);
    std::copy_n(out_.data(), n_ * n_, right.data());
    const auto distance = [&] {
      double apart = 0.0, length = 0.0;
      for (std::int64_t i = 0; i < n_ * n_; ++i) {
        const Complex difference = out_.data()[i] - right.data()[i];
        apart += static_cast<double>(difference.real()) * difference.real() +
                 static_cast<double>(difference.imag()) * difference.imag();
        length += static_cast<double>(right.data()[i].real()) * right.data()[i].real() +
                  static_cast<double>(right.data()[i].imag()) * right.data()[i].imag();
      }
      return std::sqrt(apart / length);
    };
    two_passes(*ours_);
    our_distance_ = distance();
    if (!portable_) return;
    two_passes(*portable_);
    portable_distance_ = distance();
  }

  HostExecution space_;
  std::int64_t n_;
  std::int64_t between_pitch_;
  Memory<Scalar> in_;
  Memory<Scalar> between_;
  Memory<Scalar> out_;
  MemoryBoundProbe<HostExecution> probe_;
  decltype(Fftw::plan(0, 0, nullptr, nullptr, 0, 0U)) out_of_place_ = nullptr;
  decltype(Fftw::plan(0, 0, nullptr, nullptr, 0, 0U)) in_place_ = nullptr;
  std::unique_ptr<fft2d::RowPass<Complex>> ours_;
  std::unique_ptr<fft2d::RowPass<Complex>> portable_;
  double fftw_plan_s_ = 0.0;
  double our_plan_s_ = 0.0;
  double our_distance_ = 0.0;
  double portable_distance_ = 0.0;
  std::vector<Contender> contenders_;
};

template <class Scalar>
void run(const Choice& choice) {
  const Machine machine;
  PlanRequest request;
  request.units = UnitChoice::host;
  RankUnits units = plan_units(machine, request);
  if (choice.threads > 0) {
    if (units.host->cores.size() < static_cast<std::size_t>(choice.threads)) {
      throw InvalidArgument(fmt::format("--threads {}: there are {}", choice.threads, units.host->cores.size()));
    }
    units.host->cores.resize(static_cast<std::size_t>(choice.threads));
  }
  const Runtime runtime(machine, units);
  Fftw2d<Scalar>::start();
  fmt::print(
      "{} threads, {}, planner {}; Gflop/s (5 N log2 N), medians of {} rounds; portable: its time over FFTW's; bound: "
      "two "
      "sweeps that read and write\n",
      units.host->cores.size(), choice.type, choice.planner, choice.rounds);
  Table table(Size<Scalar>::headings());
  std::vector<double> ratios;
  for (const std::int64_t n : choice.sizes) {
    Size<Scalar> size(n, choice);
    for (int round = 0; round < choice.rounds; ++round) size.measure(choice.seconds);
    table.add_row(size.row());
    ratios.push_back(size.ratio());
  }
  fmt::print("{}", table.text());
  if (!ratios.empty()) {
    fmt::print("ours/FFTW: median {:.2f}, least {:.2f}\n", median(ratios),
               *std::min_element(ratios.begin(), ratios.end()));
  }
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App parser("Puts 2D transforms by passes over rows beside FFTW's own 2D plan", "steelyard-fft2d-speed");
  const steelyard::TableResult result(parser, argc, argv);
  Choice choice;
  parser.add_option("--sizes", choice.sizes, "Rows and columns of the matrices")
      ->check(CLI::Range(1, 40000))
      ->capture_default_str();
  parser.add_option("--type", choice.type, "Element type")
      ->check(CLI::IsMember({"double", "float"}))
      ->capture_default_str();
  parser.add_option("--planner", choice.planner, "How hard FFTW looks for plans, ours and its own")
      ->check(CLI::IsMember({"estimate", "measure", "patient"}))
      ->capture_default_str();
  parser.add_option("--threads", choice.threads, "Threads of the host unit; 0: one per core")
      ->check(CLI::Range(0, 4096))
      ->capture_default_str();
  parser.add_option("--rounds", choice.rounds, "Rounds behind each median")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  parser.add_option("--time", choice.seconds, "Seconds of each timing, about")
      ->check(CLI::Range(0.0, 60.0))
      ->capture_default_str();
  CLI11_PARSE(parser, argc, argv);
  try {
    choice.type == "double" ? run<double>(choice) : run<float>(choice);
  } catch (const Error& error) {
    fmt::print(stderr, "steelyard-fft2d-speed: {}\n", error.what());
    return static_cast<int>(error.code());
  }
  return 0;
}
