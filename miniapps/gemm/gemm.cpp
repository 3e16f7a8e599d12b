// C = alpha A B + beta C on host and companion units of every rank at once, on block rows sized by speed models.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>

#include "comm/unit_group.hpp"
#include "core/base/table.hpp"
#include "core/memory/host_array.hpp"
#include "miniapps/app/frame.hpp"
#include "miniapps/app/outputs.hpp"
#include "miniapps/gemm/measured_kernel.hpp"
#include "miniapps/gemm/options.hpp"
#include "miniapps/gemm/product_run.hpp"
#include "miniapps/gemm/unit_gemm.hpp"

namespace steelyard::gemm {
namespace {

/// One multiplication of every unit's block rows, all at the same time and without messages.
Plan make_plan(Resources& on, const Options& options, const Problem& problem) {
  const MeasuredKernel kernel(problem, options.run.element, options.device_memory_bytes);
  Plan plan = plan_steps(on, kernel, problem.block_rows(), 1, {"multiply", ""}, /*exchange=*/std::nullopt);
  plan.headings = {"block rows", ""};
  return plan;
}

template <class Scalar>
class Run : public AppRun {
 public:
  Run(Frame& frame, const Options& options, const Problem& problem)
      : frame_(frame),
        options_(options),
        problem_(problem),
        group_(frame.comm(), frame.co_execution(), frame.units(), frame.slots()),
        source_(matrix_source<Scalar>(options.run)) {}

  double memory_bytes() const override {
    const auto m = static_cast<double>(problem_.m), n = static_cast<double>(problem_.n);
    const auto k = static_cast<double>(problem_.k), ranks = static_cast<double>(frame_.session().size());
    return sizeof(Scalar) * (m * k + ranks * k * n + m * n);
  }
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

  Plan plan() override { return make_plan(frame_, options_, problem_); }

  void allocate(const Plan& plan) override {
    first_rows_ = {0};
    std::int64_t block_rows = 0;
    for (const std::int64_t units : plan.distribution) {
      block_rows += units;
      first_rows_.push_back(problem_.first_row(block_rows));
    }
    frame_.collectively([&] {
      allocate_matrices();
      group_.run([&](const auto& peer) {
        const HostRows rows = rows_of(peer.slot());
        if (rows.count == 0) return;
        const std::int64_t first = rows.first - own_.first;
        Unit& unit = units_[peer.kind()];
        unit.operands = {a_.rows(first, rows.count), b(), c_.rows(first, rows.count)};
        unit.gemm.emplace(peer.kind(), problem_, rows.count, options_.device_memory_bytes, !options_.serialize);
      });
      if (options_.run.check == CheckLevel::none) return;
      load_c();
      result_check_.emplace(problem_, options_.run.seed, a(), b(), c());
    });
    frame_.collectively([&] { unit_s_ = multiply({1, 1}); });
  }

  /// Measures the speed of each unit while none waits, and sets C.
  void load() override {
    const double slowest_s = frame_.max(std::max(unit_s_.host_s, unit_s_.companion_s));
    const auto times = [slowest_s](double once_s) {
      constexpr double most = 1e6;
      return once_s > 0.0 ? static_cast<int>(std::clamp(std::round(slowest_s / once_s), 1.0, most)) : 1;
    };
    const PerUnit<int> repeats{times(unit_s_.host_s), times(unit_s_.companion_s)};
    frame_.collectively([&] {
      const UnitSeconds seconds = multiply(repeats);
      busy_s_ = {seconds.host_s / repeats.host, seconds.companion_s / repeats.companion};
    });
    frame_.collectively([&] { load_c(); });
  }
  UnitSeconds run() override { return unit_s_ = multiply({1, 1}); }
  std::optional<FoundError> check() override { return result_check_->check(c()); }
  void keep(const Repetition& repetition) override {
    const double units_flops_per_s = sum_of_speeds();
    speeds_.add({units_flops_per_s, problem_.flops() / repetition.seconds / units_flops_per_s});
  }

