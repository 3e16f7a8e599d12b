#pragma once

#include <cstdint>
#include <tuple>

#include "miniapps/cavity/column.hpp"
#include "miniapps/cavity/row_field.hpp"

namespace steelyard::cavity {

/// The pressure equation's matrix on a grid with walls all around, integrated over cells, in a unit's memory:
///   (L p)_ji = y_j (x_i (p_ji - p_j,i-1) + x_i+1 (p_ji - p_j,i+1)) + s_i (t_j (p_ji - p_j-1,i) + t_j+1 (p_ji -
///   p_j+1,i))
/// where x_i is 1 / the distance of the centres on both sides of the column face i (0 at walls), y_j the height of row
/// j over the momentum equation's diagonal there, and t_j, s_i the same across rows. Symmetric, positive semi-definite:
/// constants are its null space. Discretises -div(1/A grad p). Source: 000, section 5.3.2; Issa's PISO.
struct PressureOperator {
  static constexpr int components = 1;
  static constexpr bool maps_constants_to_zero = true;

  ColumnFaces column_faces;             ///< x, one more than columns
  const double* row_weights = nullptr;  ///< y, by rows of the whole grid
  const double* row_faces = nullptr;    ///< t, one more than rows
  ColumnValues column_weights;          ///< s

  /// What it reads of memory besides p: nothing but coefficients.
  std::tuple<> fields() const { return {}; }

  KOKKOS_FORCEINLINE_FUNCTION double operator()(const RowAccess<1>& p, int, const std::int64_t j,
                                                const Column i) const {
    const double here = p(j, i);
    return row_weights[j] *
               (column_faces.left(i) * (here - p(j, i - 1)) + column_faces.right(i) * (here - p(j, i + 1))) +
           column_weights(i) * (row_faces[j] * (here - p(j - 1, i)) + row_faces[j + 1] * (here - p(j + 1, i)));
  }
  /// What a cell adds to p^T L p, which is the sum over all faces of their coefficient times the squared difference
  /// across them: that of its left and of its lower face.
  KOKKOS_FORCEINLINE_FUNCTION double quadratic_form(const RowAccess<1>& p, const std::int64_t j, const Column i) const {
    const double along_row = p(j, i) - p(j, i - 1), across_rows = p(j, i) - p(j - 1, i);
    return row_weights[j] * column_faces.left(i) * (along_row * along_row) +
           column_weights(i) * row_faces[j] * (across_rows * across_rows);
  }
  KOKKOS_FORCEINLINE_FUNCTION double diagonal(int, const std::int64_t j, const Column i) const {
    return row_weights[j] * (column_faces.left(i) + column_faces.right(i)) +
           column_weights(i) * (row_faces[j] + row_faces[j + 1]);
  }
};

}  // namespace steelyard::cavity
