#include "models/kinds/model_kinds.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "core/base/errors.hpp"
#include "models/kinds/akima_model.hpp"
#include "models/kinds/constant_model.hpp"
#include "models/kinds/out_of_core_model.hpp"
#include "models/kinds/piecewise_linear_model.hpp"
#include "models/kinds/polynomial_model.hpp"
#include "models/kinds/saturating_model.hpp"
#include "models/kinds/shrunk_model.hpp"
#include "models/kinds/sine_plateau_model.hpp"
#include "models/kinds/table_model.hpp"

namespace steelyard::models {
namespace {

using Points = std::span<const MeasuredPoint>;

template <class Model>
SpeedModelPtr build(Points points, double max_units, const FitOptions&) {
  return std::make_unique<Model>(points, max_units);
}

SpeedModelPtr build_piecewise_linear(Points points, double max_units, const FitOptions& options) {
  return std::make_unique<PiecewiseLinearModel>(points, options.shape, max_units);
}

SpeedModelPtr build_polynomial(Points points, double max_units, const FitOptions& options) {
  return std::make_unique<PolynomialModel>(points, options.degree, max_units);
}

/// Less is no time that a clock tells and more no time that anybody waits; with either, sums and quotients of times
/// leave the range of numbers.
void require_measurable(const MeasuredPoint& point) {
  constexpr double least_s = 1e-15;
  constexpr double most_s = 1e15;
  if (!(point.time_s >= least_s && point.time_s <= most_s)) {
    throw InvalidArgument(fmt::format("speed model: {} computation units in {} s (expected {} to {} s)", point.units,
                                      point.time_s, least_s, most_s));
  }
}

}  // namespace

std::span<const ModelKind> model_kinds() {
  static const std::array<ModelKind, 8> all{{
      {"constant", "one speed for every size (CPM)", build<ConstantModel>},
      {"piecewise_linear", "speed linear between the points (FPM)", build_piecewise_linear},
      {"akima", "smooth through all points: Akima spline", build<AkimaModel>},
      {"table", "the measured sizes and nothing between them", build<TableModel>},
      {"polynomial", "smoothed: a polynomial of the size", build_polynomial},
      {"shrunk", "a polynomial, with the points' deviations that are too large to be noise", build<ShrunkModel>},
      {"saturating", "a (1 - exp(-b x)), as of a GPU", build<SaturatingModel>},
      {"sine_plateau", "a sin(x / b) up to c, then d, as of a CPU and its cache", build<SinePlateauModel>},
  }};
  return all;
}

const ModelKind& find_model_kind(const std::string& name) {
  std::string names;
  for (const ModelKind& kind : model_kinds()) {
    if (kind.name == name) return kind;
    names += (names.empty() ? "" : ", ") + kind.name;
  }
  throw InvalidArgument(fmt::format("model kind \"{}\" is unknown (expected one of {})", name, names));
}

SpeedModelPtr make_model(const FpmFile& file, const std::string& kind, const FitOptions& options) {
  const ModelKind& found = find_model_kind(kind);
  for (const MeasuredPoint& point : file.points) require_measurable(point);
  const auto beyond = [&](const MeasuredPoint& point) { return point.units > file.in_core_units; };
  if (file.in_core_units >= file.max_units || std::none_of(file.points.begin(), file.points.end(), beyond)) {
    return found.build(file.points, std::min(file.in_core_units, file.max_units), options);
  }
  if (std::all_of(file.points.begin(), file.points.end(), beyond)) {
    return found.build(file.points, file.max_units, options);
  }
  return std::make_unique<OutOfCoreModel>(
      file.points, file.in_core_units, file.max_units,
      [&found, options](Points points, double max_units) { return found.build(points, max_units, options); });
}

FitError leave_one_out_error(Points points, const ModelKind& kind, const FitOptions& options) {
  FitError error;
  double squares = 0.0;
  for (std::size_t i = 1; i + 1 < points.size(); ++i) {
    std::vector<MeasuredPoint> others(points.begin(), points.end());
    others.erase(others.begin() + static_cast<std::ptrdiff_t>(i));
    const SpeedModelPtr model = kind.build(others, std::numeric_limits<double>::infinity(), options);
    const double deviation = std::abs(model->time_s(points[i].units) / points[i].time_s - 1.0);
    squares += deviation * deviation;
    if (deviation > error.largest) {
      error.largest = deviation;
      error.at_units = points[i].units;
    }
  }
  if (points.size() > 2) error.rms = std::sqrt(squares / static_cast<double>(points.size() - 2));
  return error;
}

}  // namespace steelyard::models
