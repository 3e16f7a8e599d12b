#include "miniapps/wave2d/speed_models.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>

#include "comm/collective.hpp"
#include "comm/group_measurement.hpp"
#include "core/base/build_info.hpp"
#include "core/base/errors.hpp"
#include "core/base/progress.hpp"
#include "models/piecewise_linear_model.hpp"
#include "partition/algorithms.hpp"

namespace steelyard::wave2d {
namespace {

constexpr int most_refinements = 4;
constexpr double same_size = 0.02;       ///< sizes closer than this are one point
constexpr double settled = 0.01;         ///< refinement ends when no slice changes by more
constexpr double shortest_run_s = 4e-3;  ///< short kernels are repeated inside one timed run, against the clock's noise

/// Rows for each slot's kernel, and how to run it once on this rank's units.
template <class Scalar>
class KernelRun {
 public:
  KernelRun(CoExecution& co_execution, const Problem& problem, std::int64_t host_rows, std::int64_t companion_rows)
      : co_execution_(co_execution) {
    co_execution_.run(
        [&] {
          if (host_rows > 0) host_.emplace(HostExecution(), problem_of(problem, host_rows), slice_of(host_rows));
        },
        [&] {
          if (companion_rows > 0) {
            companion_.emplace(CompanionExecution(), problem_of(problem, companion_rows), slice_of(companion_rows));
          }
        });
  }

  UnitSeconds run(int steps) {
    const UnitSeconds sum = co_execution_.run(
        [&] {
          if (host_) advance(*host_, steps);
        },
        [&] {
          if (companion_) advance(*companion_, steps);
        });
    return {host_ ? sum.host_s / steps : 0.0, companion_ ? sum.companion_s / steps : 0.0};
  }

 private:
  /// A slice with neighbours on both sides, so that borders are packed as in a run.
  static partition::Slice slice_of(std::int64_t rows) { return {1, rows, 0, 0}; }
  static Problem problem_of(const Problem& problem, std::int64_t rows) {
    return {rows + 2, problem.columns, problem.courant, problem.boundary};
  }

  template <class Slice>
  static void advance(Slice& slice, int steps) {
    for (int step = 0; step < steps; ++step) {
      slice.advance_borders(step % 2);
      slice.advance_interior();
      slice.rotate();
    }
  }

