#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "comm/collective.hpp"
#include "comm/measurement/kernel_measurement.hpp"
#include "core/base/statistics.hpp"
#include "core/base/table.hpp"
#include "core/timing.hpp"
#include "miniapps/app/frame.hpp"
#include "miniapps/wave2d/plan.hpp"
#include "partition/balancing/calibration.hpp"
#include "partition/balancing/spread.hpp"

namespace steelyard::wave2d {

/// Balances any number of rows of one rank between its units.
class InsideRank {
 public:
  /// @param searches whether its units are balanced, or get as many rows each
  InsideRank(Frame& frame, const MeasurableKernel& kernel, Balancing balancing, bool searches)
      : measurement_(MPI_COMM_SELF, frame.co_execution(), kernel, quick_precision),
        units_(frame.units()),
        balancing_(balancing),
        searches_(searches) {}

  /// Balanced rows of the rank's units, and their measured seconds.
  struct Found {
    UnitSizes rows;
    UnitSeconds seconds;
    models::MeasuredPoint pass;  ///< of the slower unit
  };

  /// Searches once for each number of rows.
  const Found& balance(std::int64_t rows) {
    if (!found_.contains(rows)) found_.emplace(rows, search(rows));
    return found_.at(rows);
  }

 private:
  /// Rows of the host unit and of the companion.
  using Split = std::vector<std::int64_t>;

  /// Enough to see 2 % of a pass, not more: a search measures again where the spread is too large.
  static constexpr Precision quick_precision{
      .relative = 0.02, .repetitions_min = 3, .repetitions_max = 30, .time_limit_s = 0.5};

  std::vector<models::MeasuredPoint> measure(std::span<const std::int64_t> split) {
    GroupPoint point = measurement_.together({split[0], split[1]});
    point.host.units = static_cast<double>(split[0]);
    point.companion.units = static_cast<double>(split[1]);
    return {point.host, point.companion};
  }

  Found search(std::int64_t rows) {
    Split split = units_.host ? Split{rows, 0} : Split{0, rows};
    if (units_.count() == 2 && rows > 1) split = searches_ ? best_split(rows) : Split{rows - rows / 2, rows / 2};
    const std::vector<models::MeasuredPoint> points = measure(split);
    Found found{{split[0], split[1]}, {points[0].time_s, points[1].time_s}, partition::last_done(points)};
    found.pass.units = static_cast<double>(rows);
    return found;
  }

  Split best_split(std::int64_t rows) {
    partition::SearchOptions options;
    options.resolution = std::max<std::int64_t>(1, rows / 256);
    options.repetition.most_rounds = 4;
    if (balancing_ == Balancing::ternary) {
      const auto slowest = [&](std::span<const std::int64_t> split) { return partition::last_done(measure(split)); };
      return partition::iteration_time_search(rows, slowest, options).distribution.units;
    }
    const auto both = [&](std::span<const std::int64_t> split) { return measure(split); };
    return by_speeds(partition::equal_times_search(rows, both, options).distribution.units);
  }

  /// The search ends where the times differ by less than their spread; their medians are more precise. Every
  /// measurement has fields of its own, whose places in memory cost a few percent more or less.
  Split by_speeds(const Split& split) {
    if (split[0] == 0 || split[1] == 0) return split;
    constexpr int rounds = 7;
    std::vector<double> host_shares;
    for (int round = 0; round < rounds; ++round) {
      const std::vector<models::MeasuredPoint> points = measure(split);
      const double host = points[0].units / points[0].time_s, companion = points[1].units / points[1].time_s;
      host_shares.push_back(host / (host + companion));
    }
    const std::int64_t rows = split[0] + split[1];
    const auto host_rows = static_cast<std::int64_t>(std::llround(static_cast<double>(rows) * median(host_shares)));
    return {host_rows, rows - host_rows};
  }

  KernelMeasurement measurement_;
  const RankUnits& units_;
  Balancing balancing_;
  bool searches_;
  std::map<std::int64_t, Found> found_;
};

/// The rows of every slot, and what finding them took.
struct Calibration {
  Assignment assignment;
  double time_s = 0.0;
};

/// Finds the rows of every slot by trying out passes of the kernel on all units of all ranks at once, by
/// Balancing::binary or ternary, within ranks, between them or both. Collective; every rank gets the same. Prints how
/// many distributions were tried, how long that took and why it ended.
/// @throws CollectiveError where memory is short, or a rank's units cannot have a row each
inline Calibration calibrate(Frame& frame, const MeasurableKernel& kernel, const Problem& problem, Balancing balancing,
                             BalanceLevel level = BalanceLevel::both) {
  const double start_s = now_s();
  const auto ranks = static_cast<std::size_t>(frame.session().size());
  const auto own = static_cast<std::size_t>(frame.session().rank());
  InsideRank inside(frame, kernel, balancing, level != BalanceLevel::external);
  // All ranks at once balance their rows inside and return the time of their slower unit.
  const partition::Measure measure = [&](std::span<const std::int64_t> units) {
    models::MeasuredPoint point{static_cast<double>(units[own]), 0.0};
    frame.collectively([&] {
      if (units[own] > 0) point = inside.balance(units[own]).pass;
    });
    std::vector<models::MeasuredPoint> points;
    for (const auto& of_rank : all_gather_points(frame.comm(), {point})) points.push_back(of_rank.front());
    return points;
  };
  partition::ThroughputOptions options;
  options.repetition.most_rounds = 2;
  // An imbalance of 1 is any: ranks keep as many rows each, which are measured once.
  if (level == BalanceLevel::internal) options.eps = 1.0;
  const partition::Outcome outcome = balancing == Balancing::binary
                                         ? partition::throughput_balance(problem.rows, ranks, measure, options)
                                         : partition::iterative_calibration(problem.rows, ranks, measure, options);
  InsideRank::Found found;
  const std::int64_t own_rows = outcome.distribution.units[own];
  if (own_rows > 0) found = inside.balance(own_rows);
  std::vector<std::int64_t> slot_rows;
  for (const double count :
       frame.gather_seconds({static_cast<double>(found.rows.host), static_cast<double>(found.rows.companion)})) {
    slot_rows.push_back(static_cast<std::int64_t>(count));
  }
  const Assignment assignment{row_slices(problem, slot_rows), frame.gather_seconds(found.seconds)};
  const double spent_s = frame.max(now_s() - start_s);
  frame.session().print(
      fmt::format("calibrated in {}: {} distribution{} among the ranks tried, {}\n", format_seconds(spent_s),
                  outcome.measurements, outcome.measurements == 1 ? "" : "s",
                  level == BalanceLevel::internal ? "as many rows each" : partition::to_string(outcome.reason)));
  return {assignment, spent_s};
}

}  // namespace steelyard::wave2d
