#include "comm/measurement/group_bandwidth.hpp"

#include <algorithm>
#include <limits>
#include <optional>

#include "comm/collective.hpp"
#include "comm/mpi_check.hpp"
#include "core/memory/unit_memory.hpp"
#include "core/stream.hpp"

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
    // Of a device's memory a quarter, for it holds the program's data as well.
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
  // Of the two arrays one is read and written.
  return passed * 2.0 / 3.0;
}

}  // namespace steelyard
