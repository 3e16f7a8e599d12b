#pragma once

#include <cmath>
#include <cstdint>
#include <filesystem>
#include <numbers>
#include <span>
#include <vector>

#include "core/base/npy.hpp"
#include "miniapps/wave2d/leap_frog.hpp"
#include "miniapps/wave2d/plan.hpp"
#include "miniapps/wave2d/problem.hpp"

namespace steelyard::wave2d {

/// The standing wave u(x, y, t) = X(x) Y(y) cos(w t) with one half wave along the rows and two along the columns:
/// X = sin(pi x / Lx), Y = sin(2 pi y / Ly) with Dirichlet boundaries, cosines with Neumann ones,
/// w = c sqrt((pi / Lx)^2 + (2 pi / Ly)^2). Sampled on the grid it is also an eigenvector of the discrete Laplacian,
/// and the leap-frog scheme (003, equation 2.7) makes of it exactly: X Y (cos(v n) + b sin(v n)) after n steps, with
/// sin^2(v / 2) = C^2 (l(kx) + l(ky)), l(k) = s in second order and s (1 + s / 3) in fourth where s = sin^2(k dx / 2),
/// and b fixed by the field one step before the start.
class StandingWave {
 public:
  explicit StandingWave(const Problem& problem)
      : along_rows_(mode(problem.rows, half_waves_along_columns, problem.boundary)),
        along_columns_(mode(problem.columns, half_waves_along_rows, problem.boundary)) {
    // Wave numbers times the spacing.
    const double kx = half_waves_along_rows * std::numbers::pi / static_cast<double>(problem.columns - 1);
    const double ky = half_waves_along_columns * std::numbers::pi / static_cast<double>(problem.rows - 1);
    exact_phase_ = problem.courant * std::hypot(kx, ky);
    const double eigenvalue = quarter_eigenvalue(kx, problem.order) + quarter_eigenvalue(ky, problem.order);
    discrete_phase_ = 2.0 * std::asin(problem.courant * std::sqrt(eigenvalue));
  }

  /// Factor of X Y in the differential equation's solution at time step n (negative: before the start).
  double exact_amplitude(std::int64_t step) const { return std::cos(exact_phase_ * static_cast<double>(step)); }

  /// Factor of X Y in the scheme's solution after n steps from exact fields at steps -1 and 0, without rounding.
  double discrete_amplitude(std::int64_t step) const {
    // At step -1 the field is X Y cos(w dt): cos(v) - b sin(v) = cos(w dt).
    const double sine = (std::cos(discrete_phase_) - std::cos(exact_phase_)) / std::sin(discrete_phase_);
    const double phase = discrete_phase_ * static_cast<double>(step);
    return std::cos(phase) + sine * std::sin(phase);
  }

  /// Values amplitude X Y of a rectangle, row after row.
  template <class Scalar>
  void sample(double amplitude, const partition::Rectangle& part, std::span<Scalar> values) const {
    const double* const shape = along_columns_.data() + part.column;
    for (std::int64_t r = 0; r < part.rows; ++r) {
      const double factor = amplitude * along_rows_[static_cast<std::size_t>(part.row + r)];
      Scalar* const row = values.data() + r * part.columns;
      for (std::int64_t j = 0; j < part.columns; ++j) row[j] = static_cast<Scalar>(factor * shape[j]);
    }
  }

 private:
  static constexpr double half_waves_along_columns = 2.0;
  static constexpr double half_waves_along_rows = 1.0;

  static std::vector<double> mode(std::int64_t points, double half_waves, Boundary boundary) {
    std::vector<double> values(static_cast<std::size_t>(points));
    const double step = half_waves * std::numbers::pi / static_cast<double>(points - 1);
    for (std::int64_t i = 0; i < points; ++i) {
      const double phase = step * static_cast<double>(i);
      values[static_cast<std::size_t>(i)] = boundary == Boundary::dirichlet ? std::sin(phase) : std::cos(phase);
    }
    // sin(pi) is not quite 0 in floating point, but the outermost points are.
    if (boundary == Boundary::dirichlet) values.front() = values.back() = 0.0;
    return values;
  }

