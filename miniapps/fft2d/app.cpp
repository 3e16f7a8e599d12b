#include "miniapps/fft2d/app.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "comm/collective.hpp"
#include "comm/group_bandwidth.hpp"
#include "comm/run_description.hpp"
#include "core/base/statistics.hpp"
#include "core/base/table.hpp"
#include "core/timing.hpp"
#include "miniapps/app/channels.hpp"
#include "miniapps/app/matrix_output.hpp"
#include "miniapps/app/result_folder.hpp"
#include "miniapps/app/run_header.hpp"
#include "miniapps/app/slot_shares.hpp"
#include "miniapps/app/started_units.hpp"
#include "miniapps/app/timed_region.hpp"
#include "miniapps/app/unit_table.hpp"
#include "miniapps/app/verification.hpp"
#include "miniapps/fft2d/input.hpp"
#include "miniapps/fft2d/pass_models.hpp"
#include "miniapps/fft2d/prediction.hpp"
#include "miniapps/fft2d/report.hpp"
#include "miniapps/fft2d/spectrum_check.hpp"
#include "miniapps/fft2d/transform.hpp"

namespace steelyard::fft2d {
namespace {

const char* planner_name(Planner planner) {
  switch (planner) {
    case Planner::estimate:
      return "estimate";
    case Planner::measure:
      return "measure";
    case Planner::patient:
      break;
  }
  return "patient";
}

template <class Scalar>
class App {
 public:
  App(const Session& session, const Options& options, const Extents& input, const RankUnits& units)
      : session_(session),
        options_(options),
        input_(input),
        exchange_(options.exchange.choice(session.nodes().count())),
        units_(units),
        co_execution_(session.machine(), units),
        slots_(gather_slots(session, units)),
        record_(describe_run(session, "fft2d", options.run, units)) {
    record_.check = unchecked(options.run);
    record_.params["input_rows"] = static_cast<double>(input.rows);
    record_.params["input_columns"] = static_cast<double>(input.columns);
    record_.params["real"] = options.real ? 1.0 : 0.0;
    record_.params["transposed"] = options.transposed ? 1.0 : 0.0;
    record_.params["batches"] = exchange_.parts();
    record_.settings["direction"] = options.inverse ? "inverse" : "forward";
    record_.settings["exchange"] = exchange_names()[static_cast<std::size_t>(exchange_.exchange)];
    record_.settings["planner"] = planner_name(options.fft.planner);
    const auto library = [&](const std::vector<std::string>& libraries) {
      return options.fft.library.empty() && !libraries.empty() ? libraries.front() : options.fft.library;
    };
    if (units.host) record_.settings["host_fft"] = library(row_fft_libraries<HostExecution>());
    if (units.companion) record_.settings["device_fft"] = library(row_fft_libraries<CompanionExecution>());
  }

  ExitCode run() {
    require_outputs(session_, options_.run);
    choose_extents();
    print_header();
    const PassModels models(session_, co_execution_, units_, options_, problem_, slots_, record_);
    const Assignment assignment = models.assign(session_, problem_, options_.run.partition, 2 * sizeof(Scalar));
    record_assignment(record_, assignment);
    const std::optional<models::Platform> platform = obtain_platform(
        session_, options_.run, message_facts(session_, problem_, exchange_, 2.0 * sizeof(Scalar)), record_);
    GroupBandwidth bandwidth = make_bandwidth(assignment);
    const Prediction prediction = predict(session_, co_execution_, problem_, exchange_, 2.0 * sizeof(Scalar), slots_,
                                          assignment, platform, bandwidth.measure_bytes_per_s());
    const UnitHeadings headings = unit_headings(assignment);
    if (options_.run.dry_run) {
      session_.print(unit_table(record_, headings, prediction.unit_s()));
      session_.print(
          fmt::format("predicted  {}, {} of it exchanging\n", format_seconds(prediction.cost.total_s()),
                      format_seconds(prediction.cost.first_exchange_s() + prediction.cost.second_exchange_s())));
      return ExitCode::good;
    }
    const Measurement measurement = measure(assignment, bandwidth);
    complete_record(record_, options_, problem_, prediction, measurement);
    session_.print(unit_table(record_, headings, prediction.unit_s(), measurement.slot_s));
    session_.print(summary(record_));
    write_results(models);
    return exit_code(record_.check);
  }

 private:
  using Complex = std::complex<Scalar>;

  void choose_extents() {
    Options padded = options_;
    if (options_.padding.kind == Padding::Kind::automatic) {
      padded.padding.extents = measure_fastest_extents(session_, co_execution_, options_, input_, slots_, record_);
      padded.padding.kind = Padding::Kind::given;
    }
    problem_ = make_problem(padded, input_);
    record_.params["rows"] = static_cast<double>(problem_.rows);
    record_.params["columns"] = static_cast<double>(problem_.columns);
  }

  void print_header() const {
    const bool padded = problem_.rows != input_.rows || problem_.columns != input_.columns;
    session_.print(fmt::format(
        "fft2d {} x {}{} {}, {}{}{}, exchange {}, {}\n", problem_.rows, problem_.columns,
        padded ? fmt::format(" (zeros appended to {} x {})", input_.rows, input_.columns) : "",
        options_.real ? record_.settings.at("element") : "complex " + record_.settings.at("element"),
        record_.settings.at("direction"), options_.real ? ", real input" : "",
        options_.transposed ? ", left transposed" : "", record_.settings.at("exchange"), rank_text(session_, record_)));
    session_.print(core_notes(record_));
    for (const char* unit : {"host", "device"}) {
      const auto library = record_.settings.find(fmt::format("{}_fft", unit));
      if (library == record_.settings.end()) continue;
      session_.print(fmt::format("{:<10} {}{}\n", unit, library->second,
                                 library->second == "fftw" ? ", planner " + record_.settings.at("planner") : ""));
    }
  }

