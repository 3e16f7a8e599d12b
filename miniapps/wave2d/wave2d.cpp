// The 2D wave equation by leap-frog on host and companion units of every rank at once, on slices or rectangles sized by
// speed models.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "comm/collective.hpp"
#include "core/base/errors.hpp"
#include "core/base/npy.hpp"
#include "core/base/table.hpp"
#include "core/base/text_file.hpp"
#include "core/typed_options.hpp"
#include "miniapps/app/checkpoint.hpp"
#include "miniapps/app/frame.hpp"
#include "miniapps/app/outputs.hpp"
#include "miniapps/wave2d/calibration.hpp"
#include "miniapps/wave2d/initial_field.hpp"
#include "miniapps/wave2d/pictures.hpp"
#include "miniapps/wave2d/plan.hpp"
#include "miniapps/wave2d/simulation.hpp"
#include "partition/algorithms.hpp"
#include "partition/balancing/load_balancer.hpp"

namespace steelyard::wave2d {
namespace {

using partition::Rectangle;

/// Adds the options that the frame does not add.
void add_options(const AppOptions& parsers, Options& options) {
  add_grid_options(parsers, options.grid, 0);
  CLI::App& model = parsers.model();
  model.get_option("--size")->description(fmt::format("Rows and columns of the grid (default {})", Problem().rows));
  model.add_option("--order", options.problem.order, "Order in space: 2 (5 points) or 4 (9 points) (default 2)")
      ->check(CLI::IsMember({2, 4}))
      ->type_name("2|4");
  const auto take_time_tile = [&options](const std::string& word) {
    int steps = 0;
    if (word != "auto" && (!CLI::detail::lexical_cast(word, steps) || steps < 1 || steps > most_steps_per_pass)) {
      throw CLI::ValidationError("--time-tile",
                                 fmt::format("{} (expected auto, or 1 to {})", word, most_steps_per_pass));
    }
    options.time_tile = steps;
  };
  model
      .add_option_function<std::string>(
          "--time-tile", take_time_tile,
          "Steps per pass over memory and per exchange of halos (default auto: what the models find fastest)")
      ->type_name("K|auto");
  CLI::App& parser = parsers.run();
  parser
      .add_option("--courant", options.problem.courant,
                  "c dt / dx, at most 0.7071, with --order 4 0.6123 (default 0.5)")
      ->type_name("C");
  add_choice<Boundary>(parser, "--boundary", options.problem.boundary, boundary_names,
                       "What happens at the edge (default dirichlet)");
  add_choice<Balancing>(parser, "--balance", options.balancing, balancing_names,
                        "How rows are balanced: by models and --partition (default), by trying out with binary or "
                        "ternary search, or while running");
  add_choice<BalanceLevel>(
      parser, "--balance-level", options.level, {"both", "internal", "external"},
      "With --balance binary or ternary: between the units of each rank, between ranks, or both (default)");
  CLI::Option* frames = add_number(parser, "--frames", options.frames,
                                   "Pictures of the field, evenly from start to end, as PNG and VTK files", 0, 10000);
  parser.add_option("--frame-dir", options.frame_folder, "Where they go (default frames)")
      ->type_name("DIR")
      ->needs(frames);
  parser.add_flag_callback(
      "--serialize", [&options] { options.overlap = Overlap::none; },
      "Run the phases of a pass one after the other, to time them apart (slower)");
}

/// Takes the extents of the command line or of the input fields, which must agree with each other and with those.
/// @throws InvalidArgument, FileFormatError
void take_extents(Options& options) {
  Problem& problem = options.problem;
  const GridOptions& grid = options.grid;
  grid.set(problem.rows, problem.columns);
  const auto& files = options.run.input;
  if (files.size() > 2) {
    throw InvalidArgument(fmt::format(
        "--input names {} files (expected the current field, or the previous and the current one)", files.size()));
  }
  for (const auto& file : files) {
    const auto shape = with_element(options.run.element,
                                    [&]<class Scalar>(Scalar) { return read_npy_matrix_header<Scalar>(file).shape; });
    if (&file == &files.front() && grid.rows == 0) {
      problem.rows = shape[0];
      problem.columns = shape[1];
    }
    if (shape[0] != problem.rows || shape[1] != problem.columns) {
      throw FileFormatError(
          file.string(), "shape",
          fmt::format("is {} x {} (expected {} x {})", shape[0], shape[1], problem.rows, problem.columns));
    }
  }
  require_extents("grid", "points", problem.rows, problem.columns, {smallest_extent, ": one point inside the halo"});
}

/// Checks the options that depend on each other; `--partition dynamic` sets `balancing` as `--balance dynamic` does.
/// @throws InvalidArgument, FileFormatError
void complete(Options& options) {
  const std::string& partition = options.run.partition;
  const bool tries_out = options.balancing == Balancing::binary || options.balancing == Balancing::ternary;
  if (partition == "dynamic") {
    if (tries_out) {
      throw InvalidArgument("--partition dynamic balances while running (expected no other --balance beside it)");
    }
    options.balancing = Balancing::dynamic;
  }
  take_extents(options);
  const double courant = options.problem.courant, most = largest_courant(options.problem.order);
  if (!(courant > 0.0 && courant <= most * (1.0 + 1e-12))) {
    // Rounded down, so that the number named is one that is taken.
    throw InvalidArgument(fmt::format("--courant {} (expected 0 < C <= {:.4f}, beyond which the scheme is unstable)",
                                      courant, std::floor(most * 1e4) / 1e4));
  }
  if (partition != "dynamic") row_algorithm(partition);
  if (options.balancing != Balancing::model && partition == "column") {
    throw InvalidArgument("--partition column goes by models (expected --balance model, or slices of rows)");
  }
  if (options.balancing != Balancing::model && !options.run.models.empty()) {
    throw InvalidArgument("--model has no effect where rows are balanced by trying out (expected --balance model)");
  }
  if (options.run.levels == 2 && options.balancing != Balancing::model) {
    throw InvalidArgument("--levels 2 goes by models (expected --balance model)");
  }
  if (!options.run.restart.empty() && !options.run.input.empty()) {
    throw InvalidArgument("--input with --restart, which has a field (expected one of the two)");
  }
  if (options.level != BalanceLevel::both && !tries_out) {
    throw InvalidArgument("--balance-level goes with --balance binary or ternary");
  }
}

template <class Scalar>
class Run : public AppRun {
 public:
  Run(Frame& frame, const Options& options)
      : frame_(frame), options_(options), problem_(options.problem), wave_(problem_) {
    // Every unit needs at least the row that its neighbours need of it.
    const std::size_t units = frame.slots().size();
    if (problem_.rows < static_cast<std::int64_t>(units)) {
      throw CollectiveError(fmt::format("{} processing units on {} ranks for a grid of {} rows (expected at most one "
                                        "unit per row)",
                                        units, frame.ranks(), problem_.rows),
                            ExitCode::wrong_input, 0);
    }
    frame.on_root([&] {
      if (options.frames > 0) require_writable(options.frame_folder / "frame_0000.png");
    });
    read_start();
  }

