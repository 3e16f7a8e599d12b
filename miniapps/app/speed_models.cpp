#include "miniapps/app/speed_models.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <utility>

#include "core/base/errors.hpp"
#include "models/kinds/constant_model.hpp"
#include "models/kinds/model_kinds.hpp"

namespace steelyard {
namespace {

constexpr double same_size = 0.02;  ///< sizes closer than this are one point

void require_number_of_files(std::size_t files, const std::vector<Slot>& slots) {
  const std::size_t ranks = static_cast<std::size_t>(slots.back().rank) + 1, per_rank = slots.size() / ranks;
  const bool same_everywhere = slots.size() == per_rank * ranks;
  if (files == 1 || files == slots.size() || (same_everywhere && files == per_rank)) return;
  throw InvalidArgument(fmt::format("--model names {} files for {} processing units (expected 1, one per unit{})",
                                    files, slots.size(), same_everywhere ? " of a rank, or one each" : ""));
}

/// Rescales a model to a unit with this slowdown.
models::FpmFile slowed_down(models::FpmFile file, double slowdown) {
  const double factor = slowdown / file.slowdown;
  for (models::MeasuredPoint& point : file.points) {
    point.time_s *= factor;
    point.confidence_s *= factor;
    for (double& part_s : point.parts_s) part_s *= factor;
  }
  file.slowdown = slowdown;
  return file;
}

/// @param found by a file; empty where it does not say
void require_same(const std::filesystem::path& path, const std::string& key, const std::string& found,
                  const std::string& expected, const std::string& why = "") {
  if (found.empty() || found == expected) return;
  throw FileFormatError(path.string(), key, fmt::format("is {} (expected {}{})", found, expected, why));
}

}  // namespace

std::optional<double> parameter_of_models(const std::vector<std::filesystem::path>& paths, const std::string& name,
                                          double otherwise) {
  if (paths.empty()) return std::nullopt;
  const models::FpmFile file = models::read_fpm_file(paths.front());
  const auto found = file.parameters.find(name);
  return found == file.parameters.end() ? otherwise : found->second;
}

models::FpmFile read_model_of(const KernelFacts& facts, const std::filesystem::path& path,
                              std::optional<ProcessingUnit::Kind> kind) {
  models::FpmFile file = models::read_fpm_file(path);
  for (const auto& [name, expected] : facts.parameters) {
    const auto found = file.parameters.find(name);
    if (found == file.parameters.end()) continue;
    require_same(path, "parameters." + name, fmt::format("{}", found->second), fmt::format("{}", expected));
  }
  require_same(path, "element", file.element, facts.element);
  require_same(path, "app", file.app, facts.app);
  if (kind) {
    require_same(path, "unit.kind", file.unit_kind, *kind == ProcessingUnit::Kind::host ? "host" : "device",
                 ", for --model names files rank by rank, the host's before the device's");
  }
  return file;
}

partition::Algorithm algorithm_for(const std::string& name, const std::string& kind) {
  partition::Algorithm algorithm = partition::find_algorithm(name);
  if (!kind.empty()) algorithm.model_kind = models::find_model_kind(kind).name;
  return algorithm;
}

models::SpeedModelPtr make_model_for(const partition::Algorithm& algorithm, const models::FpmFile& file) {
  models::FitOptions options;
  options.shape = algorithm.shape;
  return models::make_model(file, algorithm.model_kind, options);
}

std::vector<const models::SpeedModel*> pointers_to(const std::vector<models::SpeedModelPtr>& models) {
  std::vector<const models::SpeedModel*> pointers;
  for (const models::SpeedModelPtr& model : models) pointers.push_back(model.get());
  return pointers;
}

SpeedModels::SpeedModels(std::vector<models::FpmFile> files, partition::Algorithm algorithm)
    : algorithm_(std::move(algorithm)), files_(std::move(files)) {
  fit();
}

SpeedModels::SpeedModels(const std::vector<double>& slowdowns) {
  for (const double slowdown : slowdowns) models_.push_back(std::make_unique<models::ConstantModel>(1.0 / slowdown));
}

void SpeedModels::fit() {
  models_.clear();
  for (const models::FpmFile& file : files_) {
    models_.push_back(file.points.empty() ? nullptr : make_model_for(algorithm_, file));
  }
}

void SpeedModels::add(const std::vector<models::MeasuredPoint>& points) {
  for (std::size_t i = 0; i < points.size(); ++i) {
    const double units = points[i].units;
    if (!(units > 0.0)) continue;
    const double in_core_units = files_[i].in_core_units;
    std::vector<models::MeasuredPoint>& known = files_[i].points;
    std::erase_if(known, [&](const models::MeasuredPoint& point) {
      const bool same_regime = (point.units <= in_core_units) == (units <= in_core_units);
      if (!same_regime || std::abs(point.units - units) > same_size * units) return false;
      files_[i].drift.add(std::array{point, points[i]});
      files_[i].drift.rounds = 1;  // The last one counts.
      return true;
    });
    known.insert(std::find_if(known.begin(), known.end(),
                              [&](const models::MeasuredPoint& point) { return point.units > units; }),
                 points[i]);
  }
  fit();
}

SpeedModels read_speed_models(const std::vector<std::filesystem::path>& paths, const KernelFacts& facts,
                              const std::vector<Slot>& slots, const std::vector<double>& slowdowns,
                              const partition::Algorithm& algorithm) {
  require_number_of_files(paths.size(), slots);
  std::vector<models::FpmFile> files;
  for (std::size_t i = 0; i < slots.size(); ++i) {
    const auto kind = paths.size() > 1 ? std::optional(slots[i].kind) : std::nullopt;
    files.push_back(slowed_down(read_model_of(facts, paths[i % paths.size()], kind), slowdowns[i]));
  }
  return {std::move(files), algorithm};
}

}  // namespace steelyard
