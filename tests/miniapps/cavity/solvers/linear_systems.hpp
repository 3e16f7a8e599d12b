#pragma once

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <deque>
#include <random>
#include <tuple>
#include <vector>

#include "comm/unit_grid.hpp"
#include "core/memory/host_copy.hpp"
#include "miniapps/cavity/operators.hpp"
#include "tests/miniapps/cavity/solvers/field_norms.hpp"

namespace steelyard::cavity::tests {

/// Values of a whole grid: component c at (j, i) in place (j * components + c) * columns + i.
using Values = std::vector<double>;

inline Values random_values(std::int64_t count, unsigned seed) {
  std::mt19937 engine(seed);
  std::uniform_real_distribution<double> distribution(-1.0, 1.0);
  Values values(static_cast<std::size_t>(count));
  for (double& value : values) value = distribution(engine);
  return values;
}

/// Copies between a whole grid's values and a unit's own rows.
template <class Execution, int Components>
void fill(const UnitGrid<Execution>& grid, RowField<Execution, Components>& field, const Values& values) {
  const auto access = field.access();
  const std::int64_t columns = grid.columns();
  for (std::int64_t row = Components * grid.rows().begin; row < Components * grid.rows().end; ++row) {
    copy_from_host(grid.space(), access.place(static_cast<int>(row % Components), row / Components, 0),
                   values.data() + row * columns, static_cast<std::size_t>(columns));
  }
  grid.space().fence();
}
template <class Execution, int Components>
void read(const UnitGrid<Execution>& grid, const RowField<Execution, Components>& field, Values& values) {
  const auto access = field.access();
  const std::int64_t columns = grid.columns();
  for (std::int64_t row = Components * grid.rows().begin; row < Components * grid.rows().end; ++row) {
    copy_to_host(grid.space(), values.data() + row * columns,
                 access.place(static_cast<int>(row % Components), row / Components, 0),
                 static_cast<std::size_t>(columns));
  }
  grid.space().fence();
}

/// What an operator points to, in a unit's memory.
template <class Execution>
class UnitOperands {
 public:
  explicit UnitOperands(const UnitGrid<Execution>& grid) : grid_(grid) {}

  RowPointer<const double> array(const Values& values) {
    arrays_.emplace_back(Kokkos::view_alloc(grid_.space(), Kokkos::WithoutInitializing, "values"), values.size());
    copy_from_host(grid_.space(), arrays_.back().data(), values.data(), values.size());
    grid_.space().fence();
    return elements_of(arrays_.back());
  }
  RowAccess<2> field(const Values& values) {
    fields_.push_back(grid_.template field<2>());
    fill(grid_, fields_.back(), values);
    grid_.exchange(fields_.back());
    return fields_.back().access();
  }

 private:
  const UnitGrid<Execution>& grid_;
  std::deque<Kokkos::View<double*, DeviceOf<Execution>>> arrays_;
  std::deque<RowField<Execution, 2>> fields_;
};

/// The same for the whole grid in the test's own memory, and fields of it.
class WholeOperands {
 public:
  WholeOperands(std::int64_t rows, std::int64_t columns) : rows_(rows), columns_(columns) {}

  RowPointer<const double> array(const Values& values) {
    return row_pointer(memory_.emplace_back(values).data(), 0, std::ssize(values));
  }
  RowAccess<2> field(const Values& values) { return field<2>(values); }
  template <int Components>
  RowAccess<Components> field(const Values& values) {
    const std::int64_t pitch = columns_ + 2;
    memory_.emplace_back(static_cast<std::size_t>((rows_ + 2) * Components * pitch), 0.0);
    const RowAccess<Components> access(memory_.back().data() + Components * pitch + 1, pitch, {-1, rows_ + 1}, pitch);
    for (std::int64_t row = 0; row < Components * rows_; ++row) {
      for (std::int64_t i = 0; i < columns_; ++i) {
        access(static_cast<int>(row % Components), row / Components, i) =
            values[static_cast<std::size_t>(row * columns_ + i)];
      }
    }
    return access;
  }

