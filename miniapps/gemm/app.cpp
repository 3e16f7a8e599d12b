#include "miniapps/gemm/app.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "comm/collective.hpp"
#include "comm/run_description.hpp"
#include "core/base/npy.hpp"
#include "core/base/statistics.hpp"
#include "core/base/table.hpp"
#include "core/gemm.hpp"
#include "core/unit_memory.hpp"
#include "miniapps/app/matrix_output.hpp"
#include "miniapps/app/result_folder.hpp"
#include "miniapps/app/run_header.hpp"
#include "miniapps/app/slot_shares.hpp"
#include "miniapps/app/speed_models.hpp"
#include "miniapps/app/started_units.hpp"
#include "miniapps/app/timed_region.hpp"
#include "miniapps/app/unit_table.hpp"
#include "miniapps/app/verification.hpp"
#include "miniapps/gemm/measured_kernel.hpp"
#include "miniapps/gemm/multiplication.hpp"
#include "miniapps/gemm/prediction.hpp"
#include "miniapps/gemm/random_fill.hpp"
#include "miniapps/gemm/report.hpp"
#include "miniapps/gemm/result_check.hpp"

namespace steelyard::gemm {
namespace {

const UnitHeadings unit_headings{"block rows", ""};

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
        record_(describe_run(session, "gemm", options.run, units)) {
    record_.check = unchecked(options.run);
    record_.params["m"] = static_cast<double>(problem.m);
    record_.params["n"] = static_cast<double>(problem.n);
    record_.params["k"] = static_cast<double>(problem.k);
    record_.params["alpha"] = problem.alpha;
    record_.params["beta"] = problem.beta;
    record_.params["block"] = static_cast<double>(problem.block);
    if (std::isfinite(options.device_memory_bytes)) record_.params["device_memory_bytes"] = options.device_memory_bytes;
    if (units.host) record_.settings["host_blas"] = blas::gemm_library(HostExecution());
    if (units.companion) record_.settings["device_blas"] = blas::gemm_library(CompanionExecution());
  }

  ExitCode run() {
    require_outputs(session_, options_.run);
    print_header();
    const SpeedModels models =
        obtain_speed_models(session_, co_execution_, units_, options_.run,
                            MeasuredKernel(problem_, options_.run.element, options_.device_memory_bytes),
                            problem_.block_rows(), slots_, record_);
    const Prediction prediction =
        predict(session_, co_execution_, options_.run.partition, problem_.block_rows(), models);
    record_.distribution = prediction.distribution.units;
    if (options_.run.dry_run) {
      session_.print(unit_table(record_, unit_headings, prediction.distribution.predicted_s));
      session_.print(fmt::format("predicted  {}\n", format_seconds(prediction.time_s)));
      return ExitCode::good;
    }
    const Measurement measurement = measure(prediction.distribution.units);
    complete_record(record_, problem_, prediction, measurement);
    session_.print(unit_table(record_, unit_headings, prediction.distribution.predicted_s, measurement.slot_s));
    session_.print(device_lines_);
    session_.print(summary(record_));
    write_result_folder(session_, options_.run.result, record_, slots_, models.files());
    return exit_code(record_.check);
  }

 private:
  void print_header() const {
    session_.print(fmt::format("gemm m = {}, n = {}, k = {}, {}, alpha = {:g}, beta = {:g}, block rows of {}, {}\n",
                               problem_.m, problem_.n, problem_.k, record_.settings.at("element"), problem_.alpha,
                               problem_.beta, problem_.block, rank_text(session_, record_)));
    session_.print(core_notes(record_));
    for (const char* unit : {"host", "device"}) {
      const auto library = record_.settings.find(fmt::format("{}_blas", unit));
      if (library != record_.settings.end()) session_.print(fmt::format("{:<10} {}\n", unit, library->second));
    }
  }

  typename Multiplication<Scalar>::Source source() const {
    if (options_.run.input.empty()) {
      return [this](MatrixName name, std::int64_t first, std::span<Scalar> rows) {
        const std::int64_t columns = name == MatrixName::a ? problem_.k : problem_.n;
        fill_random(RandomMatrix(options_.run.seed, name), first, 0, columns, rows);
      };
    }
    return [this](MatrixName name, std::int64_t first, std::span<Scalar> rows) {
      if (rows.empty()) return;
      const auto& path = options_.run.input[name == MatrixName::a ? 0 : name == MatrixName::b ? 1 : 2];
      read_npy_rows(path, read_npy_matrix_header<Scalar>(path), first, rows);
    };
  }

