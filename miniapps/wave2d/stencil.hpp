#pragma once

#include "core/multiply_add.hpp"
#include "miniapps/wave2d/problem.hpp"

namespace steelyard::wave2d {

/// One point's step: next = 2 u - old + C^2 (D_x u + D_y u), with the second difference of radius 1
///   D u = u(-1) - 2 u + u(1)                                          (second order; 001, equation 12; 003, 2.7)
/// or of radius 2
///   D u = (-u(-2) + 16 u(-1) - 30 u + 16 u(1) - u(2)) / 12            (fourth order)
/// in this order of operations everywhere.
template <class Scalar, int Radius>
class Stencil {
 public:
  static_assert(Radius == 1 || Radius == 2);

  explicit Stencil(double courant) {
    const double c2 = courant * courant;
    centre_ = static_cast<Scalar>(Radius == 1 ? 2.0 - 4.0 * c2 : 2.0 - 5.0 * c2);
    near_ = static_cast<Scalar>(Radius == 1 ? c2 : 4.0 / 3.0 * c2);
    far_ = static_cast<Scalar>(-c2 / 12.0);
  }

  /// @param at(d) the point `d` rows below this one and in its column
  /// @param beside(d) the point `d` columns to the right of this one
  template <class Above, class Beside>
  KOKKOS_FORCEINLINE_FUNCTION Scalar next(const Scalar old, const Scalar here, const Above& at,
                                          const Beside& beside) const {
    const Scalar rest = multiply_add(centre_, here, -old);
    const Scalar sum = multiply_add(near_, (at(-1) + at(1)) + (beside(-1) + beside(1)), rest);
    if constexpr (Radius == 1) return sum;
    return multiply_add(far_, (at(-2) + at(2)) + (beside(-2) + beside(2)), sum);
  }

 private:
  Scalar centre_;
  Scalar near_;
  Scalar far_;
};

}  // namespace steelyard::wave2d
