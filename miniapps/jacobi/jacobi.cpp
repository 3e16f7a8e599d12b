// Jacobi's method for a dense system whose rows the units of all ranks share: 000, section 6.1.5; miniapps/README.md.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>

#include "comm/row_exchange.hpp"
#include "core/spaces.hpp"
#include "core/sweep/vector_for.hpp"
#include "core/typed_options.hpp"
#include "miniapps/app/checkpoint.hpp"
#include "miniapps/app/frame.hpp"
#include "models/communication/message_pattern.hpp"
#include "partition/algorithms.hpp"

namespace steelyard::jacobi {

/// The system A x = b of n equations: off the diagonal numbers within (-1/2, 1/2) that look random, on it n, so that
/// every iteration at least halves the error; and b such that the solution is known.
KOKKOS_INLINE_FUNCTION double coefficient(const std::int64_t n, const std::int64_t i, const std::int64_t j) {
  if (i == j) return static_cast<double>(n);
  auto bits = static_cast<std::uint64_t>(i * n + j) * 0x9E3779B97F4A7C15ULL;  // as SplitMix64
  bits = (bits ^ (bits >> 30)) * 0xBF58476D1CE4E5B9ULL;
  return static_cast<double>(bits >> 11) * 0x1p-53 - 0.5;
}
KOKKOS_INLINE_FUNCTION double solution(const std::int64_t i) { return 1.0 + static_cast<double>(i % 5) / 8.0; }

/// Floating-point operations of an equation in a step, and its memory traffic.
inline double flops_of_row(std::int64_t n) { return 2.0 * static_cast<double>(n) + 3.0; }
inline double bytes_of_row(std::int64_t n) { return sizeof(double) * static_cast<double>(n + 2); }

/// Rows of the system in one unit's memory, and a whole x.
template <class Execution>
class UnitSystem {
 public:
  using Matrix = Kokkos::View<double**, Kokkos::LayoutRight, DeviceOf<Execution>>;
  using Vector = Kokkos::View<double*, DeviceOf<Execution>>;

  /// Makes a system of n equations with x = 0; the unit has none of them yet. Called by the unit's own thread, as all
  /// functions are.
  UnitSystem(const Execution& space, std::int64_t n)
      : space_(space), x_(Kokkos::view_alloc(space, "steelyard::jacobi::x"), n) {}

  /// Makes equations first to first + rows - 1 those of the unit and keeps x; fences.
  void assign(std::int64_t first, std::int64_t rows) {
    first_ = first;
    a_ = Matrix(Kokkos::view_alloc(space_, Kokkos::WithoutInitializing, "steelyard::jacobi::a"), rows, n());
    b_ = Vector(Kokkos::view_alloc(space_, "steelyard::jacobi::b"), rows);
    next_ = Vector(Kokkos::view_alloc(space_, "steelyard::jacobi::next"), rows);
    const Vector solved(Kokkos::view_alloc(space_, "steelyard::jacobi::solution"), n());
    for_rows("steelyard::jacobi::fill", Fill{a_, solved, first});
    for_rows("steelyard::jacobi::right_side", Sweep{a_, b_, solved, b_, first, /*multiplies_only=*/true});
    space_.fence();
  }

  /// next_i = (b_i - sum_{j != i} a_ij x_j) / a_ii for the unit's rows; the caller fences.
  void sweep() { for_rows("steelyard::jacobi::sweep", Sweep{a_, b_, x_, next_, first_, /*multiplies_only=*/false}); }

  void set_x(const std::vector<double>& values) {
    const Kokkos::View<const double*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged> from(values.data(), values.size());
    Kokkos::deep_copy(space_, x_, from);
  }
  const Vector& x() const { return x_; }        ///< n elements
  const Vector& next() const { return next_; }  ///< one for each of the unit's equations
  std::int64_t n() const { return x_.extent_int(0); }