  Outcome outcome(const Measurement& measurement, Plan& plan) override {
    Outcome outcome;
    observe_devices(outcome);
    outcome.phases = {{"multiply", measurement.median_s, plan.time_s}};
    if (problem_.flops() > 0.0) {
      const std::vector<double> speeds = speeds_.values();
      add_speed(outcome, problem_.flops() / measurement.median_s, speeds[0], speeds[1]);
    }
    return outcome;
  }
  void write_files() override {
    frame_.write_output<Scalar>(problem_.m, problem_.n, [&](const BlockSink<Scalar>& sink) {
      sink(own_.first, 0, problem_.n, c_.elements(0, own_.count));
    });
  }

 private:
  /// Rows of the whole A and C.
  struct HostRows {
    std::int64_t first = 0, count = 0;
  };
  struct Unit {
    Operands<Scalar> operands;
    std::optional<UnitGemm<Scalar>> gemm;  ///< nothing without rows
  };

  HostRows rows_of(int slot) const {
    const auto i = static_cast<std::size_t>(slot);
    return {first_rows_[i], first_rows_[i + 1] - first_rows_[i]};
  }
  ConstMatrix<HostExecution, Scalar> a() const { return a_.rows(0, own_.count); }
  ConstMatrix<HostExecution, Scalar> b() const { return b_.rows(0, problem_.k); }
  ConstMatrix<HostExecution, Scalar> c() const { return c_.rows(0, own_.count); }

  /// This rank's rows of A and C, and all of B; A and B with their elements.
  void allocate_matrices() {
    own_ = {problem_.m, 0};
    for (std::size_t i = 0; i < frame_.slots().size(); ++i) {
      if (frame_.slots()[i].rank != frame_.session().rank()) continue;
      const HostRows rows = rows_of(static_cast<int>(i));
      own_ = {std::min(own_.first, rows.first), own_.count + rows.count};
    }
    const auto rows = static_cast<double>(own_.count), n = static_cast<double>(problem_.n);
    const auto k = static_cast<double>(problem_.k);
    frame_.require_memory("B and this rank's rows of A and C", sizeof(Scalar) * (rows * (k + n) + k * n));
    a_ = HostArray<Scalar>(own_.count, problem_.k);
    b_ = HostArray<Scalar>(problem_.k, problem_.n);
    c_ = HostArray<Scalar>(own_.count, problem_.n);
    // The companion touches its rows first, so that they are near its core; the host's threads the rest.
    group_.run([&](const auto& peer) {
      if (peer.kind() == ProcessingUnit::Kind::host) return;
      const HostRows companion = rows_of(peer.slot());
      for (const HostArray<Scalar>* array : {&a_, &c_}) {
        const std::span<Scalar> elements = array->elements(companion.first - own_.first, companion.count);
        std::fill(elements.begin(), elements.end(), Scalar{0});
      }
    });
    source_(MatrixName::a, {own_.first, 0, own_.count, problem_.k}, a_.elements(0, own_.count));
    source_(MatrixName::b, {0, 0, problem_.k, problem_.n}, b_.elements(0, problem_.k));
  }

  /// Sets C; where beta is 0, to NaN, for no multiplication may read it.
  void load_c() {
    const std::span<Scalar> elements = c_.elements(0, own_.count);
    if (problem_.reads_c()) {
      source_(MatrixName::c, {own_.first, 0, own_.count, problem_.n}, elements);
    } else {
      std::fill(elements.begin(), elements.end(), std::numeric_limits<Scalar>::quiet_NaN());
    }
  }

  /// The program of every unit: its slice of C so many times. After more than once C is of no use.
  UnitSeconds multiply(const PerUnit<int>& times) {
    const UnitSeconds seconds = group_.run([&](const auto& peer) {
      Unit& unit = units_[peer.kind()];
      if (!unit.gemm) return;
      peer.compute([&] {
        for (int i = 0; i < times[peer.kind()]; ++i) unit.gemm->run(unit.operands);
      });
    });
    return {units_.host.gemm ? seconds.host_s : 0.0, units_.companion.gemm ? seconds.companion_s : 0.0};
  }