  /// A quarter of the second difference's eigenvalue, with the sign turned.
  static double quarter_eigenvalue(double wave_number, int order) {
    const double sine = std::sin(0.5 * wave_number);
    const double square = sine * sine;
    return order == 2 ? square : square * (1.0 + square / 3.0);
  }

  std::vector<double> along_rows_;     ///< Y of every row
  std::vector<double> along_columns_;  ///< X of every column
  double exact_phase_;                 ///< w dt
  double discrete_phase_;              ///< v
};

/// The level before a field u at rest: u + C^2 / 2 (D_x u + D_y u), which the scheme brings to the same level after u;
/// second order in time, as the scheme. Source: Taylor's series of u(-dt) with u_t = 0.
template <class Scalar, int Radius>
struct BeforeRest {
  Stencil<Scalar, Radius> stencil;
  const Scalar* around;  ///< u in the rectangle `wide`, row after row
  partition::Rectangle wide;
  Region grid;
  bool mirrored;

  KOKKOS_INLINE_FUNCTION Scalar operator()(std::int64_t i, std::int64_t j) const {
    const auto field = [&](std::int64_t row, std::int64_t column) {
      return around[(row - wide.row) * wide.columns + column - wide.column];
    };
    const auto in_column = [&](std::int64_t row) { return field(row, j); };
    const auto in_row = [&](std::int64_t column) { return field(i, column); };
    const Scalar here = field(i, j);
    // A step with the field before itself moves by twice as much as one from rest.
    return (here + next_near_edge(stencil, mirrored, grid, i, j, here, in_column, in_row)) / 2;
  }
};

/// Fills a rectangle with the level before a field at rest.
/// @param around the field in the rectangle widened by `Radius`
template <int Radius, class Scalar>
void fill_before_rest(const Problem& problem, const partition::Rectangle& part, const std::vector<Scalar>& around,
                      std::span<Scalar> values) {
  const BeforeRest<Scalar, Radius> before{Stencil<Scalar, Radius>(problem.courant), around.data(),
                                          widened(problem, part, Radius), Region{0, problem.rows, 0, problem.columns},
                                          problem.boundary == Boundary::neumann};
  auto value = values.begin();
  for_points(part, [&](std::int64_t i, std::int64_t j) { *value++ = before(i, j); });
}

/// Fills a rectangle of one of the two levels that a run starts from, row after row without gaps: that of the files, or
/// of the standing wave. One file is a field at rest.
/// @param files none, the current level's, or the previous and the current one's @throws FileFormatError
template <class Scalar>
void fill_initial(const Problem& problem, const StandingWave& wave, const std::vector<std::filesystem::path>& files,
                  Level level, const partition::Rectangle& part, std::span<Scalar> values) {
  if (files.empty()) {
    wave.sample(wave.exact_amplitude(level == Level::current ? 0 : -1), part, values);
    return;
  }
  const auto read = [&](const std::filesystem::path& file, const partition::Rectangle& block, std::span<Scalar> into) {
    const NpyHeader header = read_npy_matrix_header<Scalar>(file);
    read_npy_block(file, header, block.row, block.column, block.rows, block.columns, into);
  };
  if (level == Level::previous && files.size() == 1) {
    const partition::Rectangle wide = widened(problem, part, problem.radius());
    std::vector<Scalar> around(static_cast<std::size_t>(wide.rows * wide.columns));
    read(files.front(), wide, around);
    problem.order == 2 ? fill_before_rest<1>(problem, part, around, values)
                       : fill_before_rest<2>(problem, part, around, values);
    return;
  }
  read(level == Level::current ? files.back() : files.front(), part, values);
  if (level == Level::current || problem.boundary == Boundary::neumann) return;
  // Values that the boundary holds are the current field's: edges of the previous one, which no step changes, would
  // take turns with them.
  std::vector<Scalar> current(values.size());
  read(files.back(), part, std::span<Scalar>(current));
  std::size_t at = 0;
  for_points(part, [&](std::int64_t i, std::int64_t j) {
    if (is_edge(problem, i, j)) values[at] = current[at];
    ++at;
  });
}

}  // namespace steelyard::wave2d
