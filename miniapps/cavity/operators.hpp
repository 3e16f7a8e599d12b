#pragma once

#include <cstddef>
#include <cstdint>
#include <tuple>
#include <vector>

#include "core/sweep/row_field.hpp"
#include "core/sweep/row_pointer.hpp"
#include "core/sweep/sweep_body.hpp"
#include "core/sweep/vector_for.hpp"
#include "miniapps/cavity/problem.hpp"

namespace steelyard::cavity {

/// Coefficients by column, the same ones in all inner columns.
struct ColumnValues {
  RowPointer<const double> all = nullptr;
  double inner = 0.0;

  KOKKOS_FORCEINLINE_FUNCTION double operator()(const Column i) const { return i.is_inner() ? inner : all[i]; }
};

/// Coefficients by column face, of which face i is on the left of column i: the same ones on both sides of all inner
/// columns.
struct ColumnFaces {
  RowPointer<const double> all = nullptr;
  double inner = 0.0;

  KOKKOS_FORCEINLINE_FUNCTION double left(const Column i) const { return i.is_inner() ? inner : all[i]; }
  KOKKOS_FORCEINLINE_FUNCTION double right(const Column i) const { return i.is_inner() ? inner : all[i + 1]; }
};

/// The linearised momentum equations' matrix on a staggered uniform grid, in a unit's memory. Component 0 at (j, i) is
/// u on the left face of the cell, component 1 is v on its lower face; column 0 of u and row 0 of v lie in walls, where
/// the result is 0. With the convecting velocity w at the faces of each control volume,
///   (M x)_P = a_P x_P + sum over N of (±w_N / (2 h_N) - theta nu / h_N^2) x_N,   a_P = 1/dt + theta nu sum of 1/h_N^2,
/// theta times the convective part as well: 1 for implicit Euler, 1/2 for Crank-Nicolson. Tangential walls are half a
/// step away: 2 nu / h^2 in a_P, nothing off the diagonal. Convection is in its skew-symmetric form div(w x) - x
/// div(w)/2, the divergence form where continuity holds, whose diagonal vanishes. Source: 000, equation 5.4.
struct MomentumOperator {
  static constexpr int components = 2;

  RowAccess<2> convecting;                          ///< w, halos included
  RowPointer<const double> row_diagonal = nullptr;  ///< a_P of u by row of the grid
  ColumnValues column_diagonal;                     ///< a_P of v by column
  /// theta nu / h^2 by row face (between rows j-1 and j) for u, 0 at walls; by column face for v.
  RowPointer<const double> row_diffusion = nullptr;
  ColumnFaces column_diffusion;
  ColumnValues column_unknown;                     ///< unknown() of u
  RowPointer<const double> row_unknown = nullptr;  ///< unknown() of v
  double diffusion_x = 0.0;                        ///< theta nu / dx^2, for u
  double diffusion_y = 0.0;                        ///< theta nu / dy^2, for v
  double quarter_x = 0.0;                          ///< theta / (4 dx): mean of two face velocities, mean of two values
  double quarter_y = 0.0;

  /// Fields that it reads besides x.
  std::tuple<RowAccess<2>> fields() const { return {convecting}; }

  /// Contribution of the neighbours: M x without its diagonal.
  KOKKOS_FORCEINLINE_FUNCTION double neighbours(const RowAccess<2>& x, const int c, const std::int64_t j,
                                                const Column i) const {
    const RowAccess<2>& w = convecting;
    if (c == 0) {
      const double east = multiply_add(quarter_x, w(0, j, i) + w(0, j, i + 1), -diffusion_x);
      const double west = multiply_add(quarter_x, w(0, j, i - 1) + w(0, j, i), diffusion_x);
      const double north = multiply_add(quarter_y, w(1, j + 1, i - 1) + w(1, j + 1, i), -row_diffusion[j + 1]);
      const double south = multiply_add(quarter_y, w(1, j, i - 1) + w(1, j, i), row_diffusion[j]);
      return sum_of(x, c, j, i, east, west, north, south);
    }
    const double east = multiply_add(quarter_x, w(0, j - 1, i + 1) + w(0, j, i + 1), -column_diffusion.right(i));
    const double west = multiply_add(quarter_x, w(0, j - 1, i) + w(0, j, i), column_diffusion.left(i));
    const double north = multiply_add(quarter_y, w(1, j, i) + w(1, j + 1, i), -diffusion_y);
    const double south = multiply_add(quarter_y, w(1, j - 1, i) + w(1, j, i), diffusion_y);
    return sum_of(x, c, j, i, east, west, north, south);
  }

