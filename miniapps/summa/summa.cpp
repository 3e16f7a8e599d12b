// C += A B over the units of many ranks whose speeds differ, each rank with a rectangle of all three matrices.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>
#include <optional>

#include "comm/collective.hpp"
#include "core/base/table.hpp"
#include "miniapps/app/frame.hpp"
#include "miniapps/app/outputs.hpp"
#include "miniapps/gemm/product_run.hpp"
#include "miniapps/summa/assignment.hpp"
#include "miniapps/summa/cost.hpp"
#include "miniapps/summa/measured_kernel.hpp"
#include "miniapps/summa/multiplication.hpp"
#include "miniapps/summa/options.hpp"
#include "miniapps/summa/pivot_exchange.hpp"
#include "miniapps/summa/plan.hpp"
#include "miniapps/summa/tile_sharing.hpp"

namespace steelyard::summa {
namespace {

using gemm::MatrixName;

template <class Scalar>
class Run : public AppRun {
 public:
  Run(Frame& frame, const Options& options, const Problem& problem)
      : frame_(frame),
        options_(options),
        problem_(problem),
        source_(gemm::matrix_source<Scalar>(options.run)),
        group_(frame.comm(), frame.co_execution(), frame.units(), frame.slots()) {}

  double memory_bytes() const override {
    const auto n = static_cast<double>(problem_.n);
    return 3.0 * sizeof(Scalar) * n * n;
  }
  void describe(RunRecord& record) const override {
    record.params["n"] = static_cast<double>(problem_.n);
    record.params["block"] = static_cast<double>(problem_.block);
    record.params["blocks"] = static_cast<double>(problem_.blocks());
    record.params["barrier"] = options_.run.barrier ? 1.0 : 0.0;
    gemm::describe_units(record, frame_.units(), options_.device_memory_bytes);
    record.settings["communication"] = communication_name(options_.choices.communication);
  }

  std::string title(const RunRecord& record) const override {
    return fmt::format("summa n = {}, {}, {} x {} blocks of {}, communication {}{}", problem_.n,
                       record.settings.at("element"), problem_.blocks(), problem_.blocks(), problem_.block,
                       communication_name(options_.choices.communication),
                       options_.run.barrier ? " after barriers" : "");
  }
  std::string notes(const RunRecord& record) const override { return library_lines(record, "blas"); }

  Plan plan() override {
    RunPlan planned = make_plan(frame_, options_, problem_);
    assignment_ = std::move(planned.assignment);
    if (frame_.ranks() > 1) communication_ = std::move(planned.communication);
    return std::move(planned.plan);
  }

  void allocate(const Plan& /*plan*/) override {
    const auto rank = static_cast<std::size_t>(frame_.session().rank());
    frame_.collectively([&] {
      require_memory(assignment_.rectangles[rank]);
      require_countable_pivots(problem_, assignment_.rectangles);
      multiplication_.emplace(group_, problem_, assignment_.rectangles[rank], assignment_.rows[rank],
                              options_.device_memory_bytes, source_);
      multiplication_->load_c(source_);
    });
    if (options_.run.check != CheckLevel::none) prepare_check();
    exchange_.emplace(options_.choices.communication, frame_.comm(), problem_, assignment_.rectangles,
                      std::is_same_v<Scalar, double> ? MPI_DOUBLE : MPI_FLOAT);
  }

  void load() override {
    frame_.collectively([&] { multiplication_->load_c(source_); });
  }
  UnitSeconds run() override {
    durations_ = multiplication_->run(*exchange_, options_.choices.communication == Communication::pipelined,
                                      options_.run.barrier ? frame_.comm() : MPI_COMM_NULL);
    return durations_.update_s / static_cast<double>(problem_.blocks());
  }
  std::optional<FoundError> check() override { return gemm::found_error<Scalar>(*freivalds_, multiplication_->c()); }
  void keep(const Repetition& /*repetition*/) override {
    const std::vector<double> slowest_s = all_max(frame_.comm(), durations_.communication_s);
    communication_s_.add({std::accumulate(slowest_s.begin(), slowest_s.end(), 0.0)});
  }