 private:
  std::int64_t rows_;
  std::int64_t columns_;
  std::deque<Values> memory_;
};

/// -div(grad p) between walls, with weights of rows that are uneven, plus `shift` p: singular for 0, indefinite for
/// some negative ones.
struct ShiftedOperator {
  static constexpr int components = 1;
  PressureOperator pressure;
  double shift = 0.0;

  std::tuple<> fields() const { return {}; }

  KOKKOS_FORCEINLINE_FUNCTION double operator()(const RowAccess<1>& p, int, const std::int64_t j,
                                                const Column i) const {
    return pressure(p, 0, j, i) + shift * p(j, i);
  }
  KOKKOS_FORCEINLINE_FUNCTION double quadratic_form(const RowAccess<1>& p, const std::int64_t j, const Column i) const {
    return p(j, i) * (*this)(p, 0, j, i);
  }
};

/// Diagonals of these matrices.
KOKKOS_FORCEINLINE_FUNCTION double diagonal(const PressureOperator& of, const std::int64_t j, const Column i) {
  return of.row_weights[j] * (of.column_faces.left(i) + of.column_faces.right(i)) +
         of.column_weights(i) * (of.row_faces[j] + of.row_faces[j + 1]);
}
KOKKOS_FORCEINLINE_FUNCTION double diagonal(const ShiftedOperator& of, const std::int64_t j, const Column i) {
  return diagonal(of.pressure, j, i) + of.shift;
}

struct PoissonSystem {
  static constexpr int components = 1;
  std::int64_t rows;
  std::int64_t columns;

  template <class Operands>
  PressureOperator matrix(Operands& operands) const {
    const auto faces = [](std::int64_t cells, double stretch) {
      Values all(static_cast<std::size_t>(cells + 1));
      for (std::size_t i = 0; i < all.size(); ++i) all[i] = 1.0 + stretch * static_cast<double>(i % 3);
      all.front() = all.back() = 0.0;
      return all;
    };
    const auto weights = [](std::int64_t cells, double stretch) {
      Values all(static_cast<std::size_t>(cells));
      for (std::size_t i = 0; i < all.size(); ++i) all[i] = 0.5 + stretch * static_cast<double>(i % 4);
      return all;
    };
    // Columns differ at the walls only.
    const double inner_face = 1.25, inner_weight = 0.5625;
    Values column_faces = faces(columns, 0.0), column_weights(static_cast<std::size_t>(columns), inner_weight);
    for (double& face : column_faces) face *= inner_face;
    column_weights.front() = 0.5;
    column_weights.back() = 0.75;
    return {{operands.array(column_faces), inner_face},
            operands.array(weights(rows, 0.125)),
            operands.array(faces(rows, 0.5)),
            {operands.array(column_weights), inner_weight}};
  }
};

struct ShiftedSystem {
  static constexpr int components = 1;
  std::int64_t rows;
  std::int64_t columns;
  double shift;

  template <class Operands>
  ShiftedOperator matrix(Operands& operands) const {
    return {PoissonSystem{rows, columns}.matrix(operands), shift};
  }
};

/// x(j, i+1) - x(j, i-1) + 2 (x(j+1, i) - x(j-1, i)) + shift x: skew-symmetric for 0.
struct SkewOperator {
  static constexpr int components = 1;
  double shift = 0.0;

  std::tuple<> fields() const { return {}; }

  KOKKOS_FORCEINLINE_FUNCTION double operator()(const RowAccess<1>& x, int, const std::int64_t j,
                                                const std::int64_t i) const {
    return x(j, i + 1) - x(j, i - 1) + 2.0 * (x(j + 1, i) - x(j - 1, i)) + shift * x(j, i);
  }
};

struct SkewSystem {
  static constexpr int components = 1;
  std::int64_t rows;
  std::int64_t columns;
  double shift;

  template <class Operands>
  SkewOperator matrix(Operands&) const {
    return {shift};
  }
};

/// Momentum equations with a convecting velocity that is anything but a flow: strong enough, they are far from
/// symmetric.
struct MomentumSystem {
  static constexpr int components = 2;
  std::int64_t rows;
  std::int64_t columns;
  double time_step;
  double strength;

