#include "models/measured_point.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/base/errors.hpp"
#include "core/base/statistics.hpp"

namespace steelyard::models {

PlaceAmongPoints place_among(Points points, double units) {
  const auto after = std::ranges::upper_bound(points, units, {}, &MeasuredPoint::units);
  const auto right = static_cast<std::size_t>(after - points.begin());
  if (right == 0) return {};
  if (right == points.size()) return {right - 1, right - 1, 0.0};
  return {right - 1, right, (units - points[right - 1].units) / (points[right].units - points[right - 1].units)};
}

double interpolated_speed(Points points, double units) {
  const auto [left, right, share] = place_among(points, units);
  return std::lerp(points[left].speed(), points[right].speed(), share);
}

MeasuredPoint merge_rounds(Points rounds, double level) {
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

void Drift::add(Points of_size) {
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
