#pragma once

#include <mpi.h>

#include <vector>

#include "models/communication/message_pattern.hpp"

namespace steelyard {

/// A message pattern as real messages of this rank: process i is rank i.
class PatternRun {
 public:
  /// Makes buffers for the messages of this rank. @throws InvalidArgument unless `comm` has as many ranks as the
  /// pattern processes, and for messages of 2 GiB and more
  PatternRun(MPI_Comm comm, const models::MessagePattern& pattern);

  /// Sends and receives once. Receives of a phase are posted first; sends in order wait for their buffers one by one
  /// (MPI_Send), sends at once together. Collective. @throws MpiError
  void run();

  /// After a barrier each, the longest time over the ranks of each run. Source: 001, section 5.4, algorithm 1.
  /// Collective.
  std::vector<double> times_s(int repetitions);

 private:
  struct Transfer {
    int partner = 0;
    std::vector<char> buffer;
  };
  struct Step {
    std::vector<Transfer> sends;
    std::vector<Transfer> receives;
    bool at_once = false;
  };
  MPI_Comm comm_;
  std::vector<Step> steps_;
};

}  // namespace steelyard
