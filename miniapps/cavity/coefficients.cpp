#include "miniapps/cavity/coefficients.hpp"

#include <cstddef>
#include <cstdint>

namespace steelyard::cavity {
namespace {

/// Values on the faces of `cells` cells: `value`, and 0 at both walls.
std::vector<double> inner_faces(std::int64_t cells, double value) {
  std::vector<double> faces(static_cast<std::size_t>(cells + 1), value);
  faces.front() = faces.back() = 0.0;
  return faces;
}

/// 1 for the faces before `cells` cells, 0 for the first one, which is a wall.
std::vector<double> unknowns(std::int64_t cells) {
  std::vector<double> factors(static_cast<std::size_t>(cells), 1.0);
  factors.front() = 0.0;
  return factors;
}

/// Diagonals of a velocity along walls at both ends of `cells` cells, which are half a step away from it.
std::vector<double> between_walls(std::int64_t cells, double everywhere, double to_neighbour) {
  std::vector<double> diagonal(static_cast<std::size_t>(cells), everywhere + 2.0 * to_neighbour);
  diagonal.front() += to_neighbour;
  diagonal.back() += to_neighbour;
  return diagonal;
}

std::vector<double> over(double length, const std::vector<double>& diagonal) {
  std::vector<double> weights;
  weights.reserve(diagonal.size());
  for (const double value : diagonal) weights.push_back(length / value);
  return weights;
}

}  // namespace

Coefficients::Coefficients(const Problem& problem) {
  const double dx = problem.dx();
  const double dy = problem.dy();
  const double implicit = problem.scheme == TimeScheme::euler ? 1.0 : 0.5;
  diffusion_x = implicit * problem.viscosity() / (dx * dx);
  diffusion_y = implicit * problem.viscosity() / (dy * dy);
  quarter_x = implicit / (4.0 * dx);
  quarter_y = implicit / (4.0 * dy);
  row_diffusion = inner_faces(problem.rows, diffusion_y);
  column_diffusion = inner_faces(problem.columns, diffusion_x);
  row_diagonal = between_walls(problem.rows, 1.0 / problem.time_step + 2.0 * diffusion_x, diffusion_y);
  column_diagonal = between_walls(problem.columns, 1.0 / problem.time_step + 2.0 * diffusion_y, diffusion_x);
  column_unknown = unknowns(problem.columns);
  row_unknown = unknowns(problem.rows);
  lid_source = 2.0 * problem.viscosity() / (dy * dy);

  column_faces = inner_faces(problem.columns, 1.0 / dx);
  row_faces = inner_faces(problem.rows, 1.0 / dy);
  row_weights = over(dy, row_diagonal);
  column_weights = over(dx, column_diagonal);
}

}  // namespace steelyard::cavity
