#pragma once

#include <cstdint>

#include "core/compatibility.hpp"
#include "miniapps/cavity/column.hpp"

namespace steelyard::cavity {

/// No preconditioner: z = r, which solvers do not even copy. Source: 000, section 5.3.4.
struct IdentityPreconditioner {
  static constexpr bool is_identity = true;
  static constexpr bool is_pointwise = true;

  KOKKOS_FORCEINLINE_FUNCTION double operator()(const double r, int, std::int64_t, Column) const { return r; }
};

}  // namespace steelyard::cavity
