// Implements device.hpp by Kokkos alone: for hosts, and for devices whose vendor's calls are not known here.
#include "core/base/errors.hpp"
#include "core/device/device.hpp"
#include "core/timing.hpp"

namespace steelyard {
namespace {

template <class Memory, class Byte>
auto bytes_at(Byte* data, std::size_t count) {
  return Kokkos::View<Byte*, Memory, Kokkos::MemoryTraits<Kokkos::Unmanaged>>(data, count);
}

/// Kokkos copies between memories what is contiguous: row by row.
template <class ToMemory, class FromMemory>
void copy_rows(const CompanionExecution& queue, const RowCopy& copy) {
  auto* to = static_cast<unsigned char*>(copy.to);
  const auto* from = static_cast<const unsigned char*>(copy.from);
  for (std::size_t i = 0; i < copy.rows; ++i) {
    Kokkos::deep_copy(queue, bytes_at<ToMemory>(to + i * copy.to_pitch, copy.row_bytes),
                      bytes_at<FromMemory>(from + i * copy.from_pitch, copy.row_bytes));
  }
}

[[noreturn]] void refuse(const char* what) {
  throw RuntimeFailure(std::string("this build has no ") + what + " for a device");
}

}  // namespace

int device_count() { return companion_is_device ? Kokkos::num_devices() : 0; }

DeviceFacts device_facts(int /*device*/) { return {}; }

std::int64_t team_scratch_bytes(int /*team_size*/) {
  return companion_is_device ? Kokkos::TeamPolicy<CompanionExecution>::scratch_size_max(0) : 0;
}

int current_device() { return companion_is_device ? Kokkos::device_id() : -1; }

void select_device(int /*device*/) {}

std::vector<CompanionExecution> make_queues(int count, int device) {
  if (device != current_device()) throw RuntimeFailure("this build has no queues of a second device in a process");
  if constexpr (companion_is_device) {
    return Kokkos::Experimental::partition_space(CompanionExecution(), std::vector(static_cast<std::size_t>(count), 1));
  } else {
    return {static_cast<std::size_t>(count), CompanionExecution()};
  }
}

void copy_rows_to_device(const CompanionExecution& queue, const RowCopy& copy) {
  copy_rows<CompanionExecution::memory_space, PinnedMemory>(queue, copy);
}
void copy_rows_to_host(const CompanionExecution& queue, const RowCopy& copy) {
  copy_rows<PinnedMemory, CompanionExecution::memory_space>(queue, copy);
}
void copy_rows_on_device(const CompanionExecution& queue, const RowCopy& copy) {
  copy_rows<CompanionExecution::memory_space, CompanionExecution::memory_space>(queue, copy);
}

/// Kokkos has no events: the host waits, for what has been given to the queue later as well, and looks at its clock.
class QueueEvent::Recorded {
 public:
  explicit Recorded(const CompanionExecution& of) : queue(of) {}

  const CompanionExecution queue;
  const double time_s = now_s();
};

QueueEvent QueueEvent::record(const CompanionExecution& queue, bool is_timed) {
  // The work of a host space has ended when the call that launched it returns.
  if (companion_is_device && is_timed) queue.fence();
  QueueEvent event;
  if (companion_is_device || is_timed) event.recorded_ = std::make_shared<const Recorded>(queue);
  return event;
}

void QueueEvent::make_wait(const CompanionExecution& /*queue*/) const {
  if (companion_is_device && recorded_) recorded_->queue.fence();
}

double QueueEvent::seconds_since(const QueueEvent& earlier) const {
  return recorded_->time_s - earlier.recorded_->time_s;
}

std::string device_blas_name() { refuse("BLAS"); }
void device_blas_gemm(const CompanionExecution& /*queue*/, const GemmCall<double>& /*call*/) { refuse("BLAS"); }
void device_blas_gemm(const CompanionExecution& /*queue*/, const GemmCall<float>& /*call*/) { refuse("BLAS"); }
std::string device_fft_name() { refuse("FFT"); }

template <class Scalar>
DeviceFft<Scalar> device_fft(const CompanionExecution& /*queue*/, const DeviceFftRows& /*rows*/) {
  refuse("FFT");
}
template DeviceFft<double> device_fft<double>(const CompanionExecution&, const DeviceFftRows&);
template DeviceFft<float> device_fft<float>(const CompanionExecution&, const DeviceFftRows&);

}  // namespace steelyard
