#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "miniapps/wave2d/problem.hpp"
#include "partition/rectangles/rectangle.hpp"
#include "tests/miniapps/grid.hpp"
#include "tests/miniapps/wave2d/leap_frog_on_paper.hpp"

namespace steelyard::tests {

/// A field of random values on two time levels; the same at edges that a boundary holds.
template <class Scalar>
struct MovingField {
  Grid<Scalar> previous;
  Grid<Scalar> current;

  MovingField(const wave2d::Problem& problem, unsigned seed)
      : previous(random_grid<Scalar>(problem.rows, problem.columns, seed)),
        current(random_grid<Scalar>(problem.rows, problem.columns, seed + 1)) {
    for (std::int64_t i = 0; i < problem.rows; ++i) {
      for (std::int64_t j = 0; j < problem.columns; ++j) {
        const bool held = problem.boundary == wave2d::Boundary::dirichlet && current.is_edge(i, j);
        if (held) previous(i, j) = current(i, j);
      }
    }
  }

  Grid<Scalar> on_paper(const wave2d::Problem& problem, int steps) const {
    return advanced(previous, current, steps, problem.courant, problem.boundary == wave2d::Boundary::neumann,
                    problem.order);
  }
};

/// What rounding may make of such a field, which grows up to a few times its start.
template <class Scalar>
double field_rounding(int steps) {
  return 4.0 * rounding<Scalar>(steps);
}

/// Passes of at most `most` steps that make so many steps.
inline std::vector<int> passes_of(int steps, int most) {
  std::vector<int> passes;
  for (; steps > 0; steps -= passes.back()) passes.push_back(std::min(steps, most));
  return passes;
}

/// What is in a rectangle and not in one inside it, as rectangles.
inline std::vector<partition::Rectangle> frame(const partition::Rectangle& whole, const partition::Rectangle& inside) {
  const std::int64_t left = inside.column - whole.column, right = whole.end_column() - inside.end_column();
  std::vector<partition::Rectangle> parts{
      {whole.row, whole.column, inside.row - whole.row, whole.columns},
      {inside.end_row(), whole.column, whole.end_row() - inside.end_row(), whole.columns},
      {inside.row, whole.column, inside.rows, left},
      {inside.row, inside.end_column(), inside.rows, right}};
  std::erase_if(parts, [](const partition::Rectangle& part) { return part.empty(); });
  return parts;
}

inline std::string text_of(const wave2d::Problem& problem, const std::vector<partition::Rectangle>& rectangles) {
  std::string text = std::to_string(problem.rows) + " x " + std::to_string(problem.columns) + " points, order " +
                     std::to_string(problem.order) +
                     (problem.boundary == wave2d::Boundary::neumann ? ", Neumann:" : ", Dirichlet:");
  for (const partition::Rectangle& r : rectangles) {
    text += " {" + std::to_string(r.row) + ", " + std::to_string(r.column) + ", " + std::to_string(r.rows) + ", " +
            std::to_string(r.columns) + "}";
  }
  return text;
}

}  // namespace steelyard::tests
