#include "miniapps/wave2d/app.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "comm/collective.hpp"
#include "comm/group_bandwidth.hpp"
#include "comm/mpi_check.hpp"
#include "comm/run_description.hpp"
#include "core/base/npy.hpp"
#include "core/base/statistics.hpp"
#include "core/base/table.hpp"
#include "core/base/text_file.hpp"
#include "core/runtime.hpp"
#include "core/timing.hpp"
#include "miniapps/wave2d/prediction.hpp"
#include "miniapps/wave2d/report.hpp"
#include "miniapps/wave2d/simulation.hpp"
#include "miniapps/wave2d/speed_models.hpp"
#include "miniapps/wave2d/standing_wave.hpp"

namespace steelyard::wave2d {
namespace {

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
    record_.params["steps"] = static_cast<double>(options.run.steps);
    record_.params["rows"] = static_cast<double>(problem.rows);
    record_.params["columns"] = static_cast<double>(problem.columns);
    record_.params["courant"] = problem.courant;
    record_.settings["boundary"] = problem.boundary == Boundary::dirichlet ? "dirichlet" : "neumann";
  }

  ExitCode run() {
    require_room();
    on_root(session_.comm(), [&] {
      if (!options_.run.output.empty()) require_writable(options_.run.output);
      if (!options_.run.result.empty()) require_writable(options_.run.result / "run.json");
    });
    print_header();
    const SpeedModels models = speed_models();
    const Prediction prediction = predict(session_, co_execution_, options_.run, problem_, slots_, models);
    record_.distribution = prediction.distribution.units;
    if (options_.run.dry_run) {
      session_.print(unit_table(record_, prediction, nullptr));
      session_.print(fmt::format("predicted  {} for {} steps, {} of each step exchanging halos\n",
                                 format_seconds(static_cast<double>(options_.run.steps) * prediction.step_s),
                                 options_.run.steps, format_seconds(prediction.exchange_s)));
      return ExitCode::good;
    }
    const Measurement measurement = measure(prediction.distribution.units);
    complete_record(record_, options_, problem_, prediction, measurement);
    session_.print(unit_table(record_, prediction, &measurement));
    session_.print(summary(record_, measurement));
    write_result(models);
    return record_.check.performed && !record_.check.passed ? ExitCode::check_failed : ExitCode::good;
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
    session_.print(fmt::format("wave2d {} x {} {}, {} boundary, C = {:g}, {} rank{} on {} node{}, partition {}\n",
                               problem_.rows, problem_.columns, record_.settings.at("element"),
                               record_.settings.at("boundary"), problem_.courant, session_.size(),
                               session_.size() == 1 ? "" : "s", session_.nodes().count(),
                               session_.nodes().count() == 1 ? "" : "s", options_.run.partition));
    if (record_.settings.at("cores").find("oversubscribed") != std::string::npos) {
      session_.print("note: there are more threads than cores; times mean little\n");
    }
    if (record_.settings.at("cores").find("unbound") != std::string::npos) {
      session_.print("note: this system refuses to bind threads to cores; times vary\n");
    }
  }

