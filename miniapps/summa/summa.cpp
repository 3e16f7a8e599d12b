// C += A B over the units of many ranks whose speeds differ, each rank with a rectangle of all three matrices.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>

#include "comm/collective.hpp"
#include "core/base/errors.hpp"
#include "core/base/table.hpp"
#include "core/typed_options.hpp"
#include "miniapps/app/frame.hpp"
#include "miniapps/gemm/blocking.hpp"
#include "miniapps/gemm/product_run.hpp"
#include "miniapps/summa/multiplication.hpp"
#include "miniapps/summa/plan.hpp"

namespace steelyard::summa {
namespace {

using partition::Rectangle;
using Kind = ProcessingUnit::Kind;

/// The command line.
struct Options {
  Options() { run.partition = "column"; }

  RunOptions run;
  std::int64_t n = 0;  ///< of the user or of the input; 0 for what `problem` has
  Problem problem;
  Communication communication = Communication::pipelined;
  bool avoid_communication = false;
  gemm::DeviceUse device;

  double element_bytes() const { return steelyard::element_bytes(run.element); }
};

/// The update of an iteration by itself, of a nearly square rectangle of blocks of C; a block larger than the matrix is
/// the matrix. Source: 000, section 3.3, figure 3.4 (b).
class MeasuredKernel : public gemm::ProductKernel {
 public:
  /// A companion with a memory of its own copies C there once, and back once in this number of iterations.
  static constexpr std::int64_t iterations = 64;

  explicit MeasuredKernel(const Options& options)
      : ProductKernel(options.run.element, options.device), problem_(options.problem) {}

  KernelFacts facts() const override {
    const auto side = static_cast<double>(problem_.depth(0));
    KernelFacts facts = facts_of("summa", "one block of C += A B, by a block of A and one of B");
    facts.parameters = {{"block", static_cast<double>(problem_.block)}};
    facts.flops_per_unit = 2.0 * side * side * side;
    // C in a memory of its own; in the host's also A and B.
    facts.memory_bytes_per_unit = element_bytes(element_type()) * side * side;
    facts.bytes_per_unit = 2.0 * facts.memory_bytes_per_unit;
    // Up to twice as many rows and columns as the whole matrix has.
    const std::int64_t most = std::max<std::int64_t>(4, 2 * problem_.blocks());
    facts.largest = most * most;
    return facts;
  }
  std::vector<ConformanceCase> conformance_cases(Kind kind) const override {
    std::vector<ConformanceCase> cases;
    for (const ElementType element : {ElementType::float64, ElementType::float32}) {
      // A small memory has a companion multiply out of core.
      for (const bool in_core : {true, false}) {
        if (!in_core && kind == Kind::host) continue;
        Options options;
        options.run.element = element;
        if (!in_core) options.device.memory_bytes = 256.0 * 1024.0;
        ConformanceCase& check = cases.emplace_back();
        check.options = fmt::format("--type {}{}", element_name(element), in_core ? "" : " --device-memory 256KiB");
        if (in_core) check.timed = std::make_shared<MeasuredKernel>(options);
        for (const std::int64_t block : {1, 7, 32}) {
          options.problem.block = block;
          check.shapes.push_back(std::make_shared<MeasuredKernel>(options));
        }
        check.sizes = {0, 1, 3, 10};
        // So many sums one after the other, each of a block's products.
        check.tolerance = static_cast<double>(iterations) + 32.0;
      }
    }
    return cases;
  }

 private:
  /// Problem with a nearly square C of `blocks` blocks.
  gemm::PanelProblem product(std::int64_t blocks) const override {
    const std::int64_t depth = problem_.depth(0);
    const auto side = static_cast<double>(depth), area = static_cast<double>(blocks) * side * side;
    const std::int64_t rows = std::llround(std::sqrt(area));
    const std::int64_t columns =
        rows > 0 ? std::max<std::int64_t>(1, std::llround(area / static_cast<double>(rows))) : 0;
    return {rows, columns, iterations * depth, depth};
  }

