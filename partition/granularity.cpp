#include "partition/granularity.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <utility>

#include "core/base/errors.hpp"

namespace steelyard::partition {
namespace {

/// A model whose computation unit is a piece of several.
class PieceModel : public models::SpeedModel {
 public:
  PieceModel(const models::SpeedModel& model, double piece)
      : SpeedModel(std::max(std::floor(model.max_units() / piece), std::numeric_limits<double>::min())),
        model_(model),
        piece_(piece) {}

  std::string kind() const override { return model_.kind(); }
  double units_within(double time_s) const override { return model_.units_within(time_s) / piece_; }
  std::vector<double> breakpoints() const override {
    std::vector<double> pieces = model_.breakpoints();
    for (double& size : pieces) size /= piece_;
    return pieces;
  }

 private:
  double fitted_speed(double units) const override { return model_.speed(units * piece_) / piece_; }

  const models::SpeedModel& model_;
  double piece_;
};

}  // namespace

Distribution distribute_in_multiples(std::int64_t total, Models models, const Algorithm& algorithm,
                                     std::int64_t granularity) {
  if (granularity < 1 || total % granularity != 0) {
    throw InvalidArgument(
        fmt::format("granularity {} for {} computation units (expected a divisor)", granularity, total));
  }
  if (granularity == 1) return algorithm.distribute(total, models);
  std::vector<std::unique_ptr<PieceModel>> pieces;
  std::vector<const models::SpeedModel*> pointers;
  for (const models::SpeedModel* model : models) {
    pieces.push_back(std::make_unique<PieceModel>(*model, static_cast<double>(granularity)));
    pointers.push_back(pieces.back().get());
  }
  const Algorithm of_pieces =
      algorithm.constant_at > 0.0 ? constant_at(algorithm.constant_at / static_cast<double>(granularity)) : algorithm;
  std::vector<std::int64_t> units = of_pieces.distribute(total / granularity, pointers).units;
  for (std::int64_t& slice : units) slice *= granularity;
  return predict(std::move(units), models);
}

}  // namespace steelyard::partition
