#pragma once

#include <cmath>
#include <cstdint>

namespace steelyard::wave2d {

/// The most steps that a pass may make: longer ones fit into no scratch memory.
inline constexpr int most_steps_per_pass = 64;

enum class Boundary {
  dirichlet,  ///< the outermost points keep their values; beyond them the wave is mirrored with the opposite sign
  neumann,    ///< the wave is mirrored: a missing neighbour is the opposite one (003, section 2.1)
};

/// Which of the two time levels that the scheme needs.
enum class Level { previous = 0, current = 1 };

/// Whether the phases of a pass overlap or are run one after the other to be timed (003, section 6.3.4).
enum class Overlap { full, none };

/// Rows and columns that a grid has at least.
constexpr std::int64_t smallest_extent = 3;

/// A grid of rows x columns points with equal spacing in both directions, and the scheme: second order in time, second
/// or fourth order in space.
struct Problem {
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  double courant = 0.5;  ///< c dt / dx
  Boundary boundary = Boundary::dirichlet;
  int order = 2;  ///< in space: 2 (5 points) or 4 (9 points)

  double points() const { return static_cast<double>(rows) * static_cast<double>(columns); }
  /// Neighbours on either side that a point's update reads.
  int radius() const { return order / 2; }
};

/// Whether a point is one of the outermost.
inline bool is_edge(const Problem& problem, std::int64_t row, std::int64_t column) {
  return row == 0 || row == problem.rows - 1 || column == 0 || column == problem.columns - 1;
}

/// The largest C = c dt / dx at which the scheme is stable: 2 / sqrt(2 l), where l is the largest eigenvalue of the
/// second difference, 4 for second order and 16/3 for fourth.
inline double largest_courant(int order) { return std::sqrt(order == 2 ? 0.5 : 0.375); }

/// Floating-point operations of a point's step.
inline double flops_per_point(int order) { return order == 2 ? 7.0 : 12.0; }

/// Memory traffic of a point in a pass of `steps` steps, caches being no help from pass to pass: one step reads two
/// levels and writes one of them back; several read two and write two others, which are fetched first.
inline double bytes_per_point(double element_bytes, int steps) { return (steps == 1 ? 3.0 : 6.0) * element_bytes; }

}  // namespace steelyard::wave2d