  /// Copies a View of the unit's to the host.
  static std::vector<double> host_copy(const Vector& vector) {
    const auto mirror = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), vector);
    return {mirror.data(), mirror.data() + mirror.extent(0)};
  }

  // Public, so that compilers for devices can name the kernels.

  using Policy = Kokkos::TeamPolicy<Execution>;
  using Member = typename Policy::member_type;

  /// Coefficients; the team of the first row also sets the solution.
  struct Fill {
    Matrix a;
    Vector solved;
    std::int64_t first;
    KOKKOS_FUNCTION void operator()(const Member& member) const {
      const auto n = static_cast<std::int64_t>(solved.extent(0));
      for_rows_of_team(member, a, [&](const std::int64_t row) {
        Kokkos::parallel_for(Kokkos::ThreadVectorRange(member, n), [&](const std::int64_t j) {
          a(row, j) = coefficient(n, first + row, j);
          if (row == 0) solved(j) = solution(j);
        });
      });
    }
  };

  struct Sweep {
    Matrix a;
    Vector b, x, result;
    std::int64_t first;
    bool multiplies_only;
    KOKKOS_FUNCTION void operator()(const Member& member) const {
      for_rows_of_team(member, a, [&](const std::int64_t row) {
        const double product = row_product(member, row_of(a, row), elements_of(x), x.extent_int(0));
        Kokkos::single(Kokkos::PerThread(member), [&] {
          const double diagonal = a(row, first + row);
          result(row) = multiplies_only ? product : (b(row) - product) / diagonal + x(first + row);
        });
      });
    }
  };

 private:
  /// A thread takes a row, with its vector lanes on a device.
  static constexpr int team_size = runs_on_host<Execution> ? 1 : 8;
  static constexpr int lanes = runs_on_host<Execution> ? 1 : 32;

  template <class Body>
  void for_rows(const char* label, const Body& body) const {
    const auto rows = static_cast<int>(next_.extent(0));
    if (rows == 0) return;
    Kokkos::parallel_for(label, Policy(space_, (rows + team_size - 1) / team_size, team_size, lanes), body);
  }
  template <class Body>
  KOKKOS_INLINE_FUNCTION static void for_rows_of_team(const Member& member, const Matrix& a, const Body& body) {
    constexpr int threads = team_size;
    Kokkos::parallel_for(Kokkos::TeamThreadRange(member, threads), [&](const int thread) {
      const std::int64_t row = std::int64_t{threads} * member.league_rank() + thread;
      if (row < static_cast<std::int64_t>(a.extent(0))) body(row);
    });
  }

  Execution space_;
  std::int64_t first_ = 0;
  Matrix a_;
  Vector b_, x_, next_;
};

namespace {

/// A unit's step by itself, for speed models and for the conformance table.
template <class Execution>
class SweepRun : public KernelRun {
 public:
  SweepRun(std::int64_t n, std::int64_t rows) : system_(space_, n) { system_.assign(0, rows); }
  void run() override {
    system_.sweep();
    space_.fence();
  }
  /// One step from x = 0.
  std::vector<double> check_run() override {
    run();
    return system_.host_copy(system_.next());
  }

 private:
  Execution space_;
  UnitSystem<Execution> system_;
};

class MeasuredKernel : public MeasurableKernel {
 public:
  explicit MeasuredKernel(std::int64_t n = 4096) : n_(n) {}

  KernelFacts facts() const override {
    KernelFacts facts;
    facts.app = "jacobi";
    facts.kernel = "sweep";
    facts.element = "double";
    facts.computation_unit = "one row of the system";
    facts.parameters["columns"] = static_cast<double>(n_);
    facts.flops_per_unit = flops_of_row(n_);
    facts.bytes_per_unit = facts.memory_bytes_per_unit = bytes_of_row(n_);
    facts.memory_bytes_fixed = sizeof(double) * static_cast<double>(n_);
    facts.smallest = std::max<std::int64_t>(1, n_ / 64);
    facts.largest = n_;
    return facts;
  }
  std::unique_ptr<KernelRun> allocate(ProcessingUnit::Kind kind, std::int64_t units) const override {
    if (kind == ProcessingUnit::Kind::host) return std::make_unique<SweepRun<HostExecution>>(n_, units);
    return std::make_unique<SweepRun<CompanionExecution>>(n_, units);
  }
  std::vector<ConformanceCase> conformance_cases(ProcessingUnit::Kind /*kind*/) const override {
    ConformanceCase check;
    for (const std::int64_t n : {17, 64, 203}) check.shapes.push_back(std::make_shared<MeasuredKernel>(n));
    check.sizes = {0, 1, 7, 16};
    check.tolerance = 64.0;
    check.timed = std::make_shared<MeasuredKernel>();
    return {check};
  }
  std::vector<double> reference(std::int64_t units) const override {
    std::vector<double> next;
    for (std::int64_t i = 0; i < units; ++i) {
      long double b = 0.0L;
      for (std::int64_t j = 0; j < n_; ++j) b += static_cast<long double>(coefficient(n_, i, j)) * solution(j);
      next.push_back(static_cast<double>(b / coefficient(n_, i, i)));
    }
    return next;
  }

