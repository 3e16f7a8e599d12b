#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "miniapps/fft2d/exchange_plan.hpp"
#include "miniapps/fft2d/problem.hpp"
#include "models/communication/message_pattern.hpp"
#include "models/communication/pattern_costs.hpp"
#include "models/communication/placement.hpp"
#include "models/communication/platform.hpp"
#include "models/speed_model.hpp"
#include "partition/distribution.hpp"

namespace steelyard::fft2d {

/// Rows of the input and columns of the spectrum that every unit owns, and the predicted seconds of the passes over
/// them. Both are slices in the order of the units.
struct Assignment {
  partition::Distribution rows;     ///< of pass 1
  partition::Distribution columns;  ///< of the spectrum: the rows of pass 2

  Shares shares() const { return {rows.units, columns.units}; }
};

/// Slices come in multiples of the points of a cache line, as far as these divide `total`: in the transposed matrix
/// every row of a slice that begins elsewhere shares its first and last line with another unit.
/// @param point_bytes of a complex number
std::int64_t slice_granularity(std::int64_t total, std::int64_t point_bytes);

/// Both passes by a one-dimensional algorithm, in multiples of slice_granularity().
/// Source: 002, sections 1 and 6.2.2.
/// @param row_models, column_models of every unit: seconds of so many rows of each pass
/// @param point_bytes of a complex number
/// @throws InvalidArgument for an unknown name, and as the algorithm does
Assignment assign(const Problem& problem, const std::vector<const models::SpeedModel*>& row_models,
                  const std::vector<const models::SpeedModel*>& column_models, const std::string& partition,
                  std::int64_t point_bytes);

/// The messages of the exchange behind a pass: a phase for each batch, of which every rank starts all at once.
models::MessagePattern exchange_pattern(const PassPlan& plan, int ranks, double point_bytes);

/// Seconds of both exchanges by each model whose parameters all channels in use have; nothing to send costs nothing by
/// all of them. Source: 001, equations 13 and 14 (messages of many processes at once).
/// @throws InvalidArgument where no model has parameters, or no channel joins two ranks
std::vector<models::PatternCosts> exchange_costs(const PassPlans& plans, double point_bytes,
                                                 const models::Platform& platform, const models::Placement& placement);

/// Whether all messages leave their nodes, so that no core of the ranks copies them.
bool all_by_network(const PassPlan& plan, const models::Platform& platform, const models::Placement& placement);

/// A pass and the exchange behind it. With kernels that take k seconds, those of the units whose threads also drive MPI
/// d, and an exchange of e in B batches:
///   at once                    T = k + e
///   pipelined by network       T = k / B + (B - 1) / B max(k, e) + e / B
///   pipelined through memory   T = max(d + e, k + e / B), for the cores that copy do not compute meanwhile
/// Source: 003, equations 5.5-5.10 (who drives MPI); the pipeline of equal stages is ours.
struct PassCost {
  double kernels_s = 0.0;
  double driving_s = 0.0;
  double exchange_s = 0.0;
  int batches = 1;  ///< 1: at once
  bool by_network = false;

  double total_s() const;
  /// What the exchange adds to the kernels.
  double exposed_s() const { return total_s() - kernels_s; }
};

/// Seconds of a whole transform, whose phases follow one another.
struct TransformCost {
  PassCost rows;
  PassCost columns;
  double start_s = 0.0;   ///< of starting a rank's units, once for each pass
  double unpack_s = 0.0;  ///< putting the second exchange into place

  double rows_s() const { return start_s + rows.kernels_s; }
  double first_exchange_s() const { return rows.exposed_s(); }
  double columns_s() const { return start_s + columns.kernels_s; }
  double second_exchange_s() const { return columns.exposed_s() + unpack_s; }
  double total_s() const { return rows_s() + first_exchange_s() + columns_s() + second_exchange_s(); }
};

/// What a pass's kernels cost, without an exchange. @param predicted_s of every unit
PassCost kernel_cost(const std::vector<int>& rank_of_unit, const std::vector<double>& predicted_s,
                     const ExchangeChoice& exchange);

/// Adds what the exchanges cost by one model.
void add_exchange(TransformCost& cost, const models::PatternCosts& exchange, const PassPlans& plans,
                  const models::Platform& platform, const models::Placement& placement);

/// Seconds until every unit has put what it received in the second exchange into place: a point is read once, and
/// written to a line that is fetched first.
/// @param slowdowns of every unit; 0 for one that does not count
/// @param bytes_per_s of one unit that is not slowed down while all of them are at work
double unpack_seconds(const PassPlan& second, double point_bytes, const std::vector<double>& slowdowns,
                      double bytes_per_s);

}  // namespace steelyard::fft2d
