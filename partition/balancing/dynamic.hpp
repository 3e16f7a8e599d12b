#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "partition/algorithms.hpp"
#include "partition/balancing/outcome.hpp"
#include "partition/balancing/partial_models.hpp"

namespace steelyard::partition {

/// How dynamic partitioning goes on and when it ends.
struct DynamicOptions {
  double eps = 0.01;                            ///< of the total that changes hands, and of the longest time; 0: exact
  int most_measurements = 20;                   ///< of all units together
  int most_rounds = 3;                          ///< of one distribution
  double level = 0.95;                          ///< of the confidence interval of several rounds
  std::string model_kind = "piecewise_linear";  ///< of the partial models
  std::vector<std::int64_t> start;              ///< empty: even
  std::vector<double> max_units;                ///< the most that each unit holds; empty: no limits
};

/// Dynamic data partitioning with partial speed models, one step at a time: all units are measured at the current
/// distribution, their points are added to the partial models, and the algorithm distributes anew. Ends when the times
/// are equal within eps, when no more than eps of the work would change hands for no more than eps of the time, or when
/// all confidence intervals of the times overlap in `most_rounds` rounds; then current() is, of the distributions that
/// were measured, the one whose last unit was done first, so never a slower one than the start was.
///
/// Units that start without work, or that are to lose nearly all of it, get probes: see
/// PartialModels::distribute_and_probe(). Source: 000, sections 2.4.2 and 6.1.5 (fupermod_partitioner_iterate).
class DynamicPartitioner {
 public:
  /// @throws InvalidArgument for a total that does not fit, no units, or options out of range
  DynamicPartitioner(std::int64_t total, std::size_t unit_count, const Algorithm& algorithm,
                     DynamicOptions options = {});

  /// What to measure next, and after the last step the result. Predictions are NaN where nothing was measured yet.
  const Distribution& current() const { return current_; }
  /// Takes what was measured of current(); true when the new current() is to be measured too.
  /// @throws InvalidArgument for points of other sizes, times or intervals that are no numbers; when it has ended
  bool step(std::span<const models::MeasuredPoint> points);

  StopReason reason() const { return reason_; }
  int measurements() const { return measurements_; }
  const PartialModels& models() const { return models_; }

 private:
  bool end(StopReason reason);
  /// More for the unit that is done first, where the models of the others see nothing more to gain.
  std::optional<std::vector<std::int64_t>> fill_idle(std::span<const models::MeasuredPoint> points) const;

  std::int64_t total_;
  const Algorithm* algorithm_;
  DynamicOptions options_;
  PartialModels models_;
  Distribution current_;
  std::vector<std::int64_t> best_;  ///< fastest measured
  double best_s_ = 0.0;
  std::map<std::vector<std::int64_t>, int> rounds_;
  StopReason reason_ = StopReason::running;
  int measurements_ = 0;
};

/// Steps until the end. @throws InvalidArgument as DynamicPartitioner, and what `measure` throws
Outcome dynamic(std::int64_t total, std::size_t unit_count, const Measure& measure, const Algorithm& algorithm,
                DynamicOptions options = {});

}  // namespace steelyard::partition
