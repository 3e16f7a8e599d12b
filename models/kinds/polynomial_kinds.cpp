// Polynomials of the size, and what deviates from them by more than noise.
#include <Eigen/QR>
#include <algorithm>
#include <cmath>

#include "core/base/statistics.hpp"
#include "models/kinds/model_kinds.hpp"

namespace steelyard::models {
namespace {

constexpr std::size_t most_degree = 8;

struct Fit {
  std::vector<double> coefficients;
  double left_out_squares = 0.0;  ///< sum over the points of the squared relative deviation when that point is left out
};

/// Chebyshev polynomials T_0 … T_degree at `u` in [-1, 1]: powers of the size would be nearly the same function.
Eigen::RowVectorXd chebyshev(double u, int degree) {
  Eigen::RowVectorXd values(degree + 1);
  for (int k = 0; k <= degree; ++k) values[k] = std::cos(k * std::acos(std::clamp(u, -1.0, 1.0)));
  return values;
}

double position(double units, double first, double last) {
  return last > first ? 2.0 * (units - first) / (last - first) - 1.0 : 0.0;
}

/// Weighs a point: by its own speed, or by the median of it and as many neighbours on either side where its own is less
/// than half of that. By that of a slow spike, all other points would count for nothing.
double typical_speed(Points points, std::size_t at) {
  const std::size_t beside = std::min({std::size_t{2}, at, points.size() - 1 - at});
  std::vector<double> speeds;
  for (const MeasuredPoint& point : points.subspan(at - beside, 2 * beside + 1)) speeds.push_back(point.speed());
  const double typical = median(speeds);
  const double own = points[at].speed();
  return own < 0.5 * typical ? typical : own;
}

Fit fit(Points points, int degree) {
  const auto count = static_cast<Eigen::Index>(points.size());
  // Rows divided by a speed, so that what is minimised is relative.
  Eigen::MatrixXd rows(count, degree + 1);
  Eigen::VectorXd measured(count);
  for (Eigen::Index i = 0; i < count; ++i) {
    const MeasuredPoint& point = points[static_cast<std::size_t>(i)];
    const double speed = typical_speed(points, static_cast<std::size_t>(i));
    rows.row(i) = chebyshev(position(point.units, points.front().units, points.back().units), degree) / speed;
    measured[i] = point.speed() / speed;
  }
  const Eigen::HouseholderQR<Eigen::MatrixXd> qr(rows);
  const Eigen::VectorXd coefficients = qr.solve(measured);
  const Eigen::VectorXd residuals = rows * coefficients - measured;
  const Eigen::MatrixXd q = qr.householderQ() * Eigen::MatrixXd::Identity(count, degree + 1);
  Fit result;
  result.coefficients.assign(coefficients.begin(), coefficients.end());
  for (Eigen::Index i = 0; i < count; ++i) {
    // What is left of a point that is left out, without fitting again: its residual over one less its leverage.
    const double freedom = 1.0 - q.row(i).squaredNorm();
    const double left_out = freedom > 1e-9 ? residuals[i] / freedom : std::numeric_limits<double>::infinity();
    result.left_out_squares += left_out * left_out;
  }
  return result;
}

}  // namespace

PolynomialModel::PolynomialModel(Points points, double max_units) : SpeedModel(points, max_units) {
  const auto [slowest, fastest] = std::ranges::minmax_element(points, {}, &MeasuredPoint::speed);
  slowest_ = slowest->speed();
  fastest_ = fastest->speed();
  const auto most = static_cast<int>(std::min(points.size() - 1, most_degree));
  std::vector<Fit> fits;
  for (int degree = 0; degree <= most; ++degree) fits.push_back(fit(points, degree));
  const double least = std::ranges::min(fits, {}, &Fit::left_out_squares).left_out_squares;
  // A sum of squares of normal deviations is uncertain by this share of itself; gaining less is fitting noise.
  const double uncertainty = std::sqrt(2.0 / static_cast<double>(points.size()));
  const auto best = std::ranges::find_if(
      fits, [&](double squares) { return squares <= (1.0 + uncertainty) * least; }, &Fit::left_out_squares);
  coefficients_ = best != fits.end() ? best->coefficients : fits.front().coefficients;
}

double PolynomialModel::fitted_speed(double units) const {
  const double first = points().front().units, last = points().back().units;
  const Eigen::RowVectorXd values = chebyshev(position(std::clamp(units, first, last), first, last), degree());
  const double speed = values.dot(
      Eigen::Map<const Eigen::RowVectorXd>(coefficients_.data(), static_cast<Eigen::Index>(coefficients_.size())));
  return std::clamp(speed, slowest_, fastest_);
}

namespace {

/// Variances of the points' speeds as shares of these, 0 where there is no interval.
std::vector<double> variances_of(Points points) {
  constexpr double standard_errors = 1.96;  // in half of a 95 % confidence interval
  std::vector<double> variances, known;
  for (const MeasuredPoint& point : points) {
    variances.push_back(std::pow(point.confidence_s / (standard_errors * point.time_s), 2));
    if (variances.back() > 0.0) known.push_back(variances.back());
  }
  if (known.empty()) return variances;
  const double least = median(known);
  for (double& variance : variances) {
    if (variance > 0.0) variance = std::max(variance, least);
  }
  return variances;
}

}  // namespace

ShrunkModel::ShrunkModel(Points points, double max_units) : SpeedModel(points, max_units), smooth_(points) {
  const std::vector<double> variances = variances_of(points);
  const double threshold = 2.0 * std::log(static_cast<double>(points.size()));
  for (std::size_t i = 0; i < points.size(); ++i) {
    const double deviation = points[i].speed() / smooth_.speed(points[i].units) - 1.0;
    const double square = deviation * deviation;
    deviations_.push_back(square > threshold * variances[i] ? deviation * (1.0 - threshold * variances[i] / square)
                                                            : 0.0);
  }
}

double ShrunkModel::fitted_speed(double units) const {
  const auto [left, right, share] = place_among(points(), units);
  return smooth_.speed(units) * (1.0 + std::lerp(deviations_[left], deviations_[right], share));
}

std::vector<std::pair<std::string, double>> ShrunkModel::parameters() const {
  const auto beside = std::ranges::count_if(deviations_, [](double deviation) { return deviation != 0.0; });
  return {{"degree", smooth_.degree()}, {"points beside it", static_cast<double>(beside)}};
}

}  // namespace steelyard::models