  CoExecution& co_execution_;
  std::optional<FieldSlice<HostExecution, Scalar>> host_;
  std::optional<FieldSlice<CompanionExecution, Scalar>> companion_;
};

/// Measures one size per slot, all slots at once; the points of all slots on every rank.
template <class Scalar>
std::vector<models::MeasuredPoint> measure(const Session& session, CoExecution& co_execution, const Problem& problem,
                                           const std::vector<Slot>& slots, const std::vector<std::int64_t>& rows) {
  std::int64_t host_rows = 0;
  std::int64_t companion_rows = 0;
  for (std::size_t i = 0; i < slots.size(); ++i) {
    if (slots[i].rank != session.rank()) continue;
    (slots[i].kind == ProcessingUnit::Kind::host ? host_rows : companion_rows) = rows[i];
  }
  KernelRun<Scalar> kernel(co_execution, problem, host_rows, companion_rows);
  kernel.run(1);
  const UnitSeconds once = kernel.run(1);
  const double longest_s = all_max(session.comm(), std::max(once.host_s, once.companion_s));
  const int steps = static_cast<int>(std::clamp(shortest_run_s / std::max(longest_s, 1e-9), 1.0, 10000.0));
  Precision precision;
  precision.repetitions_max = 20;
  precision.time_limit_s = 1.5;
  const GroupPoint group = measure_group(
      session.comm(), [&] { return kernel.run(steps); }, precision);

  const auto flat = [](const models::MeasuredPoint& point) {
    return std::vector<double>{point.time_s, static_cast<double>(point.repetitions), point.confidence_s};
  };
  std::vector<double> mine = flat(group.host);
  const std::vector<double> companion = flat(group.companion);
  mine.insert(mine.end(), companion.begin(), companion.end());
  const std::vector<double> all = all_gather(session.comm(), mine);
  std::vector<models::MeasuredPoint> points;
  for (std::size_t i = 0; i < slots.size(); ++i) {
    const std::size_t at =
        6 * static_cast<std::size_t>(slots[i].rank) + (slots[i].kind == ProcessingUnit::Kind::host ? 0 : 3);
    points.push_back({static_cast<double>(rows[i]), all[at], static_cast<int>(all[at + 1]), all[at + 2]});
  }
  return points;
}

models::FpmFile describe(const Session& session, const RankUnits& units, ProcessingUnit::Kind kind,
                         const Problem& problem, const char* element, std::size_t element_bytes) {
  const ProcessingUnit& unit = kind == ProcessingUnit::Kind::host ? *units.host : *units.companion;
  models::FpmFile file;
  file.app = "wave2d";
  file.kernel = "leap_frog";
  file.element = element;
  file.unit_kind = unit.name();
  file.unit_cores = format_cores(unit.cores);
  file.unit_device = unit.space;
  file.slowdown = unit.slowdown;
  file.computation_unit = "one grid row advanced by one step";
  file.parameters["columns"] = static_cast<double>(problem.columns);
  file.flops_per_unit = 7.0 * static_cast<double>(problem.columns);
  file.bytes_per_unit = 3.0 * static_cast<double>(element_bytes) * static_cast<double>(problem.columns);
  file.machine = session.machine().host_name() + ", " + session.machine().processor();
  file.commit = build_info().commit;
  return file;
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

SpeedModels::SpeedModels(std::vector<models::FpmFile> files) : files_(std::move(files)) { fit(); }

void SpeedModels::fit() {
  models_.clear();
  for (const models::FpmFile& file : files_) {
    models_.push_back(file.points.empty()
                          ? nullptr
                          : std::make_unique<models::PiecewiseLinearModel>(
                                file.points, models::PiecewiseLinearModel::Shape::increasing_time, file.max_units));
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

template <class Scalar>
SpeedModels measure_speed_models(const Session& session, CoExecution& co_execution, const RankUnits& units,
                                 const Problem& problem, const std::vector<Slot>& slots, const std::string& algorithm) {
  const char* element = sizeof(Scalar) == sizeof(double) ? "double" : "float";
  std::string mine;
  for (const Slot& slot : slots) {
    if (slot.rank == session.rank()) {
      mine += models::format_fpm(describe(session, units, slot.kind, problem, element, sizeof(Scalar))) + "\n";
    }
  }
  // Every slot's description on every rank; their points are filled in below.
  std::vector<models::FpmFile> files;
  for (const std::string& text : all_gather_text(session.comm(), mine)) {
    for (std::size_t at = 0; at < text.size(); at = text.find('\n', at) + 1) {
      files.push_back(models::parse_fpm_description(text.substr(at, text.find('\n', at) - at), "rank"));
    }
  }
  SpeedModels measured(std::move(files));

  const auto even_share = std::max<std::int64_t>(1, problem.rows / static_cast<std::int64_t>(slots.size()));
  std::set<std::int64_t> sizes;
  for (const std::int64_t divisor : {16, 4, 2, 1}) sizes.insert(std::max<std::int64_t>(1, even_share / divisor));
  Progress progress("measuring speed models", static_cast<std::int64_t>(sizes.size()) + most_refinements,
                    session.is_root());
  for (const std::int64_t rows : sizes) {
    measured.add(measure<Scalar>(session, co_execution, problem, slots, std::vector<std::int64_t>(slots.size(), rows)));
    progress.advance(1, fmt::format("({} rows)", rows));
  }
  const partition::Algorithm& distribute = partition::find_algorithm(algorithm);
  std::vector<std::int64_t> rows;
  for (int round = 0; round < most_refinements; ++round) {
    const std::vector<std::int64_t> next = distribute.distribute(problem.rows, measured.pointers()).units;
    if (round > 0 && largest_change(rows, next, problem.rows) <= settled) break;
    rows = next;
    measured.add(measure<Scalar>(session, co_execution, problem, slots, rows));
    progress.advance(1, "(refining)");
  }
  return measured;
}

SpeedModels read_speed_models(const Session& session, const std::vector<std::filesystem::path>& paths,
                              const Problem& problem, const std::vector<Slot>& slots, const std::string& element) {
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
  return SpeedModels(std::move(files));
}

template SpeedModels measure_speed_models<double>(const Session&, CoExecution&, const RankUnits&, const Problem&,
                                                  const std::vector<Slot>&, const std::string&);
template SpeedModels measure_speed_models<float>(const Session&, CoExecution&, const RankUnits&, const Problem&,
                                                 const std::vector<Slot>&, const std::string&);

}  // namespace steelyard::wave2d
