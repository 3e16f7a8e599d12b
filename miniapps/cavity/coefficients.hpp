#pragma once

#include <vector>

#include "core/sweep/row_field.hpp"
#include "miniapps/cavity/operators.hpp"
#include "miniapps/cavity/problem.hpp"

namespace steelyard::cavity {

/// Coefficients of MomentumOperator and PressureOperator, for the whole grid; the operators' members of the same names
/// say what each array is. Nothing here changes during a run, for skew-symmetric convection leaves the diagonal alone.
/// Source: 000, section 5.3.1, equation 5.4.
struct Coefficients {
  Coefficients() = default;
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

/// The coefficients in a unit's memory, and the operators that read them there; these must not outlive it.
template <class Execution>
class UnitCoefficients {
 public:
  /// To be called by the unit's own thread; fences.
  UnitCoefficients(const Execution& space, const Coefficients& host) {
    const auto copy = [&](const std::vector<double>& values) { return tables_.emplace_back(space, values).data(); };
    // What all inner columns have, where there are any.
    const auto inner = [](const std::vector<double>& by_column) { return by_column[by_column.size() / 2]; };
    momentum_.row_diagonal = copy(host.row_diagonal);
    momentum_.column_diagonal = {copy(host.column_diagonal), inner(host.column_diagonal)};
    momentum_.row_diffusion = copy(host.row_diffusion);
    momentum_.column_diffusion = {copy(host.column_diffusion), inner(host.column_diffusion)};
    momentum_.column_unknown = {copy(host.column_unknown), inner(host.column_unknown)};
    momentum_.row_unknown = copy(host.row_unknown);
    momentum_.diffusion_x = host.diffusion_x;
    momentum_.diffusion_y = host.diffusion_y;
    momentum_.quarter_x = host.quarter_x;
    momentum_.quarter_y = host.quarter_y;
    pressure_.column_faces = {copy(host.column_faces), inner(host.column_faces)};
    pressure_.row_weights = copy(host.row_weights);
    pressure_.row_faces = copy(host.row_faces);
    pressure_.column_weights = {copy(host.column_weights), inner(host.column_weights)};
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
