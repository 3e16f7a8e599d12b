#include "comm/measurement/bandwidth.hpp"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <optional>

#include "comm/collective.hpp"
#include "comm/mpi_check.hpp"
#include "core/base/statistics.hpp"
#include "core/device/device.hpp"
#include "core/memory/unit_memory.hpp"
#include "core/stream.hpp"
#include "core/timing.hpp"

namespace steelyard {
namespace {

constexpr std::int64_t most_elements = std::int64_t{1} << 25;
constexpr int passes = 5;

}  // namespace

struct GroupBandwidth::Probes {
  std::optional<MemoryBoundProbe<HostExecution>> host;
  std::optional<MemoryBoundProbe<CompanionExecution>> companion;
};

GroupBandwidth::GroupBandwidth(MPI_Comm comm, CoExecution& co_execution, std::int64_t host_elements,
                               std::int64_t companion_elements)
    : comm_(comm), co_execution_(co_execution), probes_(std::make_unique<Probes>()) {
  const auto make = [](auto& probe, auto space, std::int64_t elements) {
    if (elements > 0) probe.emplace(space, std::min(elements, most_elements));
  };
  if (companion_elements > 0) {
    // The arrays take at most a quarter of a device's memory, which holds the program's data as well.
    constexpr double infinity = std::numeric_limits<double>::infinity();
    const double device_elements = device_memory_bytes(infinity) / 4.0 / (2.0 * sizeof(double));
    if (device_elements < static_cast<double>(companion_elements)) {
      companion_elements = static_cast<std::int64_t>(device_elements);
    }
  }
  co_execution_.run([&] { make(probes_->host, HostExecution(), host_elements); },
                    [&] { make(probes_->companion, CompanionExecution(), companion_elements); });
}

GroupBandwidth::~GroupBandwidth() = default;

double GroupBandwidth::measure_bytes_per_s() {
  double host = 0.0;
  double companion = 0.0;
  for (int pass = 0; pass < passes; ++pass) {
    STEELYARD_MPI(MPI_Barrier(comm_));
    const UnitSeconds seconds = co_execution_.run(
        [&] {
          if (probes_->host) probes_->host->run();
        },
        [&] {
          if (probes_->companion) probes_->companion->run();
        });
    if (probes_->host) host = std::max(host, probes_->host->bytes() / seconds.host_s);
    if (probes_->companion) companion = std::max(companion, probes_->companion->bytes() / seconds.companion_s);
  }
  return all_sum(comm_, host + companion);
}

double GroupBandwidth::array_bytes() const {
  const double passed =
      (probes_->host ? probes_->host->bytes() : 0.0) + (probes_->companion ? probes_->companion->bytes() : 0.0);
  // A pass reads both arrays and writes one of them.
  return passed * 2.0 / 3.0;
}

namespace {

using DeviceMemory = CompanionExecution::memory_space;
template <class Memory>
using Bytes = Kokkos::View<char*, Memory>;

/// Median seconds of some copies, each from an idle queue to an idle queue.
template <class To, class From>
double copy_s(const CompanionExecution& space, const To& to, const From& from, int bytes) {
  const auto range = Kokkos::make_pair(std::size_t{0}, static_cast<std::size_t>(bytes));
  const auto target = Kokkos::subview(to, range);
  const auto source = Kokkos::subview(from, range);
  constexpr int repetitions = 5;
  std::vector<double> times;
  for (int i = 0; i <= repetitions; ++i) {
    const double seconds = fenced_seconds(space, [&] { Kokkos::deep_copy(space, target, source); });
    // The first one warms up.
    if (i > 0) times.push_back(seconds);
  }
  return median(times);
}

template <class HostMemory>
void time_both_ways(const char* kind, const std::vector<int>& bytes, int rounds, std::vector<CopyTimes>& result) {
  const auto largest = static_cast<std::size_t>(*std::max_element(bytes.begin(), bytes.end()));
  const CompanionExecution space;
  const Bytes<HostMemory> host("host", largest);
  const Bytes<DeviceMemory> device("device", largest);
  std::vector<std::vector<double>> to_device(bytes.size());
  std::vector<std::vector<double>> to_host(bytes.size());
  for (int round = 0; round < rounds; ++round) {
    for (std::size_t i = 0; i < bytes.size(); ++i) {
      to_device[i].push_back(copy_s(space, device, host, bytes[i]));
      to_host[i].push_back(copy_s(space, host, device, bytes[i]));
    }
  }
  CopyTimes out{std::string("host to device, ") + kind, {}};
  CopyTimes back{std::string("device to host, ") + kind, {}};
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    out.times.push_back({static_cast<double>(bytes[i]), median(to_device[i])});
    back.times.push_back({static_cast<double>(bytes[i]), median(to_host[i])});
  }
  result.push_back(std::move(out));
  result.push_back(std::move(back));
}

}  // namespace

std::vector<CopyTimes> time_device_copies(const std::vector<int>& bytes, int rounds) {
  std::vector<CopyTimes> result;
  if constexpr (companion_is_device) {
    if (device_count() > 0 && !bytes.empty() && rounds > 0) {
      time_both_ways<PinnedMemory>("pinned", bytes, rounds, result);
      time_both_ways<Kokkos::HostSpace>("pageable", bytes, rounds, result);
    }
  }
  return result;
}

}  // namespace steelyard
