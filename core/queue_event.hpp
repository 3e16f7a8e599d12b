#pragma once

#include <memory>
#include <vector>

#include "core/spaces.hpp"

namespace steelyard {

/// The end of the work that a queue of the companion had been given when the event was recorded. Other queues wait for
/// it without the host. Copies stand for the same event; a new one stands for no work and has happened. On back ends
/// without such events the host waits instead.
class QueueEvent {
 public:
  QueueEvent() = default;
  /// @throws RuntimeFailure from a device
  static QueueEvent record(const CompanionExecution& queue);
  /// What is given to `queue` from now on starts when this has happened. @throws RuntimeFailure from a device
  void hold_back(const CompanionExecution& queue) const;

 private:
  class Recorded;
  std::shared_ptr<const Recorded> recorded_;
};

/// Queues of the companion whose work may run at the same time; on a host space they are all the same one.
std::vector<CompanionExecution> make_queues(int count);

}  // namespace steelyard
