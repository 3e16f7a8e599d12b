#pragma once

#include <functional>
#include <span>
#include <string>

#include "models/shape.hpp"
#include "partition/distribution.hpp"

namespace steelyard::partition {

/// Gives everyone an equal number; the first `total mod p` units get one more. Models only predict.
/// @throws InvalidArgument as require_feasible(), and for a unit that cannot hold its share
Distribution even(std::int64_t total, Models models);

/// Slices proportional to constant speeds, n_i / s_i = const, with s_i the model's speed at that number of units, or
/// at the most that the model holds where that is less. A unit whose proportional slice exceeds its memory gets what it
/// holds, and the others share the rest. Source: 000, section 2.4.2, CPM-based data partitioning.
/// @param at_units computation units, 0 for the even share
/// @throws InvalidArgument as require_feasible(), and for a model without a speed there
Distribution constant(std::int64_t total, Models models, double at_units = 0.0);

/// Distributes by an algorithm over the units that have a model; those without one (null) get nothing.
/// @throws InvalidArgument as the algorithm does
Distribution distribute_among(std::int64_t total, Models models,
                              const std::function<Distribution(std::int64_t total, Models models)>& distribute);

/// Distributes as constant() does, by speeds; a unit of speed 0 gets nothing.
/// @param max_units the most that each unit holds; empty: no limits
/// @throws InvalidArgument where no speed is above 0, and for a total that does not fit
Distribution constant_speeds(std::int64_t total, std::span<const double> speeds, std::span<const double> max_units);

/// Bisection by lines through the origin: a line of slope 1 / T meets the speed functions at the slices that all units
/// finish in T seconds; T is halved until the slices sum to `total`, then rounded so that the makespan stays least.
/// Exact for models whose time grows with size. Source: 000, section 2.4.2, figure 2.3.
/// @throws InvalidArgument as require_feasible(), and where the time of the slowest unit overflows
Distribution geometric(std::int64_t total, Models models);

/// Numerical solution of t_1(x_1) = … = t_p(x_p), x_1 + … + x_p = total on speed functions of any shape that are smooth
/// between the models' breakpoints, in whole sizes. Source: 000, section 6.1.4 (fupermod_partition_multiroot) and
/// equation 2.1. Equal times are what is asked for, the least makespan is what is meant; they differ where a time falls
/// with size, and then the least makespan is found.
///
/// Guaranteed: the makespan is the least of all splits, so never above that of geometric(), if TimeProfile finds all
/// turning points of the times and sums of sizes do not break up into more than a million ranges. It finds them all
/// where times turn only at breakpoints (constant, piecewise linear, table); for smooth speeds none has been seen to be
/// missed. Where a model's own units_within() does know of a larger size than its profile, the faster of this and
/// geometric() is returned. Units whose least time exceeds the makespan get nothing. Costs a few dozen evaluations per
/// unit beyond those of TimeProfile.
/// @throws InvalidArgument as require_feasible(), and where tables of sizes allow no such sum
Distribution numerical(std::int64_t total, Models models);

/// The least makespan of identical processors, min max_i t(x_i) subject to x_1 + … + x_p = total, over the times at
/// every size from 1 to `total`. Equal loads are not assumed: where times fall with size, unequal ones are faster.
/// Bisects over the times that occur; within a time, p sizes sum to the total or not, which takes about 2 log2 p
/// sumsets instead of one per processor. Sizes count in steps of their greatest common divisor. The larger slices come
/// first. It takes models of one kind only, so it is not among algorithms(). Source: 002, section 6.3 (POPTA as cited
/// there), for clusters of identical nodes.
/// @throws InvalidArgument as require_feasible(), where models are not the same (see same_model()), for a total above
/// 2^27, and where no sum of sizes is `total`
Distribution popta(std::int64_t total, Models models);

/// A one-dimensional partitioning algorithm under the name that the command line uses.
struct Algorithm {
  std::string name;
  std::string description;  ///< one line
  std::function<Distribution(std::int64_t total, Models models)> distribute;
  /// Kind and shape of the models that it asks for; it works on others too.
  std::string model_kind = "piecewise_linear";
  models::Shape shape = models::Shape::increasing_time;
  double constant_at = 0.0;        ///< computation units at which constant speeds are taken; 0: nothing of that kind
  bool is_least_makespan = false;  ///< the distribution has the least makespan, where times grow at least
};

/// Every algorithm, in the order of `steelyard partition --list`.
std::span<const Algorithm> algorithms();

/// One of them, or with numbers behind the name:
/// - `constant:N`, proportional to the speeds at N computation units: the papers' CPM;
/// - `shares:A:B:...`, in proportion to these numbers, one for each processing unit, whatever the models say.
/// @param others that a caller has besides, for the message, such as `, or dynamic`
/// @throws InvalidArgument naming the algorithms that there are
Algorithm find_algorithm(const std::string& name, const std::string& others = "");

/// `algorithm` where computation units are only given away in multiples of `granularity`, such as the tile of a kernel:
/// it distributes total / granularity pieces over models of pieces.
/// @throws InvalidArgument as the algorithm does, and unless granularity >= 1 divides the total
Distribution distribute_in_multiples(std::int64_t total, Models models, const Algorithm& algorithm,
                                     std::int64_t granularity);

}  // namespace steelyard::partition
