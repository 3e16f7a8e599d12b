#include "miniapps/wave2d/speed_models.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "comm/collective.hpp"
#include "comm/kernel_measurement.hpp"
#include "core/base/errors.hpp"
#include "core/base/progress.hpp"
#include "miniapps/wave2d/measured_kernel.hpp"
#include "models/model_kinds.hpp"
#include "partition/algorithms.hpp"

namespace steelyard::wave2d {
namespace {

constexpr int most_refinements = 4;
constexpr double same_size = 0.02;  ///< sizes closer than this are one point
constexpr double settled = 0.01;    ///< refinement ends when no slice changes by more

/// Measures one size per slot, all slots at once; the points of all slots on every rank.
std::vector<models::MeasuredPoint> measure(const Session& session, KernelMeasurement& measurement,
                                           const std::vector<Slot>& slots, const std::vector<std::int64_t>& rows) {
  UnitSizes sizes;
  for (std::size_t i = 0; i < slots.size(); ++i) {
    if (slots[i].rank != session.rank()) continue;
    (slots[i].kind == ProcessingUnit::Kind::host ? sizes.host : sizes.companion) = rows[i];
  }
  const GroupPoint group = measurement.together(sizes);
  const std::vector<std::vector<models::MeasuredPoint>> all =
      all_gather_points(session.comm(), {group.host, group.companion});
  std::vector<models::MeasuredPoint> points;
  for (const Slot& slot : slots) {
    const std::vector<models::MeasuredPoint>& of_rank = all[static_cast<std::size_t>(slot.rank)];
    points.push_back(of_rank[slot.kind == ProcessingUnit::Kind::host ? 0 : 1]);
  }
  return points;
}

/// Largest change of a slice, as a share of the total; both have the same slots.
double largest_change(const std::vector<std::int64_t>& before, const std::vector<std::int64_t>& after,
                      std::int64_t total) {
  double change = 0.0;
  for (std::size_t i = 0; i < after.size(); ++i) {
    change = std::max(change, static_cast<double>(std::abs(after[i] - before[i])) / static_cast<double>(total));
  }
  return change;
}

}  // namespace

SpeedModels::SpeedModels(std::vector<models::FpmFile> files, const partition::Algorithm& algorithm)
    : algorithm_(&algorithm), files_(std::move(files)) {
  fit();
}

void SpeedModels::fit() {
  models_.clear();
  models::FitOptions options;
  options.shape = algorithm_->shape;
  for (const models::FpmFile& file : files_) {
    models_.push_back(file.points.empty() ? nullptr : models::make_model(file, algorithm_->model_kind, options));
  }
}

std::vector<const models::SpeedModel*> SpeedModels::pointers() const {
  std::vector<const models::SpeedModel*> pointers;
  for (const models::SpeedModelPtr& model : models_) pointers.push_back(model.get());
  return pointers;
}

void SpeedModels::add(const std::vector<models::MeasuredPoint>& points) {
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (!(points[i].units > 0.0)) continue;
    std::vector<models::MeasuredPoint>& known = files_[i].points;
    std::erase_if(known, [&](const models::MeasuredPoint& point) {
      return std::abs(point.units - points[i].units) <= same_size * points[i].units;
    });
    known.insert(std::find_if(known.begin(), known.end(),
                              [&](const models::MeasuredPoint& point) { return point.units > points[i].units; }),
                 points[i]);
  }
  fit();
}

SpeedModels measure_speed_models(const Session& session, CoExecution& co_execution, const RankUnits& units,
                                 const Problem& problem, ElementType element, const std::vector<Slot>& slots,
                                 const std::string& algorithm) {
  const MeasuredKernel kernel(problem, element);
  std::string mine;
  for (const Slot& slot : slots) {
    if (slot.rank == session.rank()) {
      mine += models::format_fpm(describe_model(session, units, slot.kind, kernel.facts())) + "\n";
    }
  }
  // Every slot's description on every rank; their points are filled in below.
  std::vector<models::FpmFile> files;
  for (const std::string& text : all_gather_text(session.comm(), mine)) {
    for (std::size_t at = 0; at < text.size(); at = text.find('\n', at) + 1) {
      files.push_back(models::parse_fpm_description(text.substr(at, text.find('\n', at) - at), "rank"));
    }
  }
  SpeedModels measured(std::move(files), partition::find_algorithm(algorithm));
  // Quick rather than precise: a run measures what it needs and no more.
  Precision precision;
  precision.repetitions_min = 3;
  precision.repetitions_max = 20;
  precision.time_limit_s = 1.5;
  KernelMeasurement measurement(session.comm(), co_execution, kernel, precision);

  const auto even_share = std::max<std::int64_t>(1, problem.rows / static_cast<std::int64_t>(slots.size()));
  std::set<std::int64_t> sizes;
  for (const std::int64_t divisor : {16, 4, 2, 1}) sizes.insert(std::max<std::int64_t>(1, even_share / divisor));
  Progress progress("measuring speed models", static_cast<std::int64_t>(sizes.size()) + most_refinements,
                    session.is_root());
  for (const std::int64_t rows : sizes) {
    measured.add(measure(session, measurement, slots, std::vector<std::int64_t>(slots.size(), rows)));
    progress.advance(1, fmt::format("({} rows)", rows));
  }
  const partition::Algorithm& distribute = partition::find_algorithm(algorithm);
  std::vector<std::int64_t> rows;
  for (int round = 0; round < most_refinements; ++round) {
    const std::vector<std::int64_t> next = distribute.distribute(problem.rows, measured.pointers()).units;
    if (round > 0 && largest_change(rows, next, problem.rows) <= settled) break;
    rows = next;
    measured.add(measure(session, measurement, slots, rows));
    progress.advance(1, "(refining)");
  }
  return measured;
}

SpeedModels read_speed_models(const Session& session, const std::vector<std::filesystem::path>& paths,
                              const Problem& problem, const std::vector<Slot>& slots, const std::string& element,
                              const std::string& algorithm) {
  std::vector<models::FpmFile> files;
  collectively(session.comm(), [&] {
    const std::size_t per_rank = slots.size() / static_cast<std::size_t>(session.size());
    const bool same_everywhere = slots.size() == per_rank * static_cast<std::size_t>(session.size());
    const bool fits =
        paths.size() == 1 || paths.size() == slots.size() || (same_everywhere && paths.size() == per_rank);
    if (!fits) {
      throw InvalidArgument(fmt::format("--model names {} files for {} processing units (expected 1, one per unit{})",
                                        paths.size(), slots.size(), same_everywhere ? " of a rank, or one each" : ""));
    }
    for (std::size_t i = 0; i < slots.size(); ++i) {
      const std::filesystem::path& path = paths[i % paths.size()];
      files.push_back(models::read_fpm_file(path));
      const models::FpmFile& file = files.back();
      const auto columns = file.parameters.find("columns");
      if (columns != file.parameters.end() && columns->second != static_cast<double>(problem.columns)) {
        throw FileFormatError(path.string(), "parameters.columns",
                              fmt::format("is {} (expected the grid's {})", columns->second, problem.columns));
      }
      if (!file.element.empty() && file.element != element) {
        throw FileFormatError(path.string(), "element", fmt::format("is {} (expected {})", file.element, element));
      }
      if (!file.app.empty() && file.app != "wave2d") {
        throw FileFormatError(path.string(), "app", fmt::format("is {} (expected wave2d)", file.app));
      }
    }
  });
  return SpeedModels(std::move(files), partition::find_algorithm(algorithm));
}

}  // namespace steelyard::wave2d
