#include "comm/measurement/bandwidth.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "comm/collective.hpp"
#include "comm/mpi_check.hpp"
#include "core/base/statistics.hpp"
#include "core/device/device.hpp"
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

/// Seconds of copies of the first bytes of `from` to `to`, each from an idle queue to an idle queue.
template <class To, class From>
CopyTimes time_copies(const std::string& name, const To& to, const From& from, const std::vector<int>& bytes,
                      int rounds) {
  constexpr int repetitions = 5;
  const CompanionExecution space;
  std::vector<std::vector<double>> rounds_s(bytes.size());
  for (int round = 0; round < rounds; ++round) {
    for (std::size_t i = 0; i < bytes.size(); ++i) {
      const auto range = Kokkos::make_pair(std::size_t{0}, static_cast<std::size_t>(bytes[i]));
      const auto target = Kokkos::subview(to, range);
      const auto source = Kokkos::subview(from, range);
      const auto copy = [&] { Kokkos::deep_copy(space, target, source); };
      fenced_seconds(space, copy);  // warms up
      std::vector<double> times_s;
      while (times_s.size() < repetitions) times_s.push_back(fenced_seconds(space, copy));
      rounds_s[i].push_back(median(times_s));
    }
  }
  CopyTimes copies{name, {}};
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    copies.times.push_back({static_cast<double>(bytes[i]), median(rounds_s[i])});
  }
  return copies;
}

template <class HostMemory>
void time_both_ways(const std::string& kind, const std::vector<int>& bytes, int rounds,
                    std::vector<CopyTimes>& result) {
  const auto largest = static_cast<std::size_t>(std::ranges::max(bytes));
  const Kokkos::View<char*, HostMemory> host("host", largest);
  const Kokkos::View<char*, CompanionExecution::memory_space> device("device", largest);
  result.push_back(time_copies("host to device, " + kind, device, host, bytes, rounds));
  result.push_back(time_copies("device to host, " + kind, host, device, bytes, rounds));
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
