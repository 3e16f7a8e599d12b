#pragma once

#include <cmath>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "core/options.hpp"

namespace steelyard::wave2d {

/// The most steps that a pass may make: longer ones fit into no scratch memory.
inline constexpr int most_steps_per_pass = 64;

enum class Boundary {
  dirichlet,  ///< the outermost points keep their values; beyond them the wave is mirrored with the opposite sign
  neumann,    ///< the wave is mirrored: a missing neighbour is the opposite one (003, section 2.1)
};
/// In the order of the values, as all names below.
inline const std::vector<std::string> boundary_names{"dirichlet", "neumann"};

/// Which of the two time levels that the scheme needs.
enum class Level { previous = 0, current = 1 };

/// Whether the phases of a pass overlap or are run one after the other to be timed (003, section 6.3.4).
enum class Overlap { full, none };

/// Rows and columns that a grid has at least.
constexpr std::int64_t smallest_extent = 3;

/// A grid of rows x columns points with equal spacing in both directions, and the scheme: second order in time, second
/// or fourth order in space.
struct Problem {
  std::int64_t rows = 2048;
  std::int64_t columns = 2048;
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

/// Memory traffic of a point in a pass of `steps` steps, caches being no help from pass to pass: one step reads two
/// levels and writes one of them back; several read two and write two others, which are fetched first.
inline double bytes_per_point(double element_bytes, int steps) { return (steps == 1 ? 3.0 : 6.0) * element_bytes; }

/// Time levels in a unit's memory for passes of at most `steps` steps; one step is made in place.
constexpr int levels_held(int steps) { return steps == 1 ? 2 : 4; }

/// Rounding errors of `steps` steps, in roundings of the largest value: they add up like a random walk whose every step
/// the scheme carries on.
inline double accumulated_roundings(double steps) { return 16.0 + 8.0 * steps * std::sqrt(steps); }

/// How the rows are balanced.
enum class Balancing {
  model,    ///< by the speed models, with an algorithm of `--partition`; nothing is tried out
  binary,   ///< as 003 does it: in a rank by binary search until the units' kernels take equally long, between ranks
            ///< once by their throughput (sections 4.1.1 and 4.1.2)
  ternary,  ///< as 003 proposes: in a rank by ternary search for the shortest pass, between ranks by throughput again
            ///< and again (section 8.2)
  dynamic,  ///< from the even distribution on, by the times of the run's own passes, moving rows between units and
            ///< ranks when that pays (000, section 6.1.5)
};
inline const std::vector<std::string> balancing_names{"model", "binary", "ternary", "dynamic"};

/// Between what binary and ternary balance. Source: 003, section 4.1.
enum class BalanceLevel {
  both,
  internal,  ///< between the units of each rank; ranks get as many rows each
  external,  ///< between ranks; the units of a rank get as many rows each
};

/// The program's options.
struct Options {
  RunOptions run;
  GridOptions grid;
  Problem problem;    ///< whose extents are those of `grid` or of the input
  int time_tile = 0;  ///< steps per pass; 0: the models choose, and a speed model is of single steps
  Balancing balancing = Balancing::model;
  BalanceLevel level = BalanceLevel::both;
  Overlap overlap = Overlap::full;
  int frames = 0;  ///< pictures of the field; 0: none
  std::filesystem::path frame_folder = "frames";
};

}  // namespace steelyard::wave2d