 private:
  std::int64_t n_;
};

class Run : public AppRun {
 public:
  Run(Frame& frame, std::int64_t n)
      : frame_(frame),
        n_(n),
        steps_(static_cast<double>(frame.options().steps)),
        group_(frame.comm(), frame.co_execution(), frame.units(), frame.slots()) {
    read_start();
  }

  double memory_bytes() const override { return static_cast<double>(n_) * bytes_of_row(n_); }
  void describe(RunRecord& record) const override { record.params["n"] = static_cast<double>(n_); }
  std::string title(const RunRecord&) const override { return fmt::format("jacobi {0} x {0} double", n_); }
  std::string notes(const RunRecord&) const override {
    return frame_.options().restart.empty() ? "" : fmt::format("restart    from step {}\n", start_.steps);
  }

  std::optional<Plan> plan() override {
    return frame_.is_dynamic() ? std::optional(frame_.even_plan(n_)) : std::nullopt;
  }

  void allocate(const Plan& plan) override {
    start_rows_ = plan.distribution;
    group_.run([&](const auto& peer) { systems_.emplace(peer, n_); });
    distribute(start_rows_);
  }
  void load() override {
    if (rows_ != start_rows_) distribute(start_rows_);
    group_.run([&](const auto& peer) { systems_[peer].set_x(start_x_); });
  }

  UnitSeconds run() override {
    const bool stops = frame_.is_dynamic() || !frame_.options().checkpoint.empty();
    return (stops ? iterate_in_steps() : iterate(0, frame_.options().steps)) / std::max(1.0, steps_);
  }

  /// Every step makes the largest error at most half as large, and rounding adds a little to it.
  std::optional<FoundError> check() override {
    const std::vector<double> x = whole_x();
    double error = 0.0, first_error = 0.0;
    for (std::int64_t i = 0; i < n_; ++i) {
      const double difference = std::abs(x[static_cast<std::size_t>(i)] - solution(i));
      error = difference < HUGE_VAL ? std::max(error, difference) : HUGE_VAL;
      first_error = std::max(first_error, solution(i));
    }
    const double rounding = std::numeric_limits<double>::epsilon() * 4.0 * std::sqrt(static_cast<double>(n_));
    return FoundError{error, first_error * std::exp2(-steps_ - static_cast<double>(start_.steps)) + rounding,
                      "the solution, from which every step halves the distance"};
  }

  Outcome outcome(const Measurement& measurement, Plan& plan) override {
    const double sweeps_s = steps_ * std::ranges::max(measurement.unit_s);
    Outcome outcome;
    outcome.phases =
        beside_prediction(plan, {{"sweep", sweeps_s}, {"exchange", std::max(0.0, measurement.median_s - sweeps_s)}});
    const double flops = steps_ * static_cast<double>(n_) * flops_of_row(n_);
    outcome.figure_of_merit = {"GFLOP/s", 1e-9 * flops / measurement.median_s};
    outcome.of_what = fmt::format("for {} steps", frame_.options().steps);
    if (balancer_) {
      balancer_->sum_up(outcome, plan);
      outcome.below = fmt::format("rebalanced {} times\n", balancer_->repartitions());
    }
    return outcome;
  }
  void write_files() override {
    if (!frame_.options().checkpoint.empty()) frame_.write([&] { save(frame_.options().steps); });
    frame_.write_output<double>(n_, 1, whole_x_of_root());
  }

 private:
  MatrixStore<double> whole_x_of_root() const {
    return [this, x = whole_x()](const BlockSink<double>& sink) {
      if (frame_.session().is_root()) sink(0, 0, 1, x);
    };
  }
  /// Writes the checkpoint of the state `steps` steps after this run's start. Collective.
  void save(std::int64_t steps) const {
    Checkpoint now = start_;
    now.steps += steps;
    write_checkpoint<double>(frame_.session(), frame_.options().checkpoint, now, whole_x_of_root());
  }
  /// Where the run goes on from. Collective.
  void read_start() {
    const std::filesystem::path& restart = frame_.options().restart;
    start_ = {n_, 1, {{"app", "jacobi"}}, 0};
    start_x_.assign(static_cast<std::size_t>(n_), 0.0);
    if (restart.empty()) return;
    frame_.collectively([&] {
      start_ = read_checkpoint<double>(restart, start_);
      read_npy_block<double>(restart, read_npy_matrix_header<double>(restart), 0, 0, n_, 1, start_x_);
    });
  }

