// The 2D discrete Fourier transform on host and companion units of every rank at once: rows, exchange, columns and
// exchange back, on slices sized by the speed models of both passes.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "comm/measurement/group_bandwidth.hpp"
#include "comm/measurement/kernel_measurement.hpp"
#include "core/base/statistics.hpp"
#include "core/base/table.hpp"
#include "core/timing.hpp"
#include "miniapps/app/frame.hpp"
#include "miniapps/app/outputs.hpp"
#include "miniapps/app/run_text.hpp"
#include "miniapps/fft2d/cost.hpp"
#include "miniapps/fft2d/input.hpp"
#include "miniapps/fft2d/measured_kernel.hpp"
#include "miniapps/fft2d/options.hpp"
#include "miniapps/fft2d/plan.hpp"
#include "miniapps/fft2d/spectrum_check.hpp"
#include "miniapps/fft2d/transform.hpp"

namespace steelyard::fft2d {
namespace {

/// The name of the library that transforms rows on an execution space.
template <class Execution>
std::string library_name(const RowFftChoice& choice) {
  return choice.library.empty() ? row_fft_libraries<Execution>().front() : choice.library;
}

/// Extents with the fastest passes, by short measurements of all units at once. Collective. @throws CollectiveError
Extents measure_fastest_extents(Frame& frame, const Options& options, const Extents& input) {
  // What a pass over so many rows reads and writes is in no cache, if the input is not.
  constexpr double trial_bytes = 64.0 * 1024 * 1024;
  Precision precision;
  precision.repetitions_min = 3;
  precision.repetitions_max = 10;
  precision.time_limit_s = 0.5;
  precision.warmups = 0;
  const std::size_t slots = frame.slots().size();
  const double even = static_cast<double>(std::max(input.rows, input.columns)) / static_cast<double>(slots);
  return fastest_extents(input, options.real, [&](std::int64_t length, bool real) {
    const double most = trial_bytes / (2.0 * frame.element_bytes() * static_cast<double>(length));
    const auto rows = std::max<std::int64_t>(1, static_cast<std::int64_t>(std::min(even, most)));
    const UnitSizes sizes = frame.own_share(std::vector<std::int64_t>(slots, rows));
    const MeasuredKernel kernel(length, real, options.run.element, options.fft);
    const GroupPoint point = KernelMeasurement(frame.comm(), frame.co_execution(), kernel, precision).together(sizes);
    double rows_per_s = 0.0;
    if (sizes.host > 0) rows_per_s += static_cast<double>(sizes.host) / point.host.time_s;
    if (sizes.companion > 0) rows_per_s += static_cast<double>(sizes.companion) / point.companion.time_s;
    return all_sum(frame.comm(), rows_per_s);
  });
}

template <class Scalar>
class Run : public AppRun {
 public:
  /// @param input extents of the input
  Run(Frame& frame, const Options& options, const Extents& input)
      : frame_(frame),
        options_(options),
        input_extents_(input),
        exchange_(options.exchange.choice(frame.session().nodes().count())),
        group_(frame.comm(), frame.co_execution(), frame.units(), frame.slots()) {
    Options padded = options;
    if (options.padding.kind == Padding::Kind::automatic) {
      padding_s_ = timed_region(frame.session(), "steelyard::fft2d::padding",
                                [&] { padded.padding.extents = measure_fastest_extents(frame, options, input); });
      padded.padding.kind = Padding::Kind::given;
      frame.session().print(fmt::format("padding    chosen in {}\n", format_seconds(*padding_s_)));
    }
    problem_ = make_problem(padded, input);
  }

  double memory_bytes() const override {
    return point_bytes * ((problem_.real ? 0.5 : 1.0) * problem_.points() + problem_.spectrum_points());
  }
  void describe(RunRecord& record) const override {
    record.params["input_rows"] = static_cast<double>(input_extents_.rows);
    record.params["input_columns"] = static_cast<double>(input_extents_.columns);
    record.params["rows"] = static_cast<double>(problem_.rows);
    record.params["columns"] = static_cast<double>(problem_.columns);
    record.params["real"] = problem_.real ? 1.0 : 0.0;
    record.params["transposed"] = problem_.transposed ? 1.0 : 0.0;
    record.params["batches"] = exchange_.parts();
    record.settings["direction"] = options_.inverse ? "inverse" : "forward";
    record.settings["exchange"] = exchange_names[static_cast<std::size_t>(exchange_.exchange)];
    record.settings["planner"] = planner_names[static_cast<std::size_t>(options_.fft.planner)];
    if (frame_.units().host) record.settings["host_fft"] = library_name<HostExecution>(options_.fft);
    if (frame_.units().companion) record.settings["device_fft"] = library_name<CompanionExecution>(options_.fft);
    if (padding_s_) record.figures["padding_time_s"] = *padding_s_;
  }

