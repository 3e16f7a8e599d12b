// C = alpha A B + beta C on host and companion units of every rank at once, on block rows sized by speed models.
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "core/base/table.hpp"
#include "miniapps/app/frame.hpp"
#include "miniapps/app/outputs.hpp"
#include "miniapps/gemm/measured_kernel.hpp"
#include "miniapps/gemm/multiplication.hpp"
#include "miniapps/gemm/options.hpp"
#include "miniapps/gemm/product_run.hpp"

namespace steelyard::gemm {
namespace {

template <class Scalar>
class Run : public AppRun {
 public:
  Run(Frame& frame, const Options& options, const Problem& problem)
      : frame_(frame), options_(options), problem_(problem), source_(matrix_source<Scalar>(options.run)) {}

  void describe(RunRecord& record) const override {
    record.params["m"] = static_cast<double>(problem_.m);
    record.params["n"] = static_cast<double>(problem_.n);
    record.params["k"] = static_cast<double>(problem_.k);
    record.params["alpha"] = problem_.alpha;
    record.params["beta"] = problem_.beta;
    record.params["block"] = static_cast<double>(problem_.block);
    describe_units(record, frame_.units(), options_.device_memory_bytes);
  }

  std::string title(const RunRecord& record) const override {
    return fmt::format("gemm m = {}, n = {}, k = {}, {}, alpha = {:g}, beta = {:g}, block rows of {}", problem_.m,
                       problem_.n, problem_.k, record.settings.at("element"), problem_.alpha, problem_.beta,
                       problem_.block);
  }
  std::string notes(const RunRecord& record) const override { return library_lines(record, "blas"); }

  /// Every unit's slice from its model. All units run at the same time, and ranks send no messages.
  Plan plan() override {
    Plan plan = frame_.distribute(MeasuredKernel(problem_, options_.run.element, options_.device_memory_bytes),
                                  problem_.block_rows());
    plan.headings = {"block rows", ""};
    plan.time_s = frame_.start_seconds() + *std::max_element(plan.unit_s.begin(), plan.unit_s.end());
    return plan;
  }

  void allocate(const Plan& plan) override {
    block_rows_ = plan.distribution;
    frame_.collectively([&] {
      require_memory();
      multiplication_.emplace(frame_.session(), frame_.co_execution(), problem_, frame_.slots(), block_rows_,
                              options_.device_memory_bytes, source_);
      if (options_.run.check == CheckLevel::none) return;
      multiplication_->load_c(source_);
      result_check_.emplace(problem_, options_.run.seed, multiplication_->a(), multiplication_->b(),
                            multiplication_->c());
    });
    frame_.collectively([&] { unit_s_ = multiplication_->run(); });
  }

  /// Measures the speed of each unit while none waits, and sets C.
  void load() override {
    const double slowest_s = frame_.max(std::max(unit_s_.host_s, unit_s_.companion_s));
    frame_.collectively([&] { busy_s_ = multiplication_->run_busy(unit_s_, slowest_s); });
    frame_.collectively([&] { multiplication_->load_c(source_); });
  }
  UnitSeconds run() override { return unit_s_ = multiplication_->run(); }
  std::optional<FoundError> check() override { return result_check_->check(multiplication_->c()); }
  void keep(const Repetition& repetition) override {
    const double units_flops_per_s = sum_of_speeds();
    speeds_.add({units_flops_per_s, problem_.flops() / repetition.seconds / units_flops_per_s});
  }

  Outcome outcome(const Measurement& measurement, Plan& plan) override {
    write_matrix<Scalar>(frame_.session(), options_.run.output, problem_.m, problem_.n,
                         [&](const BlockSink<Scalar>& sink) {
                           sink(multiplication_->first_row(), 0, problem_.n, multiplication_->c_elements());
                         });
    Outcome outcome;
    observe_devices(outcome);
    outcome.phases = {{"multiply", measurement.median_s, plan.time_s}};
    if (problem_.flops() > 0.0) {
      const std::vector<double> speeds = speeds_.values();
      add_speed(outcome, problem_.flops() / measurement.median_s, speeds[0], speeds[1]);
    }
    return outcome;
  }

