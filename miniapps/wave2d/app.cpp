#include "miniapps/wave2d/app.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "comm/collective.hpp"
#include "comm/device_aware.hpp"
#include "comm/group_bandwidth.hpp"
#include "comm/run_description.hpp"
#include "core/base/statistics.hpp"
#include "core/base/table.hpp"
#include "miniapps/app/channels.hpp"
#include "miniapps/app/matrix_output.hpp"
#include "miniapps/app/result_folder.hpp"
#include "miniapps/app/run_header.hpp"
#include "miniapps/app/slot_shares.hpp"
#include "miniapps/app/speed_models.hpp"
#include "miniapps/app/started_units.hpp"
#include "miniapps/app/timed_region.hpp"
#include "miniapps/app/unit_table.hpp"
#include "miniapps/app/verification.hpp"
#include "miniapps/wave2d/dynamic_run.hpp"
#include "miniapps/wave2d/frames.hpp"
#include "miniapps/wave2d/initial_field.hpp"
#include "miniapps/wave2d/measured_kernel.hpp"
#include "miniapps/wave2d/prediction.hpp"
#include "miniapps/wave2d/report.hpp"
#include "miniapps/wave2d/simulation.hpp"
#include "miniapps/wave2d/standing_wave.hpp"
#include "miniapps/wave2d/time_tile_choice.hpp"
#include "partition/balancing/outcome.hpp"

namespace steelyard::wave2d {
namespace {

using partition::Rectangle;

template <class Scalar>
class App {
 public:
  App(const Session& session, const Options& options, const Problem& problem, const RankUnits& units)
      : session_(session),
        options_(options),
        problem_(problem),
        units_(units),
        co_execution_(session.machine(), units),
        slots_(gather_slots(session, units)),
        wave_(problem),
        initial_field_(problem, wave_, options.run.input),
        record_(describe_run(session, "wave2d", options.run, units)) {
    record_.check = unchecked(options.run);
    record_.params["steps"] = static_cast<double>(options.run.steps);
    record_.params["rows"] = static_cast<double>(problem.rows);
    record_.params["columns"] = static_cast<double>(problem.columns);
    record_.params["courant"] = problem.courant;
    record_.settings["balance"] = balancing_names()[static_cast<std::size_t>(options.balancing)];
    record_.params["order"] = problem.order;
    if (companion_is_device) record_.settings["device_halos"] = mpi_takes_device_memory() ? "direct" : "staged";
    record_.settings["boundary"] = problem.boundary == Boundary::dirichlet ? "dirichlet" : "neumann";
  }

  ExitCode run() {
    require_room();
    require_outputs(session_, options_.run);
    print_header();
    const bool any_tile = options_.time_tile == 0;
    const int most_steps = most_steps_of_units(session_, units_, problem_, options_.run.element);
    const std::optional<models::Platform> platform = obtain_platform(
        session_, options_.run,
        message_facts(session_, problem_, sizeof(Scalar), any_tile ? 1 : options_.time_tile,
                      any_tile ? time_tile_candidates(problem_, options_.run.steps, slots_.size(), most_steps).back()
                               : options_.time_tile),
        record_);
    const int time_tile =
        choose_time_tile(session_, co_execution_, units_, options_, problem_, slots_, platform, record_);
    std::vector<models::FpmFile> files;
    const Assignment assignment = balanced(time_tile, files);
    const Prediction prediction =
        predict(session_, co_execution_, units_, options_, problem_, time_tile, slots_, assignment, platform);
    record_assignment(record_, problem_, prediction.assignment);
    const UnitHeadings headings = unit_headings(problem_, prediction.assignment);
    const std::vector<double> predicted_s = step_seconds(prediction);
    if (options_.run.dry_run) {
      session_.print(unit_table(record_, headings, predicted_s));
      session_.print(fmt::format("predicted  {} for {} steps, {} of each step exchanging halos\n",
                                 format_seconds(static_cast<double>(options_.run.steps) * prediction.step_s()),
                                 options_.run.steps, format_seconds(prediction.pass.exchange_s / time_tile)));
      return ExitCode::good;
    }
    const Measurement measurement = measure(prediction);
    complete_record(record_, options_, problem_, prediction, measurement);
    session_.print(unit_table(record_, headings, predicted_s, measurement.slot_step_s));
    session_.print(summary(record_));
    write_result_folder(session_, options_.run.result, record_, slots_, files);
    return exit_code(record_.check);
  }

