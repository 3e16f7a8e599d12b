#pragma once

#include <vector>

#include "miniapps/cavity/problem.hpp"

namespace steelyard::cavity {

/// What MomentumOperator and PressureOperator know of a problem, for the whole grid; their members of the same names
/// say what each array is. Nothing here changes during a run, for skew-symmetric convection leaves the diagonal alone.
/// Source: 000, section 5.3.1, equation 5.4.
struct Coefficients {
  /// @param problem must be valid
  explicit Coefficients(const Problem& problem);

  // Of momentum.
  std::vector<double> row_diagonal;
  std::vector<double> column_diagonal;
  std::vector<double> row_diffusion;
  std::vector<double> column_diffusion;
  std::vector<double> column_unknown;
  std::vector<double> row_unknown;
  double diffusion_x = 0.0;
  double diffusion_y = 0.0;
  double quarter_x = 0.0;
  double quarter_y = 0.0;
  /// 2 nu U / dy^2, what the moving wall adds to the right side of u in the top row; U is 1.
  double lid_source = 0.0;

  // Of pressure.
  std::vector<double> column_faces;
  std::vector<double> row_weights;
  std::vector<double> row_faces;
  std::vector<double> column_weights;
};

}  // namespace steelyard::cavity
