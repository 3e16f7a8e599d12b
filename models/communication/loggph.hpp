#pragma once

#include <vector>

#include "models/communication/loggp.hpp"
#include "models/communication/platform.hpp"
#include "models/communication/tau_lop/transmission_expression.hpp"

namespace steelyard::models {

/// LogGP with parameters of their own for each level of the communication hierarchy (shared memory, network, …), all
/// processes being alike. Source: 001, section 5.5 and its reference 40 (Yuan et al., LogGPH, CSE 2010).
struct LogGPH {
  /// Makes the model of a platform whose channels 0, 1, … are the levels, as far as they have LogGP parameters.
  static LogGPH of(const Platform& platform);

  std::vector<LogGP> levels;  ///< by the channel's id: 0 is the nearest
  /// @throws InvalidArgument for a level that is not there
  const LogGP& level(int level) const;
  /// Seconds for a message that crosses `level`. @throws InvalidArgument for a negative size or such a level
  double time_s(int level, double bytes) const;
  /// Seconds for transmissions: those in sequence add up, and of concurrent ones the longest counts, for the model
  /// knows no contention. A transmission's channel is its level. @param bytes_per_unit of the expression's sizes
  /// @throws InvalidArgument for a level that is not there
  double time_s(const Expression& expression, double bytes_per_unit) const;
};

}  // namespace steelyard::models
