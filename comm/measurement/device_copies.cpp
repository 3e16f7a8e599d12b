#include "comm/measurement/device_copies.hpp"

#include <algorithm>
#include <cstddef>

#include "core/base/statistics.hpp"
#include "core/device/device.hpp"
#include "core/timing.hpp"

namespace steelyard {
namespace {

using DeviceMemory = CompanionExecution::memory_space;
template <class Memory>
using Bytes = Kokkos::View<char*, Memory>;

/// Seconds of one copy, from an idle queue to an idle queue: several at once where one is short.
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
