#include "comm/measurement/bandwidth.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <numeric>

#include "comm/collective.hpp"
#include "comm/mpi_check.hpp"
#include "comm/unit_exchange.hpp"
#include "core/base/statistics.hpp"
#include "core/device/device.hpp"
#include "core/memory/host_copy.hpp"
#include "core/memory/unit_memory.hpp"
#include "core/timing.hpp"

namespace steelyard {

GroupBandwidth::GroupBandwidth(MPI_Comm comm, CoExecution& co_execution, std::int64_t host_elements,
                               std::int64_t companion_elements)
    : comm_(comm), co_execution_(co_execution) {
  constexpr std::int64_t most_elements = std::int64_t{1} << 25;
  const auto make = [&](auto& probe, auto space, std::int64_t elements) {
    if (elements > 0) probe.emplace(space, std::min(elements, most_elements));
  };
  // The arrays take at most a quarter of a device's memory, which holds the program's data as well.
  const double device_elements =
      companion_elements > 0 ? device_memory_bytes(HUGE_VAL) / 4.0 / (2.0 * sizeof(double)) : 0.0;
  if (device_elements < static_cast<double>(companion_elements)) {
    companion_elements = static_cast<std::int64_t>(device_elements);
  }
  co_execution_.run([&] { make(host_, HostExecution(), host_elements); },
                    [&] { make(companion_, CompanionExecution(), companion_elements); });
}

double GroupBandwidth::measure_bytes_per_s() {
  constexpr int passes = 5;
  const auto run = [](const auto& probe) {
    if (probe) probe->run();
  };
  double host = 0.0, companion = 0.0;
  for (int pass = 0; pass < passes; ++pass) {
    STEELYARD_MPI(MPI_Barrier(comm_));
    const auto [host_s, companion_s] = co_execution_.run([&] { run(host_); }, [&] { run(companion_); });
    if (host_) host = std::max(host, host_->bytes() / host_s);
    if (companion_) companion = std::max(companion, companion_->bytes() / companion_s);
  }
  return all_sum(comm_, host + companion);
}

double GroupBandwidth::array_bytes() const {
  const auto passed = [](const auto& probe) { return probe ? probe->bytes() : 0.0; };
  // A pass reads both arrays and writes one of them.
  return (passed(host_) + passed(companion_)) * 2.0 / 3.0;
}

namespace {

/// Median seconds of some calls, each from idle queues to idle queues, after one that does not count.
template <class Copy>
double median_seconds(const Copy& copy) {
  constexpr int repetitions = 5;
  copy();
  std::vector<double> times_s;
  while (times_s.size() < repetitions) {
    const double start_s = now_s();
    copy();
    times_s.push_back(now_s() - start_s);
  }
  return median(times_s);
}

/// Times copies of each size. @param copy copies a number of bytes, and returns when they are there
CopyTimes time_copies(const std::string& name, const std::vector<int>& bytes, int rounds,
                      const std::function<void(std::size_t)>& copy) {
  std::vector<std::vector<double>> rounds_s(bytes.size());
  for (int round = 0; round < rounds; ++round) {
    for (std::size_t i = 0; i < bytes.size(); ++i) {
      rounds_s[i].push_back(median_seconds([&] { copy(static_cast<std::size_t>(bytes[i])); }));
    }
  }
  CopyTimes copies{name, {}};
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    copies.times.push_back({static_cast<double>(bytes[i]), median(rounds_s[i])});
  }
  return copies;
}

/// Copies between pinned memory and several devices, all at the same time.
class CopiesAtOnce {
 public:
  CopiesAtOnce(const std::vector<int>& devices, std::size_t most_bytes) {
    for (const int device : devices) {
      const CompanionExecution queue = make_queues(1, device).front();
      pairs_.push_back({queue, Bytes<PinnedMemory>("host", most_bytes),
                        Bytes<CompanionExecution::memory_space>(
                            Kokkos::view_alloc(queue, Kokkos::WithoutInitializing, "device"), most_bytes)});
      queue.fence();
    }
    select_device(current_device());
  }
  void run(std::size_t bytes, bool to_device) const {
    for (const auto& [queue, host, device] : pairs_) {
      if (to_device) {
        copy_rows_to_device(queue, {device.data(), bytes, host.data(), bytes, bytes, 1});
      } else {
        copy_rows_to_host(queue, {host.data(), bytes, device.data(), bytes, bytes, 1});
      }
    }
    for (const auto& [queue, host, device] : pairs_) queue.fence();
    select_device(current_device());
  }

