#include <algorithm>
#include <numeric>

#include "miniapps/cavity/measured_kernel.hpp"

namespace steelyard::cavity {
namespace {

/// 1 / dt + 4 nu / h^2.
constexpr double diagonal_value = 5.0;

/// Fields are vectors of numbers, component by component and row by row.
class SerialSolvers {
 public:
  using Real = long double;
  using Vector = std::vector<Real>;

  SerialSolvers(std::int64_t rows, std::int64_t columns, int iterations)
      : rows_(rows), columns_(columns), iterations_(iterations) {
    for (std::int64_t j = 0; j < rows; ++j) {
      for (std::int64_t i = 0; i < columns; ++i) pressure_b_.push_back(measured_right_side(j, i));
    }
    momentum_b_ = pressure_b_;
    momentum_b_.insert(momentum_b_.end(), pressure_b_.begin(), pressure_b_.end());
    for (const Real value : momentum_b_) convecting_.push_back(static_cast<Real>(convecting_share) * value);
  }

  /// The velocity. Source: 000, Algorithm 3, without a preconditioner and from x = 0.
  Vector bicgstab() const {
    Vector x(momentum_b_.size(), 0.0L), r = momentum_b_, p = r;
    const Vector shadow = r;
    Real rho = product(shadow, r);
    for (int k = 0; k < iterations_ && rho != 0.0L; ++k) {
      const Vector v = momentum(p);
      const Real alpha = rho / product(shadow, v);
      const Vector s = sum(r, -alpha, v), t = momentum(s);
      const Real omega = product(t, s) / product(t, t);
      x = sum(sum(x, alpha, p), omega, s);
      r = sum(s, -omega, t);
      const Real beta = alpha / omega * product(shadow, r) / rho;
      rho = product(shadow, r);
      p = sum(r, beta, sum(p, -omega, v));
    }
    return x;
  }

  /// The pressure, of a right side without its mean. Source: 000, Algorithm 2, likewise.
  Vector conjugate_gradient() const {
    Vector x(pressure_b_.size(), 0.0L), r = pressure_b_;
    const Real mean = product(r, Vector(r.size(), 1.0L)) / static_cast<Real>(r.size());
    for (Real& value : r) value -= mean;
    Vector p = r;
    Real rr = product(r, r);
    for (int k = 0; k < iterations_ && rr != 0.0L; ++k) {
      const Vector ap = pressure(p);
      const Real alpha = rr / product(p, ap);
      x = sum(x, alpha, p);
      r = sum(r, -alpha, ap);
      const Real beta = product(r, r) / rr;
      rr = product(r, r);
      p = sum(r, beta, p);
    }
    return x;
  }

 private:
  /// 0 outside.
  Real at(const Vector& field, int c, std::int64_t j, std::int64_t i) const {
    if (j < 0 || j >= rows_ || i < 0 || i >= columns_) return 0.0L;
    return field[static_cast<std::size_t>((c * rows_ + j) * columns_ + i)];
  }
  /// 0 at walls.
  static Real face(std::int64_t number, std::int64_t cells) { return number > 0 && number < cells ? 1.0L : 0.0L; }

  /// See MomentumOperator.
  Vector momentum(const Vector& x) const {
    const auto w = [&](int c, std::int64_t j, std::int64_t i) { return at(convecting_, c, j, i); };
    Vector result;
    for (int c = 0; c < 2; ++c) {
      for (std::int64_t j = 0; j < rows_; ++j) {
        for (std::int64_t i = 0; i < columns_; ++i) {
          // Velocities at the faces of the control volume, which is half a cell off; diffusion along the component
          // goes on across walls.
          const int dj = c == 1 ? 1 : 0, di = c == 0 ? 1 : 0;
          const Real east = (w(0, j - dj, i + 1) + w(0, j, i + 1 - di)) / 4.0L,
                     west = (w(0, j - dj, i - di) + w(0, j, i)) / 4.0L;
          const Real north = (w(1, j + 1, i - di) + w(1, j + 1 - dj, i)) / 4.0L,
                     south = (w(1, j - dj, i - di) + w(1, j, i)) / 4.0L;
          const Real nu_east = c == 0 ? 1.0L : face(i + 1, columns_), nu_west = c == 0 ? 1.0L : face(i, columns_);
          const Real nu_north = c == 1 ? 1.0L : face(j + 1, rows_), nu_south = c == 1 ? 1.0L : face(j, rows_);
          result.push_back(diagonal_value * at(x, c, j, i) + (east - nu_east) * at(x, c, j, i + 1) -
                           (west + nu_west) * at(x, c, j, i - 1) + (north - nu_north) * at(x, c, j + 1, i) -
                           (south + nu_south) * at(x, c, j - 1, i));
        }
      }
    }
    return result;
  }

  /// See PressureOperator.
  Vector pressure(const Vector& p) const {
    Vector result;
    for (std::int64_t j = 0; j < rows_; ++j) {
      for (std::int64_t i = 0; i < columns_; ++i) {
        const auto difference = [&](std::int64_t dj, std::int64_t di) {
          return at(p, 0, j, i) - at(p, 0, j + dj, i + di);
        };
        result.push_back(face(i, columns_) * difference(0, -1) + face(i + 1, columns_) * difference(0, 1) +
                         face(j, rows_) * difference(-1, 0) + face(j + 1, rows_) * difference(1, 0));
      }
    }
    return result;
  }

  static Real product(const Vector& a, const Vector& b) {
    return std::inner_product(a.begin(), a.end(), b.begin(), 0.0L);
  }
  /// a + factor b
  static Vector sum(Vector a, Real factor, const Vector& b) {
    for (std::size_t n = 0; n < a.size(); ++n) a[n] += factor * b[n];
    return a;
  }

  std::int64_t rows_, columns_;
  int iterations_;
  Vector pressure_b_, momentum_b_, convecting_;
};

}  // namespace

Coefficients measured_coefficients(std::int64_t rows, std::int64_t columns) {
  const auto ones = [](std::int64_t count) { return std::vector<double>(static_cast<std::size_t>(count), 1.0); };
  const auto between_walls = [&](std::int64_t cells) {
    std::vector<double> faces = ones(cells + 1);
    faces.front() = faces.back() = 0.0;
    return faces;
  };
  Coefficients coefficients;
  coefficients.row_diagonal.assign(static_cast<std::size_t>(rows), diagonal_value);
  coefficients.column_diagonal.assign(static_cast<std::size_t>(columns), diagonal_value);
  coefficients.row_diffusion = coefficients.row_faces = between_walls(rows);
  coefficients.column_diffusion = coefficients.column_faces = between_walls(columns);
  coefficients.row_unknown = coefficients.row_weights = ones(rows);
  coefficients.column_unknown = coefficients.column_weights = ones(columns);
  coefficients.diffusion_x = coefficients.diffusion_y = 1.0;
  coefficients.quarter_x = coefficients.quarter_y = 0.25;
  return coefficients;
}

std::vector<double> serial_iterations(std::int64_t rows, std::int64_t columns, int iterations) {
  const SerialSolvers solvers(rows, columns, iterations);
  const std::vector<long double> velocity = solvers.bicgstab(), pressure = solvers.conjugate_gradient();
  std::vector<double> values(velocity.begin(), velocity.end());
  values.insert(values.end(), pressure.begin(), pressure.end());
  return values;
}

}  // namespace steelyard::cavity
