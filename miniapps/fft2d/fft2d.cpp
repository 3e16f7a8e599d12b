// The 2D discrete Fourier transform on host and companion units of every rank at once: rows, exchange, columns and
// exchange back, on slices sized by the speed models of both passes.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <complex>
#include <numeric>
#include <optional>
#include <span>

#include "core/base/errors.hpp"
#include "core/base/npy.hpp"
#include "core/base/table.hpp"
#include "core/timing.hpp"
#include "core/typed_options.hpp"
#include "miniapps/app/frame.hpp"
#include "miniapps/app/outputs.hpp"
#include "miniapps/fft2d/plan.hpp"
#include "miniapps/fft2d/spectrum_check.hpp"
#include "miniapps/fft2d/transform.hpp"
#include "miniapps/gemm/problem.hpp"
#include "partition/algorithms.hpp"

namespace steelyard::fft2d {
namespace {

/// Adds the options of fft2d alone; the shared ones are there.
void add_options(const AppOptions& parsers, Options& options) {
  add_grid_options(parsers, options.grid, 0);
  CLI::App &model = parsers.model(), &plan = parsers.plan(), &run = parsers.run();
  model.get_option("--size")->description(fmt::format("Rows and columns (default {})", Problem().rows));
  model.get_option("--type")->description("Type of numbers and of the parts of complex ones (default double)");
  plan.get_option("--model")->description(
      "Speed models (*.fpm.json) of pass 1, over rows: one for all units, or one each");
  run.get_option("--input")->description("Matrix of complex numbers, with --real of real ones (NumPy .npy)");
  plan.add_option("--column-model", options.column_models,
                  "The same of pass 2, over columns; without, as --model for square complex input, else measured")
      ->type_name("FILE...");
  run.add_flag_callback(
      "--inverse", [&options] { options.problem.direction = Direction::inverse; },
      "The inverse transform, divided by the number of points");
  model.add_flag("--real", options.problem.real, "Real input; columns 0 to columns / 2 of its spectrum are made");
  plan.add_flag("--transposed", options.problem.transposed,
                "Leave the spectrum transposed, which saves the second exchange");
  add_choice<Exchange>(plan, "--exchange", options.exchange, exchange_names,
                       "When ranks send what a pass has made: at its end (default on one node), or batch by batch on "
                       "the way (default on several)");
  model
      .add_option("--fft", options.fft.library,
                  "Library that transforms rows (default: the fastest that a unit has): fftw on hosts, vendor on "
                  "devices, portable everywhere")
      ->check(CLI::IsMember({"fftw", "vendor", "portable"}))
      ->type_name("LIBRARY");
  add_choice<Planner>(model, "--planner", options.fft.planner, planner_names,
                      "How hard FFTW looks for a plan (default measure)");
}

/// Rows and columns of the file of `--input`. @throws FileFormatError
std::vector<std::int64_t> input_shape(const std::filesystem::path& file, ElementType type, bool real) {
  const std::string element = read_npy_header(file).element;
  if (!real && element.starts_with("<f")) {
    throw FileFormatError(file.string(), "descr",
                          fmt::format("is '{}' (expected complex numbers, or --real)", element));
  }
  return with_element(type, [&]<class Scalar>(Scalar) {
    return (real ? read_npy_matrix_header<Scalar> : read_npy_matrix_header<std::complex<Scalar>>)(file).shape;
  });
}

/// Checks what only makes sense together, and sets the problem's extents. @throws InvalidArgument, FileFormatError
void complete(Options& options) {
  Problem& problem = options.problem;
  if (problem.real && problem.direction == Direction::inverse) {
    throw InvalidArgument("--real with --inverse (expected a forward transform of real numbers, or a complex one)");
  }
  if (!options.column_models.empty() && options.run.models.empty()) {
    throw InvalidArgument("--column-model without --model (expected the models of both passes, or none)");
  }
  partition::find_algorithm(options.run.partition);
  const GridOptions& grid = options.grid;
  grid.set(problem.rows, problem.columns);
  const auto& files = options.run.input;
  if (files.size() > 1) throw InvalidArgument(fmt::format("--input names {} files (expected one)", files.size()));
  for (const std::filesystem::path& file : files) {
    const std::vector<std::int64_t> shape = input_shape(file, options.run.element, problem.real);
    const auto require = [&](bool right, const std::string& expected) {
      if (right) return;
      throw FileFormatError(file.string(), "shape",
                            fmt::format("is {} x {} (expected {})", shape[0], shape[1], expected));
    };
    require(grid.rows == 0 || shape == std::vector{grid.rows, grid.columns},
            fmt::format("{} x {}", grid.rows, grid.columns));
    require(shape[0] >= 1 && shape[1] >= 1, "at least 1 x 1");
    problem.rows = shape[0];
    problem.columns = shape[1];
  }
  require_extents("transform", "points", problem.rows, problem.columns);
}

/// Fills whole rows of the matrix that is transformed, from a row on, with the host unit's threads: of the file of
/// `--input`, or at random. Random numbers, or real and imaginary parts, are uniform in [-1, 1), and the same on every
/// unit. The source throws FileFormatError for a file that has changed.
template <class Scalar>
typename Transform<Scalar>::Source input_source(const Problem& problem, const RunOptions& options) {
  const std::int64_t columns = problem.columns, numbers = columns * (problem.real ? 1 : 2);
  if (!options.input.empty()) {
    return [=, real = problem.real, path = options.input.front()](std::int64_t first_row, std::span<Scalar> values) {
      const std::int64_t rows = static_cast<std::int64_t>(values.size()) / numbers;
      if (rows == 0) return;
      const auto read = [&]<class Element>(Element* elements) {
        read_npy_block<Element>(path, read_npy_matrix_header<Element>(path), first_row, 0, rows, columns,
                                {elements, static_cast<std::size_t>(rows * columns)});
      };
      real ? read(values.data()) : read(reinterpret_cast<std::complex<Scalar>*>(values.data()));
    };
  }
  const gemm::RandomMatrix real(options.seed, gemm::MatrixName::a), imaginary(options.seed, gemm::MatrixName::b);
  return [=, is_complex = !problem.real](std::int64_t first_row, std::span<Scalar> values) {
    const Kokkos::RangePolicy<HostExecution> rows(0, static_cast<std::int64_t>(values.size()) / numbers);
    Kokkos::parallel_for("steelyard::fft2d::fill", rows, [=](const std::int64_t i) {
      Scalar* number = values.data() + i * numbers;
      for (std::int64_t j = 0; j < columns; ++j) {
        *number++ = static_cast<Scalar>(real.element(first_row + i, j));
        if (is_complex) *number++ = static_cast<Scalar>(imaginary.element(first_row + i, j));
      }
    });
    HostExecution().fence();
  };
}

template <class Scalar>
class Run : public AppRun {
 public:
  Run(Frame& frame, const Options& options)
      : frame_(frame),
        options_(options),
        problem_(options.problem),
        exchange_(exchange_of(options, frame)),
        group_(frame.comm(), frame.co_execution(), frame.units(), frame.slots()),
        input_(input_source<Scalar>(problem_, options.run)) {}

