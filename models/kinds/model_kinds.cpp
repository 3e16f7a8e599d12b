#include "models/kinds/model_kinds.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "core/base/errors.hpp"

namespace steelyard::models {
namespace {

template <class Model>
SpeedModelPtr build(Points points, double max_units, Shape) {
  return std::make_unique<Model>(points, max_units);
}

SpeedModelPtr build_piecewise_linear(Points points, double max_units, Shape shape) {
  return std::make_unique<PiecewiseLinearModel>(points, shape, max_units);
}

}  // namespace

ConstantModel::ConstantModel(double speed, double max_units) : SpeedModel(max_units), speed_(speed) {
  if (!(speed > 0.0 && std::isfinite(speed))) {
    throw InvalidArgument(fmt::format("speed {} units/s (expected a finite number > 0)", speed));
  }
}

ConstantModel::ConstantModel(Points points, double max_units) : SpeedModel(points, max_units) {
  double units = 0.0, seconds = 0.0;
  for (const MeasuredPoint& point : points) {
    units += point.units;
    seconds += point.time_s;
  }
  speed_ = units / seconds;
}

double ConstantModel::units_within(double time_s) const {
  return time_s > 0.0 ? std::min(max_units(), time_s * speed_) : 0.0;
}

OutOfCoreModel::OutOfCoreModel(Points points, double in_core_units, double max_units, const Build& build)
    : SpeedModel(points, max_units), in_core_units_(in_core_units) {
  if (!(in_core_units > 0.0 && in_core_units < max_units)) {
    throw InvalidArgument(
        fmt::format("{} units in core of {} in all (expected 0 < in core < all)", in_core_units, max_units));
  }
  const auto count = static_cast<std::size_t>(
      std::ranges::count_if(points, [&](const MeasuredPoint& point) { return point.units <= in_core_units; }));
  if (count == 0 || count == points.size()) {
    throw InvalidArgument(fmt::format("{} of {} points fit into {} units (expected points in core and out of core)",
                                      count, points.size(), in_core_units));
  }
  in_core_ = build(points.first(count), in_core_units);
  out_of_core_ = build(points.subspan(count), max_units);
  // It may end before the unit's memory does.
  set_max_units(out_of_core_->max_units());
  for (const auto* model : {&in_core_, &out_of_core_}) {
    dropped_.insert(dropped_.end(), (*model)->dropped().begin(), (*model)->dropped().end());
  }
}

double OutOfCoreModel::fitted_speed(double units) const {
  return (units <= in_core_units_ ? in_core_ : out_of_core_)->speed(units);
}

double OutOfCoreModel::units_within(double time_s) const {
  const double out_of_core = out_of_core_->units_within(time_s);
  return out_of_core > in_core_units_ ? out_of_core : in_core_->units_within(time_s);
}

std::vector<double> OutOfCoreModel::breakpoints() const {
  std::vector<double> sizes = in_core_->breakpoints();
  std::erase_if(sizes, [&](double size) { return size >= in_core_units_; });
  // Time may jump to the next size, which is out of core.
  sizes.push_back(in_core_units_);
  sizes.push_back(std::nextafter(in_core_units_, 2.0 * in_core_units_));
  for (const double size : out_of_core_->breakpoints()) {
    if (size > sizes.back()) sizes.push_back(size);
  }
  return sizes;
}

std::span<const ModelKind> model_kinds() {
  static const std::array<ModelKind, 8> all{{
      {"constant", build<ConstantModel>},
      {"piecewise_linear", build_piecewise_linear},
      {"akima", build<AkimaModel>},
      {"table", build<TableModel>},
      {"polynomial", build<PolynomialModel>},
      {"shrunk", build<ShrunkModel>},
      {"saturating", build<SaturatingModel>},
      {"sine_plateau", build<SinePlateauModel>},
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

SpeedModelPtr make_model(const FpmFile& file, const std::string& kind, Shape shape) {
  const ModelKind& found = find_model_kind(kind);
  // Less is no time that a clock tells and more no time that anybody waits; with either, sums and quotients of times
  // leave the range of numbers.
  constexpr double least_s = 1e-15, most_s = 1e15;
  for (const MeasuredPoint& point : file.points) {
    if (point.time_s >= least_s && point.time_s <= most_s) continue;
    throw InvalidArgument(fmt::format("speed model: {} computation units in {} s (expected {} to {} s)", point.units,
                                      point.time_s, least_s, most_s));
  }
  const auto build = [&](Points points, double max_units) { return found.build(points, max_units, shape); };
  const auto beyond = [&](const MeasuredPoint& point) { return point.units > file.in_core_units; };
  if (file.in_core_units >= file.max_units || std::ranges::none_of(file.points, beyond)) {
    return build(file.points, std::min(file.in_core_units, file.max_units));
  }
  if (std::ranges::all_of(file.points, beyond)) return build(file.points, file.max_units);
  return std::make_unique<OutOfCoreModel>(file.points, file.in_core_units, file.max_units, build);
}

}  // namespace steelyard::models
