// The heat equation on a plate whose rows the units of all ranks share, by an explicit five-point stencil with halos:
//   u(i, j) <- u(i, j) + r (u(i-1, j) + u(i+1, j) + u(i, j-1) + u(i, j+1) - 4 u(i, j)),   r = kappa dt / h^2,
// with u = 0 around the plate. The second tutorial after jacobi; miniapps/README.md walks through both.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>
#include <optional>

#include "comm/row_exchange.hpp"
#include "core/spaces.hpp"
#include "core/sweep/vector_for.hpp"
#include "miniapps/app/frame.hpp"
#include "models/communication/message_pattern.hpp"
#include "partition/algorithms.hpp"

namespace steelyard::heat {

/// Rows of the plate in one unit's memory, with a ghost row or column on each side; those around the plate stay 0.
template <class Execution>
class UnitPlate {
 public:
  using Field = Kokkos::View<double**, Kokkos::LayoutRight, DeviceOf<Execution>>;

  /// Called by the unit's own thread, as all functions are.
  UnitPlate(const Execution& space, std::int64_t first, std::int64_t rows, std::int64_t columns)
      : space_(space), first_(first) {
    for (Field* const field : {&now_, &next_}) {
      *field = Field(Kokkos::view_alloc(space, "steelyard::heat::u"), rows + 2, columns + 2);
    }
  }

  std::int64_t first() const { return first_; }
  std::int64_t rows() const { return now_.extent_int(0) - 2; }
  std::int64_t columns() const { return now_.extent_int(1) - 2; }
  /// Where row 0 of the plate would be, see RowExchange.
  double* origin() { return now_.data() + (1 - first_) * (columns() + 2); }

  /// Sets the unit's rows to value(i, j), ghost values too; fences.
  template <class Value>
  void load(const Value& value) {
    const auto mirror = Kokkos::create_mirror_view(now_);
    for (std::int64_t i = -1; i <= rows(); ++i) {
      for (std::int64_t j = -1; j <= columns(); ++j) mirror(i + 1, j + 1) = value(first_ + i, j);
    }
    Kokkos::deep_copy(now_, mirror);
  }
  /// The unit's rows on the host, one after the other.
  std::vector<double> rows_on_host() const {
    const auto mirror = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), now_);
    std::vector<double> values;
    for (std::int64_t i = 1; i <= rows(); ++i) values.insert(values.end(), &mirror(i, 1), &mirror(i, 1) + columns());
    return values;
  }

  // Public, so that compilers for devices can name the kernel.

  using Policy = Kokkos::TeamPolicy<Execution>;
  struct Step {
    Field now, next;
    double ratio;
    KOKKOS_FUNCTION void operator()(const typename Policy::member_type& member) const {
      const std::int64_t i = member.league_rank() + 1, columns = now.extent_int(1) - 2;
      const double *const above = &now(i - 1, 0), *const here = &now(i, 0), *const below = &now(i + 1, 0);
      double* const result = &next(i, 0);
      const double own = ratio;
      vector_for(member, 1, columns + 1, [=](const std::int64_t j) {
        result[j] = here[j] + own * (above[j] + below[j] + here[j - 1] + here[j + 1] - 4.0 * here[j]);
      });
    }
  };

  /// A step of the unit's rows, whose ghost rows are those of the last step; the caller fences.
  void step(double ratio) {
    constexpr int lanes = runs_on_host<Execution> ? 1 : 32;
    if (rows() > 0) {
      Kokkos::parallel_for("steelyard::heat::step", Policy(space_, static_cast<int>(rows()), 1, lanes),
                           Step{now_, next_, ratio});
    }
    std::swap(now_, next_);
  }

 private:
  Execution space_;
  std::int64_t first_;
  Field now_, next_;
};

namespace {

constexpr double default_ratio = 0.2;

/// The slowest mode of the plate, which a step multiplies by decay().
double mode(const GridOptions& grid, std::int64_t i, std::int64_t j) {
  return std::sin(std::numbers::pi * static_cast<double>(i + 1) / static_cast<double>(grid.rows + 1)) *
         std::sin(std::numbers::pi * static_cast<double>(j + 1) / static_cast<double>(grid.columns + 1));
}
double decay(const GridOptions& grid, double ratio) {
  const auto square = [](std::int64_t n) {
    const double sine = std::sin(0.5 * std::numbers::pi / static_cast<double>(n + 1));
    return sine * sine;
  };
  return 1.0 - 4.0 * ratio * (square(grid.rows) + square(grid.columns));
}

/// A unit's step by itself, for speed models and for the conformance table.
template <class Execution>
class StepRun : public KernelRun {
 public:
  StepRun(std::int64_t rows, std::int64_t columns) : plate_(space_, 0, rows, columns) {}
  void run() override {
    plate_.step(default_ratio);
    space_.fence();
  }
  std::vector<double> check_run() override {
    plate_.load(input);
    run();
    return plate_.rows_on_host();
  }
  /// Input of check_run(), which continues around the plate.
  static double input(std::int64_t i, std::int64_t j) { return static_cast<double>((7 * i + 3 * j + 10) % 11) / 8.0; }

