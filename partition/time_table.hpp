#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/base/errors.hpp"
#include "partition/distribution.hpp"

namespace steelyard::partition {

/// Discrete times of one processing unit: the sizes that it may get and what each takes. Nothing (0 computation units,
/// 0 s) may always be chosen and is not listed; a size that is not listed cannot be chosen. Times need not grow with
/// size. Source: 002, section 3 (the discrete speed functions S, as times x / s(x)).
struct TimeTable {
  struct Entry {
    std::int64_t units = 0;
    double time_s = 0.0;
    bool operator==(const Entry&) const = default;
  };
  std::vector<Entry> entries;  ///< sizes > 0 and strictly increasing, times >= 0 and finite

  /// Seconds for a listed size, 0 for 0, infinity for any other.
  double time_s(std::int64_t units) const;
};

/// One table per processing unit, in the order of the units.
using TimeTables = std::span<const TimeTable>;

/// Times of a model at 1, 2, … up to min(total, max_units()), without the sizes whose time is not finite (not measured,
/// or does not fit). @throws InvalidArgument for a negative total
TimeTable tabulate(const models::SpeedModel& model, std::int64_t total);

/// One table per model. @throws InvalidArgument as require_feasible(), and where the tables would be so large (2^27
/// entries together) that multiples of a granularity are called for
std::vector<TimeTable> tabulate(Models models, std::int64_t total);

/// Checks the input of every algorithm on tables.
/// @throws InvalidArgument for a negative total, no tables, a table that is not as TimeTable says, or a total larger
/// than the largest sizes together
void require_feasible(std::int64_t total, TimeTables tables);

/// The error of a total that no sizes in the tables sum to.
InvalidArgument no_split(std::int64_t total, TimeTables tables);

/// A split with the times that the tables give. @throws InvalidArgument unless there is one table per entry
Distribution predict(std::vector<std::int64_t> units, TimeTables tables);

}  // namespace steelyard::partition