  SpeedModels speed_models() {
    if (!options_.run.models.empty()) {
      return read_speed_models(session_, options_.run.models, problem_, slots_, element_name(options_.run.element),
                               options_.run.partition);
    }
    const double start_s = now_s();
    Kokkos::Profiling::pushRegion("steelyard::wave2d::speed_models");
    SpeedModels models = measure_speed_models(session_, co_execution_, units_, problem_, options_.run.element, slots_,
                                              options_.run.partition);
    Kokkos::Profiling::popRegion();
    const double seconds = all_max(session_.comm(), now_s() - start_s);
    record_.figures["model_time_s"] = seconds;
    session_.print(fmt::format("speed models measured in {}\n", format_seconds(seconds)));
    return models;
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

  /// Size of a level of one of this rank's units, in doubles.
  std::int64_t doubles_of(const std::vector<std::int64_t>& rows, ProcessingUnit::Kind kind) const {
    for (std::size_t i = 0; i < slots_.size(); ++i) {
      if (slots_[i].rank != session_.rank() || slots_[i].kind != kind) continue;
      return rows[i] * problem_.columns * static_cast<std::int64_t>(sizeof(Scalar)) / 8;
    }
    return 0;
  }

  /// Errors of a rank on its own (memory, a file that vanished) become everyone's.
  Measurement measure(const std::vector<std::int64_t>& rows) {
    std::optional<Simulation<Scalar>> simulation;
    std::optional<GroupBandwidth> bandwidth;
    collectively(session_.comm(), [&] {
      simulation.emplace(session_, co_execution_, problem_, slots_, rows);
      bandwidth.emplace(session_.comm(), co_execution_, doubles_of(rows, ProcessingUnit::Kind::host),
                        doubles_of(rows, ProcessingUnit::Kind::companion));
    });
    Measurement measurement;
    std::vector<double> bandwidths;
    std::vector<double> kernels_s;
    std::vector<double> exchange_s;
    std::vector<std::vector<double>> unit_s(2);
    for (int repetition = -options_.run.warmups; repetition < options_.run.repetitions; ++repetition) {
      collectively(session_.comm(), [&] { simulation->load(source()); });
      bandwidths.push_back(bandwidth->measure_bytes_per_s());
      STEELYARD_MPI(MPI_Barrier(session_.comm()));
      const double start_s = now_s();
      Kokkos::Profiling::pushRegion("steelyard::wave2d::advance");
      const StepTimes times = simulation->advance(options_.run.steps);
      Kokkos::Profiling::popRegion();
      const double seconds = all_max(session_.comm(), now_s() - start_s);
      const bool last = repetition + 1 == options_.run.repetitions;
      if (options_.run.check == CheckLevel::all || (options_.run.check == CheckLevel::last && last)) {
        check(*simulation);
      } else if (options_.run.check == CheckLevel::none) {
        record_.check.against = "--check none";
      }
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
    const std::vector<double> unit_medians = all_gather(session_.comm(), {median(unit_s[0]), median(unit_s[1])});
    for (const Slot& slot : slots_) {
      measurement.slot_step_s.push_back(
          unit_medians[2 * static_cast<std::size_t>(slot.rank) + (slot.kind == ProcessingUnit::Kind::host ? 0 : 1)]);
    }
    if (!options_.run.output.empty()) write_output(*simulation);
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
    record_.check.error = std::max(record_.check.error, all_max(session_.comm(), error));
    record_.check.tolerance = tolerance;
    record_.check.passed = (!record_.check.performed || record_.check.passed) && record_.check.error <= tolerance;
    record_.check.performed = true;
    record_.check.against = "the scheme's exact standing wave";
    record_.figures["analytic_error"] = all_max(session_.comm(), analytic_error);
  }

  void write_output(const Simulation<Scalar>& simulation) const {
    std::optional<NpyMatrixFile> file;
    std::string made;
    on_root(session_.comm(), [&] {
      file = NpyMatrixFile::create<Scalar>(options_.run.output, problem_.rows, problem_.columns);
      made = fmt::format("{} {}", file->data_offset(), file->part().string());
    });
    made = broadcast_text(session_.comm(), made);
    const std::size_t blank = made.find(' ');
    const NpyMatrixFile mine(options_.run.output, made.substr(blank + 1), std::stoll(made.substr(0, blank)),
                             problem_.columns);
    try {
      collectively(session_.comm(), [&] {
        simulation.store(
            [&](std::int64_t first, std::int64_t, std::span<const Scalar> rows) { mine.write_rows(first, rows); });
      });
      on_root(session_.comm(), [&] { mine.finish(); });
    } catch (...) {
      if (session_.is_root()) mine.discard();
      throw;
    }
  }

  void write_result(const SpeedModels& models) const {
    const std::filesystem::path& folder = options_.run.result;
    if (folder.empty()) return;
    on_root(session_.comm(), [&] {
      for (std::size_t i = 0; i < slots_.size(); ++i) {
        const char* kind = slots_[i].kind == ProcessingUnit::Kind::host ? "host" : "device";
        models::write_fpm_file(folder / "models" / fmt::format("rank{}-{}.fpm.json", slots_[i].rank, kind),
                               models.files()[i]);
      }
      write_run_record(folder, record_);
    });
    session_.print(fmt::format("result     {}\n", folder.string()));
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
  RankUnits units = session.plan_units(options.run);
  std::optional<Runtime> runtime;
  collectively(session.comm(), [&] { runtime.emplace(session.machine(), units); });
  units.bound = runtime->bound();
  return options.run.element == ElementType::float64 ? App<double>(session, options, problem, units).run()
                                                     : App<float>(session, options, problem, units).run();
}

}  // namespace steelyard::wave2d