  std::string title(const RunRecord& record) const override {
    const bool padded = problem_.rows != input_extents_.rows || problem_.columns != input_extents_.columns;
    const std::string zeros =
        padded ? fmt::format(" (zeros appended to {} x {})", input_extents_.rows, input_extents_.columns) : "";
    return fmt::format("fft2d {} x {}{} {}{}, {}{}{}, exchange {}", problem_.rows, problem_.columns, zeros,
                       problem_.real ? "" : "complex ", record.settings.at("element"), record.settings.at("direction"),
                       problem_.real ? ", real input" : "", problem_.transposed ? ", left transposed" : "",
                       record.settings.at("exchange"));
  }
  std::string notes(const RunRecord& record) const override {
    std::string lines;
    for (const char* unit : {"host", "device"}) {
      const auto library = record.settings.find(fmt::format("{}_fft", unit));
      if (library == record.settings.end()) continue;
      const std::string planner = library->second == "fftw" ? ", planner " + record.settings.at("planner") : "";
      lines += fmt::format("{:<10} {}{}\n", unit, library->second, planner);
    }
    return lines;
  }

  Plan plan() override {
    RunPlan planned = make_plan(frame_, options_, problem_);
    assignment_ = std::move(planned.assignment);
    own_rows_ = planned.passes.rows.rows_of_rank(frame_.session().rank());
    return std::move(planned.plan);
  }

  void allocate(const Plan&) override {
    const UnitSizes share = frame_.own_share(assignment_.rows.units);
    const std::int64_t row_numbers = problem_.columns * point_bytes / 8;
    bandwidth_.emplace(frame_.comm(), frame_.co_execution(), share.host * row_numbers, share.companion * row_numbers);
    const double start_s = now_s();
    input_.emplace(problem_, input_extents_, options_.run.input.empty() ? "" : options_.run.input.front(),
                   options_.run.seed);
    transform_.emplace(group_, problem_, assignment_.shares(), TransformChoice{exchange_, options_.fft});
    plan_s_ = frame_.max(now_s() - start_s);
    if (options_.run.check == CheckLevel::none) return;
    spectrum_check_.emplace(frame_.session(), problem_, own_rows_, *input_, options_.run.seed);
  }

  void load() override {
    frame_.collectively([&] { transform_->load(*input_); });
    bandwidths_.push_back(bandwidth_->measure_bytes_per_s());
  }
  UnitSeconds run() override {
    times_ = transform_->run();
    return times_.passes;
  }
  std::optional<FoundError> check() override { return spectrum_check_->check(*transform_); }
  void keep(const Repetition&) override {
    const std::vector<double> ends =
        all_max(frame_.comm(), {times_.rows_s, times_.first_exchange_s, times_.columns_s, times_.second_exchange_s});
    phase_s_.add({ends[0], ends[1] - ends[0], ends[2] - ends[1], ends[3] - ends[2]});
  }

  Outcome outcome(const Measurement& measurement, Plan& plan) override {
    Outcome outcome;
    add_speed(outcome, measurement.median_s);
    add_phases(outcome, plan);
    return outcome;
  }
  void write_files() override {
    const std::int64_t rows = problem_.transposed ? problem_.spectrum_columns() : problem_.rows;
    const std::int64_t columns = problem_.transposed ? problem_.rows : problem_.spectrum_columns();
    frame_.write_output<Complex>(rows, columns, [&](const BlockSink<Complex>& sink) {
      transform_->store([&](std::int64_t row, std::span<const Complex> values) { sink(row, 0, columns, values); });
    });
  }

 private:
  using Complex = std::complex<Scalar>;
  static constexpr std::int64_t point_bytes = 2 * sizeof(Scalar);

