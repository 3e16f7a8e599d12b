#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "models/speed_model.hpp"

namespace steelyard::partition {

/// One model per processing unit, in the order of the units; not owned.
using Models = std::span<const models::SpeedModel* const>;

/// Who gets how many computation units, and how long that is predicted to take.
struct Distribution {
  std::vector<std::int64_t> units;  ///< of each processing unit; the sum is exactly the total that was asked for
  std::vector<double> predicted_s;  ///< of each processing unit

  /// Seconds until the last unit is done; 0 without units.
  double makespan_s() const;
  /// (longest - shortest) / longest over the units that have work; 0 when all end together.
  /// Source: 000, section 2.4.2 (equation 2.1 asks for equal times).
  double imbalance() const;
};

/// Predicts a given split. @throws InvalidArgument unless there is one model per entry
Distribution predict(std::vector<std::int64_t> units, Models models);

/// Checks the input of every algorithm.
/// @throws InvalidArgument for a negative total, no models, or a total that exceeds what the units hold together
void require_feasible(std::int64_t total, Models models);

/// An equal number for each unit; the first `total mod p` get one more.
/// @throws InvalidArgument for a negative total and no units
std::vector<std::int64_t> even_slices(std::int64_t total, std::size_t unit_count);

/// Whole computation units that a model holds, or all of several together, at most `total`.
std::int64_t capacity(const models::SpeedModel& model, std::int64_t total);
std::int64_t capacity(Models models, std::int64_t total);

/// Whole parts of `total` in proportion to `shares`: each the exact quota, total share_i / (sum of shares), rounded
/// down or up, and the sum is exactly `total`. Rounds up where (whole + 1) seconds_per_part_i is least, so that the
/// longest of parts_i seconds_per_part_i is least among all such roundings; ties go to the lower index, a share of 0
/// gets nothing.
/// @param shares not negative, one above 0 @param seconds_per_part as many, in any unit of time
std::vector<std::int64_t> proportional_parts(std::int64_t total, std::span<const double> shares,
                                             std::span<const double> seconds_per_part);

/// Whether two models are one, or of the same kind, points, limits and breakpoints, so that they answer alike. Models
/// given as formulas, without points, are the same only where they are one.
bool same_model(const models::SpeedModel& one, const models::SpeedModel& other);

}  // namespace steelyard::partition