  /// Gives every unit its rows, which it makes in its own memory. Collective.
  void distribute(const std::vector<std::int64_t>& rows) {
    rows_ = rows;
    frame_.collectively([&] { gather_.emplace(group_, rows, 1); });
    group_.run([&](const auto& peer) {
      const auto own = rows.begin() + peer.slot();
      systems_[peer].assign(std::accumulate(rows.begin(), own, std::int64_t{0}), *own);
    });
  }

  /// The method, as every unit runs it, from one step to before another. Collective.
  UnitSeconds iterate(std::int64_t first, std::int64_t end) {
    return group_.run([&](const auto& peer) {
      auto& system = systems_[peer];
      for (std::int64_t step = first; step < end; ++step) {
        peer.compute([&] { system.sweep(); });
        gather_->gather(peer, system.next().data(), system.x().data());
        if (group_.drives(peer.kind())) frame_.step_done(step + 1, frame_.options().steps);
      }
    });
  }

  /// Iterates with a checkpoint where it is due and, where the run is dynamic, with rows that move when the steps' own
  /// times show that it pays. Source: 000, section 6.1.5.
  UnitSeconds iterate_in_steps() {
    if (frame_.is_dynamic()) balancer_.emplace(frame_.balancer(rows_));
    UnitSeconds sum;
    for (std::int64_t step = 0; step < frame_.options().steps; ++step) {
      const UnitSeconds seconds = iterate(step, step + 1);
      sum += seconds;
      if (!frame_.checkpoint(step + 1, step, [&] { save(step + 1); })) break;
      if (balancer_ && balancer_->record(seconds, steps_ - static_cast<double>(step + 1))) {
        distribute(balancer_->units());
      }
    }
    return sum;
  }

  /// On every rank; its units have the same.
  std::vector<double> whole_x() const {
    std::vector<double> x;
    systems_.for_each([&](const auto& system) { x = system.host_copy(system.x()); });
    return x;
  }

  Frame& frame_;
  std::int64_t n_;
  double steps_;
  UnitGroup group_;
  UnitData<UnitSystem> systems_;
  std::optional<RowGather> gather_;
  std::vector<std::int64_t> start_rows_, rows_;  ///< of every slot, at the start and now
  std::optional<StepBalancer> balancer_;         ///< of a repetition that balances itself
  Checkpoint start_;                             ///< where the run goes on from
  std::vector<double> start_x_;
};

class Jacobi : public MiniApp {
 public:
  AppFacts facts() const override {
    return {"jacobi",
            "Jacobi's method for a dense system on host and companion units at once",
            "iterate",
            {.steps = true, .platform = true, .output = true, .checkpoint = true}};
  }
  RunOptions& run_options() override { return run_; }
  void add_options(const AppOptions& parsers) override {
    add_number(parsers.model(), "--size", n_, "Unknowns, the length of a row", 1, 1 << 20)->capture_default_str();
  }
  void prepare() override {
    if (run_.partition != "dynamic") partition::find_algorithm(run_.partition, ", or dynamic");
  }
  std::unique_ptr<AppRun> start(Frame& frame) const override { return std::make_unique<Run>(frame, n_); }
  std::shared_ptr<MeasurableKernel> kernel() const override { return std::make_shared<MeasuredKernel>(n_); }
  std::string problem() const override { return fmt::format("jacobi, {0} x {0} double: {1} steps", n_, run_.steps); }
  /// A step is a sweep of every unit, all at the same time, and an exchange of x: every rank hands its part on until
  /// all have all.
  Plan plan(Resources& on, std::int64_t /*times*/) const override {
    const auto n = static_cast<double>(n_);
    return plan_steps(on, MeasuredKernel(n_), n_, run_.steps, {"sweep", "exchange"},
                      models::ring_allgather(on.ranks(), sizeof(double) * n / on.ranks()), bytes_of_row(n_) * n);
  }

 private:
  RunOptions run_;
  std::int64_t n_ = 4096;
};

}  // namespace
}  // namespace steelyard::jacobi

namespace steelyard {
STEELYARD_MINIAPP(jacobi, jacobi::Jacobi)
}