  /// Errors of a rank on its own (memory, a file that vanished) become everyone's.
  Measurement measure(const std::vector<std::int64_t>& block_rows) {
    std::optional<Multiplication<Scalar>> multiplication;
    std::optional<ResultCheck<Scalar>> result_check;
    collectively(session_.comm(), [&] {
      require_memory(block_rows);
      multiplication.emplace(session_, co_execution_, problem_, slots_, block_rows, options_.device_memory_bytes,
                             source());
      if (options_.run.check == CheckLevel::none) return;
      multiplication->load_c(source());
      result_check.emplace(problem_, options_.run.seed, multiplication->a(), multiplication->b(), multiplication->c());
    });
    Measurement measurement;
    std::vector<double> units_flops_per_s, shares;
    std::vector<std::vector<double>> unit_s(2);
    UnitSeconds units_s;
    collectively(session_.comm(), [&] { units_s = multiplication->run(); });
    for (int repetition = -options_.run.warmups; repetition < options_.run.repetitions; ++repetition) {
      const double slowest_s = all_max(session_.comm(), std::max(units_s.host_s, units_s.companion_s));
      UnitSeconds busy;
      collectively(session_.comm(), [&] { busy = multiplication->run_busy(units_s, slowest_s); });
      collectively(session_.comm(), [&] { multiplication->load_c(source()); });
      const double seconds =
          timed_region(session_, "steelyard::gemm::multiply", [&] { units_s = multiplication->run(); });
      if (is_check_due(options_.run, repetition)) {
        add_check(session_, record_.check, result_check->check(multiplication->c()));
      }
      if (repetition < 0) continue;
      measurement.times_s.push_back(seconds);
      units_flops_per_s.push_back(sum_of_speeds(block_rows, busy));
      shares.push_back(problem_.flops() / seconds / units_flops_per_s.back());
      unit_s[0].push_back(units_s.host_s);
      unit_s[1].push_back(units_s.companion_s);
    }
    measurement.units_flops_per_s = median(units_flops_per_s);
    measurement.share_of_units = median(shares);
    measurement.slot_s = gather_seconds(session_, slots_, {median(unit_s[0]), median(unit_s[1])});
    write_matrix<Scalar>(session_, options_.run.output, problem_.m, problem_.n, [&](const BlockSink<Scalar>& sink) {
      sink(multiplication->first_row(), 0, problem_.n, multiplication->c_elements());
    });
    describe_devices(*multiplication);
    return measurement;
  }

  /// Some systems end the program where others would say that memory is short.
  void require_memory(const std::vector<std::int64_t>& block_rows) const {
    const UnitSizes share = own_share(session_, slots_, block_rows);
    const double rows = static_cast<double>((share.host + share.companion) * problem_.block);
    const auto n = static_cast<double>(problem_.n), k = static_cast<double>(problem_.k);
    const double bytes = sizeof(Scalar) * (rows * (k + n) + k * n);
    const double most = rank_memory_bytes(session_.machine(), session_.nodes().ranks_on_node);
    if (bytes > most) {
      throw InvalidArgument(
          fmt::format("B and this rank's rows of A and C take {} (expected at most {}, its share of the "
                      "node's memory)",
                      format_bytes(bytes), format_bytes(most)));
    }
  }

  /// Flop/s of all slots, each by its own seconds.
  double sum_of_speeds(const std::vector<std::int64_t>& block_rows, const UnitSeconds& own_s) const {
    const std::vector<double> seconds = gather_seconds(session_, slots_, own_s);
    double speed = 0.0;
    std::int64_t before = 0;
    for (std::size_t i = 0; i < seconds.size(); ++i) {
      Problem slice = problem_;
      slice.m = problem_.first_row(before + block_rows[i]) - problem_.first_row(before);
      before += block_rows[i];
      if (seconds[i] > 0.0) speed += slice.flops() / seconds[i];
    }
    return speed;
  }

  /// Runs once more to see what companions with a memory of their own do when.
  void describe_devices(Multiplication<Scalar>& multiplication) {
    const std::optional<Blocking> blocking = multiplication.blocking();
    if (all_max(session_.comm(), blocking ? 1.0 : 0.0) == 0.0) return;
    std::optional<TransferOverlap> overlap;
    collectively(session_.comm(), [&] { overlap = multiplication.run_timed(); });
    const std::vector<double> all =
        all_gather(session_.comm(), {overlap ? overlap->transfer_s : 0.0, overlap ? overlap->hidden_s : 0.0});
    for (const std::string& line :
         all_gather_text(session_.comm(), blocking ? device_line(session_.rank(), *blocking, sizeof(Scalar), *overlap)
                                                   : std::string())) {
      device_lines_ += line;
    }
    TransferOverlap sum;
    for (std::size_t i = 0; i < all.size(); i += 2) {
      sum.transfer_s += all[i];
      sum.hidden_s += all[i + 1];
    }
    record_.figures["transfer_time_s"] = sum.transfer_s;
    record_.figures["hidden_transfer_time_s"] = sum.hidden_s;
    record_.figures["hidden_transfer_share"] = sum.hidden_share();
  }

  const Session& session_;
  const Options& options_;
  Problem problem_;
  RankUnits units_;
  CoExecution co_execution_;
  std::vector<Slot> slots_;
  RunRecord record_;
  std::string device_lines_;
};

}  // namespace

ExitCode run(Session& session, const Options& options) {
  Problem problem;
  collectively(session.comm(), [&] { problem = make_problem(options); });
  const StartedUnits started(session, options.run);
  return options.run.element == ElementType::float64 ? App<double>(session, options, problem, started.units()).run()
                                                     : App<float>(session, options, problem, started.units()).run();
}

}  // namespace steelyard::gemm