 private:
  void require_memory() const {
    const UnitSizes share = frame_.own_share(block_rows_);
    const double rows = static_cast<double>((share.host + share.companion) * problem_.block);
    const auto n = static_cast<double>(problem_.n), k = static_cast<double>(problem_.k);
    frame_.require_memory("B and this rank's rows of A and C", sizeof(Scalar) * (rows * (k + n) + k * n));
  }

  /// Flop/s of all slots, each by its own seconds.
  double sum_of_speeds() const {
    const std::vector<double> seconds = frame_.gather_seconds(busy_s_);
    double speed = 0.0;
    std::int64_t before = 0;
    for (std::size_t i = 0; i < seconds.size(); ++i) {
      Problem slice = problem_;
      slice.m = problem_.first_row(before + block_rows_[i]) - problem_.first_row(before);
      before += block_rows_[i];
      if (seconds[i] > 0.0) speed += slice.flops() / seconds[i];
    }
    return speed;
  }

  /// One line on how a companion multiplies in its memory.
  std::string device_line(const Blocking& blocking, const TransferOverlap& overlap) const {
    const BlockGrid& grid = blocking.grid;
    const std::string how =
        blocking.in_core
            ? "in core"
            : fmt::format("out of core, C in {} x {} blocks of {} x {}, {} panel{} of {}", grid.rows(), grid.columns(),
                          grid.height, grid.width, grid.panels(), grid.panels() == 1 ? "" : "s", grid.depth);
    return fmt::format("device     rank {}: {}, {}; copying for {}, {:.0f} % of that hidden by multiplying\n",
                       frame_.session().rank(), format_bytes(sizeof(Scalar) * blocking.buffer_elements()), how,
                       format_seconds(overlap.transfer_s), 100.0 * overlap.hidden_share());
  }

  /// Runs once more with a timeline of the companions that have a memory of their own.
  void observe_devices(Outcome& outcome) {
    const std::optional<Blocking> blocking = multiplication_->blocking();
    if (frame_.max(blocking ? 1.0 : 0.0) == 0.0) return;
    std::optional<TransferOverlap> overlap;
    frame_.collectively([&] { overlap = multiplication_->run_timed(); });
    for (const std::string& line : all_gather_text(frame_.comm(), blocking ? device_line(*blocking, *overlap) : "")) {
      outcome.above += line;
    }
    TransferOverlap sum;
    sum.transfer_s = all_sum(frame_.comm(), overlap ? overlap->transfer_s : 0.0);
    sum.hidden_s = all_sum(frame_.comm(), overlap ? overlap->hidden_s : 0.0);
    outcome.figures["transfer_time_s"] = sum.transfer_s;
    outcome.figures["hidden_transfer_time_s"] = sum.hidden_s;
    outcome.figures["hidden_transfer_share"] = sum.hidden_share();
  }

  Frame& frame_;
  const Options& options_;
  Problem problem_;
  MatrixSource<Scalar> source_;
  std::vector<std::int64_t> block_rows_;  ///< of every slot
  std::optional<Multiplication<Scalar>> multiplication_;
  std::optional<ResultCheck<Scalar>> result_check_;
  UnitSeconds unit_s_;  ///< of the last multiplication
  UnitSeconds busy_s_;  ///< of one while all others are busy too
  Medians speeds_;
};

class Gemm : public MiniApp {
 public:
  AppFacts facts() const override {
    return {"gemm", "C = alpha A B + beta C on host and companion units at once, on slices sized by speed models",
            "multiply", /*has_steps=*/false, /*has_messages=*/false};
  }
  RunOptions& run_options() override { return options_.run; }
  void add_options(CLI::App& parser) override { gemm::add_options(parser, options_); }
  void prepare() override { problem_ = make_problem(options_); }
  std::unique_ptr<AppRun> start(Frame& frame) const override {
    if (options_.run.element == ElementType::float64) return std::make_unique<Run<double>>(frame, options_, problem_);
    return std::make_unique<Run<float>>(frame, options_, problem_);
  }
  std::shared_ptr<MeasurableKernel> measurable_kernel() const override { return std::make_shared<MeasuredKernel>(); }
  std::unique_ptr<Forecaster> forecaster() const override { return make_forecaster(); }

 private:
  Options options_;
  Problem problem_;
};

}  // namespace
}  // namespace steelyard::gemm

namespace steelyard {
STEELYARD_MINIAPP(gemm, gemm::Gemm)
}