  template <class Operands>
  MomentumOperator matrix(Operands& operands) const {
    const double dx = 1.0 / static_cast<double>(columns), dy = 1.0 / static_cast<double>(rows), nu = 0.01;
    Values convecting = random_values(2 * rows * columns, 77);
    for (double& value : convecting) value *= strength;
    for (std::int64_t j = 0; j < rows; ++j) convecting[static_cast<std::size_t>(2 * j * columns)] = 0.0;
    for (std::int64_t i = 0; i < columns; ++i) convecting[static_cast<std::size_t>(columns + i)] = 0.0;
    const auto faces = [](std::int64_t cells, double inner) {
      Values all(static_cast<std::size_t>(cells + 1), inner);
      all.front() = all.back() = 0.0;
      return all;
    };
    const auto diagonal = [&](std::int64_t cells, double along, double across) {
      Values all(static_cast<std::size_t>(cells), 1.0 / time_step + 2.0 * along + 2.0 * across);
      all.front() += across;
      all.back() += across;
      return all;
    };
    const double x = nu / (dx * dx), y = nu / (dy * dy);
    MomentumOperator matrix;
    matrix.convecting = operands.field(convecting);
    matrix.row_diagonal = operands.array(diagonal(rows, x, y));
    matrix.column_diagonal = {operands.array(diagonal(columns, y, x)), 1.0 / time_step + 2.0 * y + 2.0 * x};
    matrix.row_diffusion = operands.array(faces(rows, y));
    matrix.column_diffusion = {operands.array(faces(columns, x)), x};
    const auto unknowns = [](std::int64_t cells) {
      Values factors(static_cast<std::size_t>(cells), 1.0);
      factors.front() = 0.0;
      return factors;
    };
    matrix.column_unknown = {operands.array(unknowns(columns)), 1.0};
    matrix.row_unknown = operands.array(unknowns(rows));
    matrix.diffusion_x = x;
    matrix.diffusion_y = y;
    matrix.quarter_x = 0.25 / dx;
    matrix.quarter_y = 0.25 / dy;
    return matrix;
  }

  /// Values in walls are no unknowns.
  void clear_walls(Values& values) const {
    for (std::int64_t j = 0; j < rows; ++j) values[static_cast<std::size_t>(2 * j * columns)] = 0.0;
    for (std::int64_t i = 0; i < columns; ++i) values[static_cast<std::size_t>(columns + i)] = 0.0;
  }
};

/// A system's matrix, by its effect on unit vectors; where a row is empty, 1 on the diagonal.
template <class System>
Eigen::MatrixXd dense(const System& system) {
  constexpr int components = System::components;
  WholeOperands operands(system.rows, system.columns);
  const auto matrix = system.matrix(operands);
  const auto n = static_cast<Eigen::Index>(components * system.rows * system.columns);
  Eigen::MatrixXd all(n, n);
  for (Eigen::Index k = 0; k < n; ++k) {
    Values unit(static_cast<std::size_t>(n), 0.0);
    unit[static_cast<std::size_t>(k)] = 1.0;
    WholeOperands memory(system.rows, system.columns);
    const auto x = memory.template field<components>(unit);
    for (std::int64_t row = 0; row < components * system.rows; ++row) {
      for (std::int64_t i = 0; i < system.columns; ++i) {
        all(row * system.columns + i, k) = matrix(x, static_cast<int>(row % components), row / components, i);
      }
    }
  }
  for (Eigen::Index k = 0; k < n; ++k) {
    if (all.row(k).isZero(0.0)) all(k, k) = 1.0;
  }
  return all;
}

inline Values dense_solution(const Eigen::MatrixXd& matrix, const Values& right_side) {
  const Eigen::Map<const Eigen::VectorXd> b(right_side.data(), static_cast<Eigen::Index>(right_side.size()));
  const Eigen::VectorXd x = matrix.fullPivLu().solve(b);
  return {x.data(), x.data() + x.size()};
}

inline double largest_difference(const Values& a, const Values& b) {
  double size = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) size = std::max(size, std::abs(a[i] - b[i]));
  return size;
}

}  // namespace steelyard::cavity::tests
