#include "partition/proportional.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/base/errors.hpp"
#include "models/kinds/constant_model.hpp"
#include "partition/geometric.hpp"

namespace steelyard::partition {

Distribution even(std::int64_t total, Models models) {
  require_feasible(total, models);
  const auto count = static_cast<std::int64_t>(models.size());
  std::vector<std::int64_t> units;
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t share = total / count + (i < total % count ? 1 : 0);
    if (share > capacity(*models[static_cast<std::size_t>(i)], total)) {
      throw InvalidArgument(fmt::format("even share of {} computation units does not fit on unit {}, which holds {}",
                                        share, i, models[static_cast<std::size_t>(i)]->max_units()));
    }
    units.push_back(share);
  }
  return predict(std::move(units), models);
}

Distribution constant(std::int64_t total, Models models, double at_units) {
  require_feasible(total, models);
  const double size = at_units > 0.0 ? at_units : static_cast<double>(total) / static_cast<double>(models.size());
  std::vector<models::ConstantModel> constants;
  constants.reserve(models.size());
  std::vector<const models::SpeedModel*> pointers;
  for (const models::SpeedModel* model : models) {
    constants.emplace_back(model->speed(std::min(size, model->max_units())), model->max_units());
    pointers.push_back(&constants.back());
  }
  // Lines through the origin meet constant speeds at proportional slices, so this is the same bisection.
  return predict(geometric(total, pointers).units, models);
}

std::vector<std::int64_t> proportional_parts(std::int64_t total, std::span<const double> shares,
                                             std::span<const double> seconds_per_part) {
  // By a power of two, which changes no quotient, so that the sum of large shares is finite.
  const int exponent = std::ilogb(*std::max_element(shares.begin(), shares.end()));
  const auto share = [&](std::size_t i) { return std::scalbn(shares[i], -exponent); };
  double sum = 0.0;
  for (std::size_t i = 0; i < shares.size(); ++i) sum += share(i);
  std::vector<std::int64_t> parts;
  std::vector<std::size_t> by_time;
  std::int64_t left = total;
  for (std::size_t i = 0; i < shares.size(); ++i) {
    const double quota = static_cast<double>(total) * (share(i) / sum);
    // A quota that is whole but for rounding errors counts as whole, else its unit would lose a part to another.
    parts.push_back(static_cast<std::int64_t>(std::floor(quota * (1.0 + 1e-12))));
    left -= parts.back();
    if (shares[i] > 0.0) by_time.push_back(i);
  }
  const auto time_s = [&](std::size_t i) { return static_cast<double>(parts[i] + 1) * seconds_per_part[i]; };
  std::stable_sort(by_time.begin(), by_time.end(), [&](std::size_t a, std::size_t b) { return time_s(a) < time_s(b); });
  for (std::int64_t i = 0; i < left; ++i) ++parts[by_time[static_cast<std::size_t>(i)]];
  return parts;
}

}  // namespace steelyard::partition
