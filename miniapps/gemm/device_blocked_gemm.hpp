#pragma once

#include <algorithm>
#include <vector>

#include "miniapps/gemm/blocked_gemm.hpp"
#include "miniapps/gemm/blocking.hpp"
#include "miniapps/gemm/device_engines.hpp"

namespace steelyard::gemm {

/// A BlockedGemm on the companion's queues, and the buffers in its memory that the blocking asks for.
template <class Scalar>
class DeviceBlockedGemm {
 public:
  /// Allocates on the calling thread; fences. @throws RuntimeFailure where memory is short
  DeviceBlockedGemm(const Blocking& blocking, bool reads_c)
      : blocking_(blocking),
        memory_(Kokkos::view_alloc(CompanionExecution(), Kokkos::WithoutInitializing, "steelyard::gemm::buffers"),
                static_cast<std::size_t>(blocking_.buffer_elements())),
        blocked_(make_blocked(reads_c)) {
    // The memory may be a queue's own until then.
    CompanionExecution().fence();
  }
  DeviceBlockedGemm(const DeviceBlockedGemm&) = delete;
  DeviceBlockedGemm& operator=(const DeviceBlockedGemm&) = delete;

  const Blocking& blocking() const { return blocking_; }
  DeviceEngines<Scalar>& engines() { return engines_; }
  BlockedGemm<DeviceEngines<Scalar>>& blocked() { return blocked_; }

 private:
  using DeviceMatrix = Matrix<CompanionExecution, Scalar>;
  using Memory = Kokkos::View<Scalar*, DeviceOf<CompanionExecution>>;

  /// Cuts the memory into buffers, one after the other.
  BlockedGemm<DeviceEngines<Scalar>> make_blocked(bool reads_c) {
    const BlockGrid& grid = blocking_.grid;
    Scalar* next = memory_.data();
    const auto take = [&next](std::int64_t rows, std::int64_t columns) {
      DeviceMatrix buffer = matrix_at<CompanionExecution>(next, rows, columns, columns);
      next += rows * columns;
      return buffer;
    };
    const auto take_all = [&](std::int64_t count, std::int64_t columns) {
      std::vector<DeviceMatrix> buffers;
      std::int64_t left = blocking_.in_core ? blocking_.in_core_height() : count * grid.height;
      for (std::int64_t i = 0; i < count; ++i) {
        buffers.push_back(take(std::min(grid.height, left), columns));
        left -= grid.height;
      }
      return buffers;
    };
    const std::vector<DeviceMatrix> a = take_all(blocking_.a_buffers, grid.depth);
    const DeviceMatrix b = take(grid.depth, grid.width);
    return {engines_, blocking_, reads_c, a, b, take_all(blocking_.c_buffers, grid.width)};
  }

  Blocking blocking_;
  Memory memory_;
  DeviceEngines<Scalar> engines_;
  BlockedGemm<DeviceEngines<Scalar>> blocked_;
};

}  // namespace steelyard::gemm