  Problem problem_;
};

/// Plans rectangles whose areas the units' models ask for, and the seconds of their updates and messages.
Plan make_plan(Resources& on, const Options& options, Assignment& assignment) {
  const Problem& problem = options.problem;
  const auto n = static_cast<double>(problem.n), iterations = static_cast<double>(problem.blocks());
  const std::string partition = on.partition();
  on.on_all_ranks([&] {
    require_partition(partition, options.avoid_communication);
    if (options.avoid_communication && on.options().levels == 2) {
      throw InvalidArgument("--avoid-communication with --levels 2 (expected one level)");
    }
    if (!options.avoid_communication || on.has_seconds()) return;
    throw InvalidArgument("--avoid-communication without --model (expected seconds to compare communication with)");
  });
  const SpeedModels models =
      on.speed_models(MeasuredKernel(options), problem.blocks() * problem.blocks(), area_algorithm(partition).name);
  const auto assign_blocks = [&](const partition::RectangleCost& cost) {
    on.on_all_ranks(
        [&] { assignment = assign(problem, on.slots(), models.pointers(), partition, models.algorithm(), cost); });
  };
  assign_blocks({});
  // From a pivot's part in one block row to a whole pivot; between two messages a rank goes through all of its C.
  const double row_bytes = options.element_bytes() * static_cast<double>(problem.depth(0));
  const std::optional<Channels> channels = on.channels(
      {row_bytes * static_cast<double>(problem.depth(0)), row_bytes * n, options.element_bytes() * n * n / on.ranks()});
  const auto costs_of = [&](const std::vector<Rectangle>& rectangles) {
    return communication_costs(problem, rectangles, options.element_bytes(), options.communication, channels->platform,
                               channels->placement);
  };
  // As if updates and communication took turns: all that have blocks communicate for the mean of an iteration.
  const auto mean_s = [&](const partition::ColumnPartition& columns) {
    const std::vector<double> cost_s = costs_of(columns.rectangles).front().time_s;
    const double one_s = std::accumulate(cost_s.begin(), cost_s.end(), 0.0) / iterations;
    std::vector<double> seconds;
    for (const Rectangle& rectangle : columns.rectangles) seconds.push_back(rectangle.empty() ? 0.0 : one_s);
    return seconds;
  };
  std::vector<models::PatternCosts> costs{
      {"no messages", std::vector<double>(static_cast<std::size_t>(problem.blocks()))}};
  if (channels && options.avoid_communication) assign_blocks(mean_s);
  on.on_all_ranks([&] {
    if (channels) costs = costs_of(assignment.rectangles);
  });
  Plan plan;
  const auto update_s = on.has_seconds() ? std::optional(std::ranges::max(assignment.unit_s)) : std::nullopt;
  const double start_s = on.start_s();
  for (const models::PatternCosts& cost : costs) {
    plan.by_model.push_back(total_cost(problem, cost, options.communication, update_s, start_s));
  }
  plan.time_s = plan.by_model.front().total_s;
  plan.models = {{"", models.files()}};
  for (const Rectangle& r : assignment.rectangles) plan.rectangles.push_back({r.row, r.column, r.rows, r.columns});
  plan.headings = {"blocks", "/iteration", rectangle_columns(assignment.parts)};
  std::vector<TableRow> details;
  for (std::size_t i = 0; i < assignment.parts.size(); ++i) {
    const Slot& slot = on.slots()[i];
    const Rectangle& part = assignment.parts[i];
    plan.distribution.push_back(part.area());
    // The last iteration may be less deep than the others; seconds are the mean over all.
    plan.unit_s.push_back(n / (iterations * static_cast<double>(problem.depth(0))) * assignment.unit_s[i]);
    TableRow& row = details.emplace_back(TableRow{{"process", std::to_string(slot.rank)},
                                                  {"node", on.node_name(slot.rank)},
                                                  {"unit", slot.kind == Kind::host ? "host" : "device"}});
    for (const auto& [heading, cells] : plan.headings.columns) row.emplace_back(heading, cells[i]);
    row.emplace_back("time", on.has_seconds() && !part.empty() ? format_seconds(assignment.unit_s[i]) : "-");
  }
  plan.details = table_text(details);
  return plan;
}

template <class Scalar>
class Run : public AppRun {
 public:
  Run(Frame& frame, const Options& options)
      : frame_(frame),
        options_(options),
        problem_(options.problem),
        source_(gemm::matrix_source<Scalar>(options.run)),
        group_(frame.comm(), frame.co_execution(), frame.units(), frame.slots()) {}

  double memory_bytes() const override {
    const auto n = static_cast<double>(problem_.n);
    return 3.0 * sizeof(Scalar) * n * n;
  }
  void describe(RunRecord& record) const override {
    const auto real = [](std::int64_t count) { return static_cast<double>(count); };
    record.params.insert({{"n", real(problem_.n)}, {"block", real(problem_.block)}});
    record.params.insert({{"blocks", real(problem_.blocks())}, {"barrier", options_.run.barrier ? 1.0 : 0.0}});
    gemm::describe_units(record, frame_.units(), options_.device.memory_bytes);
    record.settings["communication"] = word_of(communication_names, options_.communication);
  }
  std::string title(const RunRecord& record) const override {
    return fmt::format("summa n = {}, {}, {} x {} blocks of {}, communication {}{}", problem_.n,
                       record.settings.at("element"), problem_.blocks(), problem_.blocks(), problem_.block,
                       word_of(communication_names, options_.communication),
                       options_.run.barrier ? " after barriers" : "");
  }
  std::string notes(const RunRecord& record) const override { return library_lines(record, "blas"); }

