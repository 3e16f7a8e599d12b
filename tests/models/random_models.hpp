#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <random>
#include <vector>

#include "models/constant_model.hpp"
#include "models/measured_point.hpp"
#include "models/piecewise_linear_model.hpp"

namespace steelyard::tests {

using Random = std::mt19937_64;

inline double uniform(Random& random, double low, double high) {
  return std::uniform_real_distribution<double>(low, high)(random);
}

inline int whole(Random& random, int low, int high) { return std::uniform_int_distribution<int>(low, high)(random); }

/// Points as a benchmark gives them: increasing sizes up to about `most_units`, times that wander by orders of
/// magnitude.
inline std::vector<models::MeasuredPoint> random_points(Random& random, int count, double most_units) {
  std::vector<models::MeasuredPoint> points;
  double units = 0.0;
  for (int i = 0; i < count; ++i) {
    units += uniform(random, 0.01, 2.0) * most_units / count;
    points.push_back({units, units * std::exp(uniform(random, -1.5, 1.5)) * 1e-3, 1, 0.0});
  }
  return points;
}

/// A memory limit for about every second model, from `least` units on.
inline double random_limit(Random& random, double least, double most) {
  return whole(random, 0, 1) == 0 ? std::numeric_limits<double>::infinity() : uniform(random, least, most);
}

enum class Kind { constant, increasing_time, as_measured };

inline models::SpeedModelPtr random_model(Random& random, Kind kind, double most_units,
                                          double limit = std::numeric_limits<double>::infinity()) {
  using models::PiecewiseLinearModel;
  if (kind == Kind::constant) return std::make_unique<models::ConstantModel>(std::exp(uniform(random, 3, 9)), limit);
  return std::make_unique<PiecewiseLinearModel>(random_points(random, whole(random, 1, 12), most_units),
                                                kind == Kind::as_measured ? models::Shape::as_measured
                                                                          : models::Shape::increasing_time,
                                                limit);
}

/// Models and the pointers to them that partitioning algorithms take.
struct Units {
  std::vector<models::SpeedModelPtr> owned;
  std::vector<const models::SpeedModel*> models;

  void add(models::SpeedModelPtr model) {
    models.push_back(model.get());
    owned.push_back(std::move(model));
  }
};

}  // namespace steelyard::tests
