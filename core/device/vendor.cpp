// Implements device.hpp by a vendor's run time, BLAS and FFT. CMake names the header that gives their calls our names.
#include <fmt/format.h>

#include <array>
#include <map>
#include <mutex>
#include <type_traits>
#include <utility>

#include "core/base/errors.hpp"
#include "core/device/device.hpp"
#include "core/host_blas.hpp"
#include STEELYARD_DEVICE_CALLS

namespace steelyard {
namespace {

using Queue = CompanionExecution;

void check(vendor::Error error, const char* what) {
  if (error != vendor::success) throw RuntimeFailure(fmt::format("{}: {}", what, vendor::error_text(error)));
}
void check_blas(vendor::BlasStatus status, const char* what) {
  if (status != vendor::blas_success) {
    throw RuntimeFailure(fmt::format("{}: {} failed: {}", vendor::blas_name(), what, vendor::blas_status_text(status)));
  }
}
void check_fft(vendor::FftStatus status, const char* what) {
  if (status != vendor::fft_success) {
    throw RuntimeFailure(
        fmt::format("{}: {} failed with error {}", vendor::fft_name(), what, static_cast<int>(status)));
  }
}

/// Makes the queue's device that of the calling thread.
void select_device_of(const Queue& queue) { select_device(vendor::device_of(queue)); }

/// Handle from a vendor's library, released by `destroy`.
template <class Handle, auto destroy>
class Owned {
 public:
  /// @param make sets the handle that it is given, or throws
  template <class Make>
  explicit Owned(const Make& make) {
    make(&handle_);
  }
  ~Owned() { (void)destroy(handle_); }
  Owned(const Owned&) = delete;
  Owned& operator=(const Owned&) = delete;
  Handle get() const { return handle_; }

 private:
  Handle handle_{};
};

/// Copies rows between host and device memory in either direction: the vendor's call tells them apart by address.
void copy_rows(const Queue& queue, const RowCopy& copy) {
  select_device_of(queue);
  check(vendor::copy_2d_async(copy.to, copy.to_pitch, copy.from, copy.from_pitch, copy.row_bytes, copy.rows,
                              vendor::stream_of(queue)),
        "copying rows");
}

/// A handle that works on the queue while this object lives. It keeps no queue, which may be gone later.
class QueueBlas {
 public:
  explicit QueueBlas(const Queue& queue) {
    select_device_of(queue);
    // More than any engine has queues; handles of queues that are gone are dropped with the rest.
    constexpr std::size_t most_handles = 16;
    using Handle = Owned<vendor::BlasHandle, vendor::blas_destroy>;
    thread_local std::map<std::pair<int, vendor::Stream>, Handle> handles;
    const std::pair key{vendor::device_of(queue), vendor::stream_of(queue)};
    if (handles.size() >= most_handles && handles.count(key) == 0) handles.clear();
    const auto start = [](vendor::BlasHandle* handle) { check_blas(vendor::blas_create(handle), "starting"); };
    handle_ = handles.try_emplace(key, start).first->second.get();
    check_blas(vendor::blas_set_stream(handle_, vendor::stream_of(queue)), "taking a queue");
  }
  ~QueueBlas() { (void)vendor::blas_set_stream(handle_, vendor::Stream{}); }
  QueueBlas(const QueueBlas&) = delete;
  QueueBlas& operator=(const QueueBlas&) = delete;
  vendor::BlasHandle get() const { return handle_; }

 private:
  vendor::BlasHandle handle_{};
};

/// C' = alpha B' A' + beta C': such libraries read matrices column after column, which makes ours their transposes.
template <class Scalar, class Gemm>
void blas_multiply(const Queue& queue, const GemmCall<Scalar>& x, const Gemm& gemm, const char* name) {
  const QueueBlas blas(queue);
  check_blas(gemm(blas.get(), vendor::not_transposed, vendor::not_transposed, x.n, x.m, x.k, &x.alpha, x.b, x.b_leading,
                  x.a, x.a_leading, &x.beta, x.c, x.c_leading),
             name);
}

template <class Scalar>
class FftPlan {
 public:
  FftPlan(const Queue& queue, const DeviceFftRows& rows)
      : queue_(queue), rows_(rows), handle_([&](vendor::FftHandle* handle) {
          select_device_of(queue);
          check_fft(vendor::fft_create(handle), "starting");
        }) {
    constexpr bool in_double = std::is_same_v<Scalar, double>;
    constexpr vendor::FftType of_complex = in_double ? vendor::type_z2z : vendor::type_c2c;
    constexpr vendor::FftType of_real = in_double ? vendor::type_d2z : vendor::type_r2c;
    long long length = rows.length, pitch = rows.pitch, in_pitch = rows.real ? 2 * pitch : pitch;
    std::size_t work_bytes = 0;
    check_fft(vendor::fft_set_stream(handle_.get(), vendor::stream_of(queue)), "taking a queue");
    // The pitch stands for an embedding of one dimension, too, without which strides would not count.
    check_fft(vendor::fft_make_plan_many(handle_.get(), 1, &length, &in_pitch, 1, in_pitch, &pitch, 1, pitch,
                                         rows.real ? of_real : of_complex, rows.rows, &work_bytes),
              "planning");
  }

