#include "models/measured_point.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/base/errors.hpp"
#include "core/base/statistics.hpp"

namespace steelyard::models {

void require_points(std::span<const MeasuredPoint> points, const std::string& what) {
  if (points.empty()) throw InvalidArgument(fmt::format("{} of no points (expected at least one)", what));
  double before = 0.0;
  for (const MeasuredPoint& point : points) {
    if (!(point.units > before && std::isfinite(point.units))) {
      throw InvalidArgument(fmt::format("point of {} units after {} (expected increasing sizes)", point.units, before));
    }
    if (!(point.time_s > 0.0 && std::isfinite(point.time_s))) {
      throw InvalidArgument(
          fmt::format("point of {} units takes {} s (expected a finite number > 0)", point.units, point.time_s));
    }
    before = point.units;
  }
}

PlaceAmongPoints place_among(std::span<const MeasuredPoint> points, double units) {
  const auto after = std::ranges::upper_bound(points, units, {}, &MeasuredPoint::units);
  const auto right = static_cast<std::size_t>(after - points.begin());
  if (right == 0) return {};
  if (right == points.size()) return {right - 1, right - 1, 0.0};
  return {right - 1, right, (units - points[right - 1].units) / (points[right].units - points[right - 1].units)};
}

MeasuredPoint merge_rounds(std::span<const MeasuredPoint> rounds, double level) {
  if (rounds.empty()) throw InvalidArgument("no rounds to merge");
  MeasuredPoint merged{rounds.front().units, 0.0, 0, 0.0, 0, {}};
  std::vector<double> means;
  double squares = 0.0;
  for (const MeasuredPoint& round : rounds) {
    if (round.units != merged.units) {
      throw InvalidArgument(fmt::format("rounds of {} and {} units (expected one size)", merged.units, round.units));
    }
    means.push_back(round.time_s);
    squares += round.confidence_s * round.confidence_s;
    merged.repetitions += round.repetitions;
    merged.outliers += round.outliers;
    for (std::size_t part = 0; part < round.parts_s.size(); ++part) {
      merged.parts_s[part] += round.parts_s[part] / static_cast<double>(rounds.size());
    }
  }
  merged.time_s = mean(means);
  merged.confidence_s = std::sqrt(squares) / static_cast<double>(means.size());
  if (means.size() > 1) merged.confidence_s = std::max(merged.confidence_s, confidence_half_width(means, level));
  return merged;
}

void Drift::add(std::span<const MeasuredPoint> of_size) {
  if (of_size.size() < 2) return;
  std::vector<double> speeds;
  for (const MeasuredPoint& round : of_size) speeds.push_back(round.speed());
  const int more = static_cast<int>(of_size.size()) - 1;
  const double squares = share * share * degrees + std::pow(coefficient_of_variation(speeds), 2) * more;
  degrees += more;
  rounds = more + 1;
  share = std::sqrt(squares / degrees);
}

}  // namespace steelyard::models
