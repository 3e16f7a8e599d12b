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

/// Coefficients by column face, the same ones on both sides of all inner columns; face i is on the left of column i.
struct ColumnFaces {
  RowPointer<const double> all = nullptr;
  double inner = 0.0;

  KOKKOS_FORCEINLINE_FUNCTION double left(const Column i) const { return i.is_inner() ? inner : all[i]; }
  KOKKOS_FORCEINLINE_FUNCTION double right(const Column i) const { return i.is_inner() ? inner : all[i + 1]; }
};

/// Coefficients of both operators along one axis of the grid: tables in a unit's memory, or vectors on the host.
template <class Values, class Faces>
struct AxisCoefficients {
  Values diagonal;  ///< a_P of the velocity along the other axis
  Faces diffusion;  ///< theta nu / h^2 of that velocity by face, 0 at walls
  Values unknown;   ///< 0 where the velocity along this axis lies in a wall, 1 elsewhere
  Faces faces;      ///< 1 / the distance of the centres on both sides, 0 at walls
  Values weights;   ///< a cell's length over the diagonal
};
using RowTables = AxisCoefficients<RowPointer<const double>, RowPointer<const double>>;
using ColumnTables = AxisCoefficients<ColumnValues, ColumnFaces>;

/// The linearised momentum equations' matrix on a staggered uniform grid, in a unit's memory. Component 0 at (j, i) is
/// u on the left face of the cell, component 1 is v on its lower face; column 0 of u and row 0 of v lie in walls, where
/// the result is 0. With the convecting velocity w at the faces of each control volume,
///   (M x)_P = a_P x_P + sum over N of (±w_N / (2 h_N) - theta nu / h_N^2) x_N,   a_P = 1/dt + theta nu sum of 1/h_N^2,
/// theta times the convective part as well: 1 for implicit Euler, 1/2 for Crank-Nicolson. Tangential walls are half a
/// step away: 2 nu / h^2 in a_P, nothing off the diagonal. Convection is in its skew-symmetric form div(w x) - x
/// div(w)/2, the divergence form where continuity holds, whose diagonal vanishes. Source: 000, equation 5.4.
struct MomentumOperator {
  static constexpr int components = 2;

