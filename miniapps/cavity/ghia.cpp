#include "miniapps/cavity/ghia.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>

#include "miniapps/cavity/centre_lines.hpp"

namespace steelyard::cavity {
namespace {

constexpr double misprint = std::numeric_limits<double>::quiet_NaN();
constexpr std::array<double, 3> reynolds_numbers = {100.0, 400.0, 1000.0};

/// A row of a table: the point k / 128 and the velocity for each Reynolds number.
struct TableRow {
  int k;
  std::array<double, 3> values;
};

/// Table I: u on the vertical line through the centre.
constexpr std::array<TableRow, 17> table_u = {{
    {0, {0.0, 0.0, 0.0}},
    {7, {-0.03717, -0.08186, -0.18109}},
    {8, {-0.04192, -0.09266, -0.20196}},
    {9, {-0.04775, -0.10338, -0.2222}},
    {13, {-0.06434, -0.14612, -0.2973}},
    {22, {-0.1015, -0.24299, -0.38289}},
    {36, {-0.15662, -0.32726, -0.27805}},
    {58, {-0.2109, -0.17119, -0.10648}},
    {64, {-0.20581, -0.11477, -0.0608}},
    {79, {-0.13641, 0.02135, 0.05702}},
    {94, {0.00332, 0.16256, 0.18719}},
    {109, {0.23151, 0.29093, 0.33304}},
    {122, {0.68717, 0.55892, 0.46604}},
    {123, {0.73722, 0.61756, 0.51117}},
    {124, {0.78871, 0.68439, 0.57492}},
    {125, {0.84123, 0.75837, 0.65928}},
    {128, {1.0, 1.0, 1.0}},
}};

/// Table II: v on the horizontal line through the centre.
constexpr std::array<TableRow, 17> table_v = {{
    {0, {0.0, 0.0, 0.0}},
    {8, {0.09233, 0.1836, 0.27485}},
    {9, {0.10091, 0.19713, 0.29012}},
    {10, {0.1089, 0.2092, 0.30353}},
    {12, {0.12317, 0.22965, 0.32627}},
    {20, {0.16077, 0.28124, 0.37095}},
    {29, {0.17507, 0.30203, 0.33075}},
    {30, {0.17527, 0.30174, 0.32235}},
    {64, {0.05454, 0.05186, 0.02526}},
    {103, {-0.24533, -0.38598, -0.31966}},
    {110, {-0.22445, -0.44993, -0.42665}},
    {116, {-0.16914, misprint, -0.5155}},
    {121, {-0.10313, -0.22847, -0.39188}},
    {122, {-0.08864, -0.19254, -0.33714}},
    {123, {-0.07391, -0.15663, -0.27669}},
    {124, {-0.05906, -0.12146, -0.21388}},
    {128, {0.0, 0.0, 0.0}},
}};

/// The tables' column for this cavity.
std::optional<std::size_t> table_column(const Problem& problem) {
  if (problem.height != 1.0) return std::nullopt;
  const auto* const found = std::find(reynolds_numbers.begin(), reynolds_numbers.end(), problem.reynolds);
  if (found == reynolds_numbers.end()) return std::nullopt;
  return static_cast<std::size_t>(found - reynolds_numbers.begin());
}

}  // namespace

bool ghia_has(const Problem& problem) { return table_column(problem).has_value(); }

std::vector<GhiaComparison> ghia_comparison(const Problem& problem, const FlowState& state) {
  std::vector<GhiaComparison> points;
  const std::optional<std::size_t> column = table_column(problem);
  if (!column) return points;
  const auto add = [&](char name, std::span<const TableRow> table, const Profile& profile) {
    for (const TableRow& row : table) {
      const double ghia = row.values[*column];
      if (std::isnan(ghia)) continue;
      const double coordinate = row.k / 128.0;
      points.push_back({name, coordinate, profile.at(coordinate), ghia});
    }
  };
  add('u', table_u, u_on_vertical_centre_line(problem, state));
  add('v', table_v, v_on_horizontal_centre_line(problem, state));
  return points;
}

double largest_difference(std::span<const GhiaComparison> points) {
  double largest = 0.0;
  for (const GhiaComparison& point : points) largest = std::max(largest, std::abs(point.difference()));
  return largest;
}

}  // namespace steelyard::cavity
