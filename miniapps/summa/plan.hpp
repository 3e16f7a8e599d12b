#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "comm/session.hpp"
#include "miniapps/app/plan.hpp"
#include "miniapps/summa/problem.hpp"
#include "models/communication/cost_models.hpp"
#include "partition/algorithms.hpp"
#include "partition/rectangles/communication_aware.hpp"

namespace steelyard::summa {

/// Who owns which blocks of the three matrices, and the predicted seconds of an iteration's updates.
struct Assignment {
  std::vector<partition::Rectangle> rectangles;  ///< of each rank, in blocks
  std::vector<partition::Rectangle> parts;       ///< of each slot: block rows of its rank's, the host's at the top
  std::vector<double> unit_s;                    ///< of each slot, per iteration; 0 without work
};

/// Rectangles for ranks by the name of a partition:
/// - `column`: areas by the geometric algorithm over all units' models, in columns (partition/rectangles/column.hpp);
/// - `even`: a grid of p x q equal rectangles, p <= q as near to each other as the number of ranks allows;
/// - any other one-dimensional algorithm of `steelyard partition --list`: areas by it, in columns;
/// - a file `*.json` with an array `rectangles`, one {"row", "column", "rows", "columns"} in blocks per rank, as
///   `steelyard partition --columns --format json` writes it; one without rows or columns is empty.
/// A rectangle's block rows go to the two units of a rank such that both end as early as they can together; with
/// `even`, half to each. Source: 000, sections 3.3 and 4.2; 004, section III.
/// @param models of each slot, for the update of a rectangle of blocks by a pivot column and row
/// @param algorithm of area_algorithm()
/// @param communication_s of an iteration, chooses columns by partition::communication_aware(); empty: costs nothing
/// @throws InvalidArgument for an unknown name, and as the algorithms do; FileFormatError naming file and key for a
/// file with another number of rectangles, or whose rectangles do not cover every block of the matrix exactly once
Assignment assign(const Problem& problem, const std::vector<Slot>& slots, partition::Models models,
                  const std::string& partition, const partition::Algorithm& algorithm,
                  const partition::RectangleCost& communication_s = {});

/// The one-dimensional algorithm that the areas of a partition come from. @throws InvalidArgument for an unknown name
partition::Algorithm area_algorithm(const std::string& partition);

/// @throws InvalidArgument for a partition that does not exist, or whose rectangles cannot be chosen so
void require_partition(const std::string& partition, bool avoid_communication);

/// Seconds Theta^(k) of the messages of every iteration, by each model whose parameters all channels in use have. Rank
/// i owns rectangle i and runs where `placement` says. Source: 001, section 4.1.
/// - paper: pivot column, then pivot row, each owner to one rank after the other (equations 8-10);
/// - bcast: binomial trees (equation 4) among the ranks that share block rows, then among those that share block
///   columns: an owner's one after the other, level by level at the same time for all owners;
/// - pipelined: the paper's messages, all of an iteration at once.
/// @throws InvalidArgument where no channel joins two ranks that communicate, and where no model has parameters
std::vector<models::PatternCosts> communication_costs(const Problem& problem,
                                                      std::span<const partition::Rectangle> rectangles,
                                                      double element_bytes, Communication communication,
                                                      const models::Platform& platform,
                                                      const models::Placement& placement);

/// Updates and communication together: T = s + sum over k of c_k + u_k where they take turns; pipelined,
/// T = s + c_0 + sum over k of max(u_k, c_(k+1)) + u_(N-1). An update u_k takes update_s in proportion to its depth; s
/// is start_s, for starting the units, and counts as the update's. Source: 001, equation 11, for sum over k of c_k.
/// @param cost c_k of every iteration @param update_s nothing where models tell no seconds
ModelForecast total_cost(const Problem& problem, const models::PatternCosts& cost, Communication communication,
                         std::optional<double> update_s, double start_s);

}  // namespace steelyard::summa