  /// Speed, beside that of two passes each of which reads and writes every point once.
  void add_speed(Outcome& outcome, double time_s) const {
    const double flops = transform_flops(problem_), bound_bytes_per_s = median(bandwidths_);
    const double input_bytes = (problem_.real ? 0.5 : 1.0) * point_bytes * problem_.points();
    const double bound_s = (input_bytes + 3.0 * point_bytes * problem_.spectrum_points()) / bound_bytes_per_s;
    outcome.figures["plan_time_s"] = plan_s_;
    outcome.figures["flops_per_s"] = flops / time_s;
    outcome.figures["bound_bytes_per_s"] = bound_bytes_per_s;
    outcome.figures["bound_flops_per_s"] = flops / bound_s;
    outcome.figures["share_of_bound"] = bound_s / time_s;
    outcome.below += fmt::format("plans      and memory made in {}\n", format_seconds(plan_s_));
    outcome.below +=
        fmt::format("speed      {:.2f} GFLOP/s, {:.0f} % of the {} bound of {:.2f} GFLOP/s ({:.1f} GB/s)\n",
                    flops / time_s / 1e9, 100.0 * bound_s / time_s, frame_.bound_name(bandwidth_->array_bytes()),
                    flops / bound_s / 1e9, bound_bytes_per_s / 1e9);
  }

  void add_phases(Outcome& outcome, const Plan& plan) const {
    const std::vector<double> measured_s = phase_s_.values();
    const auto& phases = plan.by_model.front().phases;
    for (std::size_t i = 0; i < phases.size(); ++i) {
      outcome.phases.push_back({phases[i].first, measured_s[i], phases[i].second});
    }
    for (const PhaseTime& phase : outcome.phases) outcome.below += phase_line(phase, 17);
  }

  Frame& frame_;
  const Options& options_;
  Extents input_extents_;
  ExchangeChoice exchange_;
  UnitGroup group_;
  std::optional<double> padding_s_;  ///< seconds of choosing the padding, where the program chooses it
  Problem problem_;
  Assignment assignment_;
  Range own_rows_;                           ///< of the input: those of this rank's units
  std::optional<GroupBandwidth> bandwidth_;  ///< of arrays as large as a unit's share of the matrix
  std::optional<Input<Scalar>> input_;
  std::optional<Transform<Scalar>> transform_;
  std::optional<SpectrumCheck<Scalar>> spectrum_check_;
  double plan_s_ = 0.0;   ///< seconds of planning and allocating the transform
  TransformTimes times_;  ///< of the last repetition
  std::vector<double> bandwidths_;
  Medians phase_s_;
};

class Fft2d : public MiniApp {
 public:
  AppFacts facts() const override {
    return {"fft2d",
            "2D Fourier transform on host and companion units at once, on slices sized by speed models",
            "transform",
            {.seed = true, .type = true, .platform = true, .input = true, .output = true}};
  }
  RunOptions& run_options() override { return options_.run; }
  void add_options(const AppOptions& parsers) override { fft2d::add_options(parsers, options_); }
  void prepare() override {
    input_ = input_extents(options_);
    problem_ = make_problem(options_, input_);
  }
  std::unique_ptr<AppRun> start(Frame& frame) const override {
    if (options_.run.element == ElementType::float64) return std::make_unique<Run<double>>(frame, options_, input_);
    return std::make_unique<Run<float>>(frame, options_, input_);
  }
  std::shared_ptr<MeasurableKernel> kernel() const override {
    return std::make_shared<MeasuredKernel>(problem_.columns, problem_.real, options_.run.element, options_.fft);
  }
  std::string problem() const override {
    return fmt::format("fft2d, {} x {} {}{}", problem_.rows, problem_.columns, problem_.real ? "" : "complex ",
                       element_name(options_.run.element));
  }
  std::optional<Plan> plan(Resources& on, std::int64_t /*times*/) const override {
    return make_plan(on, options_, problem_).plan;
  }

 private:
  Options options_;
  Extents input_;
  Problem problem_;
};

}  // namespace
}  // namespace steelyard::fft2d

namespace steelyard {
STEELYARD_MINIAPP(fft2d, fft2d::Fft2d)
}
