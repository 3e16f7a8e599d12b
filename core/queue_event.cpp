#include "core/queue_event.hpp"

#include <cstddef>

#if defined(KOKKOS_ENABLE_CUDA)
#include "core/cuda_check.hpp"
#endif

namespace steelyard {

#if defined(KOKKOS_ENABLE_CUDA)
class QueueEvent::Recorded {
 public:
  explicit Recorded(const Kokkos::Cuda& queue) {
    use_device_of(queue);
    check_cuda(cudaEventCreateWithFlags(&event_, cudaEventDisableTiming), "cudaEventCreate");
    const cudaError_t error = cudaEventRecord(event_, queue.cuda_stream());
    if (error != cudaSuccess) {
      cudaEventDestroy(event_);
      check_cuda(error, "cudaEventRecord");
    }
  }
  ~Recorded() { cudaEventDestroy(event_); }
  Recorded(const Recorded&) = delete;
  Recorded& operator=(const Recorded&) = delete;

  void hold_back(const Kokkos::Cuda& queue) const {
    check_cuda(cudaStreamWaitEvent(queue.cuda_stream(), event_, 0), "cudaStreamWaitEvent");
  }

 private:
  cudaEvent_t event_ = nullptr;
};
#else
/// Kokkos has no events; work given to a queue later than this is waited for as well.
class QueueEvent::Recorded {
 public:
  explicit Recorded(const CompanionExecution& queue) : queue_(queue) {}
  void hold_back(const CompanionExecution& /*queue*/) const { queue_.fence(); }

 private:
  CompanionExecution queue_;
};
#endif

QueueEvent QueueEvent::record(const CompanionExecution& queue) {
  QueueEvent event;
  // The work of a host space has ended when the call that launched it returns.
  if constexpr (!runs_on_host<CompanionExecution>) event.recorded_ = std::make_shared<const Recorded>(queue);
  return event;
}

void QueueEvent::hold_back(const CompanionExecution& queue) const {
  if (recorded_) recorded_->hold_back(queue);
}

std::vector<CompanionExecution> make_queues(int count) {
  if constexpr (runs_on_host<CompanionExecution>) {
    return {static_cast<std::size_t>(count), CompanionExecution()};
  } else {
    return independent_instances<CompanionExecution>(count);
  }
}

}  // namespace steelyard
