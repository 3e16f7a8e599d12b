#pragma once

#include <memory>

#include "core/spaces.hpp"

namespace steelyard {

/// The moment when the work that a queue of the companion had been given has ended. Marking does not wait for it.
/// On back ends that cannot mark a queue the host waits for the queue and looks at its own clock.
class QueueTime {
 public:
  /// @throws RuntimeFailure from a device
  static QueueTime mark(const CompanionExecution& queue);
  /// Seconds from `earlier`, of any queue, to this; both have passed. @throws RuntimeFailure from a device
  double seconds_since(const QueueTime& earlier) const;

 private:
  class Marked;
  std::shared_ptr<const Marked> marked_;
};

}  // namespace steelyard