  void run(Kokkos::complex<Scalar>* data) const {
    select_device_of(queue_);
    const int direction = rows_.inverse ? vendor::fft_inverse : vendor::fft_forward;
    if constexpr (std::is_same_v<Scalar, double>) {
      auto* const points = reinterpret_cast<vendor::DoubleComplex*>(data);
      check_fft(rows_.real ? vendor::fft_d2z(handle_.get(), reinterpret_cast<double*>(data), points)
                           : vendor::fft_z2z(handle_.get(), points, points, direction),
                "transforming");
    } else {
      auto* const points = reinterpret_cast<vendor::FloatComplex*>(data);
      check_fft(rows_.real ? vendor::fft_r2c(handle_.get(), reinterpret_cast<float*>(data), points)
                           : vendor::fft_c2c(handle_.get(), points, points, direction),
                "transforming");
    }
  }

 private:
  Queue queue_;
  DeviceFftRows rows_;
  Owned<vendor::FftHandle, vendor::fft_destroy> handle_;
};

}  // namespace

int device_count() {
  static const int devices = [] {
    int count = 0;
    return vendor::device_count(&count) == vendor::success ? count : 0;
  }();
  return devices;
}

DeviceFacts device_facts(int device) {
  vendor::DeviceProperties properties{};
  if (vendor::device_properties(&properties, device) != vendor::success) return {};
  std::array<char, 32> bus{};
  if (vendor::pci_bus(bus.data(), static_cast<int>(bus.size()), device) != vendor::success) bus[0] = '\0';
  return {properties.name, bus.data(), static_cast<double>(properties.totalGlobalMem)};
}

std::int64_t team_scratch_bytes(int team_size) {
  // Asking takes longer than a short kernel.
  static const auto of_device = [] {
    vendor::DeviceProperties properties{};
    check(vendor::device_properties(&properties, current_device()), "asking for scratch memory");
    return static_cast<std::int64_t>(properties.sharedMemPerBlock);
  }();
  // A number a thread for reductions, and a few more.
  const auto of_kokkos = static_cast<std::int64_t>(sizeof(double)) * (team_size + 4);
  return of_device - of_kokkos;
}

int current_device() { return vendor::device_of(Queue()); }

void select_device(int device) {
  if (device >= 0) check(vendor::set_device(device), "selecting a device");
}

std::vector<CompanionExecution> make_queues(int count, int device) {
  if (device == current_device()) {
    return Kokkos::Experimental::partition_space(Queue(), std::vector(static_cast<std::size_t>(count), 1));
  }
  // Kokkos does not own streams that it is given: they are made once, and stay.
  static std::mutex mutex;
  static std::map<int, std::vector<vendor::Stream>> streams;
  const std::scoped_lock lock(mutex);
  std::vector<vendor::Stream>& own = streams[device];
  std::vector<Queue> queues;
  select_device(device);
  for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) {
    if (i == own.size()) check(vendor::stream_create(&own.emplace_back()), "making a queue");
    queues.push_back(vendor::queue_of(own[i]));
    if (vendor::device_of(queues.back()) != device) {
      throw RuntimeFailure("this Kokkos has no queues of a second device in a process");
    }
  }
  select_device(current_device());
  return queues;
}

void copy_rows_to_device(const Queue& queue, const RowCopy& copy) { copy_rows(queue, copy); }
void copy_rows_to_host(const Queue& queue, const RowCopy& copy) { copy_rows(queue, copy); }
void copy_rows_on_device(const Queue& queue, const RowCopy& copy) { copy_rows(queue, copy); }

class QueueEvent::Recorded {
 public:
  Recorded(const Queue& queue, unsigned flags)
      : event_([&](vendor::Event* event) {
          select_device_of(queue);
          check(vendor::event_create(event, flags), "making an event");
        }) {
    check(vendor::event_record(event_.get(), vendor::stream_of(queue)), "recording an event");
  }
  vendor::Event get() const { return event_.get(); }

 private:
  Owned<vendor::Event, vendor::event_destroy> event_;
};

QueueEvent QueueEvent::record(const Queue& queue, bool is_timed) {
  QueueEvent event;
  event.recorded_ = std::make_shared<const Recorded>(queue, is_timed ? 0U : vendor::event_without_time);
  return event;
}

void QueueEvent::make_wait(const Queue& queue) const {
  if (!recorded_) return;
  select_device_of(queue);
  check(vendor::stream_wait_event(vendor::stream_of(queue), recorded_->get(), 0), "waiting for an event");
}

double QueueEvent::seconds_since(const QueueEvent& earlier) const {
  float milliseconds = 0.0F;
  check(vendor::event_elapsed_time(&milliseconds, earlier.recorded_->get(), recorded_->get()),
        "reading the time of events");
  return 1e-3 * static_cast<double>(milliseconds);
}

std::string device_blas_name() { return vendor::blas_name(); }

void device_blas_gemm(const Queue& queue, const GemmCall<double>& x) {
  blas_multiply(queue, x, vendor::dgemm, "dgemm");
}
void device_blas_gemm(const Queue& queue, const GemmCall<float>& x) { blas_multiply(queue, x, vendor::sgemm, "sgemm"); }

std::string device_fft_name() { return vendor::fft_name(); }

template <class Scalar>
DeviceFft<Scalar> device_fft(const Queue& queue, const DeviceFftRows& rows) {
  return [plan = std::make_shared<const FftPlan<Scalar>>(queue, rows)](auto* data) { plan->run(data); };
}
template DeviceFft<double> device_fft<double>(const Queue&, const DeviceFftRows&);
template DeviceFft<float> device_fft<float>(const Queue&, const DeviceFftRows&);

}  // namespace steelyard
