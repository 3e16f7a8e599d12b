#include "miniapps/fft2d/pass_models.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "comm/collective.hpp"
#include "comm/kernel_measurement.hpp"
#include "core/base/table.hpp"
#include "miniapps/app/slot_shares.hpp"
#include "miniapps/app/timed_region.hpp"
#include "miniapps/fft2d/measured_kernel.hpp"

namespace steelyard::fft2d {
namespace {

constexpr const char* model_time = "model_time_s";
/// Of the rows that padding is tried out with: what a pass reads and writes is then in no cache, if the input is not.
constexpr double trial_bytes = 64.0 * 1024 * 1024;

}  // namespace

PassModels::PassModels(const Session& session, CoExecution& co_execution, const RankUnits& units,
                       const Options& options, const Problem& problem, const std::vector<Slot>& slots,
                       RunRecord& record) {
  rows_ = obtain_speed_models(session, co_execution, units, options.run,
                              MeasuredKernel(problem.columns, problem.real, options.run.element, options.fft),
                              problem.rows, slots, record);
  const bool own_files = !options.column_models.empty();
  if (!own_files && passes_alike(problem)) return;
  const double rows_s = record.figures.contains(model_time) ? record.figures.at(model_time) : 0.0;
  RunOptions of_columns = options.run;
  of_columns.models = options.column_models;
  columns_ = obtain_speed_models(session, co_execution, units, of_columns,
                                 MeasuredKernel(problem.rows, false, options.run.element, options.fft),
                                 problem.spectrum_columns(), slots, record);
  if (!own_files) record.figures[model_time] += rows_s;
}

Assignment PassModels::assign(const Session& session, const Problem& problem, const std::string& partition,
                              std::int64_t point_bytes) const {
  Assignment assignment;
  collectively(session.comm(), [&] {
    assignment =
        fft2d::assign(problem, rows_->pointers(), (columns_ ? *columns_ : *rows_).pointers(), partition, point_bytes);
  });
  return assignment;
}

Extents measure_fastest_extents(const Session& session, CoExecution& co_execution, const Options& options,
                                const Extents& input, const std::vector<Slot>& slots, RunRecord& record) {
  Precision precision;
  precision.repetitions_min = 3;
  precision.repetitions_max = 10;
  precision.time_limit_s = 0.5;
  precision.warmups = 0;
  const double point_bytes = options.run.element == ElementType::float64 ? 16.0 : 8.0;
  Extents best;
  const double seconds = timed_region(session, "steelyard::fft2d::padding", [&] {
    best = fastest_extents(input, options.real, [&](std::int64_t length, bool real) {
      const MeasuredKernel kernel(length, real, options.run.element, options.fft);
      KernelMeasurement measurement(session.comm(), co_execution, kernel, precision);
      const double even = static_cast<double>(std::max(input.rows, input.columns)) / static_cast<double>(slots.size());
      const double most = trial_bytes / (point_bytes * static_cast<double>(length));
      const auto rows = std::max<std::int64_t>(1, static_cast<std::int64_t>(std::min(even, most)));
      const UnitSizes sizes = own_share(session, slots, std::vector<std::int64_t>(slots.size(), rows));
      const GroupPoint point = measurement.together(sizes);
      const auto speed = [](const models::MeasuredPoint& one, std::int64_t units) {
        return units > 0 ? static_cast<double>(units) / one.time_s : 0.0;
      };
      return all_sum(session.comm(), speed(point.host, sizes.host) + speed(point.companion, sizes.companion));
    });
  });
  record.figures["padding_time_s"] = seconds;
  session.print(fmt::format("padding    chosen in {}\n", format_seconds(seconds)));
  return best;
}

}  // namespace steelyard::fft2d
