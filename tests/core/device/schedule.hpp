#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "tests/device/emulated/facts.hpp"
#include "tests/device/emulated/queue.hpp"

namespace steelyard::tests {

/// Work that a device would do from `start_s` to `end_s`.
struct ScheduledWork {
  std::string label;
  int device = 0;
  double start_s = 0.0, end_s = 0.0;
};

/// When ideal devices would do what a thread asked them for: copies to a device, copies to the host and kernels have an
/// engine each, which does one thing at a time in the order of asking. Work starts when its queue has ended the work
/// before, with the events that the queue waits for, and when its engine is free; nothing else takes time, and what
/// Views do to their elements when they begin and end is left out.
class Schedule {
 public:
  /// @param seconds what work takes
  Schedule(const std::vector<emulated::Order>& orders, const std::function<double(const emulated::Order&)>& seconds) {
    using OrderKind = emulated::Order::Kind;
    std::map<std::uint32_t, double> queue_s;
    std::map<std::uint64_t, double> event_s;
    std::map<int, std::array<double, 3>> engine_s;
    for (const emulated::Order& order : orders) {
      double& end_s = queue_s[order.queue];
      switch (order.kind) {
        case OrderKind::record:
          event_s[order.event] = end_s;
          break;
        case OrderKind::wait:
          end_s = std::max(end_s, event_s[order.event]);
          break;
        case OrderKind::fence:
          fenced_s_ = std::max(fenced_s_, end_s);
          break;
        case OrderKind::work: {
          if (order.label.starts_with("Kokkos::View::")) break;
          double& free_s = engine_s[order.device][engine_of(order.label)];
          const double start_s = std::max({fenced_s_, end_s, free_s});
          free_s = end_s = start_s + seconds(order);
          end_s_ = std::max(end_s_, end_s);
          works_.push_back({order.label, order.device, start_s, end_s});
        }
      }
    }
  }

  /// In the order of asking. @param label all where it is empty
  std::vector<ScheduledWork> works(const std::string& label = {}) const {
    std::vector<ScheduledWork> found;
    for (const ScheduledWork& work : works_) {
      if (label.empty() || work.label == label) found.push_back(work);
    }
    return found;
  }
  /// When the last fence returns.
  double fenced_s() const { return fenced_s_; }
  /// When the last work ends.
  double end_s() const { return end_s_; }

 private:
  static std::size_t engine_of(const std::string& label) {
    return label == emulated::copy_to_device ? 0 : label == emulated::copy_to_host ? 1 : 2;
  }

  std::vector<ScheduledWork> works_;
  double fenced_s_ = 0.0, end_s_ = 0.0;
};

}  // namespace steelyard::tests
