#include "miniapps/cavity/output/flow_analysis.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <string>

#include "core/base/text_file.hpp"

namespace steelyard::cavity {
namespace {

/// The vertex of the parabola through point `k` and its neighbours; the point's value at an end or on a straight line.
double vertex(const Profile& profile, std::size_t k) {
  const std::vector<double>& x = profile.coordinates;
  const std::vector<double>& y = profile.values;
  if (k == 0 || k + 1 == x.size()) return y[k];
  const double left = x[k] - x[k - 1], right = x[k + 1] - x[k];
  const double slope_left = (y[k] - y[k - 1]) / left, slope_right = (y[k + 1] - y[k]) / right;
  // Divided differences: y = y_k + slope s + curvature s^2 with s the distance from the point.
  const double curvature = (slope_right - slope_left) / (left + right);
  const double slope = (slope_left * right + slope_right * left) / (left + right);
  if (curvature == 0.0) return y[k];
  const double distance = -0.5 * slope / curvature;
  return y[k] + 0.5 * slope * distance;
}

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

}  // namespace

Interpolation interpolation(std::span<const double> points, double x, std::size_t most) {
  Interpolation result;
  result.count = std::min(most, points.size());
  const auto right = static_cast<std::size_t>(std::lower_bound(points.begin(), points.end(), x) - points.begin());
  const std::size_t half = result.count / 2;
  result.first = std::min(right > half ? right - half : 0, points.size() - result.count);
  for (std::size_t k = 0; k < result.count; ++k) {
    const double here = points[result.first + k];
    double weight = 1.0;
    for (std::size_t m = 0; m < result.count; ++m) {
      const double other = points[result.first + m];
      if (m != k) weight *= (x - other) / (here - other);
    }
    result.weight[k] = weight;
  }
  return result;
}

double Profile::minimum() const {
  return vertex(*this, static_cast<std::size_t>(std::ranges::min_element(values) - values.begin()));
}

double Profile::maximum() const {
  return vertex(*this, static_cast<std::size_t>(std::ranges::max_element(values) - values.begin()));
}

std::vector<double> centres_and_walls(std::int64_t cells, double length) {
  std::vector<double> points = {0.0};
  const auto count = static_cast<double>(cells);
  for (std::int64_t k = 0; k < cells; ++k) points.push_back((static_cast<double>(k) + 0.5) / count * length);
  points.push_back(length);
  return points;
}

std::vector<double> faces(std::int64_t cells, double length) {
  std::vector<double> points;
  const auto count = static_cast<double>(cells);
  for (std::int64_t k = 0; k <= cells; ++k) points.push_back(static_cast<double>(k) / count * length);
  return points;
}

Profile u_on_vertical_centre_line(const Problem& problem, const FlowState& state) {
  const Interpolation middle = interpolation(faces(problem.columns, 1.0), 0.5, 4);
  Profile profile{centres_and_walls(problem.rows, problem.height), {0.0}};
  for (std::int64_t j = 0; j < problem.rows; ++j) {
    profile.values.push_back(middle.of([&](std::int64_t i) { return state.u_at(j, i); }));
  }
  profile.values.push_back(1.0);
  return profile;
}

Profile v_on_horizontal_centre_line(const Problem& problem, const FlowState& state) {
  const Interpolation middle = interpolation(faces(problem.rows, problem.height), 0.5 * problem.height, 4);
  Profile profile{centres_and_walls(problem.columns, 1.0), {0.0}};
  for (std::int64_t i = 0; i < problem.columns; ++i) {
    profile.values.push_back(middle.of([&](std::int64_t j) { return state.v_at(j, i); }));
  }
  profile.values.push_back(0.0);
  return profile;
}

void write_centre_lines(const std::filesystem::path& path, const Problem& problem, const FlowState& state) {
  std::string text = "profile,coordinate,value,ghia,difference\n";
  const auto add = [&](const char* name, const Profile& profile) {
    for (std::size_t k = 0; k < profile.values.size(); ++k) {
      fmt::format_to(std::back_inserter(text), "{},{},{},,\n", name, profile.coordinates[k], profile.values[k]);
    }
  };
  add("u", u_on_vertical_centre_line(problem, state));
  add("v", v_on_horizontal_centre_line(problem, state));
  for (const GhiaComparison& point : ghia_comparison(problem, state)) {
    fmt::format_to(std::back_inserter(text), "{},{},{},{},{}\n", point.profile, point.coordinate, point.value,
                   point.ghia, point.difference());
  }
  write_text_file(path, text);
}

std::vector<GhiaComparison> ghia_comparison(const Problem& problem, const FlowState& state) {
  std::vector<GhiaComparison> points;
  const auto* const found = std::ranges::find(reynolds_numbers, problem.reynolds);
  if (problem.height != 1.0 || found == reynolds_numbers.end()) return points;
  const auto column = static_cast<std::size_t>(found - reynolds_numbers.begin());
  const auto add = [&](char name, std::span<const TableRow> table, const Profile& profile) {
    for (const TableRow& row : table) {
      const double ghia = row.values[column];
      if (std::isnan(ghia)) continue;
      const double coordinate = row.k / 128.0;
      const Interpolation between = interpolation(profile.coordinates, coordinate, 4);
      const double value = between.of([&](std::int64_t k) { return profile.values[static_cast<std::size_t>(k)]; });
      points.push_back({name, coordinate, value, ghia});
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

double Streamfunction::closure_error() const {
  double largest = 0.0;
  for (std::int64_t i = 0; i <= columns; ++i) largest = std::max(largest, std::abs(at(rows, i)));
  return largest;
}

Streamfunction streamfunction(const Problem& problem, const FlowState& state) {
  const auto corners = static_cast<std::size_t>((problem.rows + 1) * (problem.columns + 1));
  Streamfunction psi{problem.rows, problem.columns, std::vector<double>(corners, 0.0)};
  const double dy = problem.dy();
  auto below = psi.values.begin(), here = below + problem.columns + 1;
  for (std::int64_t j = 0; j < problem.rows; ++j) {
    for (std::int64_t i = 0; i <= problem.columns; ++i, ++below, ++here) *here = *below + state.u_at(j, i) * dy;
  }
  return psi;
}

std::optional<VortexCentre> primary_vortex(const Problem& problem, const Streamfunction& psi) {
  std::int64_t j = 0, i = 0;
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
  double d_x = 0.0, d_y = 0.0;
  if (h_xx > 0.0 && determinant > 0.0) {
    d_x = (h_xy * g_y - h_yy * g_x) / determinant;
    d_y = (h_xy * g_x - h_xx * g_y) / determinant;
  }
  // The quadratic says nothing about cells further away.
  if (!(std::max(std::abs(d_x), std::abs(d_y)) <= 1.0)) d_x = d_y = 0.0;
  return VortexCentre{least + 0.5 * (g_x * d_x + g_y * d_y),
                      {(static_cast<double>(i) + d_x) * problem.dx(), (static_cast<double>(j) + d_y) * problem.dy()}};
}

}  // namespace steelyard::cavity