  KOKKOS_FORCEINLINE_FUNCTION double diagonal(const int c, const std::int64_t j, const Column i) const {
    return c == 0 ? row_diagonal[j] : column_diagonal(i);
  }
  /// 1 for unknowns, 0 for what lies in a wall. A factor, for compilers make a branch of a choice and do not vectorise
  /// what is around it.
  KOKKOS_FORCEINLINE_FUNCTION double unknown(const int c, const std::int64_t j, const Column i) const {
    return c == 0 ? column_unknown(i) : row_unknown[j];
  }

  KOKKOS_FORCEINLINE_FUNCTION double operator()(const RowAccess<2>& x, const int c, const std::int64_t j,
                                                const Column i) const {
    const double value = multiply_add(diagonal(c, j, i), x(c, j, i), neighbours(x, c, j, i));
    return value * unknown(c, j, i);
  }

 private:
  /// Contribution of neighbours with these coefficients, those of the west and the south without their sign.
  KOKKOS_FORCEINLINE_FUNCTION static double sum_of(const RowAccess<2>& x, const int c, const std::int64_t j,
                                                   const std::int64_t i, const double east, const double west,
                                                   const double north, const double south) {
    const double along_row = multiply_add(east, x(c, j, i + 1), -west * x(c, j, i - 1));
    return multiply_add(-south, x(c, j - 1, i), multiply_add(north, x(c, j + 1, i), along_row));
  }
};

/// The pressure equation's matrix on a grid with walls all around, integrated over cells, in a unit's memory:
///   (L p)_ji = y_j (x_i (p_ji - p_j,i-1) + x_i+1 (p_ji - p_j,i+1)) + s_i (t_j (p_ji - p_j-1,i) + t_j+1 (p_ji -
///   p_j+1,i))
/// where x_i is 1 / the distance of the centres on both sides of the column face i (0 at walls), y_j the height of row
/// j over the momentum equation's diagonal there, and t_j, s_i the same across rows. Symmetric, positive semi-definite:
/// constants are its null space. Discretises -div(1/A grad p). Source: 000, section 5.3.2; Issa's PISO.
struct PressureOperator {
  static constexpr int components = 1;
  static constexpr bool maps_constants_to_zero = true;

  ColumnFaces column_faces;                        ///< x, one more than columns
  RowPointer<const double> row_weights = nullptr;  ///< y, by rows of the whole grid
  RowPointer<const double> row_faces = nullptr;    ///< t, one more than rows
  ColumnValues column_weights;                     ///< s

  /// Fields that it reads besides p: none, for coefficients are in tables.
  std::tuple<> fields() const { return {}; }

  KOKKOS_FORCEINLINE_FUNCTION double operator()(const RowAccess<1>& p, int, const std::int64_t j,
                                                const Column i) const {
    const double here = p(j, i);
    return row_weights[j] *
               (column_faces.left(i) * (here - p(j, i - 1)) + column_faces.right(i) * (here - p(j, i + 1))) +
           column_weights(i) * (row_faces[j] * (here - p(j - 1, i)) + row_faces[j + 1] * (here - p(j + 1, i)));
  }
  /// Term of a cell in p^T L p, which is the sum over all faces of their coefficient times the squared difference
  /// across them: that of its left and of its lower face.
  KOKKOS_FORCEINLINE_FUNCTION double quadratic_form(const RowAccess<1>& p, const std::int64_t j, const Column i) const {
    const double along_row = p(j, i) - p(j, i - 1), across_rows = p(j, i) - p(j - 1, i);
    return row_weights[j] * column_faces.left(i) * (along_row * along_row) +
           column_weights(i) * row_faces[j] * (across_rows * across_rows);
  }
};

/// Coefficients of MomentumOperator and PressureOperator along one axis of the whole grid; for rows these are the
/// operators' `row_…`, for columns their `column_…`.
struct AxisCoefficients {
  std::vector<double> diagonal;   ///< of the velocity along the other axis
  std::vector<double> diffusion;  ///< by face, for the velocity along the other axis
  std::vector<double> unknown;    ///< of the velocity along this axis
  std::vector<double> faces;      ///< of the pressure
  std::vector<double> weights;    ///< of the pressure

