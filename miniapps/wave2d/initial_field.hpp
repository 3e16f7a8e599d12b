#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <vector>

#include "miniapps/wave2d/problem.hpp"
#include "partition/rectangle.hpp"

namespace steelyard::wave2d {

/// The standing wave u(x, y, t) = X(x) Y(y) cos(w t) with one half wave along the rows and two along the columns:
/// X = sin(pi x / Lx), Y = sin(2 pi y / Ly) with Dirichlet boundaries, cosines with Neumann ones,
/// w = c sqrt((pi / Lx)^2 + (2 pi / Ly)^2). Sampled on the grid it is also an eigenvector of the discrete Laplacian, so
/// what the leap-frog scheme (003, equation 2.7) makes of it is known exactly: X Y (cos(v n) + b sin(v n)) after n
/// steps, with sin^2(v / 2) = C^2 (l(kx) + l(ky)), l(k) = s in second order and s (1 + s / 3) in fourth where
/// s = sin^2(k dx / 2), and b fixed by the field one step before the start.
class StandingWave {
 public:
  explicit StandingWave(const Problem& problem);

  /// Factor of X Y in the differential equation's solution at time step n (negative: before the start).
  double exact_amplitude(std::int64_t step) const;
  /// Factor of X Y in the scheme's solution after n steps from exact fields at steps -1 and 0, without rounding.
  double discrete_amplitude(std::int64_t step) const;

  /// Values amplitude X Y of a rectangle, row after row.
  template <class Scalar>
  void sample(double amplitude, const partition::Rectangle& part, std::span<Scalar> values) const;

 private:
  std::vector<double> along_rows_;     ///< Y of every row
  std::vector<double> along_columns_;  ///< X of every column
  double exact_phase_;                 ///< w dt
  double discrete_phase_;              ///< v
};

/// Fills a rectangle of one of the two levels that a run starts from, row after row without gaps: that of the files, or
/// of the standing wave. One file is a field at rest: the previous level is the same.
/// @param files none, the current level's, or the previous and the current one's @throws FileFormatError
template <class Scalar>
void fill_initial(const Problem& problem, const StandingWave& wave, const std::vector<std::filesystem::path>& files,
                  Level level, const partition::Rectangle& part, std::span<Scalar> values);

}  // namespace steelyard::wave2d