  double memory_bytes() const override { return levels_held(1) * problem_.points() * sizeof(Scalar); }
  void describe(RunRecord& record) const override {
    record.params.insert({{"rows", static_cast<double>(problem_.rows)},
                          {"columns", static_cast<double>(problem_.columns)},
                          {"courant", problem_.courant},
                          {"order", problem_.order},
                          {"barrier", options_.run.barrier ? 1.0 : 0.0}});
    record.settings["balance"] = word_of(balancing_names, options_.balancing);
    record.settings["boundary"] = word_of(boundary_names, problem_.boundary);
  }
  std::string why_unchecked() const override { return "no reference solution for a given field"; }

  std::string title(const RunRecord& record) const override {
    return fmt::format("wave2d {} x {} {}, order {}, {} boundary, C = {:g}", problem_.rows, problem_.columns,
                       record.settings.at("element"), problem_.order, record.settings.at("boundary"), problem_.courant);
  }

  std::string notes(const RunRecord&) const override {
    return options_.run.restart.empty() ? "" : fmt::format("restart    from step {}\n", start_.steps);
  }

  /// Rows that are found by trying out, or by the times of the run's own passes, do not go by models.
  std::optional<Plan> plan() override {
    if (options_.balancing == Balancing::model) return std::nullopt;
    return make_plan(frame_, options_, [&](int time_tile, Plan& plan) -> Assignment {
      const std::vector<std::int64_t> rows = even_rows();
      if (options_.balancing == Balancing::dynamic) {
        return {row_slices(problem_, rows), std::vector<double>(rows.size(), 0.0)};
      }
      const auto kernel = pass_kernel(problem_, options_.run.element, time_tile);
      const Calibration found = calibrate(frame_, *kernel, problem_, options_.balancing, options_.level);
      plan.figures["calibration_time_s"] = found.time_s;
      return found.assignment;
    });
  }

