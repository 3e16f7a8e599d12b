#include <fmt/format.h>

#include <algorithm>

#include "core/base/errors.hpp"
#include "models/kinds/model_kinds.hpp"
#include "partition/algorithms.hpp"

namespace steelyard::partition {

Distribution even(std::int64_t total, Models models) {
  require_feasible(total, models);
  std::vector<std::int64_t> units = even_slices(total, models.size());
  for (std::size_t i = 0; i < units.size(); ++i) {
    if (units[i] <= capacity(*models[i], total)) continue;
    throw InvalidArgument(fmt::format("even share of {} computation units does not fit on unit {}, which holds {}",
                                      units[i], i, models[i]->max_units()));
  }
  return predict(std::move(units), models);
}

Distribution constant(std::int64_t total, Models models, double at_units) {
  require_feasible(total, models);
  if (total == 0) return predict(std::vector<std::int64_t>(models.size(), 0), models);
  const double size = at_units > 0.0 ? at_units : static_cast<double>(total) / static_cast<double>(models.size());
  std::vector<double> speeds, max_units;
  for (const models::SpeedModel* model : models) {
    max_units.push_back(model->max_units());
    const double at = std::min(size, max_units.back());
    speeds.push_back(model->speed(at));
    if (speeds.back() > 0.0) continue;
    throw InvalidArgument(
        fmt::format("{} model of unit {} has no speed at {} computation units (expected constant:N "
                    "with a size N that all models answer for)",
                    model->kind(), speeds.size() - 1, at));
  }
  return predict(constant_speeds(total, speeds, max_units).units, models);
}

Distribution constant_speeds(std::int64_t total, std::span<const double> speeds, std::span<const double> max_units) {
  std::vector<models::ConstantModel> constants;
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < speeds.size(); ++i) {
    if (speeds[i] == 0.0) continue;
    constants.emplace_back(speeds[i], max_units.empty() ? std::numeric_limits<double>::infinity() : max_units[i]);
    places.push_back(i);
  }
  std::vector<const models::SpeedModel*> pointers;
  for (const models::ConstantModel& constant : constants) pointers.push_back(&constant);
  // Lines through the origin meet constant speeds at proportional slices, so this is the same bisection.
  const Distribution shares = geometric(total, pointers);
  Distribution distribution{std::vector<std::int64_t>(speeds.size(), 0), std::vector<double>(speeds.size(), 0.0)};
  for (std::size_t i = 0; i < places.size(); ++i) {
    distribution.units[places[i]] = shares.units[i];
    distribution.predicted_s[places[i]] = shares.predicted_s[i];
  }
  return distribution;
}

}  // namespace steelyard::partition
