#pragma once

#include <cstdint>

#include "core/sweep/row_pointer.hpp"
#include "core/vector_for.hpp"

namespace steelyard {

/// Pointers to rows of a grid that a stencil advances together, so that each row that is loaded serves several of them;
/// such that [j] is column j. All are in the unit's memory.
template <class Scalar, int Rows, int Radius>
struct StencilRows {
  RowPointer<const Scalar>
      current[Rows + 2 * Radius];      ///< these rows of the current level, `Radius` above and as many below
  RowPointer<const Scalar> old[Rows];  ///< of the level before
  RowPointer<Scalar> next[Rows];       ///< of the level after, which may take the place of `old`
  RowPointer<Scalar> copy[Rows];       ///< where the current rows go as well; all null where they do not
};

namespace detail {

template <bool Copies, class Member, class Scalar, int Rows, int Radius, class Stencil>
KOKKOS_FORCEINLINE_FUNCTION void sweep_rows(const Member& member, const std::int64_t begin, const std::int64_t end,
                                            const StencilRows<Scalar, Rows, Radius>& set, const Stencil& formula) {
  // Copies on the stack: pointers that the stores cannot change.
  const Stencil stencil = formula;
  const StencilRows<Scalar, Rows, Radius> rows = set;
  vector_for(member, begin, end, [=](const std::int64_t j) {
    // All rows are read before any is written: the compiler has to assume that a store changes what is read next.
    Scalar next[Rows];
    Scalar here[Rows];
    for (int r = 0; r < Rows; ++r) {
      const RowPointer<const Scalar>* const u = rows.current + r + Radius;
      here[r] = u[0][j];
      next[r] = stencil.next(
          rows.old[r][j], here[r], [&](int d) { return u[d][j]; }, [&](int d) { return u[0][j + d]; });
    }
    for (int r = 0; r < Rows; ++r) {
      rows.next[r][j] = next[r];
      if (Copies) rows.copy[r][j] = here[r];
    }
  });
}

}  // namespace detail

/// next_r(j) = stencil.next(old_r(j), current_r(j), at, beside) for each row r and column j in [begin, end), all of
/// which have their neighbours: at(d) is the value `d` rows below, beside(d) that `d` columns to the right. By the
/// vector lanes of a team's thread on a device and with SIMD on a host; does not fence. Inlined for certain, so that a
/// host's compiler keeps the pointers apart from what is stored.
template <class Member, class Scalar, int Rows, int Radius, class Stencil>
KOKKOS_FORCEINLINE_FUNCTION void sweep_stencil_rows(const Member& member, const std::int64_t begin,
                                                    const std::int64_t end,
                                                    const StencilRows<Scalar, Rows, Radius>& rows,
                                                    const Stencil& stencil) {
  if (rows.copy[0] != nullptr) {
    detail::sweep_rows<true>(member, begin, end, rows, stencil);
  } else {
    detail::sweep_rows<false>(member, begin, end, rows, stencil);
  }
}

}  // namespace steelyard