  Outcome outcome(const Measurement& measurement, Plan& plan) override {
    double longest_s = 0.0, units_flops_per_s = 0.0;
    for (std::size_t i = 0; i < measurement.unit_s.size(); ++i) {
      const double update_s = measurement.unit_s[i] * static_cast<double>(problem_.blocks());
      if (!(update_s > 0.0)) continue;
      longest_s = std::max(longest_s, update_s);
      const Tile part = problem_.tile(part_of(assignment_, frame_.slots()[i]));
      units_flops_per_s += gemm::Problem{part.rows, part.columns, problem_.n}.flops() / update_s;
    }
    Outcome outcome;
    const auto& phases = plan.by_model.front().phases;
    outcome.phases = {{phases[0].first, longest_s, phases[0].second},
                      {phases[1].first, communication_s_.value(), phases[1].second}};
    const double flops_per_s = problem_.flops() / measurement.median_s;
    gemm::add_speed(outcome, flops_per_s, units_flops_per_s, flops_per_s / units_flops_per_s);
    for (const CommunicationCost& cost : communication_) {
      outcome.figures[fmt::format("communication_s by {}", cost.model)] = cost.total_s();
    }
    for (const PhaseTime& phase : outcome.phases) outcome.below += phase_line(phase);
    return outcome;
  }
  void write_files() override {
    frame_.write_output<Scalar>(problem_.n, problem_.n, [&](const BlockSink<Scalar>& sink) {
      const Tile& tile = multiplication_->tile();
      if (!tile.empty()) sink(tile.row, tile.column, tile.columns, multiplication_->c_elements());
    });
  }

 private:
  void require_memory(const partition::Rectangle& rectangle) const {
    const Tile tile = problem_.tile(rectangle);
    const auto rows = static_cast<double>(tile.rows), columns = static_cast<double>(tile.columns);
    const double tiles = options_.run.check == CheckLevel::none ? 3.0 : 4.0;
    const double panels = 2.0 * static_cast<double>(problem_.depth(0)) * (rows + columns);
    frame_.require_memory("this rank's parts of A, B and C", sizeof(Scalar) * (tiles * rows * columns + panels));
  }

  void prepare_check() {
    const Tile& tile = multiplication_->tile();
    HostArray<Scalar> a;
    frame_.collectively([&] {
      a = HostArray<Scalar>(tile.rows, tile.columns);
      if (!tile.empty()) source_(MatrixName::a, tile, a.elements(0, tile.rows));
    });
    freivalds_.emplace(problem_.as_gemm(), options_.run.seed, tile_share(frame_.comm(), tile), a.rows(0, tile.rows),
                       multiplication_->b(), multiplication_->c());
  }

  /// Seconds per iteration, and for communication those that each model predicts.
  std::string phase_line(const PhaseTime& phase) const {
    const auto per_iteration = [&](double time_s) {
      return format_seconds(time_s / static_cast<double>(problem_.blocks()));
    };
    std::string line = fmt::format("  {:<13} {} per iteration", phase.name, per_iteration(phase.measured_s));
    if (phase.predicted_s) line += ", predicted " + per_iteration(*phase.predicted_s);
    if (phase.name == "communication" && !communication_.empty()) {
      std::vector<std::string> models;
      for (const CommunicationCost& cost : communication_) {
        models.push_back(cost.model + " " + per_iteration(cost.total_s()));
      }
      line += fmt::format(" ({})", fmt::join(models, ", "));
    }
    return line + "\n";
  }

  Frame& frame_;
  const Options& options_;
  Problem problem_;
  gemm::MatrixSource<Scalar> source_;
  UnitGroup group_;
  Assignment assignment_;
  std::vector<CommunicationCost> communication_;  ///< by each model; empty without channels
  std::optional<Multiplication<Scalar>> multiplication_;
  std::optional<gemm::Freivalds<Scalar>> freivalds_;
  std::optional<PivotExchange> exchange_;
  Durations durations_;      ///< of the last multiplication
  Medians communication_s_;  ///< sum over the iterations of the slowest rank's (001, section 5.4)
};

class Summa : public MiniApp {
 public:
  AppFacts facts() const override {
    return {"summa",    "C += A B over ranks whose speeds differ, on rectangles sized by speed models (SUMMA)",
            "multiply", {.seed = true, .type = true, .platform = true, .barrier = true, .input = true, .output = true},
            false,      {"even", "column"}};
  }
  RunOptions& run_options() override { return options_.run; }
  void add_options(const AppOptions& parsers) override { summa::add_options(parsers, options_); }
  void prepare() override { problem_ = make_problem(options_); }
  std::unique_ptr<AppRun> start(Frame& frame) const override {
    if (options_.run.element == ElementType::float64) return std::make_unique<Run<double>>(frame, options_, problem_);
    return std::make_unique<Run<float>>(frame, options_, problem_);
  }
  std::shared_ptr<MeasurableKernel> kernel() const override {
    return std::make_shared<MeasuredKernel>(problem_, options_.run.element, options_.device_memory_bytes);
  }
  std::string problem() const override {
    return fmt::format("summa, {0} x {0} {1} in blocks of {2} x {2}: {3} iterations, communication {4}", problem_.n,
                       element_name(options_.run.element), problem_.block, problem_.blocks(),
                       communication_name(options_.choices.communication));
  }
  std::optional<Plan> plan(Resources& on, std::int64_t /*times*/) const override {
    return make_plan(on, options_, problem_).plan;
  }

 private:
  Options options_;
  Problem problem_;
};

}  // namespace
}  // namespace steelyard::summa

namespace steelyard {
STEELYARD_MINIAPP(summa, summa::Summa)
}