  void allocate(const Plan& plan) override {
    time_tile_ = static_cast<int>(plan.params.at("time_tile"));
    if (plan.rectangles.empty()) rectangles_ = row_slices(problem_, plan.distribution);
    for (const RectangleRecord& part : plan.rectangles) {
      rectangles_.push_back({part.row, part.column, part.rows, part.columns});
    }
    std::vector<std::int64_t> bytes;
    for (const Rectangle& part : rectangles_) bytes.push_back(part.area() * static_cast<std::int64_t>(sizeof(Scalar)));
    frame_.collectively([&] {
      simulation_.emplace(frame_, problem_, rectangles_, time_tile_, options_.overlap);
      // Arrays as large as a level of the field.
      bound_.emplace(frame_, bytes);
    });
  }

  void load() override {
    const bool balances = options_.balancing == Balancing::dynamic;
    if (balances) simulation_->redistribute(rectangles_);
    load_initial();
    const double bytes_per_s = bound_->measure();
    if (!balances) return;
    partition::LoadBalancerOptions options;
    options.window = 3;
    // Both levels are copied out of one unit's memory and into another's, and all memory is allocated anew.
    constexpr double copies_of_a_move = 6.0;
    options.redistribution_s = copies_of_a_move * sizeof(Scalar) * problem_.points() / std::max(bytes_per_s, 1.0);
    balancer_.emplace(frame_.balancer(even_rows(), std::move(options)));
    redistribution_s_ = 0.0;
  }

  /// With `--balance dynamic` rows move between units and ranks where the models that the run's own passes make promise
  /// more than moving costs. Every rank decides the same. Source: 000, section 6.1.5.
  UnitSeconds run() override {
    std::int64_t saved = 0;
    const auto between_passes = [&](const UnitSeconds& pass_s, std::int64_t steps_left) {
      if (balancer_ && balancer_->record(pass_s, static_cast<double>(steps_left) / time_tile_)) {
        redistribution_s_ += simulation_->redistribute(row_slices(problem_, balancer_->units()));
      }
      const std::int64_t done = options_.run.steps - steps_left, before = std::exchange(saved, done);
      return frame_.checkpoint(done, before, [&] { save(done); });
    };
    const bool stops = balancer_ || !options_.run.checkpoint.empty();
    times_ =
        simulation_->advance(options_.run.steps, stops ? between_passes : typename Simulation<Scalar>::BetweenPasses());
    return times_.unit_s / std::max(1.0, static_cast<double>(options_.run.steps));
  }

  /// Largest deviation from what the scheme makes of the standing wave in exact arithmetic, and from the wave itself.
  std::optional<FoundError> check() override {
    if (!start_.problem.value("standing_wave", false)) return std::nullopt;
    const std::int64_t steps = start_.steps + options_.run.steps;
    const double exact = wave_.exact_amplitude(steps), discrete = wave_.discrete_amplitude(steps);
    double error = 0.0, analytic_error = 0.0;
    std::vector<double> shape;
    simulation_->store([&](const Rectangle& part, std::span<const Scalar> values) {
      shape.resize(values.size());
      wave_.sample(1.0, part, std::span<double>(shape));
      for (std::size_t i = 0; i < values.size(); ++i) {
        const double value = static_cast<double>(values[i]);
        const double deviation = std::abs(value - discrete * shape[i]);
        error = std::isfinite(deviation) ? std::max(error, deviation) : HUGE_VAL;
        analytic_error = std::max(analytic_error, std::abs(value - exact * shape[i]));
      }
    });
    analytic_error_ = frame_.max(analytic_error);
    // However many steps, a field that is off by a tenth of the wave is wrong.
    const double roundings = accumulated_roundings(static_cast<double>(steps));
    const double tolerance = std::min(0.1, static_cast<double>(std::numeric_limits<Scalar>::epsilon()) * roundings);
    return FoundError{error, tolerance, "the scheme's exact standing wave"};
  }

