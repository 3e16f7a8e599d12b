#include "miniapps/summa/app.hpp"

#include <fmt/format.h>

#include <cmath>
#include <optional>

#include "comm/collective.hpp"
#include "comm/run_description.hpp"
#include "core/base/npy.hpp"
#include "core/base/statistics.hpp"
#include "core/base/table.hpp"
#include "core/gemm.hpp"
#include "core/host_array.hpp"
#include "core/unit_memory.hpp"
#include "miniapps/app/channels.hpp"
#include "miniapps/app/matrix_output.hpp"
#include "miniapps/app/result_folder.hpp"
#include "miniapps/app/run_header.hpp"
#include "miniapps/app/slot_shares.hpp"
#include "miniapps/app/speed_models.hpp"
#include "miniapps/app/started_units.hpp"
#include "miniapps/app/timed_region.hpp"
#include "miniapps/app/verification.hpp"
#include "miniapps/gemm/random_fill.hpp"
#include "miniapps/summa/measured_kernel.hpp"
#include "miniapps/summa/multiplication.hpp"
#include "miniapps/summa/prediction.hpp"
#include "miniapps/summa/report.hpp"
#include "miniapps/summa/result_check.hpp"

namespace steelyard::summa {
namespace {

using gemm::MatrixName;

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
        record_(describe_run(session, "summa", options.run, units)) {
    record_.check = unchecked(options.run);
    record_.params["n"] = static_cast<double>(problem.n);
    record_.params["block"] = static_cast<double>(problem.block);
    record_.params["blocks"] = static_cast<double>(problem.blocks());
    record_.params["barrier"] = options.barrier ? 1.0 : 0.0;
    if (std::isfinite(options.device_memory_bytes)) record_.params["device_memory_bytes"] = options.device_memory_bytes;
    record_.settings["communication"] = communication_name(options.communication);
    if (units.host) record_.settings["host_blas"] = blas::gemm_library(HostExecution());
    if (units.companion) record_.settings["device_blas"] = blas::gemm_library(CompanionExecution());
  }

  ExitCode run() {
    require_outputs(session_, options_.run);
    print_header();
    RunOptions model_options = options_.run;
    model_options.partition = area_algorithm(options_.run.partition);
    const SpeedModels models =
        obtain_speed_models(session_, co_execution_, units_, model_options,
                            MeasuredKernel(problem_, options_.run.element, options_.device_memory_bytes),
                            problem_.blocks() * problem_.blocks(), slots_, record_);
    Assignment assignment = assign_ranks(session_, options_, problem_, slots_, models);
    record_assignment(record_, slots_, assignment);
    const std::optional<models::Platform> platform =
        obtain_platform(session_, options_.run, message_facts(problem_, assignment, sizeof(Scalar)), record_);
    const Prediction prediction = predict(session_, co_execution_, options_, problem_, std::move(assignment), platform);
    const UnitHeadings headings = unit_headings(slots_, prediction.assignment);
    const std::vector<double> predicted_s = predicted_slot_s(problem_, slots_, prediction.assignment);
    if (options_.run.dry_run) {
      session_.print(unit_table(record_, headings, predicted_s));
      session_.print(fmt::format("predicted  {}\n", format_seconds(prediction.cost.total_s)));
      return ExitCode::good;
    }
    const Measurement measurement = measure(prediction.assignment);
    complete_record(record_, problem_, prediction, measurement);
    std::vector<double> iteration_s;
    for (const double seconds : measurement.slot_s) {
      iteration_s.push_back(seconds / static_cast<double>(problem_.blocks()));
    }
    session_.print(unit_table(record_, headings, predicted_s, iteration_s));
    session_.print(summary(record_, prediction));
    write_result_folder(session_, options_.run.result, record_, slots_, models.files());
    return exit_code(record_.check);
  }

 private:
  using Source = typename Multiplication<Scalar>::Source;

  void print_header() const {
    session_.print(fmt::format("summa n = {}, {}, {} x {} blocks of {}, communication {}{}, {}\n", problem_.n,
                               record_.settings.at("element"), problem_.blocks(), problem_.blocks(), problem_.block,
                               communication_name(options_.communication), options_.barrier ? " after barriers" : "",
                               rank_text(session_, record_)));
    session_.print(core_notes(record_));
    for (const char* unit : {"host", "device"}) {
      const auto library = record_.settings.find(fmt::format("{}_blas", unit));
      if (library != record_.settings.end()) session_.print(fmt::format("{:<10} {}\n", unit, library->second));
    }
  }

  Source source() const {
    if (options_.run.input.empty()) {
      return [this](MatrixName name, const Tile& tile, std::span<Scalar> elements) {
        gemm::fill_random(gemm::RandomMatrix(options_.run.seed, name), tile.row, tile.column, tile.columns, elements);
      };
    }
    return [this](MatrixName name, const Tile& tile, std::span<Scalar> elements) {
      const std::size_t file = name == MatrixName::a ? 0 : name == MatrixName::b ? 1 : 2;
      if (file >= options_.run.input.size()) {
        std::fill(elements.begin(), elements.end(), Scalar{0});
        return;
      }
      const auto& path = options_.run.input[file];
      read_npy_block(path, read_npy_matrix_header<Scalar>(path), tile.row, tile.column, tile.rows, tile.columns,
                     elements);
    };
  }