 private:
  Execution space_;
  UnitPlate<Execution> plate_;
};

class MeasuredKernel : public MeasurableKernel {
 public:
  explicit MeasuredKernel(std::int64_t columns = 2048) : columns_(columns) {}

  KernelFacts facts() const override {
    KernelFacts facts;
    facts.app = "heat";
    facts.kernel = "step";
    facts.element = "double";
    facts.computation_unit = "one row of the plate";
    facts.parameters["columns"] = static_cast<double>(columns_);
    facts.flops_per_unit = 7.0 * static_cast<double>(columns_);
    // A field is read and another one written, which is fetched first.
    facts.bytes_per_unit = 3.0 * sizeof(double) * static_cast<double>(columns_);
    facts.memory_bytes_per_unit = 2.0 * sizeof(double) * static_cast<double>(columns_ + 2);
    facts.memory_bytes_fixed = 2.0 * facts.memory_bytes_per_unit;
    facts.smallest = 16;
    facts.largest = std::max<std::int64_t>(64, static_cast<std::int64_t>(512e6 / facts.memory_bytes_per_unit));
    return facts;
  }
  std::unique_ptr<KernelRun> allocate(ProcessingUnit::Kind kind, std::int64_t units) const override {
    if (kind == ProcessingUnit::Kind::host) return std::make_unique<StepRun<HostExecution>>(units, columns_);
    return std::make_unique<StepRun<CompanionExecution>>(units, columns_);
  }
  std::vector<ConformanceCase> conformance_cases(ProcessingUnit::Kind /*kind*/) const override {
    ConformanceCase check;
    for (const std::int64_t columns : {1, 17, 203}) check.shapes.push_back(std::make_shared<MeasuredKernel>(columns));
    check.sizes = {0, 1, 7};
    check.tolerance = 16.0;
    check.timed = std::make_shared<MeasuredKernel>();
    return {check};
  }
  std::vector<double> reference(std::int64_t units) const override {
    const auto u = [](std::int64_t i, std::int64_t j) -> long double { return StepRun<HostExecution>::input(i, j); };
    std::vector<double> values;
    for (std::int64_t i = 0; i < units; ++i) {
      for (std::int64_t j = 0; j < columns_; ++j) {
        const long double around = u(i - 1, j) + u(i + 1, j) + u(i, j - 1) + u(i, j + 1);
        values.push_back(static_cast<double>(u(i, j) + default_ratio * (around - 4.0L * u(i, j))));
      }
    }
    return values;
  }

 private:
  std::int64_t columns_;
};

class Run : public AppRun {
 public:
  Run(Frame& frame, const GridOptions& grid, double ratio)
      : frame_(frame),
        grid_(grid),
        ratio_(ratio),
        steps_(static_cast<double>(frame.options().steps)),
        group_(frame.comm(), frame.co_execution(), frame.units(), frame.slots()) {}

  double memory_bytes() const override {
    return static_cast<double>(grid_.rows) * MeasuredKernel(grid_.columns).facts().memory_bytes_per_unit;
  }
  void describe(RunRecord& record) const override {
    record.params["rows"] = static_cast<double>(grid_.rows);
    record.params["columns"] = static_cast<double>(grid_.columns);
    record.params["ratio"] = ratio_;
  }
  std::string title(const RunRecord&) const override {
    return fmt::format("heat {} x {} double, r = {:g}", grid_.rows, grid_.columns, ratio_);
  }
  void allocate(const Plan& plan) override {
    const std::vector<std::int64_t>& rows = plan.distribution;
    frame_.collectively([&] { halos_.emplace(group_, rows, 1, grid_.columns + 2); });
    group_.run([&](const auto& peer) {
      const auto own = rows.begin() + peer.slot();
      plates_.emplace(peer, std::accumulate(rows.begin(), own, std::int64_t{0}), *own, grid_.columns);
    });
  }
  void load() override {
    const auto value = [&](std::int64_t i, std::int64_t j) {
      const bool inside = i >= 0 && i < grid_.rows && j >= 0 && j < grid_.columns;
      return inside ? mode(grid_, i, j) : 0.0;
    };
    group_.run([&](const auto& peer) { plates_[peer].load(value); });
  }
  UnitSeconds run() override {
    const std::int64_t steps = frame_.options().steps;
    const UnitSeconds seconds = group_.run([&](const auto& peer) {
      auto& plate = plates_[peer];
      for (std::int64_t step = 0; step < steps; ++step) {
        peer.compute([&] { plate.step(ratio_); });
        halos_->exchange(peer, plate.origin());
        if (group_.drives(peer.kind())) frame_.step_done(step + 1, steps);
      }
    });
    return seconds / std::max(1.0, steps_);
  }

