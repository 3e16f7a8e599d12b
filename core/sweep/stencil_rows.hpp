#pragma once

#include <cstdint>

#include "core/sweep/row_pointer.hpp"
#include "core/sweep/time_tiles.hpp"
#include "core/sweep/vector_for.hpp"

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
  using Tiles = TimeTiles<typename Member::execution_space>;
  constexpr int lanes = Tiles::vector_length;
  vector_for_several<Tiles::columns_per_lane, lanes>(member, begin, end, [=](const std::int64_t j, const auto several) {
    constexpr int count = decltype(several)::value;
    Scalar next[Rows][count];
    Scalar here[Rows][count];
    for (int r = 0; r < Rows; ++r) {
      const RowPointer<const Scalar>* const u = rows.current + r + Radius;
      for (int c = 0; c < count; ++c) {
        const std::int64_t i = j + std::int64_t{lanes} * c;
        here[r][c] = u[0][i];
        next[r][c] = stencil.next(
            rows.old[r][i], here[r][c], [&](int d) { return u[d][i]; }, [&](int d) { return u[0][i + d]; });
      }
    }
    for (int r = 0; r < Rows; ++r) {
      for (int c = 0; c < count; ++c) {
        const std::int64_t i = j + std::int64_t{lanes} * c;
        rows.next[r][i] = next[r][c];
        if (Copies) rows.copy[r][i] = here[r][c];
      }
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
