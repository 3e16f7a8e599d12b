#include "miniapps/cavity/output/streamfunction.hpp"

#include <algorithm>
#include <cmath>

#include "miniapps/cavity/flow_state.hpp"
#include "miniapps/cavity/output/centre_lines.hpp"

namespace steelyard::cavity {

double Streamfunction::closure_error() const {
  double largest = 0.0;
  for (std::int64_t i = 0; i <= columns; ++i) largest = std::max(largest, std::abs(at(rows, i)));
  return largest;
}

Streamfunction streamfunction(const Problem& problem, const FlowState& state) {
  require_flow_of(problem, state);
  const auto corners = static_cast<std::size_t>((problem.rows + 1) * (problem.columns + 1));
  Streamfunction psi{problem.rows, problem.columns, std::vector<double>(corners, 0.0)};
  const double dy = problem.dy();
  auto below = psi.values.begin();
  auto here = below + problem.columns + 1;
  for (std::int64_t j = 0; j < problem.rows; ++j) {
    for (std::int64_t i = 0; i <= problem.columns; ++i, ++below, ++here) *here = *below + state.u_at(j, i) * dy;
  }
  return psi;
}

std::optional<VortexCentre> primary_vortex(const Problem& problem, const Streamfunction& psi) {
  std::int64_t j = 0;
  std::int64_t i = 0;
  double least = 0.0;
  for (std::int64_t row = 1; row < psi.rows; ++row) {
    for (std::int64_t column = 1; column < psi.columns; ++column) {
      if (psi.at(row, column) >= least) continue;
      least = psi.at(row, column);
      j = row;
      i = column;
    }
  }
  if (least == 0.0) return std::nullopt;
  // In units of cells: psi = least + g . d + d . H d / 2.
  const double g_x = 0.5 * (psi.at(j, i + 1) - psi.at(j, i - 1));
  const double g_y = 0.5 * (psi.at(j + 1, i) - psi.at(j - 1, i));
  const double h_xx = psi.at(j, i + 1) - 2.0 * least + psi.at(j, i - 1);
  const double h_yy = psi.at(j + 1, i) - 2.0 * least + psi.at(j - 1, i);
  const double h_xy =
      0.25 * (psi.at(j + 1, i + 1) - psi.at(j + 1, i - 1) - psi.at(j - 1, i + 1) + psi.at(j - 1, i - 1));
  const double determinant = h_xx * h_yy - h_xy * h_xy;
  double d_x = 0.0;
  double d_y = 0.0;
  if (h_xx > 0.0 && determinant > 0.0) {
    d_x = (h_xy * g_y - h_yy * g_x) / determinant;
    d_y = (h_xy * g_x - h_xx * g_y) / determinant;
  }
  // The quadratic says nothing about cells further away.
  if (!(std::max(std::abs(d_x), std::abs(d_y)) <= 1.0)) d_x = d_y = 0.0;
  return VortexCentre{least + 0.5 * (g_x * d_x + g_y * d_y),
                      {(static_cast<double>(i) + d_x) * problem.dx(), (static_cast<double>(j) + d_y) * problem.dy()}};
}

FlowFigures flow_figures(const Problem& problem, const FlowState& state) {
  const Profile v = v_on_horizontal_centre_line(problem, state);
  return {primary_vortex(problem, streamfunction(problem, state)), u_on_vertical_centre_line(problem, state).minimum(),
          v.minimum(), v.maximum()};
}

}  // namespace steelyard::cavity