 private:
  /// Who starts with what; collective. @param files what was measured on the way
  Assignment balanced(int time_tile, std::vector<models::FpmFile>& files) {
    const MeasuredKernel kernel(problem_, options_.run.element, time_tile);
    Assignment assignment;
    if (options_.balancing == Balancing::dynamic) {
      const std::vector<std::int64_t> rows = partition::start_or_even(problem_.rows, slots_.size(), {}, {});
      assignment = {row_slices(problem_, rows), std::vector<double>(slots_.size(), 0.0)};
    } else if (options_.balancing == Balancing::model) {
      RunOptions model_options = options_.run;
      model_options.partition = row_algorithm(options_.run.partition);
      const SpeedModels models =
          obtain_speed_models(session_, co_execution_, units_, model_options, kernel, problem_.rows, slots_, record_);
      collectively(session_.comm(), [&] { assignment = assign(problem_, models.pointers(), options_.run.partition); });
      files = models.files();
    } else {
      const Calibration found =
          calibrate(session_, co_execution_, kernel, problem_.rows, slots_, options_.balancing, record_);
      assignment = {row_slices(problem_, found.rows), found.pass_s};
    }
    return assignment;
  }

  /// Every rank needs at least the row that its neighbours need of it.
  void require_room() const {
    if (problem_.rows >= static_cast<std::int64_t>(slots_.size())) return;
    throw CollectiveError(
        fmt::format("{} processing units on {} ranks for a grid of {} rows (expected at most one unit "
                    "per row)",
                    slots_.size(), session_.size(), problem_.rows),
        ExitCode::wrong_input, 0);
  }

  void print_header() const {
    session_.print(fmt::format("wave2d {} x {} {}, order {}, {} boundary, C = {:g}, {}\n", problem_.rows,
                               problem_.columns, record_.settings.at("element"), problem_.order,
                               record_.settings.at("boundary"), problem_.courant, rank_text(session_, record_)));
    session_.print(core_notes(record_));
  }

  /// Errors of a rank on its own (memory, a file that vanished) become everyone's.
  Measurement measure(const Prediction& prediction) {
    std::optional<Simulation<Scalar>> simulation;
    std::optional<GroupBandwidth> bandwidth;
    std::vector<std::int64_t> points;
    for (const Rectangle& rectangle : prediction.assignment.rectangles) points.push_back(rectangle.area());
    const UnitSizes share = own_share(session_, slots_, points);
    collectively(session_.comm(), [&] {
      simulation.emplace(session_, co_execution_, problem_, slots_, prediction.assignment.rectangles,
                         prediction.time_tile, options_.serialize ? Overlap::none : Overlap::full);
      // As large as a level of the field.
      const auto elements = [](std::int64_t count) { return count * static_cast<std::int64_t>(sizeof(Scalar)) / 8; };
      bandwidth.emplace(session_.comm(), co_execution_, elements(share.host), elements(share.companion));
    });
    Measurement measurement;
    std::vector<double> bandwidths;
    std::vector<double> kernels_s;
    std::vector<double> exchange_s;
    std::vector<std::vector<double>> unit_s(2);
    std::vector<UnitTimes> phases;
    for (int repetition = -options_.run.warmups; repetition < options_.run.repetitions; ++repetition) {
      if (options_.balancing == Balancing::dynamic) simulation->redistribute(prediction.assignment.rectangles);
      collectively(session_.comm(), [&] { simulation->load(initial_field_); });
      bandwidths.push_back(bandwidth->measure_bytes_per_s());
      StepTimes times;
      const double seconds = timed_region(session_, "steelyard::wave2d::advance",
                                          [&] { times = advance(*simulation, prediction, bandwidths.back()); });
      if (is_check_due(options_.run, repetition)) check(*simulation);
      if (repetition < 0) continue;
      const double per_step = options_.run.steps > 0 ? 1.0 / static_cast<double>(options_.run.steps) : 0.0;
      measurement.times_s.push_back(seconds);
      kernels_s.push_back(per_step * all_max(session_.comm(), times.kernels_s));
      exchange_s.push_back(per_step * all_max(session_.comm(), times.exchange_s));
      phases.push_back(slowest_phases(times));
      phases.back() *= per_step;
      unit_s[0].push_back(per_step * times.host_s);
      unit_s[1].push_back(per_step * times.companion_s);
    }
    measurement.kernels_step_s = median(kernels_s);
    measurement.exchange_step_s = median(exchange_s);
    measurement.phases_step = median_phases(phases);
    measurement.bound_bytes_per_s = median(bandwidths);
    measurement.slot_step_s = gather_seconds(session_, slots_, {median(unit_s[0]), median(unit_s[1])});
    if (options_.frames > 0) write_frames(*simulation);
    write_matrix<Scalar>(session_, options_.run.output, problem_.rows, problem_.columns,
                         [&](const BlockSink<Scalar>& sink) {
                           simulation->store([&](const Rectangle& part, std::span<const Scalar> values) {
                             sink(part.row, part.column, part.columns, values);
                           });
                         });
    return measurement;
  }