  std::optional<Plan> plan() override { return make_plan(frame_, options_, assignment_); }

  void allocate(const Plan& /*plan*/) override {
    const std::vector<Rectangle>& rectangles = assignment_.rectangles;
    const Rectangle& rectangle = rectangles[static_cast<std::size_t>(frame_.session().rank())];
    const Tile tile = problem_.tile(rectangle);
    std::vector<std::int64_t> rows;
    for (const Rectangle& part : assignment_.parts) rows.push_back(part.rows);
    const bool checks = options_.run.check != CheckLevel::none;
    HostArray<Scalar> a;
    frame_.collectively([&] {
      const std::int64_t panels = 2 * problem_.depth(0) * (tile.rows + tile.columns);
      frame_.require_memory("this rank's parts of A, B and C",
                            sizeof(Scalar) * static_cast<double>((checks ? 4 : 3) * tile.area() + panels));
      require_countable_pivots(problem_, rectangles);
      multiplication_.emplace(group_, problem_, rectangle, frame_.own_share(rows), options_.device, source_);
      multiplication_->load_c(source_);
      if (!checks || tile.empty()) return;
      a = HostArray<Scalar>(tile.rows, tile.columns);
      source_(gemm::MatrixName::a, tile, a.elements(0, tile.rows));
    });
    if (checks) {
      freivalds_.emplace(problem_.as_gemm(), options_.run.seed, a.rows(0, tile.rows), multiplication_->b(),
                         multiplication_->c(), tile_share(frame_.comm(), tile));
    }
    exchange_.emplace(options_.communication, frame_.comm(), problem_, rectangles,
                      std::is_same_v<Scalar, double> ? MPI_DOUBLE : MPI_FLOAT);
  }
  void load() override {
    frame_.collectively([&] { multiplication_->load_c(source_); });
  }
  UnitSeconds run() override {
    durations_ = multiplication_->run(*exchange_, options_.run.barrier ? frame_.comm() : MPI_COMM_NULL);
    return durations_.update_s / static_cast<double>(problem_.blocks());
  }
  std::optional<FoundError> check() override { return gemm::found_error<Scalar>(*freivalds_, multiplication_->c()); }
  void keep(const Repetition& /*repetition*/) override {
    std::vector<double> each_s = durations_.communication_s;
    // After a barrier no rank waits for another's update, and the slowest rank of each iteration counts.
    if (options_.run.barrier) each_s = all_max(frame_.comm(), each_s);
    const CommunicationTime ranks = split_waiting(frame_.comm(), std::accumulate(each_s.begin(), each_s.end(), 0.0));
    communication_s_.add({ranks.messages_s, ranks.waiting_s});
  }

  Outcome outcome(const Measurement& measurement, Plan& plan) override {
    const auto iterations = static_cast<double>(problem_.blocks());
    double longest_s = 0.0, units_flops_per_s = 0.0;
    for (std::size_t i = 0; i < measurement.unit_s.size(); ++i) {
      const double update_s = measurement.unit_s[i] * iterations;
      if (!(update_s > 0.0)) continue;
      longest_s = std::max(longest_s, update_s);
      const Tile part = problem_.tile(assignment_.parts[i]);
      units_flops_per_s += gemm::Problem{part.rows, part.columns, problem_.n}.flops() / update_s;
    }
    Outcome outcome;
    const std::vector<double> spent_s = communication_s_.values();
    outcome.phases = beside_prediction(plan, {{"update", longest_s}, {"communication", spent_s[0]}});
    if (spent_s[1] > 0.0) outcome.phases.push_back({"waiting", spent_s[1], std::nullopt});
    const double flops_per_s = problem_.flops() / measurement.median_s;
    gemm::add_speed(outcome, flops_per_s, units_flops_per_s, flops_per_s / units_flops_per_s);
    for (const PhaseTime& phase : outcome.phases) outcome.below += phase_line(phase, 14, iterations, " per iteration");
    std::string by_models;
    for (const ModelForecast& by : plan.by_model) {
      if (!(by.communication_s > 0.0)) continue;
      outcome.figures["communication_s by " + by.model] = by.communication_s;
      by_models += fmt::format(", {} {}", by.model, format_seconds(by.communication_s / iterations));
    }
    if (!by_models.empty()) {
      outcome.below += fmt::format("messages   by each model, hidden or not: {} per iteration\n", by_models.substr(2));
    }
    return outcome;
  }
  void write_files() override {
    frame_.write_output<Scalar>(problem_.n, problem_.n, [&](const BlockSink<Scalar>& sink) {
      const Tile& tile = multiplication_->tile();
      if (!tile.empty()) sink(tile.row, tile.column, tile.columns, multiplication_->c_elements());
    });
  }

