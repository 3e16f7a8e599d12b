#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace steelyard::gemm {

/// The engines of a device: rows of 000, Fig. 4.6.
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

inline TransferOverlap transfer_overlap(const std::vector<EngineOperation>& operations) {
  /// The start or the end of an operation, and how it changes the number of running ones.
  struct Change {
    double time_s;
    int transfers, multiplications;
  };
  std::vector<Change> changes;
  for (const EngineOperation& operation : operations) {
    const int multiplications = operation.engine == Engine::multiplying ? 1 : 0, transfers = 1 - multiplications;
    changes.push_back({operation.start_s, transfers, multiplications});
    changes.push_back({operation.end_s, -transfers, -multiplications});
  }
  std::sort(changes.begin(), changes.end(), [](const Change& x, const Change& y) { return x.time_s < y.time_s; });
  TransferOverlap overlap;
  int transfers = 0, multiplications = 0;
  for (std::size_t i = 0; i + 1 < changes.size(); ++i) {
    transfers += changes[i].transfers;
    multiplications += changes[i].multiplications;
    const double seconds = changes[i + 1].time_s - changes[i].time_s;
    overlap.run_s += seconds;
    if (transfers > 0) overlap.transfer_s += seconds;
    if (transfers > 0 && multiplications > 0) overlap.hidden_s += seconds;
  }
  return overlap;
}

}  // namespace steelyard::gemm
