#include "miniapps/fft2d/assignment.hpp"

#include <numeric>

#include "partition/algorithms.hpp"
#include "partition/granularity.hpp"

namespace steelyard::fft2d {
namespace {

partition::Distribution distribute(std::int64_t total, const std::vector<const models::SpeedModel*>& models,
                                   const partition::Algorithm& algorithm, std::int64_t granularity) {
  std::vector<const models::SpeedModel*> known;
  for (const models::SpeedModel* model : models) {
    if (model != nullptr) known.push_back(model);
  }
  const partition::Distribution of_known = partition::distribute_in_multiples(total, known, algorithm, granularity);
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

std::int64_t slice_granularity(std::int64_t total, std::int64_t point_bytes) {
  constexpr std::int64_t line_bytes = 64;
  return total > 0 ? std::gcd(total, line_bytes / point_bytes) : 1;
}

Assignment assign(const Problem& problem, const std::vector<const models::SpeedModel*>& row_models,
                  const std::vector<const models::SpeedModel*>& column_models, const std::string& partition,
                  std::int64_t point_bytes) {
  const partition::Algorithm& algorithm = partition::find_algorithm(partition);
  const std::int64_t columns = problem.spectrum_columns();
  return {distribute(problem.rows, row_models, algorithm, slice_granularity(problem.rows, point_bytes)),
          distribute(columns, column_models, algorithm, slice_granularity(columns, point_bytes))};
}

}  // namespace steelyard::fft2d
