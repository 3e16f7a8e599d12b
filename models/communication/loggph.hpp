#pragma once

#include <vector>

#include "models/communication/loggp.hpp"

namespace steelyard::models {

/// LogGP with parameters of their own for each level of the communication hierarchy (shared memory, network, …), all
/// processes being alike. Source: 001, section 5.5 and its reference 40 (Yuan et al., LogGPH, CSE 2010).
struct LogGPH {
  std::vector<LogGP> levels;  ///< by the channel's id: 0 is the nearest
  /// @throws InvalidArgument for a level that is not there
  const LogGP& level(int level) const;
  /// Seconds for a message that crosses `level`. @throws InvalidArgument for a negative size or such a level
  double time_s(int level, double bytes) const;
};

}  // namespace steelyard::models
