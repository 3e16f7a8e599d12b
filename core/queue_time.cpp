#include "core/queue_time.hpp"

#if defined(KOKKOS_ENABLE_CUDA)
#include "core/cuda_check.hpp"
#else
#include "core/timing.hpp"
#endif

namespace steelyard {

#if defined(KOKKOS_ENABLE_CUDA)
class QueueTime::Marked {
 public:
  explicit Marked(const Kokkos::Cuda& queue) {
    use_device_of(queue);
    check_cuda(cudaEventCreate(&event_), "cudaEventCreate");
    const cudaError_t error = cudaEventRecord(event_, queue.cuda_stream());
    if (error != cudaSuccess) {
      cudaEventDestroy(event_);
      check_cuda(error, "cudaEventRecord");
    }
  }
  ~Marked() { cudaEventDestroy(event_); }
  Marked(const Marked&) = delete;
  Marked& operator=(const Marked&) = delete;

  double seconds_since(const Marked& earlier) const {
    float milliseconds = 0.0F;
    check_cuda(cudaEventElapsedTime(&milliseconds, earlier.event_, event_), "cudaEventElapsedTime");
    return 1e-3 * static_cast<double>(milliseconds);
  }

 private:
  cudaEvent_t event_ = nullptr;
};
#else
class QueueTime::Marked {
 public:
  explicit Marked(const CompanionExecution& queue) {
    if constexpr (!runs_on_host<CompanionExecution>) queue.fence();
    time_s_ = now_s();
  }
  double seconds_since(const Marked& earlier) const { return time_s_ - earlier.time_s_; }

 private:
  double time_s_ = 0.0;
};
#endif

QueueTime QueueTime::mark(const CompanionExecution& queue) {
  QueueTime time;
  time.marked_ = std::make_shared<const Marked>(queue);
  return time;
}

double QueueTime::seconds_since(const QueueTime& earlier) const { return marked_->seconds_since(*earlier.marked_); }

}  // namespace steelyard