  /// Errors of a rank on its own (memory, a file that vanished) become everyone's.
  Measurement measure(const Assignment& assignment) {
    const auto rank = static_cast<std::size_t>(session_.rank());
    std::optional<Multiplication<Scalar>> multiplication;
    collectively(session_.comm(), [&] {
      require_memory(assignment.rectangles[rank]);
      require_countable_pivots(problem_, assignment.rectangles);
      multiplication.emplace(co_execution_, problem_, assignment.rectangles[rank], assignment.rows[rank],
                             options_.device_memory_bytes, source());
      multiplication->load_c(source());
    });
    const std::unique_ptr<ResultCheck<Scalar>> result_check = make_check(*multiplication);
    const std::unique_ptr<PivotExchange> exchange =
        make_pivot_exchange(options_.communication, session_.comm(), problem_, assignment.rectangles,
                            std::is_same_v<Scalar, double> ? MPI_DOUBLE : MPI_FLOAT);
    Measurement measurement;
    std::vector<double> communication_s;
    std::vector<std::vector<double>> slot_s(slots_.size());
    for (int repetition = -options_.run.warmups; repetition < options_.run.repetitions; ++repetition) {
      collectively(session_.comm(), [&] { multiplication->load_c(source()); });
      Durations durations;
      const double seconds = timed_region(session_, "steelyard::summa::multiply", [&] {
        durations = multiplication->run(*exchange, options_.communication == Communication::pipelined,
                                        options_.barrier ? session_.comm() : MPI_COMM_NULL);
      });
      if (result_check && is_check_due(options_.run, repetition)) {
        add_check(session_, record_.check, result_check->check(multiplication->c()));
      }
      if (repetition < 0) continue;
      measurement.times_s.push_back(seconds);
      communication_s.push_back(sum_of(all_max(session_.comm(), durations.communication_s)));
      const std::vector<double> of_slots = gather_seconds(session_, slots_, durations.update_s);
      for (std::size_t i = 0; i < slot_s.size(); ++i) slot_s[i].push_back(of_slots[i]);
    }
    measurement.communication_s = median(communication_s);
    for (std::size_t i = 0; i < slot_s.size(); ++i) {
      measurement.slot_s.push_back(median(slot_s[i]));
      measurement.units_flops_per_s += flops_per_s(slots_[i], assignment, measurement.slot_s.back());
    }
    write_matrix<Scalar>(session_, options_.run.output, problem_.n, problem_.n, [&](const BlockSink<Scalar>& sink) {
      const Tile& tile = multiplication->tile();
      if (!tile.empty()) sink(tile.row, tile.column, tile.columns, multiplication->c_elements());
    });
    return measurement;
  }

  /// Nothing where the user asked for none.
  std::unique_ptr<ResultCheck<Scalar>> make_check(const Multiplication<Scalar>& multiplication) const {
    if (options_.run.check == CheckLevel::none) return nullptr;
    const Tile& tile = multiplication.tile();
    HostArray<Scalar> a;
    collectively(session_.comm(), [&] {
      a = HostArray<Scalar>(tile.rows, tile.columns);
      if (!tile.empty()) source()(MatrixName::a, tile, a.elements(0, tile.rows));
    });
    return std::make_unique<ResultCheck<Scalar>>(session_, problem_, options_.run.seed, tile, a.rows(0, tile.rows),
                                                 multiplication.b(), multiplication.c());
  }

  /// Some systems end the program where others would say that memory is short.
  void require_memory(const partition::Rectangle& rectangle) const {
    const Tile tile = problem_.tile(rectangle);
    const auto rows = static_cast<double>(tile.rows), columns = static_cast<double>(tile.columns);
    const double tiles = options_.run.check == CheckLevel::none ? 3.0 : 4.0;
    const double panels = 2.0 * static_cast<double>(problem_.depth(0)) * (rows + columns);
    const double bytes = sizeof(Scalar) * (tiles * rows * columns + panels);
    const double most = rank_memory_bytes(session_.machine(), session_.nodes().ranks_on_node);
    if (bytes > most) {
      throw InvalidArgument(
          fmt::format("this rank's parts of A, B and C take {} (expected at most {}, its share of the node's memory)",
                      format_bytes(bytes), format_bytes(most)));
    }
  }

  double flops_per_s(const Slot& slot, const Assignment& assignment, double update_s) const {
    if (!(update_s > 0.0)) return 0.0;
    const Tile tile = problem_.tile(part_of(slot, assignment));
    return 2.0 * static_cast<double>(tile.rows) * static_cast<double>(tile.columns) * static_cast<double>(problem_.n) /
           update_s;
  }

  static double sum_of(const std::vector<double>& values) {
    double sum = 0.0;
    for (const double value : values) sum += value;
    return sum;
  }

  const Session& session_;
  const Options& options_;
  Problem problem_;
  RankUnits units_;
  CoExecution co_execution_;
  std::vector<Slot> slots_;
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

}  // namespace steelyard::summa