  void keep(const Repetition&) override {
    // An emulated slowdown lengthens all phases alike.
    const auto within = [](double seconds, const UnitTimes& times) {
      const double own_s = times.begin_s() + times.interior_s;
      return (own_s > 0.0 ? seconds / own_s : 0.0) * times;
    };
    const UnitTimes own = slower(within(times_.unit_s.host_s, times_.phases.host),
                                 within(times_.unit_s.companion_s, times_.phases.companion));
    const std::array seconds = phase_seconds(times_.kernels_s, times_.exchange_s, own);
    std::vector<double> slowest_s = all_max(frame_.comm(), {seconds.begin(), seconds.end()});
    const CommunicationTime ranks = split_waiting(frame_.comm(), times_.exchange_s);
    slowest_s[1] = ranks.messages_s;
    slowest_s.push_back(ranks.waiting_s);
    seconds_.add(std::move(slowest_s));
  }

  Outcome outcome(const Measurement& measurement, Plan& plan) override {
    Outcome outcome;
    outcome.of_what = fmt::format("for {} steps", options_.run.steps);
    const std::vector<double> seconds = seconds_.values();
    std::vector<std::pair<std::string, double>> measured_s;
    for (std::size_t i = 0; i < phase_names.size(); ++i) measured_s.emplace_back(phase_names[i], seconds[i]);
    if (seconds.back() > 0.0) measured_s.emplace_back("waiting", seconds.back());
    outcome.phases = beside_prediction(plan, measured_s);
    if (companion_is_device) outcome.settings["device_halos"] = simulation_->has_direct_halos() ? "direct" : "staged";
    if (analytic_error_) outcome.figures["analytic_error"] = *analytic_error_;
    if (balancer_) {
      balancer_->sum_up(outcome, plan);
      outcome.figures["redistribution_time_s"] = redistribution_s_;
    }
    if (options_.run.steps > 0) describe_speed(outcome, measurement.median_s);
    return outcome;
  }
  void write_files() override {
    if (!options_.run.checkpoint.empty()) frame_.write([&] { save(options_.run.steps); });
    frame_.write_output<Scalar>(problem_.rows, problem_.columns, [&](const BlockSink<Scalar>& sink) {
      simulation_->store([&](const Rectangle& part, std::span<const Scalar> values) {
        sink(part.row, part.column, part.columns, values);
      });
    });
    if (options_.frames > 0) frame_.write([&] { write_frames(); });
  }

 private:
  std::vector<std::int64_t> even_rows() const { return partition::even_slices(problem_.rows, frame_.slots().size()); }

  std::int64_t first_row(Level level) const { return level == Level::current ? problem_.rows : 0; }
  /// Writes the checkpoint of the state `steps` steps after this run's start. Collective.
  void save(std::int64_t steps) const {
    Checkpoint now = start_;
    now.steps += steps;
    write_checkpoint<Scalar>(frame_.session(), options_.run.checkpoint, now, [&](const BlockSink<Scalar>& sink) {
      for (const Level level : {Level::previous, Level::current}) {
        simulation_->store(
            [&](const Rectangle& part, std::span<const Scalar> values) {
              sink(first_row(level) + part.row, part.column, part.columns, values);
            },
            level);
      }
    });
  }
  /// Where the run goes on from. Collective.
  void read_start() {
    // The previous level, and the current one below it.
    start_ = {2 * problem_.rows,
              problem_.columns,
              {{"app", "wave2d"},
               {"order", problem_.order},
               {"boundary", word_of(boundary_names, problem_.boundary)},
               {"courant", problem_.courant}},
              0};
    if (options_.run.restart.empty()) {
      start_.problem["standing_wave"] = options_.run.input.empty();
      return;
    }
    frame_.on_root([&] { start_ = read_checkpoint<Scalar>(options_.run.restart, start_); });
    start_.problem = nlohmann::json::parse(broadcast_text(frame_.comm(), start_.problem.dump()));
    start_.steps = static_cast<std::int64_t>(frame_.max(static_cast<double>(start_.steps)));
  }

