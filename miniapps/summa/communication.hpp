#pragma once

#include <string>
#include <vector>

namespace steelyard::summa {

/// How pivots travel.
enum class Communication {
  paper,      ///< non-blocking messages along rows, blocking ones along columns (001, algorithm 1)
  bcast,      ///< MPI_Bcast among the processes that share block rows, then among those that share block columns
  pipelined,  ///< the next iteration's messages while this one multiplies
};

/// As on the command line: `paper`, `bcast`, `pipelined`.
const std::vector<std::string>& communication_names();
/// @throws InvalidArgument naming them
Communication parse_communication(const std::string& name);
const std::string& communication_name(Communication communication);

}  // namespace steelyard::summa