  /// All steps of a repetition, rebalanced on the way where the user wants that.
  StepTimes advance(Simulation<Scalar>& simulation, const Prediction& prediction, double bytes_per_s) {
    if (options_.balancing != Balancing::dynamic) return simulation.advance(options_.run.steps);
    DynamicRun<Scalar> dynamic(session_, slots_, problem_, options_.run.partition, bytes_per_s);
    const StepTimes times = dynamic.advance(simulation, options_.run.steps, prediction.time_tile);
    dynamic.record(record_);
    return times;
  }

  /// Of the slowest unit of all ranks.
  UnitTimes slowest_phases(const StepTimes& times) const {
    UnitTimes host = times.host, companion = times.companion;
    host *= units_.host ? units_.host->slowdown : 1.0;
    companion *= units_.companion ? units_.companion->slowdown : 1.0;
    const UnitTimes own = slower(host, companion);
    const std::vector<double> all =
        all_max(session_.comm(), std::vector<double>{own.unpacking_s, own.border_s, own.packing_s, own.interior_s});
    return {all[0], all[1], all[2], all[3]};
  }

  static UnitTimes median_phases(const std::vector<UnitTimes>& repetitions) {
    UnitTimes medians;
    std::vector<double> seconds(repetitions.size());
    for (const auto phase :
         {&UnitTimes::unpacking_s, &UnitTimes::border_s, &UnitTimes::packing_s, &UnitTimes::interior_s}) {
      for (std::size_t i = 0; i < seconds.size(); ++i) seconds[i] = repetitions[i].*phase;
      medians.*phase = median(seconds);
    }
    return medians;
  }

  /// A run of its own, for pictures take time. Ends with the field as it was.
  void write_frames(Simulation<Scalar>& simulation) {
    collectively(session_.comm(), [&] { simulation.load(initial_field_); });
    Frames<Scalar> frames(session_, problem_, options_.frame_folder);
    std::int64_t done = 0;
    for (const std::int64_t step : frame_steps(options_.run.steps, options_.frames)) {
      simulation.advance(step - done);
      done = step;
      frames.add(simulation);
    }
    session_.print(fmt::format("frames     {} in {}\n", frames.count(), options_.frame_folder.string()));
  }

  /// Largest deviation from what the scheme makes of the standing wave in exact arithmetic, and from the wave itself.
  void check(const Simulation<Scalar>& simulation) {
    if (!options_.run.input.empty()) {
      record_.check.against = "no reference solution for a given field";
      return;
    }
    const std::int64_t steps = options_.run.steps;
    const double exact = wave_.exact_amplitude(steps);
    double error = 0.0;
    double analytic_error = 0.0;
    bool finite = true;
    std::vector<double> shape;
    simulation.store([&](const Rectangle& part, std::span<const Scalar> rows) {
      shape.resize(rows.size());
      wave_.sample(1.0, part, std::span<double>(shape));
      const double discrete = wave_.discrete_amplitude(steps);
      for (std::size_t i = 0; i < rows.size(); ++i) {
        const double value = static_cast<double>(rows[i]);
        const double deviation = std::abs(value - discrete * shape[i]);
        error = std::max(error, deviation);
        // A NaN compares as nothing, least of all as large.
        finite = finite && std::isfinite(deviation);
        analytic_error = std::max(analytic_error, std::abs(value - exact * shape[i]));
      }
    });
    const double n = static_cast<double>(steps);
    // Rounding errors of n steps add up like a random walk whose every step the scheme carries on. However many steps,
    // a field that is off by a tenth of the wave is wrong.
    const double tolerance =
        std::min(0.1, static_cast<double>(std::numeric_limits<Scalar>::epsilon()) * (16.0 + 8.0 * n * std::sqrt(n)));
    if (!finite) error = std::numeric_limits<double>::infinity();
    add_check(session_, record_.check, {error, tolerance, "the scheme's exact standing wave"});
    record_.figures["analytic_error"] = all_max(session_.comm(), analytic_error);
  }

  const Session& session_;
  const Options& options_;
  Problem problem_;
  RankUnits units_;
  CoExecution co_execution_;
  std::vector<Slot> slots_;
  StandingWave wave_;
  InitialField<Scalar> initial_field_;
  RunRecord record_;
};

}  // namespace

ExitCode run(Session& session, const Options& options) {
  Problem problem;
  collectively(session.comm(), [&] { problem = make_problem(options); });
  const StartedUnits started(session, options.run);
  return options.run.element == ElementType::float64 ? App<double>(session, options, problem, started.units()).run()
                                                     : App<float>(session, options, problem, started.units()).run();
}

}  // namespace steelyard::wave2d