 private:
  template <class Memory>
  using Bytes = Kokkos::View<unsigned char*, Memory>;
  struct Pair {
    CompanionExecution queue;
    Bytes<PinnedMemory> host;
    Bytes<CompanionExecution::memory_space> device;
  };
  std::vector<Pair> pairs_;
};

template <class HostMemory>
void time_both_ways(const std::string& kind, const std::vector<int>& bytes, int rounds,
                    std::vector<CopyTimes>& result) {
  const auto largest = static_cast<std::size_t>(std::ranges::max(bytes));
  const Kokkos::View<char*, HostMemory> host("host", largest);
  const Kokkos::View<char*, CompanionExecution::memory_space> device("device", largest);
  const CompanionExecution space;
  const auto copy = [&space](const auto& to, const auto& from) {
    return [&](std::size_t count) {
      const auto range = Kokkos::make_pair(std::size_t{0}, count);
      Kokkos::deep_copy(space, Kokkos::subview(to, range), Kokkos::subview(from, range));
      space.fence();
    };
  };
  result.push_back(time_copies("host to device, " + kind, bytes, rounds, copy(device, host)));
  result.push_back(time_copies("device to host, " + kind, bytes, rounds, copy(host, device)));
}

}  // namespace

double time_copies_to(const std::vector<int>& devices, std::size_t bytes) {
  const CopiesAtOnce copies(devices, bytes);
  return median_seconds([&] { copies.run(bytes, true); });
}

std::vector<CopyTimes> time_device_copies(const std::vector<int>& bytes, int rounds) {
  std::vector<CopyTimes> result;
  if constexpr (companion_is_device) {
    if (device_count() > 0 && !bytes.empty() && rounds > 0) {
      time_both_ways<PinnedMemory>("pinned", bytes, rounds, result);
      time_both_ways<Kokkos::HostSpace>("pageable", bytes, rounds, result);
    }
    if (device_count() > 1 && !bytes.empty() && rounds > 0) {
      std::vector<int> all(static_cast<std::size_t>(device_count()));
      std::iota(all.begin(), all.end(), 0);
      const CopiesAtOnce copies(all, static_cast<std::size_t>(std::ranges::max(bytes)));
      for (const bool to_device : {true, false}) {
        const std::string name = to_device ? "host to device" : "device to host";
        result.push_back(time_copies(fmt::format("{}, pinned, {} devices at once", name, all.size()), bytes, rounds,
                                     [&](std::size_t count) { copies.run(count, to_device); }));
      }
    }
  }
  return result;
}

std::vector<CopyTimes> time_device_messages(MPI_Comm comm, const std::vector<int>& bytes, int rounds) {
  std::vector<CopyTimes> result;
  if constexpr (companion_is_device) {
    int rank = 0;
    STEELYARD_MPI(MPI_Comm_rank(comm, &rank));
    const std::vector<double> devices = all_gather(comm, {static_cast<double>(device_count())});
    if (devices.size() < 2 || devices[0] * devices[1] == 0.0 || rank > 1 || bytes.empty()) return result;
    const auto largest = static_cast<std::size_t>(std::ranges::max(bytes));
    const CompanionExecution space;
    const Kokkos::View<char*, CompanionExecution::memory_space> device("device", largest);
    const Kokkos::View<char*, PinnedMemory> host("host", largest);
    for (const bool is_direct : {false, true}) {
      if (is_direct && !mpi_takes_device_memory()) continue;
      char* const data = is_direct ? device.data() : host.data();
      const auto send = [&](std::size_t count) {
        if (!is_direct) copy_to_host(space, host.data(), device.data(), count);
        space.fence();
        STEELYARD_MPI(MPI_Send(data, static_cast<int>(count), MPI_BYTE, 1 - rank, 0, comm));
      };
      const auto receive = [&](std::size_t count) {
        STEELYARD_MPI(MPI_Recv(data, static_cast<int>(count), MPI_BYTE, 1 - rank, 0, comm, MPI_STATUS_IGNORE));
        if (!is_direct) copy_from_host(space, device.data(), host.data(), count);
        space.fence();
      };
      result.push_back(time_copies(is_direct ? "device to device, direct" : "device to device, staged", bytes, rounds,
                                   [&](std::size_t count) {
                                     if (rank == 0) send(count);
                                     receive(count);
                                     if (rank == 1) send(count);
                                   }));
      for (models::MessageTime& message : result.back().times) message.time_s /= 2.0;
    }
  }
  return result;
}

}  // namespace steelyard
