#include "miniapps/app/speed_models.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "comm/collective.hpp"
#include "core/base/errors.hpp"
#include "core/base/table.hpp"
#include "miniapps/app/same_kernel.hpp"
#include "miniapps/app/speed_measurement.hpp"
#include "miniapps/app/timed_region.hpp"
#include "models/model_kinds.hpp"

namespace steelyard {
namespace {

constexpr double same_size = 0.02;  ///< sizes closer than this are one point

void require_number_of_files(std::size_t files, std::size_t slots, std::size_t ranks) {
  const std::size_t per_rank = slots / ranks;
  const bool same_everywhere = slots == per_rank * ranks;
  if (files == 1 || files == slots || (same_everywhere && files == per_rank)) return;
  throw InvalidArgument(fmt::format("--model names {} files for {} processing units (expected 1, one per unit{})",
                                    files, slots, same_everywhere ? " of a rank, or one each" : ""));
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
    const double units = points[i].units;
    if (!(units > 0.0)) continue;
    const double in_core_units = files_[i].in_core_units;
    std::vector<models::MeasuredPoint>& known = files_[i].points;
    std::erase_if(known, [&](const models::MeasuredPoint& point) {
      const bool same_regime = (point.units <= in_core_units) == (units <= in_core_units);
      return same_regime && std::abs(point.units - units) <= same_size * units;
    });
    known.insert(std::find_if(known.begin(), known.end(),
                              [&](const models::MeasuredPoint& point) { return point.units > units; }),
                 points[i]);
  }
  fit();
}

SpeedModels read_speed_models(const Session& session, const std::vector<std::filesystem::path>& paths,
                              const KernelFacts& facts, const std::vector<Slot>& slots, const std::string& algorithm) {
  std::optional<SpeedModels> read;
  collectively(session.comm(), [&] {
    require_number_of_files(paths.size(), slots.size(), static_cast<std::size_t>(session.size()));
    std::vector<models::FpmFile> files;
    for (std::size_t i = 0; i < slots.size(); ++i) {
      const std::filesystem::path& path = paths[i % paths.size()];
      files.push_back(models::read_fpm_file(path));
      require_same_kernel(path, files.back(), facts);
      if (paths.size() > 1) require_same_kind(path, files.back(), slots[i].kind);
    }
    read.emplace(std::move(files), partition::find_algorithm(algorithm));
  });
  return std::move(*read);
}

SpeedModels obtain_speed_models(const Session& session, CoExecution& co_execution, const RankUnits& units,
                                const RunOptions& options, const MeasurableKernel& kernel, std::int64_t total,
                                const std::vector<Slot>& slots, const std::string& algorithm, RunRecord& record) {
  if (!options.models.empty()) {
    return read_speed_models(session, options.models, kernel.facts(), slots, algorithm);
  }
  std::optional<SpeedModels> measured;
  const double seconds = timed_region(session, fmt::format("steelyard::{}::speed_models", kernel.app()), [&] {
    measured = measure_speed_models(session, co_execution, units, kernel, total, slots, algorithm);
  });
  record.figures["model_time_s"] = seconds;
  session.print(fmt::format("speed models measured in {}\n", format_seconds(seconds)));
  return std::move(*measured);
}

}  // namespace steelyard