  double memory_bytes() const override { return input_bytes() + point_bytes * problem_.spectrum_points(); }
  void describe(RunRecord& record) const override {
    record.params.insert({{"rows", static_cast<double>(problem_.rows)},
                          {"columns", static_cast<double>(problem_.columns)},
                          {"real", problem_.real ? 1.0 : 0.0},
                          {"transposed", problem_.transposed ? 1.0 : 0.0}});
    record.settings["direction"] = problem_.direction == Direction::inverse ? "inverse" : "forward";
    record.settings["exchange"] = word_of(exchange_names, exchange_);
    record.settings["planner"] = word_of(planner_names, options_.fft.planner);
    if (frame_.units().host) record.settings["host_fft"] = row_fft_library<HostExecution>(options_.fft);
    if (frame_.units().companion) record.settings["device_fft"] = row_fft_library<CompanionExecution>(options_.fft);
  }

  std::string title(const RunRecord& record) const override {
    return fmt::format("fft2d {} x {} {}{}, {}{}{}, exchange {}", problem_.rows, problem_.columns,
                       problem_.real ? "" : "complex ", record.settings.at("element"), record.settings.at("direction"),
                       problem_.real ? ", real input" : "", problem_.transposed ? ", left transposed" : "",
                       record.settings.at("exchange"));
  }
  std::string notes(const RunRecord& record) const override {
    return library_lines(record, "fft", {{"fftw", ", planner " + record.settings.at("planner")}});
  }

  void allocate(const Plan& plan) override {
    std::vector<std::int64_t> bytes = plan.distribution;
    for (std::int64_t& rows : bytes) rows *= problem_.columns * point_bytes;
    bound_.emplace(frame_, bytes);
    const double start_s = now_s();
    transform_.emplace(group_, problem_, Shares{plan.distribution, plan.column_distribution}, exchange_, options_.fft);
    plan_s_ = frame_.max(now_s() - start_s);
    if (options_.run.check == CheckLevel::none) return;
    spectrum_check_.emplace(frame_.session(), *transform_, input_, options_.run.seed);
  }

