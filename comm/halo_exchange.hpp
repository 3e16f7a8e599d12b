#pragma once

#include <mpi.h>

#include <cstddef>
#include <span>
#include <vector>

namespace steelyard {

/// One neighbour of a rank in a linear array: the border that goes there and the halo that comes from there.
struct HaloLink {
  enum class Side { above, below };
  int neighbour = 0;  ///< rank
  Side side = Side::above;
  const void* border = nullptr;  ///< host memory, sent
  void* halo = nullptr;          ///< host memory, received
  std::size_t bytes = 0;         ///< of each
};

/// Exchange of border rows between ranks that own slices of a grid in a linear array (003, section 2.5), through
/// buffers that stay where they are: persistent, non-blocking. Start it after the borders are packed, compute the
/// interior, wait.
class HaloExchange {
 public:
  /// @throws MpiError, InvalidArgument for a message beyond MPI's 2^31 bytes
  HaloExchange(MPI_Comm comm, std::span<const HaloLink> links);
  ~HaloExchange();
  HaloExchange(HaloExchange&& other) noexcept;
  HaloExchange& operator=(HaloExchange&&) = delete;

  void start();
  /// Returns when all borders are sent and all halos received.
  void wait();

 private:
  std::vector<MPI_Request> requests_;
};

}  // namespace steelyard
