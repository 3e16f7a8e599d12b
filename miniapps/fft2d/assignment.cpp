#include "miniapps/fft2d/assignment.hpp"

#include "partition/algorithms.hpp"

namespace steelyard::fft2d {
namespace {

partition::Distribution distribute(std::int64_t total, const std::vector<const models::SpeedModel*>& models,
                                   const partition::Algorithm& algorithm) {
  std::vector<const models::SpeedModel*> known;
  for (const models::SpeedModel* model : models) {
    if (model != nullptr) known.push_back(model);
  }
  const partition::Distribution of_known = algorithm.distribute(total, known);
  partition::Distribution all{std::vector<std::int64_t>(models.size(), 0), std::vector<double>(models.size(), 0.0)};
  std::size_t next = 0;
  for (std::size_t i = 0; i < models.size(); ++i) {
    if (models[i] == nullptr) continue;
    all.units[i] = of_known.units[next];
    all.predicted_s[i] = of_known.predicted_s[next++];
  }
  return all;
}

}  // namespace

Assignment assign(const Problem& problem, const std::vector<const models::SpeedModel*>& row_models,
                  const std::vector<const models::SpeedModel*>& column_models, const std::string& partition) {
  const partition::Algorithm& algorithm = partition::find_algorithm(partition);
  return {distribute(problem.rows, row_models, algorithm),
          distribute(problem.spectrum_columns(), column_models, algorithm)};
}

}  // namespace steelyard::fft2d