  void load() override {
    frame_.collectively([&] { transform_->load(input_); });
    bound_->measure();
  }
  UnitSeconds run() override {
    times_ = transform_->run();
    return times_.passes;
  }
  std::optional<FoundError> check() override { return spectrum_check_->check(); }
  void keep(const Repetition&) override {
    std::vector<double> phase_s = all_max(frame_.comm(), {times_.ends_s.begin(), times_.ends_s.end()});
    std::adjacent_difference(phase_s.begin(), phase_s.end(), phase_s.begin());
    phase_s_.add(phase_s);
  }

  /// Speed, beside that of two passes each of which reads and writes every point once, and the phases.
  Outcome outcome(const Measurement& measurement, Plan& plan) override {
    const double flops = transform_flops(problem_), time_s = measurement.median_s;
    const double bytes = input_bytes() + 3.0 * point_bytes * problem_.spectrum_points();
    const double bound_s = bytes / bound_->bytes_per_s();
    Outcome outcome;
    outcome.figure_of_merit = {"GFLOP/s", 1e-9 * flops / time_s};
    outcome.figures = {{"plan_time_s", plan_s_}, {"bound_flops_per_s", flops / bound_s}};
    outcome.below = fmt::format("set-up     {} for plans and memory\n", format_seconds(plan_s_));
    outcome.below +=
        bound_->sum_up(outcome, bound_s / time_s, fmt::format(" of {:.2f} GFLOP/s", flops / bound_s / 1e9));
    const std::vector<double> measured_s = phase_s_.values();
    const auto& phases = plan.by_model.front().phases;
    for (std::size_t i = 0; i < phases.size(); ++i) {
      outcome.phases.push_back({phases[i].first, measured_s[i], phases[i].second});
      outcome.below += phase_line(outcome.phases.back(), 17);
    }
    return outcome;
  }
  void write_files() override {
    const std::int64_t rows = problem_.transposed ? problem_.spectrum_columns() : problem_.rows;
    const std::int64_t columns = transform_->result_length();
    frame_.write_output<Complex>(rows, columns, [&](const BlockSink<Complex>& sink) {
      transform_->store([&](std::int64_t row, std::span<const Complex> values) { sink(row, 0, columns, values); });
    });
  }

 private:
  using Complex = std::complex<Scalar>;
  static constexpr std::int64_t point_bytes = 2 * sizeof(Scalar);

  double input_bytes() const { return (problem_.real ? 0.5 : 1.0) * point_bytes * problem_.points(); }

  Frame& frame_;
  const Options& options_;
  const Problem& problem_;
  Exchange exchange_;
  UnitGroup group_;
  std::optional<MemoryBound> bound_;  ///< of arrays as large as a unit's share of the matrix
  typename Transform<Scalar>::Source input_;
  std::optional<Transform<Scalar>> transform_;
  std::optional<SpectrumCheck<Scalar>> spectrum_check_;
  double plan_s_ = 0.0;   ///< seconds of planning and allocating the transform
  TransformTimes times_;  ///< of the last repetition
  Medians phase_s_;
};

class Fft2d : public MiniAppOf<Options> {
 public:
  AppFacts facts() const override {
    return {"fft2d",
            "2D Fourier transform on host and companion units at once, on slices sized by speed models",
            "transform",
            {.seed = true, .type = true, .platform = true, .input = true, .output = true}};
  }
  void add_options(const AppOptions& parsers) override { fft2d::add_options(parsers, options_); }
  void prepare() override { complete(options_); }
  std::unique_ptr<AppRun> start(Frame& frame) const override { return make_run<Run>(frame, options_); }
  std::shared_ptr<MeasurableKernel> kernel() const override {
    const Problem& problem = options_.problem;
    return row_kernel(problem.columns, problem.real, options_.run.element, options_.fft);
  }
  std::string problem() const override {
    const Problem& problem = options_.problem;
    return fmt::format("fft2d, {} x {} {}{}", problem.rows, problem.columns, problem.real ? "" : "complex ",
                       element_name(options_.run.element));
  }
  Plan plan(Resources& on, std::int64_t /*times*/) const override { return make_plan(on, options_); }
};

}  // namespace
}  // namespace steelyard::fft2d

namespace steelyard {
STEELYARD_MINIAPP(fft2d, fft2d::Fft2d)
}
