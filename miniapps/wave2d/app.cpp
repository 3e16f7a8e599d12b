#include "miniapps/wave2d/app.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "comm/collective.hpp"
#include "comm/group_bandwidth.hpp"
#include "comm/run_description.hpp"
#include "core/base/npy.hpp"
#include "core/base/statistics.hpp"
#include "core/base/table.hpp"
#include "miniapps/app/matrix_output.hpp"
#include "miniapps/app/result_folder.hpp"
#include "miniapps/app/run_header.hpp"
#include "miniapps/app/slot_shares.hpp"
#include "miniapps/app/speed_models.hpp"
#include "miniapps/app/started_units.hpp"
#include "miniapps/app/timed_region.hpp"
#include "miniapps/app/unit_table.hpp"
#include "miniapps/app/verification.hpp"
#include "miniapps/wave2d/measured_kernel.hpp"
#include "miniapps/wave2d/prediction.hpp"
#include "miniapps/wave2d/report.hpp"
#include "miniapps/wave2d/simulation.hpp"
#include "miniapps/wave2d/standing_wave.hpp"

namespace steelyard::wave2d {
namespace {

const UnitHeadings unit_headings{"rows", "/step"};

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
        record_(describe_run(session, "wave2d", options.run, units)) {
    record_.check = unchecked(options.run);
    record_.params["steps"] = static_cast<double>(options.run.steps);
    record_.params["rows"] = static_cast<double>(problem.rows);
    record_.params["columns"] = static_cast<double>(problem.columns);
    record_.params["courant"] = problem.courant;
    record_.settings["boundary"] = problem.boundary == Boundary::dirichlet ? "dirichlet" : "neumann";
  }

  ExitCode run() {
    require_room();
    require_outputs(session_, options_.run);
    print_header();
    const SpeedModels models =
        obtain_speed_models(session_, co_execution_, units_, options_.run,
                            MeasuredKernel(problem_, options_.run.element), problem_.rows, slots_, record_);
    const Prediction prediction = predict(session_, co_execution_, options_.run, problem_, slots_, models);
    record_.distribution = prediction.distribution.units;
    if (options_.run.dry_run) {
      session_.print(unit_table(record_, unit_headings, prediction.distribution.predicted_s));
      session_.print(fmt::format("predicted  {} for {} steps, {} of each step exchanging halos\n",
                                 format_seconds(static_cast<double>(options_.run.steps) * prediction.step_s),
                                 options_.run.steps, format_seconds(prediction.exchange_s)));
      return ExitCode::good;
    }
    const Measurement measurement = measure(prediction.distribution.units);
    complete_record(record_, options_, problem_, prediction, measurement);
    session_.print(unit_table(record_, unit_headings, prediction.distribution.predicted_s, measurement.slot_step_s));
    session_.print(summary(record_));
    write_result_folder(session_, options_.run.result, record_, slots_, models.files());
    return exit_code(record_.check);
  }

 private:
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
    session_.print(fmt::format("wave2d {} x {} {}, {} boundary, C = {:g}, {}\n", problem_.rows, problem_.columns,
                               record_.settings.at("element"), record_.settings.at("boundary"), problem_.courant,
                               rank_text(session_, record_)));
    session_.print(core_notes(record_));
  }

  typename Simulation<Scalar>::Source source() const {
    const auto& input = options_.run.input;
    if (input.empty()) {
      return [this](Level level, std::int64_t first, std::int64_t count, std::span<Scalar> rows) {
        wave_.sample(wave_.exact_amplitude(level == Level::current ? 0 : -1), first, count, rows);
      };
    }
    // One file is a field at rest: the previous one is the same.
    return [this, &input](Level level, std::int64_t first, std::int64_t count, std::span<Scalar> rows) {
      const std::filesystem::path& path = level == Level::current ? input.back() : input.front();
      read_npy_rows(path, read_npy_matrix_header<Scalar>(path), first, rows);
      const bool held = problem_.boundary == Boundary::dirichlet && input.size() > 1;
      if (level == Level::previous && held) take_edges(input.back(), first, count, rows);
    };
  }

  /// Values that the boundary holds are the current field's: edges of the previous one, which no step changes, would
  /// take turns with them.
  void take_edges(const std::filesystem::path& path, std::int64_t first, std::int64_t count,
                  std::span<Scalar> rows) const {
    std::vector<Scalar> current(rows.size());
    read_npy_rows(path, read_npy_matrix_header<Scalar>(path), first, std::span<Scalar>(current));
    const auto columns = static_cast<std::size_t>(problem_.columns);
    for (std::int64_t row = first; row < first + count; ++row) {
      const std::size_t begin = static_cast<std::size_t>(row - first) * columns;
      const bool whole = row == 0 || row == problem_.rows - 1;
      for (std::size_t j = 0; j < columns; j += whole ? 1 : columns - 1) rows[begin + j] = current[begin + j];
    }
  }

  /// Errors of a rank on its own (memory, a file that vanished) become everyone's.
  Measurement measure(const std::vector<std::int64_t>& rows) {
    std::optional<Simulation<Scalar>> simulation;
    std::optional<GroupBandwidth> bandwidth;
    const UnitSizes share = own_share(session_, slots_, rows);
    const std::int64_t row_bytes = problem_.columns * static_cast<std::int64_t>(sizeof(Scalar));
    collectively(session_.comm(), [&] {
      simulation.emplace(session_, co_execution_, problem_, slots_, rows);
      // As large as a level of the field.
      bandwidth.emplace(session_.comm(), co_execution_, share.host * row_bytes / 8, share.companion * row_bytes / 8);
    });
    Measurement measurement;
    std::vector<double> bandwidths;
    std::vector<double> kernels_s;
    std::vector<double> exchange_s;
    std::vector<std::vector<double>> unit_s(2);
    for (int repetition = -options_.run.warmups; repetition < options_.run.repetitions; ++repetition) {
      collectively(session_.comm(), [&] { simulation->load(source()); });
      bandwidths.push_back(bandwidth->measure_bytes_per_s());
      StepTimes times;
      const double seconds = timed_region(session_, "steelyard::wave2d::advance",
                                          [&] { times = simulation->advance(options_.run.steps); });
      if (is_check_due(options_.run, repetition)) check(*simulation);
      if (repetition < 0) continue;
      const double per_step = options_.run.steps > 0 ? 1.0 / static_cast<double>(options_.run.steps) : 0.0;
      measurement.times_s.push_back(seconds);
      kernels_s.push_back(per_step * all_max(session_.comm(), times.kernels_s));
      exchange_s.push_back(per_step * all_max(session_.comm(), times.exchange_s));
      unit_s[0].push_back(per_step * times.host_s);
      unit_s[1].push_back(per_step * times.companion_s);
    }
    measurement.kernels_step_s = median(kernels_s);
    measurement.exchange_step_s = median(exchange_s);
    measurement.bound_bytes_per_s = median(bandwidths);
    measurement.slot_step_s = gather_seconds(session_, slots_, {median(unit_s[0]), median(unit_s[1])});
    write_matrix<Scalar>(session_, options_.run.output, problem_.rows, problem_.columns,
                         [&](const BlockSink<Scalar>& sink) {
                           simulation->store([&](std::int64_t first, std::int64_t, std::span<const Scalar> part) {
                             sink(first, 0, problem_.columns, part);
                           });
                         });
    return measurement;
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
    simulation.store([&](std::int64_t first, std::int64_t count, std::span<const Scalar> rows) {
      shape.resize(rows.size());
      wave_.sample(1.0, first, count, std::span<double>(shape));
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
