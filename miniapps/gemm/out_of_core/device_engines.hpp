#pragma once

#include <optional>
#include <vector>

#include "core/device/device.hpp"
#include "core/gemm.hpp"
#include "core/memory/matrix_copy.hpp"
#include "miniapps/gemm/out_of_core/blocked_gemm.hpp"
#include "miniapps/gemm/out_of_core/engine_timeline.hpp"

namespace steelyard::gemm {

/// The companion's queues as the engines of a BlockedGemm: one copies to it, one multiplies, one copies back. On a host
/// space each operation ends before the next one starts.
template <class ScalarType>
class DeviceEngines {
 public:
  using Execution = CompanionExecution;
  using Scalar = ScalarType;
  using Event = QueueEvent;
  using Events = std::vector<Event>;
  using DeviceMatrix = Matrix<Execution, Scalar>;
  using ConstDeviceMatrix = ConstMatrix<Execution, Scalar>;
  using HostMatrix = Matrix<HostExecution, Scalar>;
  using ConstHostMatrix = ConstMatrix<HostExecution, Scalar>;

  /// @param overlaps whether the engines work at the same time (000's kernel of version 3) or one after the other, on
  /// one queue (version 2) Source: 000, section 4.2.2, Fig. 4.7.
  explicit DeviceEngines(bool overlaps = true) : queues_(make_queues(overlaps ? 3 : 1)) {}

  Event load(const DeviceMatrix& to, const ConstHostMatrix& from, const Events& after) {
    return on(Engine::loading, loading_, after, [&] { copy_matrix_from_host<Execution, Scalar>(loading_, to, from); });
  }

  Event multiply(Scalar alpha, const ConstDeviceMatrix& a, const ConstDeviceMatrix& b, Scalar beta,
                 const DeviceMatrix& c, const Events& after) {
    return on(Engine::multiplying, multiplying_, after, [&] { blas::gemm(multiplying_, alpha, a, b, beta, c); });
  }

  Event store(const HostMatrix& to, const ConstDeviceMatrix& from, const Events& after) {
    return on(Engine::storing, storing_, after, [&] { copy_matrix_to_host<Execution, Scalar>(storing_, to, from); });
  }

  void finish() {
    loading_.fence();
    multiplying_.fence();
    storing_.fence();
  }

  /// From now on every operation is timed.
  void start_timeline() { timeline_.emplace(); }

  /// All operations since start_timeline(), which it ends; after finish().
  std::vector<EngineOperation> take_timeline() {
    std::vector<EngineOperation> operations;
    for (const Timed& timed : *timeline_) {
      const QueueTime& origin = timeline_->front().start;
      operations.push_back({timed.engine, timed.start.seconds_since(origin), timed.end.seconds_since(origin)});
    }
    timeline_.reset();
    return operations;
  }

 private:
  struct Timed {
    Engine engine;
    QueueTime start, end;
  };

  template <class Operation>
  Event on(Engine engine, const Execution& queue, const Events& after, const Operation& operation) {
    for (const Event& event : after) event.make_wait(queue);
    if (!timeline_) {
      operation();
    } else {
      const QueueTime start = QueueTime::mark(queue);
      operation();
      timeline_->push_back({engine, start, QueueTime::mark(queue)});
    }
    return Event::record(queue);
  }

  std::vector<Execution> queues_;
  Execution loading_ = queues_.front(), multiplying_ = queues_[queues_.size() / 2], storing_ = queues_.back();
  std::optional<std::vector<Timed>> timeline_;
};

/// A BlockedGemm on the companion's queues, and the memory that the blocking asks for.
template <class Scalar>
class DeviceBlockedGemm {
 public:
  /// Allocates on the calling thread; fences. @param overlaps see DeviceEngines
  /// @throws RuntimeFailure where memory is short
  DeviceBlockedGemm(const Blocking& blocking, bool reads_c, bool overlaps = true)
      : blocking_(blocking),
        memory_(Kokkos::view_alloc(CompanionExecution(), Kokkos::WithoutInitializing, "steelyard::gemm::buffers"),
                static_cast<std::size_t>(blocking.buffer_elements())),
        engines_(overlaps),
        blocked_(engines_, blocking, reads_c, memory_.data()) {
    // The memory may be a queue's own until then.
    CompanionExecution().fence();
  }
  DeviceBlockedGemm(const DeviceBlockedGemm&) = delete;
  DeviceBlockedGemm& operator=(const DeviceBlockedGemm&) = delete;

  const Blocking& blocking() const { return blocking_; }
  DeviceEngines<Scalar>& engines() { return engines_; }
  BlockedGemm<DeviceEngines<Scalar>>& blocked() { return blocked_; }

 private:
  Blocking blocking_;
  Kokkos::View<Scalar*, DeviceOf<CompanionExecution>> memory_;
  DeviceEngines<Scalar> engines_;
  BlockedGemm<DeviceEngines<Scalar>> blocked_;
};

}  // namespace steelyard::gemm
