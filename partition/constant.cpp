#include "partition/constant.hpp"

#include <algorithm>

#include "models/kinds/constant_model.hpp"
#include "partition/geometric.hpp"

namespace steelyard::partition {

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

}  // namespace steelyard::partition
