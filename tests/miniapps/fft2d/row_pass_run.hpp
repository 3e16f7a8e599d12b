#pragma once

#include <cmath>
#include <complex>
#include <cstdint>
#include <cstring>
#include <numbers>
#include <random>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "miniapps/fft2d/rows/row_pass.hpp"

namespace steelyard::fft2d::tests {

using Numbers = std::vector<std::complex<long double>>;

/// The transform by its definition, unscaled, in extended precision: sum over j of x_j exp(sign 2 pi i j k / n).
inline Numbers direct_dft(const Numbers& x, Direction direction) {
  const std::size_t n = x.size();
  const long double sign = direction == Direction::forward ? -1.0L : 1.0L;
  Numbers roots(n);
  for (std::size_t j = 0; j < n; ++j) {
    roots[j] = std::polar(1.0L, sign * 2.0L * std::numbers::pi_v<long double> * static_cast<long double>(j) /
                                    static_cast<long double>(n));
  }
  Numbers sums(n);
  for (std::size_t k = 0; k < n; ++k) {
    std::complex<long double> sum = 0.0L;
    for (std::size_t j = 0; j < n; ++j) sum += x[j] * roots[j * k % n];
    sums[k] = sum;
  }
  return sums;
}

/// Distance in the Euclidean norm, relative to `right`.
inline double relative_distance(const Numbers& x, const Numbers& right) {
  long double distance = 0.0L, length = 0.0L;
  for (std::size_t i = 0; i < right.size(); ++i) {
    distance += std::norm(x[i] - right[i]);
    length += std::norm(right[i]);
  }
  return static_cast<double>(length > 0.0L ? std::sqrt(distance / length) : std::sqrt(distance));
}

/// An execution space of a unit and a precision.
template <class E, class S>
struct On {
  using Execution = E;
  using Scalar = S;
  using Complex = Kokkos::complex<S>;
  static constexpr auto kind =
      std::is_same_v<E, HostExecution> ? ProcessingUnit::Kind::host : ProcessingUnit::Kind::companion;
  static constexpr double tolerance = std::is_same_v<S, double> ? 1e-13 : 1e-5;
};

using Units = std::tuple<On<HostExecution, double>, On<HostExecution, float>, On<CompanionExecution, double>,
                         On<CompanionExecution, float>>;

/// An array that every unit can read and write, filled with something that is no result.
template <class Element>
class Array {
 public:
  explicit Array(std::int64_t size)
      : memory_(Kokkos::view_alloc(Kokkos::WithoutInitializing, "array"), static_cast<std::size_t>(size)) {
    for (std::int64_t i = 0; i < size; ++i) (*this)[i] = Element(777.0);
  }
  std::int64_t size() const { return static_cast<std::int64_t>(memory_.extent(0)); }
  Element* data() const { return memory_.data(); }
  Element& operator[](std::int64_t i) const { return memory_.data()[i]; }
  bool same_bits(const Array& other) const {
    return size() == other.size() &&
           std::memcmp(data(), other.data(), static_cast<std::size_t>(size()) * sizeof(Element)) == 0;
  }

 private:
  Kokkos::View<Element*, PinnedMemory> memory_;
};

/// Numbers, or parts of complex ones, from -1 to 1.
template <class Element>
Array<Element> random_rows(std::int64_t points, unsigned seed) {
  using Scalar = typename ScalarOf<Element>::Type;
  std::mt19937 engine(seed);
  std::uniform_real_distribution<Scalar> number(-1, 1);
  Array<Element> rows(points);
  for (std::int64_t i = 0; i < points; ++i) {
    const Scalar real = number(engine);
    if constexpr (std::is_same_v<Element, Scalar>) {
      rows[i] = real;
    } else {
      rows[i] = Element(real, number(engine));
    }
  }
  return rows;
}

/// Points [first, first + count), `stride` apart, in extended precision.
template <class Element>
Numbers numbers(const Array<Element>& array, std::int64_t first, std::int64_t count, std::int64_t stride = 1) {
  Numbers result;
  for (std::int64_t i = 0; i < count; ++i) {
    const auto& element = array[first + i * stride];
    if constexpr (std::is_arithmetic_v<Element>) {
      result.emplace_back(element, 0.0L);
    } else {
      result.emplace_back(element.real(), element.imag());
    }
  }
  return result;
}

/// A pass over all rows, in one piece and into one piece without padding.
template <class Unit, class Element>
Array<Kokkos::complex<typename Unit::Scalar>> run_pass(const RowTransformation& transformation,
                                                       const std::string& library, const Array<Element>& rows,
                                                       Planner planner = Planner::estimate) {
  using Complex = typename RowPass<Element>::Complex;
  const std::int64_t count = rows.size() / transformation.length;
  const std::int64_t points = stored_points(transformation.length, RowPass<Element>::real);
  const auto pass = make_row_pass<Element>(Unit::kind, transformation, count, {library, planner});
  Array<Complex> stored(count * points);
  const RowPiece<Element> in{rows.data(), transformation.length, 0, transformation.length};
  const StoredPiece<Complex> out{stored.data(), transformation.transpose ? count : points, 0, points};
  pass->run(0, count, std::span(&in, 1), std::span(&out, 1));
  return stored;
}

}  // namespace steelyard::fft2d::tests
