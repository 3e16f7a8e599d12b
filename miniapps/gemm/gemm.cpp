// C = alpha A B + beta C on host and companion units of every rank at once, on block rows sized by speed models.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <memory>
#include <optional>

#include "comm/unit_group.hpp"
#include "core/base/errors.hpp"
#include "core/base/table.hpp"
#include "core/memory/matrix.hpp"
#include "core/typed_options.hpp"
#include "miniapps/app/frame.hpp"
#include "miniapps/gemm/blocking.hpp"
#include "miniapps/gemm/product_run.hpp"
#include "miniapps/gemm/unit_gemm.hpp"
#include "partition/algorithms.hpp"

namespace steelyard::gemm {
namespace {

/// An extent of the matrices, and the first option or file that names it.
struct Extent {
  char name = ' ';
  std::optional<std::int64_t> value;
  std::string from;
};

/// The command line, and the problem that it asks for.
struct Options {
  RunOptions run;
  Extent m{'m', {}, "--m"}, n{'n', {}, "--n"}, k{'k', {}, "--k"};
  Problem problem;
  DeviceUse device;
};

template <class Scalar>
class Run : public AppRun {
 public:
  Run(Frame& frame, const Options& options)
      : frame_(frame),
        options_(options),
        problem_(options.problem),
        group_(frame.comm(), frame.co_execution(), frame.units(), frame.slots()),
        source_(matrix_source<Scalar>(options.run)) {}

  double memory_bytes() const override {
    const auto m = static_cast<double>(problem_.m), n = static_cast<double>(problem_.n);
    const auto k = static_cast<double>(problem_.k), ranks = static_cast<double>(frame_.session().size());
    return sizeof(Scalar) * (m * k + ranks * k * n + m * n);
  }
  void describe(RunRecord& record) const override {
    const auto real = [](std::int64_t count) { return static_cast<double>(count); };
    record.params.insert({{"m", real(problem_.m)}, {"n", real(problem_.n)}, {"k", real(problem_.k)}});
    record.params.insert({{"alpha", problem_.alpha}, {"beta", problem_.beta}, {"block", real(problem_.block)}});
    describe_units(record, frame_.units(), options_.device.memory_bytes);
  }

  std::string title(const RunRecord& record) const override {
    return fmt::format("gemm m = {}, n = {}, k = {}, {}, alpha = {:g}, beta = {:g}, block rows of {}", problem_.m,
                       problem_.n, problem_.k, record.settings.at("element"), problem_.alpha, problem_.beta,
                       problem_.block);
  }
  std::string notes(const RunRecord& record) const override { return library_lines(record, "blas"); }

