#pragma once

namespace steelyard::cavity {

/// No preconditioner: z = r, which solvers do not even copy. Source: 000, section 5.3.4.
struct IdentityPreconditioner {
  static constexpr bool is_identity = true;
};

}  // namespace steelyard::cavity
