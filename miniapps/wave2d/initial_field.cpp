#include "miniapps/wave2d/initial_field.hpp"

#include <cmath>
#include <cstddef>
#include <numbers>

#include "core/base/npy.hpp"
#include "miniapps/wave2d/halo_plan.hpp"

namespace steelyard::wave2d {
namespace {

constexpr double half_waves_along_columns = 2.0;
constexpr double half_waves_along_rows = 1.0;

std::vector<double> mode(std::int64_t points, double half_waves, Boundary boundary) {
  std::vector<double> values(static_cast<std::size_t>(points));
  const double step = half_waves * std::numbers::pi / static_cast<double>(points - 1);
  for (std::int64_t i = 0; i < points; ++i) {
    const double phase = step * static_cast<double>(i);
    values[static_cast<std::size_t>(i)] = boundary == Boundary::dirichlet ? std::sin(phase) : std::cos(phase);
  }
  // sin(pi) is not quite 0 in floating point, but the outermost points are.
  if (boundary == Boundary::dirichlet) values.front() = values.back() = 0.0;
  return values;
}

/// A quarter of the second difference's eigenvalue, with the sign turned.
double quarter_eigenvalue(double wave_number, int order) {
  const double sine = std::sin(0.5 * wave_number);
  const double square = sine * sine;
  return order == 2 ? square : square * (1.0 + square / 3.0);
}

template <class Scalar>
void read_part(const std::filesystem::path& path, const partition::Rectangle& part, std::span<Scalar> values) {
  read_npy_block(path, read_npy_matrix_header<Scalar>(path), part.row, part.column, part.rows, part.columns, values);
}

}  // namespace

StandingWave::StandingWave(const Problem& problem)
    : along_rows_(mode(problem.rows, half_waves_along_columns, problem.boundary)),
      along_columns_(mode(problem.columns, half_waves_along_rows, problem.boundary)) {
  // Wave numbers times the spacing.
  const double kx = half_waves_along_rows * std::numbers::pi / static_cast<double>(problem.columns - 1);
  const double ky = half_waves_along_columns * std::numbers::pi / static_cast<double>(problem.rows - 1);
  exact_phase_ = problem.courant * std::hypot(kx, ky);
  const double eigenvalue = quarter_eigenvalue(kx, problem.order) + quarter_eigenvalue(ky, problem.order);
  discrete_phase_ = 2.0 * std::asin(problem.courant * std::sqrt(eigenvalue));
}

double StandingWave::exact_amplitude(std::int64_t step) const {
  return std::cos(exact_phase_ * static_cast<double>(step));
}

double StandingWave::discrete_amplitude(std::int64_t step) const {
  // At step -1 the field is X Y cos(w dt): cos(v) - b sin(v) = cos(w dt).
  const double sine = (std::cos(discrete_phase_) - std::cos(exact_phase_)) / std::sin(discrete_phase_);
  const double phase = discrete_phase_ * static_cast<double>(step);
  return std::cos(phase) + sine * std::sin(phase);
}

template <class Scalar>
void StandingWave::sample(double amplitude, const partition::Rectangle& part, std::span<Scalar> values) const {
  const double* const shape = along_columns_.data() + part.column;
  for (std::int64_t r = 0; r < part.rows; ++r) {
    const double factor = amplitude * along_rows_[static_cast<std::size_t>(part.row + r)];
    Scalar* const row = values.data() + r * part.columns;
    for (std::int64_t j = 0; j < part.columns; ++j) row[j] = static_cast<Scalar>(factor * shape[j]);
  }
}

template void StandingWave::sample<double>(double, const partition::Rectangle&, std::span<double>) const;
template void StandingWave::sample<float>(double, const partition::Rectangle&, std::span<float>) const;

template <class Scalar>
void fill_initial(const Problem& problem, const StandingWave& wave, const std::vector<std::filesystem::path>& files,
                  Level level, const partition::Rectangle& part, std::span<Scalar> values) {
  if (files.empty()) {
    wave.sample(wave.exact_amplitude(level == Level::current ? 0 : -1), part, values);
    return;
  }
  read_part(level == Level::current ? files.back() : files.front(), part, values);
  const bool held = problem.boundary == Boundary::dirichlet && files.size() > 1;
  if (level == Level::current || !held) return;
  // Values that the boundary holds are the current field's: edges of the previous one, which no step changes, would
  // take turns with them.
  std::vector<Scalar> current(values.size());
  read_part<Scalar>(files.back(), part, current);
  std::size_t at = 0;
  for_points(part, [&](std::int64_t i, std::int64_t j) {
    const bool edge = i == 0 || i == problem.rows - 1 || j == 0 || j == problem.columns - 1;
    if (edge) values[at] = current[at];
    ++at;
  });
}

template void fill_initial(const Problem&, const StandingWave&, const std::vector<std::filesystem::path>&, Level,
                           const partition::Rectangle&, std::span<double>);
template void fill_initial(const Problem&, const StandingWave&, const std::vector<std::filesystem::path>&, Level,
                           const partition::Rectangle&, std::span<float>);

}  // namespace steelyard::wave2d