 private:
  Frame& frame_;
  const Options& options_;
  const Problem& problem_;
  gemm::MatrixSource<Scalar> source_;
  UnitGroup group_;
  Assignment assignment_;
  std::optional<Multiplication<Scalar>> multiplication_;
  std::optional<gemm::Freivalds<Scalar>> freivalds_;
  std::optional<PivotExchange> exchange_;
  Durations durations_;      ///< of the last multiplication
  Medians communication_s_;  ///< of all iterations (001, section 5.4), and waiting
};

class Summa : public MiniAppOf<Options> {
 public:
  AppFacts facts() const override {
    return {
        "summa",
        "C += A B over ranks whose speeds differ, on rectangles sized by speed models (SUMMA)",
        "multiply",
        {.seed = true, .type = true, .platform = true, .barrier = true, .input = true, .output = true, .devices = true},
        false,
        {"even", "column"}};
  }

  void add_options(const AppOptions& parsers) override {
    CLI::App &model = parsers.model(), &plan = parsers.plan(), &run = parsers.run();
    add_number(model, "--size", options_.n, fmt::format("Rows and columns of all matrices (default {})", Problem().n),
               1, gemm::largest_extent);
    add_number(model, "--block", options_.problem.block, "Rows and columns of a block, the computation unit", 1,
               1 << 20, "ROWS")
        ->capture_default_str();
    gemm::add_device_options(model, options_.device);
    add_choice<Communication>(plan, "--communication", options_.communication, communication_names,
                              "How pivots travel: messages one iteration at a time, MPI_Bcast, or the next iteration's "
                              "messages while this one multiplies (default pipelined)");
    plan.add_flag("--avoid-communication", options_.avoid_communication,
                  "Choose areas and columns by the seconds of updates and messages together, and give no blocks to a "
                  "rank whose messages cost more than its updates gain");
    plan.get_option("--partition")
        ->description("column, even (a grid), a name of steelyard partition --list for areas, or a file of rectangles")
        ->type_name("NAME|FILE");
    run.get_option("--input")->description("A.npy B.npy and, where C is not 0, C.npy");
    run.get_option("--output")->description("Where C goes (NumPy .npy)");
  }

  void prepare() override {
    std::int64_t& n = options_.n;
    const auto& files = options_.run.input;
    if (files.size() == 1 || files.size() > 3) {
      throw InvalidArgument(fmt::format("--input names {} (expected A.npy B.npy and, if C is not 0, C.npy)",
                                        counted(std::ssize(files), "file")));
    }
    for (const auto& file : files) {
      const auto shape = gemm::read_input_shape(file, options_.run.element);
      if (n == 0) n = std::clamp<std::int64_t>(shape[0], 1, gemm::largest_extent);
      if (shape[0] == n && shape[1] == n) continue;
      throw FileFormatError(file.string(), "shape",
                            fmt::format("is {0} x {1} (expected {2} x {2})", shape[0], shape[1], n));
    }
    Problem& problem = options_.problem;
    if (n > 0) problem.n = n;
    gemm::require_device_memory(options_.device.memory_bytes,
                                gemm::least_memory_bytes(options_.element_bytes(), problem.depth(0)),
                                fmt::format("buffers for blocks of {}", problem.depth(0)));
    if (constexpr std::int64_t most = std::int64_t{1} << 20; problem.blocks() > most) {
      throw InvalidArgument(fmt::format("--size {} in blocks of --block {}: {} iterations (expected at most {})",
                                        problem.n, problem.block, problem.blocks(), most));
    }
    if (options_.run.barrier && options_.communication == Communication::pipelined) {
      throw InvalidArgument(
          "--barrier with --communication pipelined (expected paper or bcast, which communicate "
          "between updates)");
    }
    require_partition(options_.run.partition, options_.avoid_communication);
  }

  std::unique_ptr<AppRun> start(Frame& frame) const override { return make_run<Run>(frame, options_); }
  std::shared_ptr<MeasurableKernel> kernel() const override { return std::make_shared<MeasuredKernel>(options_); }
  std::string problem() const override {
    return fmt::format("summa, {0} x {0} {1} in blocks of {2} x {2}: {3} iterations, communication {4}",
                       options_.problem.n, element_name(options_.run.element), options_.problem.block,
                       options_.problem.blocks(), word_of(communication_names, options_.communication));
  }
  Plan plan(Resources& on, std::int64_t /*times*/) const override {
    Assignment assignment;
    return make_plan(on, options_, assignment);
  }
};

}  // namespace
}  // namespace steelyard::summa

namespace steelyard {
STEELYARD_MINIAPP(summa, summa::Summa)
}
