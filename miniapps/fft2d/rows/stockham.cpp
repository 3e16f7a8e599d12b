#include "miniapps/fft2d/rows/stockham.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numbers>
#include <utility>

namespace steelyard::fft2d {
namespace {

/// Radices whose product is n; what is left, if anything, has larger prime factors.
struct Factors {
  std::vector<int> radices;
  std::int64_t rest = 1;
};

Factors factors(std::int64_t n) {
  Factors result;
  int twos = 0;
  for (; n % 2 == 0; n /= 2) ++twos;
  // As few steps as there can be, and no step of 2 beside one of 8: 4 and 4 are the same for less.
  for (; twos > 4 || twos == 3; twos -= 3) result.radices.push_back(8);
  for (; twos >= 2; twos -= 2) result.radices.push_back(4);
  if (twos == 1) result.radices.push_back(2);
  for (int radix = 3; radix <= largest_radix; radix += 2) {
    for (; n % radix == 0; n /= radix) result.radices.push_back(radix);
  }
  result.rest = n;
  return result;
}

/// The length that takes the fewest operations, about, among those of at least `least` points without large factors.
std::int64_t convolution_length(std::int64_t least) {
  std::int64_t power = 1;
  while (power < least) power *= 2;
  std::int64_t best = power;
  for (const std::int64_t odd : {9, 15, 25, 27, 45, 75}) {
    std::int64_t length = odd * 8;
    while (length < least) length *= 2;
    best = std::min(best, length);
  }
  return best;
}

std::vector<std::complex<double>> chirp_of(std::int64_t n) {
  std::vector<std::complex<double>> chirp;
  chirp.reserve(static_cast<std::size_t>(n));
  // Squares modulo 2 n, from one to the next: they may be larger than any integer.
  std::int64_t square = 0;
  for (std::int64_t j = 0; j < n; ++j) {
    chirp.push_back(root_of_unity(square, 2 * n));
    square = (square + 2 * j + 1) % (2 * n);
  }
  return chirp;
}

/// The spectrum of a sequence by the plan's own steps.
std::vector<std::complex<double>> spectrum(const TransformPlan& plan, const std::vector<std::complex<double>>& x) {
  const std::size_t n = x.size();
  std::vector<Kokkos::complex<double>> roots(plan.roots.begin(), plan.roots.end());
  Steps<double> steps;
  steps.set(plan, row_pointer(std::as_const(roots).data(), 0, std::ssize(roots)));
  std::vector<double> memory(4 * n);
  const std::int64_t elements = std::ssize(x);
  Planes<double> from = planes_at(memory.data(), elements), to = planes_at(memory.data() + 2 * n, elements);
  for (std::size_t i = 0; i < n; ++i) {
    from.re[i] = x[i].real();
    from.im[i] = x[i].imag();
  }
  OneThread thread;
  const Planes<double> made = transform_lanes<double, 1>(thread, steps, from, to);
  std::vector<std::complex<double>> result(n);
  for (std::size_t i = 0; i < n; ++i) result[i] = {made.re[i], made.im[i]};
  return result;
}

}  // namespace

std::complex<double> root_of_unity(std::int64_t k, std::int64_t n) {
  // In eighths of a turn, everything exact: from the nearest quarter, at most half a quarter away.
  const std::int64_t quarter = (4 * k + n / 2) / n;
  const auto rest = static_cast<double>(4 * k - quarter * n);
  const double angle = std::numbers::pi / 2.0 * (rest / static_cast<double>(n));
  double cosine = std::cos(angle), sine = -std::sin(angle);
  // Half a quarter: both have the same length, to the bit.
  if (2.0 * std::abs(rest) == static_cast<double>(n)) sine = std::copysign(cosine, sine);
  // Every quarter turn is a multiplication by -i.
  for (std::int64_t i = 0; i < quarter % 4; ++i) {
    std::swap(cosine, sine);
    sine = -sine;
  }
  return {cosine, sine};
}

TransformPlan plan_transform(std::int64_t points) {
  TransformPlan plan;
  plan.points = points;
  Factors found = factors(points);
  const bool convolves = found.rest > 1;
  plan.transform_length = convolves ? convolution_length(2 * points - 1) : points;
  plan.radices = convolves ? factors(plan.transform_length).radices : found.radices;
  for (std::int64_t k = 0; k < plan.transform_length; ++k) {
    plan.roots.push_back(root_of_unity(k, plan.transform_length));
  }
  if (!convolves) return plan;
  plan.chirp = chirp_of(points);
  std::vector<std::complex<double>> filter(static_cast<std::size_t>(plan.transform_length));
  for (std::size_t j = 0; j < plan.chirp.size(); ++j) {
    filter[j] = std::conj(plan.chirp[j]) / static_cast<double>(plan.transform_length);
    if (j > 0) filter[filter.size() - j] = filter[j];
  }
  plan.filter = spectrum(plan, filter);
  return plan;
}

}  // namespace steelyard::fft2d
