#include "comm/ping_pong.hpp"

#include <algorithm>
#include <limits>

#include "comm/collective.hpp"
#include "comm/mpi_check.hpp"
#include "core/base/statistics.hpp"
#include "core/timing.hpp"

namespace steelyard {
namespace {

constexpr int tag = 21;

/// Round trips are timed in batches, since the clock is coarser than a short message.
constexpr int batches = 10;

/// Bytes of a message that takes longer than a short one beyond doubt, or there would be no bandwidth to fit.
constexpr double longest_at_least = 65536.0;

}  // namespace

std::vector<models::MessageTime> ping_pong(MPI_Comm comm, int partner, const std::vector<double>& bytes,
                                           int round_trips) {
  int rank = 0;
  STEELYARD_MPI(MPI_Comm_rank(comm, &rank));
  const int per_batch = std::max(1, round_trips / batches);
  std::vector<models::MessageTime> messages;
  for (const double size : bytes) {
    std::vector<char> buffer(static_cast<std::size_t>(size) + 1);
    const int count = static_cast<int>(size);
    std::vector<double> one_way;
    for (int batch = 0; batch <= batches; ++batch) {
      const double start_s = now_s();
      for (int i = 0; i < per_batch; ++i) {
        if (rank < partner) {
          STEELYARD_MPI(MPI_Send(buffer.data(), count, MPI_BYTE, partner, tag, comm));
          STEELYARD_MPI(MPI_Recv(buffer.data(), count, MPI_BYTE, partner, tag, comm, MPI_STATUS_IGNORE));
        } else {
          STEELYARD_MPI(MPI_Recv(buffer.data(), count, MPI_BYTE, partner, tag, comm, MPI_STATUS_IGNORE));
          STEELYARD_MPI(MPI_Send(buffer.data(), count, MPI_BYTE, partner, tag, comm));
        }
      }
      // The first batch warms caches and connections.
      if (batch > 0) one_way.push_back((now_s() - start_s) / (2.0 * per_batch));
    }
    messages.push_back({size, median(one_way)});
  }
  return messages;
}

std::optional<models::Hockney> measure_neighbours(MPI_Comm comm, double bytes) {
  int rank = 0;
  int size = 1;
  STEELYARD_MPI(MPI_Comm_rank(comm, &rank));
  STEELYARD_MPI(MPI_Comm_size(comm, &size));
  if (size == 1) return std::nullopt;
  std::vector<double> sizes{8.0, bytes / 4.0, bytes, std::max(4.0 * bytes, longest_at_least)};
  std::sort(sizes.begin(), sizes.end());
  std::vector<double> slowest(sizes.size(), 0.0);
  for (int parity = 0; parity < 2; ++parity) {
    const int partner = rank % 2 == parity ? rank + 1 : rank - 1;
    if (partner < 0 || partner >= size) continue;
    const std::vector<models::MessageTime> messages = ping_pong(comm, partner, sizes);
    for (std::size_t i = 0; i < sizes.size(); ++i) slowest[i] = std::max(slowest[i], messages[i].time_s);
  }
  std::vector<models::MessageTime> messages;
  for (std::size_t i = 0; i < sizes.size(); ++i) messages.push_back({sizes[i], all_max(comm, slowest[i])});
  // Something disturbed a message that took longer than a bigger one.
  for (std::size_t i = sizes.size() - 1; i-- > 0;) {
    messages[i].time_s = std::min(messages[i].time_s, messages[i + 1].time_s);
  }
  // Between short messages noise can outweigh size: their time is all latency then.
  if (!(messages.back().time_s > messages.front().time_s)) {
    return models::Hockney{messages.front().time_s, std::numeric_limits<double>::infinity()};
  }
  return models::fit_hockney(messages);
}

}  // namespace steelyard
