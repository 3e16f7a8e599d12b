#pragma once

#include <cstdint>

namespace steelyard::gemm {

/// What a check of some rows of C found.
struct RowCheck {
  double error = 0.0;            ///< largest deviation, as a share of what rounding alone may amount to; infinity where
                                 ///< a NaN or Inf is missing or should not be there
  std::int64_t worst_row = -1;   ///< row (counted from the first of those checked) of that deviation; -1: none deviates
  std::int64_t masked_rows = 0;  ///< rows of which only the NaNs and Infs could be checked

  bool passed() const { return error <= 1.0; }
};

}  // namespace steelyard::gemm