  AxisCoefficients() = default;
  /// @param h a cell's length, `to_neighbour` theta nu / h^2, `elsewhere` what the other axis adds to the diagonal
  AxisCoefficients(std::int64_t cells, double h, double to_neighbour, double elsewhere)
      : diagonal(static_cast<std::size_t>(cells), elsewhere + 2.0 * to_neighbour),
        diffusion(static_cast<std::size_t>(cells + 1), to_neighbour),
        unknown(static_cast<std::size_t>(cells), 1.0),
        faces(static_cast<std::size_t>(cells + 1), 1.0 / h) {
    // Walls are half a step away from the velocity along them, and nothing goes through them.
    diagonal.front() += to_neighbour;
    diagonal.back() += to_neighbour;
    unknown.front() = diffusion.front() = diffusion.back() = faces.front() = faces.back() = 0.0;
    for (const double value : diagonal) weights.push_back(h / value);
  }
};

/// Coefficients of both operators for the whole grid, in host memory. Nothing here changes during a run, for
/// skew-symmetric convection leaves the diagonal alone. Source: 000, section 5.3.1, equation 5.4.
struct Coefficients {
  double diffusion_x, diffusion_y;
  double quarter_x, quarter_y;
  /// 2 nu U / dy^2, what the moving wall adds to the right side of u in the top row; U is 1.
  double lid_source;
  AxisCoefficients rows, columns;

  explicit Coefficients(const Problem& problem) {
    const double dx = problem.dx(), dy = problem.dy();
    const double implicit = problem.scheme == TimeScheme::euler ? 1.0 : 0.5;
    diffusion_x = implicit * problem.viscosity() / (dx * dx);
    diffusion_y = implicit * problem.viscosity() / (dy * dy);
    quarter_x = implicit / (4.0 * dx);
    quarter_y = implicit / (4.0 * dy);
    lid_source = 2.0 * problem.viscosity() / (dy * dy);
    rows = {problem.rows, dy, diffusion_y, 1.0 / problem.time_step + 2.0 * diffusion_x};
    columns = {problem.columns, dx, diffusion_x, 1.0 / problem.time_step + 2.0 * diffusion_y};
  }
};

/// The coefficients in a unit's memory, and the operators that read them there; these must not outlive it.
template <class Execution>
class UnitCoefficients {
 public:
  /// To be called by the unit's own thread; fences.
  UnitCoefficients(const Execution& space, const Coefficients& host) {
    const auto copy = [&](const std::vector<double>& values) { return tables_.emplace_back(space, values).data(); };
    // What all inner columns have, where there are any.
    const auto inner = [](const std::vector<double>& by_column) { return by_column[by_column.size() / 2]; };
    momentum_.row_diagonal = copy(host.rows.diagonal);
    momentum_.column_diagonal = {copy(host.columns.diagonal), inner(host.columns.diagonal)};
    momentum_.row_diffusion = copy(host.rows.diffusion);
    momentum_.column_diffusion = {copy(host.columns.diffusion), inner(host.columns.diffusion)};
    momentum_.column_unknown = {copy(host.columns.unknown), inner(host.columns.unknown)};
    momentum_.row_unknown = copy(host.rows.unknown);
    momentum_.diffusion_x = host.diffusion_x;
    momentum_.diffusion_y = host.diffusion_y;
    momentum_.quarter_x = host.quarter_x;
    momentum_.quarter_y = host.quarter_y;
    pressure_.column_faces = {copy(host.columns.faces), inner(host.columns.faces)};
    pressure_.row_weights = copy(host.rows.weights);
    pressure_.row_faces = copy(host.rows.faces);
    pressure_.column_weights = {copy(host.columns.weights), inner(host.columns.weights)};
  }

  /// @param convecting velocity, halos included
  MomentumOperator momentum(const RowAccess<2>& convecting) const {
    MomentumOperator matrix = momentum_;
    matrix.convecting = convecting;
    return matrix;
  }
  const PressureOperator& pressure() const { return pressure_; }

 private:
  std::vector<UnitTable<Execution, double>> tables_;
  MomentumOperator momentum_;
  PressureOperator pressure_;
};

}  // namespace steelyard::cavity