  void load_initial() {
    frame_.collectively([&] {
      const std::filesystem::path& restart = options_.run.restart;
      const NpyHeader header = restart.empty() ? NpyHeader{} : read_npy_matrix_header<Scalar>(restart);
      simulation_->load([&](Level level, const Rectangle& part, std::span<Scalar> values) {
        if (!restart.empty()) {
          return read_npy_block<Scalar>(restart, header, first_row(level) + part.row, part.column, part.rows,
                                        part.columns, values);
        }
        fill_initial(problem_, wave_, options_.run.input, level, part, values);
      });
    });
  }

  /// A run of its own, for pictures take time; ends with the field as it was.
  void write_frames() {
    load_initial();
    Pictures pictures(frame_.session(), problem_, options_.frame_folder);
    pictures.draw(*simulation_, options_.run.steps, options_.frames);
    frame_.session().print(fmt::format("frames     {} in {}\n", pictures.count(), options_.frame_folder.string()));
  }

  /// Points per second, beside those that the bandwidth of the memory allows.
  void describe_speed(Outcome& outcome, double time_s) const {
    const double steps = static_cast<double>(options_.run.steps);
    const double points_per_s = problem_.points() * steps / time_s;
    const double bound = bound_->bytes_per_s() / bytes_per_point(sizeof(Scalar), 1);
    outcome.figure_of_merit = {"Mpoint/s", points_per_s / 1e6};
    outcome.figures["bound_points_per_s"] = bound;
    if (balancer_) {
      outcome.below =
          fmt::format("rebalanced {} times in {}\n", balancer_->repartitions(), format_seconds(redistribution_s_));
    }
    outcome.below += bound_->sum_up(outcome, points_per_s / bound, fmt::format(" of {:.1f} Mpoint/s", bound / 1e6));
    for (const PhaseTime& phase : outcome.phases) outcome.below += phase_line(phase, 10, steps, " per step");
  }

  Frame& frame_;
  const Options& options_;
  const Problem& problem_;
  StandingWave wave_;
  int time_tile_ = 1;
  std::vector<Rectangle> rectangles_;  ///< of every slot, at the start of a repetition
  Checkpoint start_;                   ///< where the run goes on from; without its elements
  std::optional<Simulation<Scalar>> simulation_;
  std::optional<MemoryBound> bound_;
  std::optional<StepBalancer> balancer_;  ///< of a repetition that balances itself
  double redistribution_s_ = 0.0;         ///< of the last repetition, on this rank
  StepTimes times_;                       ///< of the last repetition
  std::optional<double> analytic_error_;  ///< of the last check
  Medians seconds_;                       ///< of the phases, each of the slowest unit or rank
};

class Wave2d : public MiniAppOf<Options> {
 public:
  AppFacts facts() const override {
    return {"wave2d",
            "2D wave equation on host and companion units at once, on slices sized by speed models",
            "advance",
            {.steps = true,
             .type = true,
             .platform = true,
             .barrier = true,
             .input = true,
             .output = true,
             .checkpoint = true},
            true};
  }
  void add_options(const AppOptions& parsers) override { wave2d::add_options(parsers, options_); }
  void prepare() override { complete(options_); }
  std::unique_ptr<AppRun> start(Frame& frame) const override { return make_run<Run>(frame, options_); }
  std::shared_ptr<MeasurableKernel> kernel() const override {
    return pass_kernel(options_.problem, options_.run.element, std::max(1, options_.time_tile));
  }
  std::string problem() const override {
    const Problem& problem = options_.problem;
    return fmt::format("wave2d, {} x {} {}, order {}: {} steps", problem.rows, problem.columns,
                       element_name(options_.run.element), problem.order, options_.run.steps);
  }
  Plan plan(Resources& on, std::int64_t times) const override {
    Options grown = options_;
    grown.problem.rows *= times;
    return make_plan(on, grown);
  }
};

}  // namespace
}  // namespace steelyard::wave2d

namespace steelyard {
STEELYARD_MINIAPP(wave2d, wave2d::Wave2d)
}