  void allocate(const Plan& plan) override {
    std::int64_t block_rows = 0;
    for (const std::int64_t units : plan.distribution) {
      const std::int64_t first = problem_.first_row(block_rows);
      block_rows += units;
      rows_.push_back({first, problem_.first_row(block_rows) - first});
    }
    frame_.collectively([&] {
      allocate_matrices();
      group_.run([&](const auto& peer) {
        const HostRows rows = rows_of(peer.slot());
        if (rows.count == 0) return;
        const std::int64_t first = rows.first - own_.first;
        Unit& unit = units_[peer.kind()];
        unit.operands = {a_.rows(first, rows.count), b(), c_.rows(first, rows.count)};
        const PanelProblem slice{rows.count, problem_.n, problem_.k, 0, problem_.alpha, problem_.beta};
        unit.gemm.emplace(peer.kind(), slice, options_.device);
      });
      if (options_.run.check == CheckLevel::none) return;
      load_c();
      Problem own = problem_;
      own.m = own_.count;
      freivalds_.emplace(own, options_.run.seed, a(), b(), c());
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
  std::optional<FoundError> check() override { return found_error<Scalar>(*freivalds_, c()); }
  void keep(const Repetition& repetition) override {
    const std::vector<double> seconds = frame_.gather_seconds(busy_s_);
    double units_flops_per_s = 0.0;
    for (std::size_t i = 0; i < seconds.size(); ++i) {
      Problem slice = problem_;
      slice.m = rows_[i].count;
      if (seconds[i] > 0.0) units_flops_per_s += slice.flops() / seconds[i];
    }
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

  const HostRows& rows_of(int slot) const { return rows_[static_cast<std::size_t>(slot)]; }
  ConstMatrix<HostExecution, Scalar> a() const { return a_.rows(0, own_.count); }
  ConstMatrix<HostExecution, Scalar> b() const { return b_.rows(0, problem_.k); }
  ConstMatrix<HostExecution, Scalar> c() const { return c_.rows(0, own_.count); }

  /// This rank's rows of A and C, and all of B; A and B with their elements.
  void allocate_matrices() {
    own_ = {problem_.m, 0};
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      if (frame_.slots()[i].rank != frame_.session().rank()) continue;
      own_ = {std::min(own_.first, rows_[i].first), own_.count + rows_[i].count};
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

  /// The program of every unit: computes its slice of C `times` times. After more than once C is of no use.
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

  /// Multiplies once more with a timeline of the companions that have a memory of their own; keeps rank 0's.
  void observe_devices(Outcome& outcome) {
    const bool blocks = units_.companion.gemm && units_.companion.gemm->blocking() != nullptr;
    if (frame_.max(blocks ? 1.0 : 0.0) == 0.0) return;
    PerUnit<std::vector<EngineOperation>> operations;
    frame_.collectively([&] {
      group_.run([&](const auto& peer) {
        Unit& unit = units_[peer.kind()];
        if (unit.gemm) operations[peer.kind()] = unit.gemm->run_timed(unit.operands);
      });
    });
    for (const auto& [device, engine, start_s, end_s] : operations.companion) {
      std::string name = std::array{"loading", "multiplying", "storing"}[static_cast<std::size_t>(engine)];
      if (units_.companion.gemm->devices() > 1) name = fmt::format("device {} {}", device, name);
      outcome.points[name + "_start_s"].push_back(start_s);
      outcome.points[name + "_end_s"].push_back(end_s);
    }
    const TransferOverlap own = transfer_overlap(operations.companion);
    for (const std::string& line : all_gather_text(frame_.comm(), blocks ? device_line(own) : "")) {
      outcome.above += line;
    }
    const TransferOverlap sum{all_sum(frame_.comm(), own.transfer_s), all_sum(frame_.comm(), own.hidden_s)};
    outcome.figures["transfer_time_s"] = sum.transfer_s;
    outcome.figures["hidden_transfer_time_s"] = sum.hidden_s;
    outcome.figures["hidden_transfer_share"] = sum.hidden_share();
  }

  /// How a companion multiplies in its memory.
  std::string device_line(const TransferOverlap& overlap) const {
    const UnitGemm<Scalar>& gemm = *units_.companion.gemm;
    const Blocking& blocking = *gemm.blocking();
    const std::string how =
        blocking.in_core
            ? "in core"
            : fmt::format("out of core, C in {} x {} blocks of {} x {}, {} of {}", blocking.rows(), blocking.columns(),
                          blocking.height, blocking.width, counted(blocking.panels(), "panel"), blocking.depth);
    const std::string devices =
        gemm.devices() > 1 ? fmt::format("{} devices {}, ", gemm.devices(), gemm.takes_turns() ? "in turns" : "at once")
                           : "";
    return fmt::format("device     rank {}: {}{}, {}; copying for {}, {:.0f} % of that hidden by multiplying\n",
                       frame_.session().rank(), devices, format_bytes(sizeof(Scalar) * gemm.buffer_elements()), how,
                       format_seconds(overlap.transfer_s), 100.0 * overlap.hidden_share());
  }

  Frame& frame_;
  const Options& options_;
  const Problem& problem_;
  UnitGroup group_;
  MatrixSource<Scalar> source_;
  std::vector<HostRows> rows_;   ///< of every slot
  HostRows own_;                 ///< of this rank's units together
  HostArray<Scalar> a_, b_, c_;  ///< own rows, all rows, own rows
  PerUnit<Unit> units_;
  std::optional<Freivalds<Scalar>> freivalds_;
  UnitSeconds unit_s_;  ///< of the last multiplication
  UnitSeconds busy_s_;  ///< of one while all other units are busy too
  Medians speeds_;
};

/// Takes m, n and k from the files of `--input`, which must agree with each other and the command line.
/// @throws InvalidArgument, FileFormatError
void take_extents(Options& options) {
  const auto& files = options.run.input;
  if (files.empty()) return;
  const bool needs_c = options.problem.reads_c();
  if (files.size() != 3 && (needs_c || files.size() != 2)) {
    throw InvalidArgument(fmt::format("--input names {} (expected A.npy B.npy{})", counted(std::ssize(files), "file"),
                                      needs_c ? " C.npy, for --beta is not 0" : " and, if at all, C.npy"));
  }
  const std::array<std::array<Extent*, 2>, 3> shapes{
      {{&options.m, &options.k}, {&options.k, &options.n}, {&options.m, &options.n}}};
  for (std::size_t i = 0; i < files.size(); ++i) {
    const auto shape = read_input_shape(files[i], options.run.element);
    for (const std::size_t j : {0, 1}) {
      auto& [name, value, from] = *shapes[i][j];
      const auto refuse = [&, name = name](const std::string& expected) {
        throw FileFormatError(files[i].string(), "shape",
                              fmt::format("has {} = {} (expected {})", name, shape[j], expected));
      };
      if (value.value_or(shape[j]) != shape[j]) refuse(fmt::format("{} as in {}", *value, from));
      if (shape[j] > largest_extent) refuse(fmt::format("at most {}", largest_extent));
      if (!value) from = files[i].string();
      value = shape[j];
    }
  }
}

class Gemm : public MiniAppOf<Options> {
 public:
  AppFacts facts() const override {
    return {"gemm",
            "C = alpha A B + beta C on host and companion units at once, on slices sized by speed models",
            "multiply",
            {.seed = true, .type = true, .input = true, .output = true, .devices = true},
            /*grows=*/true};
  }
  void add_options(const AppOptions& parsers) override {
    CLI::App& parser = parsers.model();
    const auto set_all = [this](const std::int64_t& n) {
      for (Extent* const extent : {&options_.m, &options_.n, &options_.k}) *extent = {extent->name, n, "--size"};
    };
    CLI::Option* const size = parser.add_option_function<std::int64_t>(
        "--size", set_all, fmt::format("Rows and columns of all matrices (default {})", default_extent));
    size->check(CLI::Range(std::int64_t{0}, largest_extent))->type_name("N");
    add_number(parser, "--m", options_.m.value, "Rows of A and C", 0, largest_extent)->excludes(size);
    add_number(parser, "--n", options_.n.value, "Columns of B and C", 0, largest_extent)->excludes(size);
    add_number(parser, "--k", options_.k.value, "Columns of A, rows of B", 0, largest_extent)->excludes(size);
    parser.add_option("--alpha", options_.problem.alpha, "Factor of A B")->type_name("X")->capture_default_str();
    parser.add_option("--beta", options_.problem.beta, "Factor of C; with 0 it is written without being read")
        ->type_name("X")
        ->capture_default_str();
    add_number(parser, "--block", options_.problem.block, "Rows of a block row, the computation unit", 1, 1 << 20,
               "ROWS")
        ->capture_default_str();
    add_device_options(parser, options_.device);
    parsers.run().add_flag("--serialize{false}", options_.device.overlaps,
                           "A device's copies and products one after the other (slower; 000's kernel of version 2)");
    parsers.run().get_option("--input")->description("A.npy B.npy and, where --beta is not 0, C.npy");
    parsers.run().get_option("--output")->description("Where C goes (NumPy .npy)");
  }
  void prepare() override {
    Problem& problem = options_.problem;
    for (const auto& [option, value] : {std::pair("--alpha", problem.alpha), {"--beta", problem.beta}}) {
      if (!std::isfinite(value)) throw InvalidArgument(fmt::format("{} {} (expected a number)", option, value));
    }
    require_device_memory(options_.device.memory_bytes, least_memory_bytes(element_bytes(options_.run.element)),
                          "five blocks of 32 x 32");
    take_extents(options_);
    problem.m = options_.m.value.value_or(default_extent);
    problem.n = options_.n.value.value_or(default_extent);
    problem.k = options_.k.value.value_or(default_extent);
    partition::find_algorithm(options_.run.partition);
  }
  std::unique_ptr<AppRun> start(Frame& frame) const override { return make_run<Run>(frame, options_); }
  std::shared_ptr<MeasurableKernel> kernel() const override {
    return std::make_shared<MeasuredKernel>(options_.problem, options_.run.element, options_.device);
  }
  std::string problem() const override {
    const Problem& problem = options_.problem;
    return fmt::format("gemm, m = {}, n = {}, k = {}, {}: {} block rows of {}", problem.m, problem.n, problem.k,
                       element_name(options_.run.element), problem.block_rows(), problem.block);
  }
  /// One multiplication of every unit's block rows, all at the same time and without messages.
  Plan plan(Resources& on, std::int64_t times) const override {
    Problem problem = options_.problem;
    problem.m *= times;
    Plan plan = plan_steps(on, *kernel(), problem.block_rows(), 1, {"multiply", ""}, /*exchange=*/std::nullopt);
    plan.headings = {"block rows", ""};
    return plan;
  }
};

}  // namespace
}  // namespace steelyard::gemm

namespace steelyard {
STEELYARD_MINIAPP(gemm, gemm::Gemm)
}