  RowAccess<2> convecting;  ///< w, halos included
  RowTables rows;
  ColumnTables columns;
  double diffusion_x = 0.0;  ///< theta nu / dx^2, for u
  double diffusion_y = 0.0;  ///< theta nu / dy^2, for v
  double quarter_x = 0.0;    ///< theta / (4 dx): mean of two face velocities, mean of two values
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
      const double north = multiply_add(quarter_y, w(1, j + 1, i - 1) + w(1, j + 1, i), -rows.diffusion[j + 1]);
      const double south = multiply_add(quarter_y, w(1, j, i - 1) + w(1, j, i), rows.diffusion[j]);
      return sum_of(x, c, j, i, east, west, north, south);
    }
    const double east = multiply_add(quarter_x, w(0, j - 1, i + 1) + w(0, j, i + 1), -columns.diffusion.right(i));
    const double west = multiply_add(quarter_x, w(0, j - 1, i) + w(0, j, i), columns.diffusion.left(i));
    const double north = multiply_add(quarter_y, w(1, j, i) + w(1, j + 1, i), -diffusion_y);
    const double south = multiply_add(quarter_y, w(1, j - 1, i) + w(1, j, i), diffusion_y);
    return sum_of(x, c, j, i, east, west, north, south);
  }

  KOKKOS_FORCEINLINE_FUNCTION double diagonal(const int c, const std::int64_t j, const Column i) const {
    return c == 0 ? rows.diagonal[j] : columns.diagonal(i);
  }
  /// 1 for unknowns, 0 in walls. A factor, for around the branch of a choice compilers do not vectorise.
  KOKKOS_FORCEINLINE_FUNCTION double unknown(const int c, const std::int64_t j, const Column i) const {
    return c == 0 ? columns.unknown(i) : rows.unknown[j];
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
/// with `faces` x_i of columns and t_j of rows, and `weights` s_i and y_j. Symmetric, positive semi-definite: constants
/// are its null space. Discretises -div(1/A grad p). Source: 000, section 5.3.2; Issa's PISO.
struct PressureOperator {
  static constexpr int components = 1;
  static constexpr bool maps_constants_to_zero = true;

  RowTables rows;
  ColumnTables columns;

  /// Fields that it reads besides p: none, for coefficients are in tables.
  std::tuple<> fields() const { return {}; }

  KOKKOS_FORCEINLINE_FUNCTION double operator()(const RowAccess<1>& p, int, const std::int64_t j,
                                                const Column i) const {
    const double here = p(j, i);
    return rows.weights[j] *
               (columns.faces.left(i) * (here - p(j, i - 1)) + columns.faces.right(i) * (here - p(j, i + 1))) +
           columns.weights(i) * (rows.faces[j] * (here - p(j - 1, i)) + rows.faces[j + 1] * (here - p(j + 1, i)));
  }
  /// Term of a cell in p^T L p, a sum of coefficients times squared differences: that of its left and lower face.
  KOKKOS_FORCEINLINE_FUNCTION double quadratic_form(const RowAccess<1>& p, const std::int64_t j, const Column i) const {
    const double along_row = p(j, i) - p(j, i - 1), across_rows = p(j, i) - p(j - 1, i);
    return rows.weights[j] * columns.faces.left(i) * (along_row * along_row) +
           columns.weights(i) * rows.faces[j] * (across_rows * across_rows);
  }
};

using HostAxis = AxisCoefficients<std::vector<double>, std::vector<double>>;
/// @param h a cell's length, `to_neighbour` theta nu / h^2, `elsewhere` what the other axis adds to the diagonal
inline HostAxis axis_coefficients(std::int64_t cells, double h, double to_neighbour, double elsewhere) {
  const auto values = [&](double value) { return std::vector<double>(static_cast<std::size_t>(cells), value); };
  const auto faces = [&](double value) { return std::vector<double>(static_cast<std::size_t>(cells + 1), value); };
  HostAxis axis{values(elsewhere + 2.0 * to_neighbour), faces(to_neighbour), values(1.0), faces(1.0 / h), {}};
  // Walls are half a step away from the velocity along them, and nothing goes through them.
  axis.diagonal.front() += to_neighbour;
  axis.diagonal.back() += to_neighbour;
  axis.unknown.front() = 0.0;
  axis.diffusion.front() = axis.diffusion.back() = axis.faces.front() = axis.faces.back() = 0.0;
  for (const double value : axis.diagonal) axis.weights.push_back(h / value);
  return axis;
}

/// Coefficients of both operators for the whole grid, in host memory. Nothing here changes during a run, for
/// skew-symmetric convection leaves the diagonal alone. Source: 000, section 5.3.1, equation 5.4.
struct Coefficients {
  double diffusion_x, diffusion_y;
  double quarter_x, quarter_y;
  HostAxis rows, columns;

  explicit Coefficients(const Problem& problem) {
    const double dx = problem.dx(), dy = problem.dy();
    const double implicit = problem.scheme == TimeScheme::euler ? 1.0 : 0.5;
    diffusion_x = implicit * problem.viscosity() / (dx * dx);
    diffusion_y = implicit * problem.viscosity() / (dy * dy);
    quarter_x = implicit / (4.0 * dx);
    quarter_y = implicit / (4.0 * dy);
    rows = axis_coefficients(problem.rows, dy, diffusion_y, 1.0 / problem.time_step + 2.0 * diffusion_x);
    columns = axis_coefficients(problem.columns, dx, diffusion_x, 1.0 / problem.time_step + 2.0 * diffusion_y);
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
    const auto values = [&](const std::vector<double>& all) { return ColumnValues{copy(all), inner(all)}; };
    const auto faces = [&](const std::vector<double>& all) { return ColumnFaces{copy(all), inner(all)}; };
    const HostAxis &r = host.rows, &c = host.columns;
    pressure_.rows = {copy(r.diagonal), copy(r.diffusion), copy(r.unknown), copy(r.faces), copy(r.weights)};
    pressure_.columns = {values(c.diagonal), faces(c.diffusion), values(c.unknown), faces(c.faces), values(c.weights)};
    momentum_ = {
        {}, pressure_.rows, pressure_.columns, host.diffusion_x, host.diffusion_y, host.quarter_x, host.quarter_y};
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
