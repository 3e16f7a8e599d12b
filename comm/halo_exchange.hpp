#pragma once

#include <mpi.h>

#include <cstddef>
#include <span>
#include <vector>

namespace steelyard {

/// A message of an exchange, to or from a neighbour.
struct HaloLink {
  enum class Direction { send, receive };
  Direction direction = Direction::send;
  int neighbour = 0;     ///< rank
  int tag = 0;           ///< tells apart the messages of one exchange between the same two ranks: 0, 1, 2, …
  void* data = nullptr;  ///< host memory, or a device's where the MPI library takes it
  std::size_t bytes = 0;
};

/// Exchange of border points between ranks that own parts of a grid (003, section 2.5), through buffers that stay where
/// they are: persistent, non-blocking. Start it after the borders are packed, compute the interior, wait.
class HaloExchange {
 public:
  /// @throws MpiError, InvalidArgument for a message beyond MPI's 2^31 bytes
  HaloExchange(MPI_Comm comm, std::span<const HaloLink> links);
  ~HaloExchange();
  HaloExchange(HaloExchange&& other) noexcept;
  HaloExchange& operator=(HaloExchange&&) = delete;

  void start();
  /// Returns when everything is sent and received. @param may_spin see wait_all()
  void wait(bool may_spin = true);

 private:
  std::vector<MPI_Request> requests_;
};

}  // namespace steelyard
