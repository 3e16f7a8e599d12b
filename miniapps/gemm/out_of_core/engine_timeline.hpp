#pragma once

#include <vector>

namespace steelyard::gemm {

/// What a device is doing: rows of 000, Fig. 4.6.
enum class Engine { loading, multiplying, storing };

/// One operation, in seconds from a start that all operations of a run share.
struct EngineOperation {
  Engine engine = Engine::loading;
  double start_s = 0.0;
  double end_s = 0.0;
};

/// How much of a run's copying its multiplications hide.
struct TransferOverlap {
  double run_s = 0.0;       ///< from the first operation's start to the last one's end
  double transfer_s = 0.0;  ///< during which the device loaded or stored
  double hidden_s = 0.0;    ///< of these, during which it multiplied as well

  /// hidden_s / transfer_s; 1 without transfers.
  double hidden_share() const { return transfer_s > 0.0 ? hidden_s / transfer_s : 1.0; }
};

TransferOverlap transfer_overlap(const std::vector<EngineOperation>& operations);

}  // namespace steelyard::gemm
