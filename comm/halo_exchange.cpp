#include "comm/halo_exchange.hpp"

#include <fmt/format.h>

#include <limits>
#include <utility>

#include "comm/mpi_check.hpp"

namespace steelyard {
namespace {

constexpr int downward_tag = 11;
constexpr int upward_tag = 12;

}  // namespace

HaloExchange::HaloExchange(MPI_Comm comm, std::span<const HaloLink> links) {
  for (const HaloLink& link : links) {
    if (link.bytes > static_cast<std::size_t>(std::numeric_limits<int>::max())) {
      throw InvalidArgument(fmt::format("halo row of {} bytes (expected less than 2^31)", link.bytes));
    }
  }
  for (const HaloLink& link : links) {
    const int bytes = static_cast<int>(link.bytes);
    const bool above = link.side == HaloLink::Side::above;
    MPI_Request request = MPI_REQUEST_NULL;
    STEELYARD_MPI(
        MPI_Recv_init(link.halo, bytes, MPI_BYTE, link.neighbour, above ? downward_tag : upward_tag, comm, &request));
    requests_.push_back(request);
    STEELYARD_MPI(
        MPI_Send_init(link.border, bytes, MPI_BYTE, link.neighbour, above ? upward_tag : downward_tag, comm, &request));
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

void HaloExchange::wait() {
  if (requests_.empty()) return;
  STEELYARD_MPI(MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE));
}

}  // namespace steelyard
