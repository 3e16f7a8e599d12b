#include "models/kinds/model_kinds.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "core/base/errors.hpp"

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
  std::vector<std::string> names;
  for (const ModelKind& kind : model_kinds()) {
    if (kind.name == name) return kind;
    names.push_back(kind.name);
  }
  throw InvalidArgument(fmt::format("model kind \"{}\" is unknown (expected one of {})", name, fmt::join(names, ", ")));
}

SpeedModelPtr make_model(const FpmFile& file, const std::string& kind, const FitOptions& options) {
  const ModelKind& found = find_model_kind(kind);
  for (const MeasuredPoint& point : file.points) require_measurable(point);
  const auto beyond = [&](const MeasuredPoint& point) { return point.units > file.in_core_units; };
  if (file.in_core_units >= file.max_units || std::ranges::none_of(file.points, beyond)) {
    return found.build(file.points, std::min(file.in_core_units, file.max_units), options);
  }
  if (std::ranges::all_of(file.points, beyond)) return found.build(file.points, file.max_units, options);
  return std::make_unique<OutOfCoreModel>(
      file.points, file.in_core_units, file.max_units,
      [&](Points points, double max_units) { return found.build(points, max_units, options); });
}

FitError leave_one_out_error(Points points, const ModelKind& kind, const FitOptions& options) {
  if (points.size() < 3) return {};
  const Points inner = points.subspan(1, points.size() - 2);
  std::vector<double> predicted_s;
  for (const MeasuredPoint& point : inner) {
    std::vector<MeasuredPoint> others(points.begin(), points.end());
    others.erase(others.begin() + static_cast<std::ptrdiff_t>(1 + predicted_s.size()));
    predicted_s.push_back(kind.build(others, no_limit, options)->time_s(point.units));
  }
  return fit_error_of(inner, predicted_s);
}

}  // namespace steelyard::models