  /// As large as a unit's share of the matrix.
  GroupBandwidth make_bandwidth(const Assignment& assignment) {
    const UnitSizes share = own_share(session_, slots_, assignment.rows.units);
    const auto elements = [&](std::int64_t rows) {
      return rows * problem_.columns * static_cast<std::int64_t>(2 * sizeof(Scalar)) / 8;
    };
    return {session_.comm(), co_execution_, elements(share.host), elements(share.companion)};
  }

  Range own_rows(const Assignment& assignment) const {
    const std::vector<Range> ranges = consecutive(assignment.rows.units);
    Range own;
    for (std::size_t i = 0; i < slots_.size(); ++i) {
      if (slots_[i].rank != session_.rank()) continue;
      if (own.empty()) own.first = ranges[i].first;
      own.count += ranges[i].count;
    }
    return own;
  }

  /// Errors of a rank on its own (memory, a file that vanished) become everyone's.
  Measurement measure(const Assignment& assignment, GroupBandwidth& bandwidth) {
    const Input<Scalar> input(problem_, input_, options_.run.input.empty() ? "" : options_.run.input.front(),
                              options_.run.seed);
    const double start_s = now_s();
    Transform<Scalar> transform(session_, co_execution_, problem_, slots_,
                                {assignment.rows.units, assignment.columns.units}, {exchange_, options_.fft});
    record_.figures["plan_time_s"] = all_max(session_.comm(), now_s() - start_s);
    std::optional<SpectrumCheck<Scalar>> spectrum_check;
    if (options_.run.check != CheckLevel::none) {
      spectrum_check.emplace(session_, problem_, own_rows(assignment), input, options_.run.seed);
    }
    Measurement measurement;
    const std::size_t phases = phase_names(problem_).size();
    std::vector<std::vector<double>> phase_s(phases);
    std::vector<std::vector<double>> slot_s(slots_.size());
    std::vector<double> bandwidths;
    for (int repetition = -options_.run.warmups; repetition < options_.run.repetitions; ++repetition) {
      collectively(session_.comm(), [&] { transform.load(input); });
      bandwidths.push_back(bandwidth.measure_bytes_per_s());
      TransformTimes times;
      const double seconds = timed_region(session_, "steelyard::fft2d::transform", [&] { times = transform.run(); });
      if (spectrum_check && is_check_due(options_.run, repetition)) {
        add_check(session_, record_.check, spectrum_check->check(transform));
      }
      if (repetition < 0) continue;
      measurement.times_s.push_back(seconds);
      const std::vector<double> ends =
          all_max(session_.comm(), {times.rows_s, times.first_exchange_s, times.columns_s, times.second_exchange_s});
      for (std::size_t i = 0; i < phases; ++i) phase_s[i].push_back(ends[i] - (i > 0 ? ends[i - 1] : 0.0));
      const UnitSeconds busy{times.row_pass.host_s + times.column_pass.host_s,
                             times.row_pass.companion_s + times.column_pass.companion_s};
      const std::vector<double> of_slots = gather_seconds(session_, slots_, busy);
      for (std::size_t i = 0; i < slot_s.size(); ++i) slot_s[i].push_back(of_slots[i]);
    }
    for (const std::vector<double>& seconds : phase_s) measurement.phase_s.push_back(median(seconds));
    for (const std::vector<double>& seconds : slot_s) measurement.slot_s.push_back(median(seconds));
    measurement.bound_bytes_per_s = median(bandwidths);
    write_output(transform);
    return measurement;
  }

  void write_output(const Transform<Scalar>& transform) const {
    const std::int64_t rows = problem_.transposed ? problem_.spectrum_columns() : problem_.rows;
    const std::int64_t columns = problem_.transposed ? problem_.rows : problem_.spectrum_columns();
    write_matrix<Complex>(session_, options_.run.output, rows, columns, [&](const BlockSink<Complex>& sink) {
      transform.store([&](std::int64_t row, std::span<const Complex> values) { sink(row, 0, columns, values); });
    });
  }

  void write_results(const PassModels& models) const {
    if (options_.run.result.empty()) return;
    if (models.columns()) {
      on_root(session_.comm(), [&] {
        for (std::size_t i = 0; i < slots_.size(); ++i) {
          const char* kind = slots_[i].kind == ProcessingUnit::Kind::host ? "host" : "device";
          models::write_fpm_file(
              options_.run.result / "models" / fmt::format("rank{}-{}-columns.fpm.json", slots_[i].rank, kind),
              models.columns()->files()[i]);
        }
      });
    }
    write_result_folder(session_, options_.run.result, record_, slots_, models.rows().files());
  }

  const Session& session_;
  const Options& options_;
  Extents input_;
  ExchangeChoice exchange_;
  Problem problem_;
  RankUnits units_;
  CoExecution co_execution_;
  std::vector<Slot> slots_;
  RunRecord record_;
};

}  // namespace

ExitCode run(Session& session, const Options& options) {
  Extents input;
  collectively(session.comm(), [&] {
    input = input_extents(options);
    make_problem(options, input);
  });
  const StartedUnits started(session, options.run);
  return options.run.element == ElementType::float64 ? App<double>(session, options, input, started.units()).run()
                                                     : App<float>(session, options, input, started.units()).run();
}

}  // namespace steelyard::fft2d
