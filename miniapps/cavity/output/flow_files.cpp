#include "miniapps/cavity/output/flow_files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <vector>

#include "core/base/vti_file.hpp"
#include "miniapps/cavity/output/flow_analysis.hpp"

namespace steelyard::cavity {

void write_flow_vti(const std::filesystem::path& path, const Problem& problem, const FlowState& state) {
  const Streamfunction psi = streamfunction(problem, state);
  const VtiGrid grid{
      problem.rows, problem.columns, {problem.dx(), problem.dy()}, {0.5 * problem.dx(), 0.5 * problem.dy()}};
  std::vector<double> velocity, psi_at_centres;
  for (std::int64_t j = 0; j < problem.rows; ++j) {
    for (std::int64_t i = 0; i < problem.columns; ++i) {
      velocity.push_back(0.5 * (state.u_at(j, i) + state.u_at(j, i + 1)));
      velocity.push_back(0.5 * (state.v_at(j, i) + state.v_at(j + 1, i)));
      velocity.push_back(0.0);
      psi_at_centres.push_back(0.25 * ((psi.at(j, i) + psi.at(j, i + 1)) + (psi.at(j + 1, i) + psi.at(j + 1, i + 1))));
    }
  }
  write_vti_file<double>(path, grid,
                         {{"velocity", 3, velocity}, {"pressure", 1, state.p}, {"streamfunction", 1, psi_at_centres}});
}

namespace {

constexpr std::int64_t longest_side = 800;
constexpr std::int64_t fineness = 3;  ///< points per pixel and direction at which streamlines are searched

/// Source: Ghia et al. (1982), Table III; rising.
constexpr std::array<double, 24> all_levels = {-0.1175, -0.115, -0.11, -0.1,   -0.09,  -0.07, -0.05,  -0.03,
                                               -0.01,   -1e-4,  -1e-5, -1e-7,  -1e-10, 1e-8,  1e-7,   1e-6,
                                               1e-5,    5e-5,   1e-4,  2.5e-4, 5e-4,   1e-3,  1.5e-3, 3e-3};

/// Where each of `count` evenly spaced points from `first` to `last` lies between grid points, `most` of them.
std::vector<Interpolation> samples(const std::vector<double>& points, std::size_t most, std::int64_t count,
                                   double first, double last) {
  std::vector<Interpolation> result;
  for (std::int64_t k = 0; k < count; ++k) {
    const double part = count == 1 ? 0.5 : static_cast<double>(k) / static_cast<double>(count - 1);
    result.push_back(interpolation(points, std::lerp(first, last, part), most));
  }
  return result;
}

/// Across rows of what is interpolated along each, from `at(row, column)`.
template <class At>
double sample(const Interpolation& y, const Interpolation& x, const At& at) {
  return y.of([&](std::int64_t j) { return x.of([&](std::int64_t i) { return at(j, i); }); });
}

/// Rows and columns of the picture, the first row at the top.
struct Pixels {
  std::int64_t rows, columns;

