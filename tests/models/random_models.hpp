#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <random>
#include <span>
#include <vector>

#include "models/kinds/model_kinds.hpp"
#include "models/measured_point.hpp"

namespace steelyard::tests {

using Random = std::mt19937_64;

inline double uniform(Random& random, double low, double high) {
  return std::uniform_real_distribution<double>(low, high)(random);
}

inline int whole(Random& random, int low, int high) { return std::uniform_int_distribution<int>(low, high)(random); }

/// Points as a benchmark gives them: increasing sizes up to about `most_units`, times that wander by orders of
/// magnitude and are more or less certain.
inline std::vector<models::MeasuredPoint> random_points(Random& random, int count, double most_units) {
  std::vector<models::MeasuredPoint> points;
  double units = 0.0;
  for (int i = 0; i < count; ++i) {
    units += uniform(random, 0.01, 2.0) * most_units / count;
    const double time_s = units * std::exp(uniform(random, -1.5, 1.5)) * 1e-3;
    points.push_back({units, time_s, 1, 0.1 * (i % 4) * time_s});
  }
  return points;
}

/// A memory limit for about every second model, from `least` units on.
inline double random_limit(Random& random, double least, double most) {
  return whole(random, 0, 1) == 0 ? std::numeric_limits<double>::infinity() : uniform(random, least, most);
}

enum class Kind {
  constant,
  increasing_time,
  as_measured,
  akima,
  polynomial,
  shrunk,
  saturating,
  sine_plateau,
  table,
  out_of_core
};

/// What a kind is called in a failed test.
inline const char* name_of(Kind kind) {
  constexpr std::array names{"constant", "increasing_time", "as_measured",  "akima", "polynomial",
                             "shrunk",   "saturating",      "sine_plateau", "table", "out_of_core"};
  return names.at(static_cast<std::size_t>(kind));
}

using Points = std::span<const models::MeasuredPoint>;

/// A change of regime with points on both sides, below `limit` if there is room.
inline double middle_of(Points points, double limit) {
  const double middle = 0.5 * (points[points.size() / 2 - 1].units + points[points.size() / 2].units);
  return middle < limit ? middle : std::max(points.front().units, 0.5 * (points.front().units + limit));
}

/// Of the points, which have to be at least two for `out_of_core`, and of the limit, which has to be above the first.
inline models::SpeedModelPtr model_of(Points points, Kind kind,
                                      double limit = std::numeric_limits<double>::infinity()) {
  using namespace models;
  switch (kind) {
    case Kind::constant:
      return std::make_unique<ConstantModel>(points, limit);
    case Kind::increasing_time:
      return std::make_unique<PiecewiseLinearModel>(points, Shape::increasing_time, limit);
    case Kind::as_measured:
      return std::make_unique<PiecewiseLinearModel>(points, Shape::as_measured, limit);
    case Kind::akima:
      return std::make_unique<AkimaModel>(points, limit);
    case Kind::polynomial:
      return std::make_unique<PolynomialModel>(points, limit);
    case Kind::shrunk:
      return std::make_unique<ShrunkModel>(points, limit);
    case Kind::saturating:
      return std::make_unique<SaturatingModel>(points, limit);
    case Kind::sine_plateau:
      return std::make_unique<SinePlateauModel>(points, limit);
    case Kind::table:
      return std::make_unique<TableModel>(points, limit);
    case Kind::out_of_core:
      return std::make_unique<OutOfCoreModel>(points, middle_of(points, limit), limit, [](Points regime, double most) {
        return model_of(regime, Kind::as_measured, most);
      });
  }
  return nullptr;
}

inline models::SpeedModelPtr random_model(Random& random, Kind kind, double most_units,
                                          double limit = std::numeric_limits<double>::infinity()) {
  if (kind == Kind::constant) return std::make_unique<models::ConstantModel>(std::exp(uniform(random, 3, 9)), limit);
  const int fewest = kind == Kind::out_of_core ? 2 : 1;
  const auto points = random_points(random, whole(random, fewest, 12), most_units);
  const bool needs_points_within = kind == Kind::table || kind == Kind::out_of_core;
  return model_of(points, kind, needs_points_within ? std::max(limit, 1.01 * points.front().units) : limit);
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