  /// Flop/s of all slots, each by its own seconds.
  double sum_of_speeds() const {
    const std::vector<double> seconds = frame_.gather_seconds(busy_s_);
    double speed = 0.0;
    for (std::size_t i = 0; i < seconds.size(); ++i) {
      Problem slice = problem_;
      slice.m = rows_of(static_cast<int>(i)).count;
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

  /// Multiplies once more with a timeline of the companions that have a memory of their own; keeps rank 0's.
  void observe_devices(Outcome& outcome) {
    const std::optional<Blocking> blocking = units_.companion.gemm ? units_.companion.gemm->blocking() : std::nullopt;
    if (frame_.max(blocking ? 1.0 : 0.0) == 0.0) return;
    PerUnit<std::vector<EngineOperation>> operations;
    frame_.collectively([&] {
      group_.run([&](const auto& peer) {
        Unit& unit = units_[peer.kind()];
        if (unit.gemm) operations[peer.kind()] = unit.gemm->run_timed(unit.operands);
      });
    });
    const TransferOverlap overlap = transfer_overlap(operations.companion);
    constexpr std::array names{"loading", "multiplying", "storing"};
    for (const EngineOperation& operation : operations.companion) {
      const std::string name = names[static_cast<std::size_t>(operation.engine)];
      outcome.points[name + "_start_s"].push_back(operation.start_s);
      outcome.points[name + "_end_s"].push_back(operation.end_s);
    }
    for (const std::string& line : all_gather_text(frame_.comm(), blocking ? device_line(*blocking, overlap) : "")) {
      outcome.above += line;
    }
    TransferOverlap sum;
    sum.transfer_s = all_sum(frame_.comm(), overlap.transfer_s);
    sum.hidden_s = all_sum(frame_.comm(), overlap.hidden_s);
    outcome.figures["transfer_time_s"] = sum.transfer_s;
    outcome.figures["hidden_transfer_time_s"] = sum.hidden_s;
    outcome.figures["hidden_transfer_share"] = sum.hidden_share();
  }

  Frame& frame_;
  const Options& options_;
  Problem problem_;
  UnitGroup group_;
  MatrixSource<Scalar> source_;
  std::vector<std::int64_t> first_rows_;  ///< of every slot, and m
  HostRows own_;                          ///< of this rank's units together
  HostArray<Scalar> a_, b_, c_;           ///< own rows, all rows, own rows
  PerUnit<Unit> units_;
  std::optional<ResultCheck<Scalar>> result_check_;
  UnitSeconds unit_s_;  ///< of the last multiplication
  UnitSeconds busy_s_;  ///< of one while all other units are busy too
  Medians speeds_;
};

class Gemm : public MiniApp {
 public:
  AppFacts facts() const override {
    return {"gemm",
            "C = alpha A B + beta C on host and companion units at once, on slices sized by speed models",
            "multiply",
            {.seed = true, .type = true, .input = true, .output = true},
            /*grows=*/true};
  }
  RunOptions& run_options() override { return options_.run; }
  void add_options(const AppOptions& parsers) override { gemm::add_options(parsers, options_); }
  void prepare() override { problem_ = make_problem(options_); }
  std::unique_ptr<AppRun> start(Frame& frame) const override {
    if (options_.run.element == ElementType::float64) return std::make_unique<Run<double>>(frame, options_, problem_);
    return std::make_unique<Run<float>>(frame, options_, problem_);
  }
  std::shared_ptr<MeasurableKernel> kernel() const override {
    return std::make_shared<MeasuredKernel>(problem_, options_.run.element, options_.device_memory_bytes);
  }
  std::string problem() const override {
    return fmt::format("gemm, m = {}, n = {}, k = {}, {}: {} block rows of {}", problem_.m, problem_.n, problem_.k,
                       element_name(options_.run.element), problem_.block_rows(), problem_.block);
  }
  std::optional<Plan> plan(Resources& on, std::int64_t times) const override {
    Problem problem = problem_;
    problem.m *= times;
    return make_plan(on, options_, problem);
  }

 private:
  Options options_;
  Problem problem_;
};

}  // namespace
}  // namespace steelyard::gemm

namespace steelyard {
STEELYARD_MINIAPP(gemm, gemm::Gemm)
}
