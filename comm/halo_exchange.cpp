#include "comm/halo_exchange.hpp"

#include <fmt/format.h>

#include <limits>
#include <utility>

#include "comm/communicator.hpp"
#include "comm/mpi_check.hpp"

namespace steelyard {
namespace {

/// Tags of other exchanges on the same communicator are below.
constexpr int first_tag = 11;

}  // namespace

HaloExchange::HaloExchange(MPI_Comm comm, std::span<const HaloLink> links) {
  for (const HaloLink& link : links) {
    if (link.bytes > static_cast<std::size_t>(std::numeric_limits<int>::max())) {
      throw InvalidArgument(fmt::format("halo message of {} bytes (expected less than 2^31)", link.bytes));
    }
  }
  for (const HaloLink& link : links) {
    const int bytes = static_cast<int>(link.bytes);
    const int tag = first_tag + link.tag;
    MPI_Request request = MPI_REQUEST_NULL;
    if (link.direction == HaloLink::Direction::send) {
      STEELYARD_MPI(MPI_Send_init(link.data, bytes, MPI_BYTE, link.neighbour, tag, comm, &request));
    } else {
      STEELYARD_MPI(MPI_Recv_init(link.data, bytes, MPI_BYTE, link.neighbour, tag, comm, &request));
    }
    requests_.push_back(request);
  }
}

HaloExchange::~HaloExchange() {
  for (MPI_Request& request : requests_) MPI_Request_free(&request);
}

HaloExchange::HaloExchange(HaloExchange&& other) noexcept : requests_(std::exchange(other.requests_, {})) {}

void HaloExchange::start() {
  if (requests_.empty()) return;
  STEELYARD_MPI(MPI_Startall(static_cast<int>(requests_.size()), requests_.data()));
}

void HaloExchange::wait(bool may_spin) { wait_all(requests_, may_spin); }

}  // namespace steelyard