  explicit Pixels(double height) {
    const double scale = static_cast<double>(longest_side) / std::max(1.0, height);
    const auto whole = [](double length) { return std::max<std::int64_t>(1, std::llround(length)); };
    rows = whole(scale * height);
    columns = whole(scale);
  }
};

/// The speed at all pixels' centres.
std::vector<double> speeds_at(const Pixels& pixels, const Problem& problem, const FlowState& state) {
  const double side_x = 0.5 / static_cast<double>(pixels.columns);
  const double side_y = 0.5 * problem.height / static_cast<double>(pixels.rows);
  const auto across = [&](const auto& points) { return samples(points, 2, pixels.columns, side_x, 1.0 - side_x); };
  const auto down = [&](const auto& points) {
    return samples(points, 2, pixels.rows, problem.height - side_y, side_y);
  };
  const auto u_x = across(faces(problem.columns, 1.0)), v_x = across(centres_and_walls(problem.columns, 1.0));
  const auto u_y = down(centres_and_walls(problem.rows, problem.height)),
             v_y = down(faces(problem.rows, problem.height));
  std::vector<double> speeds;
  for (std::size_t row = 0; row < u_y.size(); ++row) {
    for (std::size_t column = 0; column < u_x.size(); ++column) {
      // Points of walls around the grid: row or column 0 of u_y and v_x.
      const double u = sample(u_y[row], u_x[column], [&](std::int64_t j, std::int64_t i) {
        if (j == 0) return 0.0;
        return j > state.rows ? 1.0 : state.u_at(j - 1, i);
      });
      const double v = sample(v_y[row], v_x[column], [&](std::int64_t j, std::int64_t i) {
        return i == 0 || i > state.columns ? 0.0 : state.v_at(j, i - 1);
      });
      speeds.push_back(std::hypot(u, v));
    }
  }
  return speeds;
}

/// Share of each pixel that streamlines cover, on a lattice finer than pixels: a lattice point is on a line where a
/// neighbour lies between two other levels of psi.
std::vector<double> covered_by_lines(const Pixels& pixels, const Problem& problem, const FlowState& state) {
  const Streamfunction psi = streamfunction(problem, state);
  const double weakest = 10.0 * psi.closure_error();
  std::vector<double> levels;
  std::ranges::copy_if(all_levels, std::back_inserter(levels), [&](double level) { return std::abs(level) > weakest; });
  const std::int64_t rows = fineness * pixels.rows, columns = fineness * pixels.columns;
  const auto x = samples(faces(problem.columns, 1.0), 4, columns, 0.0, 1.0);
  const auto y = samples(faces(problem.rows, problem.height), 4, rows, problem.height, 0.0);
  std::vector<std::uint8_t> levels_below;  // psi, at the lattice's points
  for (const Interpolation& row : y) {
    for (const Interpolation& column : x) {
      const double value = sample(row, column, [&](std::int64_t j, std::int64_t i) { return psi.at(j, i); });
      levels_below.push_back(static_cast<std::uint8_t>(std::ranges::lower_bound(levels, value) - levels.begin()));
    }
  }
  const auto band = [&](std::int64_t row, std::int64_t column) {
    row = std::clamp<std::int64_t>(row, 0, rows - 1);
    return levels_below[static_cast<std::size_t>(row * columns + std::clamp<std::int64_t>(column, 0, columns - 1))];
  };
  std::vector<double> covered(static_cast<std::size_t>(pixels.rows * pixels.columns), 0.0);
  for (std::int64_t j = 0; j < rows; ++j) {
    for (std::int64_t i = 0; i < columns; ++i) {
      const int here = band(j, i);
      if (band(j - 1, i) == here && band(j + 1, i) == here && band(j, i - 1) == here && band(j, i + 1) == here)
        continue;
      covered[static_cast<std::size_t>(j / fineness * pixels.columns + i / fineness)] += 1.0 / (fineness * fineness);
    }
  }
  return covered;
}

}  // namespace

Rgb speed_colour(double speed) {
  constexpr double darker_part = 0.65;
  return sequential_colour(darker_part * std::clamp(speed, 0.0, 1.0));
}

void write_flow_picture(const std::filesystem::path& path, const Problem& problem, const FlowState& state) {
  const Pixels size(problem.height);
  const std::vector<double> speeds = speeds_at(size, problem, state), covered = covered_by_lines(size, problem, state);
  std::vector<Rgb> pixels;
  for (std::size_t k = 0; k < speeds.size(); ++k) {
    const Rgb ground = speed_colour(speeds[k]);
    const auto mixed = [&](double from, double to) {
      return static_cast<std::uint8_t>(std::lround(std::lerp(from, to, covered[k])));
    };
    pixels.push_back({mixed(ground.red, line_colour.red), mixed(ground.green, line_colour.green),
                      mixed(ground.blue, line_colour.blue)});
  }
  const PictureLegend legend{speed_colour, 0.0, "0", "1 lid speed",
                             fmt::format("re {:g}  t = {:.4g}", problem.reynolds, state.time)};
  std::ranges::copy(legend.pixels(size.columns), std::back_inserter(pixels));
  write_png_file(path, size.columns, pixels);
}

}  // namespace steelyard::cavity