  /// Rounding adds up like a random walk at most.
  std::optional<FoundError> check() override {
    const double factor = std::pow(decay(grid_, ratio_), steps_);
    double error = 0.0;
    for_rows([&](std::int64_t row, const std::vector<double>& values) {
      for (std::size_t n = 0; n < values.size(); ++n) {
        const auto at = static_cast<std::int64_t>(n);
        const double expected = factor * mode(grid_, row + at / grid_.columns, at % grid_.columns);
        const double difference = std::abs(values[n] - expected);
        error = difference < HUGE_VAL ? std::max(error, difference) : HUGE_VAL;
      }
    });
    const double tolerance = std::numeric_limits<double>::epsilon() * (16.0 + 4.0 * steps_);
    return FoundError{error, tolerance, "the decay of the plate's slowest mode"};
  }
  void write_files() override {
    frame_.write_output<double>(grid_.rows, grid_.columns, [&](const BlockSink<double>& sink) {
      for_rows([&](std::int64_t row, const std::vector<double>& values) { sink(row, 0, grid_.columns, values); });
    });
  }
  Outcome outcome(const Measurement& measurement, Plan& plan) override {
    const double steps_s = steps_ * std::ranges::max(measurement.unit_s);
    Outcome outcome;
    outcome.phases =
        beside_prediction(plan, {{"step", steps_s}, {"exchange", std::max(0.0, measurement.median_s - steps_s)}});
    const double points = static_cast<double>(grid_.rows) * static_cast<double>(grid_.columns);
    outcome.figure_of_merit = {"Mpoint/s", 1e-6 * steps_ * points / measurement.median_s};
    outcome.of_what = fmt::format("for {} steps", frame_.options().steps);
    return outcome;
  }

 private:
  /// Calls use(row, values) with the rows of each of this rank's units, from `row` on.
  template <class Use>
  void for_rows(const Use& use) const {
    plates_.for_each([&](const auto& plate) { use(plate.first(), plate.rows_on_host()); });
  }

  Frame& frame_;
  GridOptions grid_;
  double ratio_;
  double steps_;
  UnitGroup group_;
  UnitData<UnitPlate> plates_;
  std::optional<RowExchange> halos_;
};

class Heat : public MiniApp {
 public:
  AppFacts facts() const override {
    return {"heat",
            "Heat equation by an explicit five-point stencil on host and companion units at once",
            "steps",
            {.steps = true, .platform = true, .output = true},
            true};
  }
  RunOptions& run_options() override { return run_; }
  void add_options(const AppOptions& parsers) override {
    add_grid_options(parsers, grid_, 2048);
    parsers.run()
        .add_option("--ratio", ratio_, "kappa dt / h^2, at most 0.25 (default 0.2)")
        ->check(CLI::Range(0.0, 0.25))
        ->type_name("R");
  }
  void prepare() override { partition::find_algorithm(run_.partition); }
  std::unique_ptr<AppRun> start(Frame& frame) const override { return std::make_unique<Run>(frame, grid_, ratio_); }
  std::shared_ptr<MeasurableKernel> kernel() const override { return std::make_shared<MeasuredKernel>(grid_.columns); }
  std::string problem() const override {
    return fmt::format("heat, {} x {} double: {} steps", grid_.rows, grid_.columns, run_.steps);
  }
  /// A step is a sweep of every unit, all at the same time, and an exchange of rows between neighbours.
  Plan plan(Resources& on, std::int64_t times) const override {
    const std::int64_t rows = grid_.rows * times, columns = grid_.columns;
    const double row_bytes = sizeof(double) * static_cast<double>(columns + 2);
    return plan_steps(on, MeasuredKernel(columns), rows, run_.steps, {"step", "exchange"},
                      models::halo_1d(on.ranks(), row_bytes), 2.0 * row_bytes * static_cast<double>(rows));
  }

 private:
  RunOptions run_;
  GridOptions grid_;
  double ratio_ = default_ratio;
};

}  // namespace
}  // namespace steelyard::heat

namespace steelyard {
STEELYARD_MINIAPP(heat, heat::Heat)
}
