#pragma once

#include <cstdint>
#include <cstring>
#include <random>
#include <span>
#include <string>
#include <tuple>
#include <type_traits>

#include "miniapps/fft2d/rows/row_pass.hpp"

namespace steelyard::fft2d::tests {

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
  using Scalar = typename RowPass<Element>::Scalar;
  std::mt19937 engine(seed);
  std::uniform_real_distribution<Scalar> number(-1, 1);
  Array<Element> rows(points);
  auto* const numbers = reinterpret_cast<Scalar*>(rows.data());
  constexpr auto parts = static_cast<std::int64_t>(sizeof(Element) / sizeof(Scalar));
  for (std::int64_t i = 0; i < parts * points; ++i) numbers[i] = number(engine);
  return rows;
}

/// A pass over all rows, in one piece and into one piece without padding.
template <class Unit, class Element>
Array<typename Unit::Complex> run_pass(const RowTransformation& transformation, const std::string& library,
                                       const Array<Element>& rows, Planner planner = Planner::estimate) {
  using Complex = typename RowPass<Element>::Complex;
  const std::int64_t count = rows.size() / transformation.length;
  const std::int64_t points = stored_points(transformation.length, RowPass<Element>::real);
  const auto pass = RowPass<Element>::make(Unit::kind, transformation, count, {library, planner});
  Array<Complex> stored(count * points);
  const RowPiece<Element> in{rows.data(), transformation.length, 0, transformation.length};
  const StoredPiece<Complex> out{stored.data(), transformation.transpose ? count : points, 0, points};
  pass->run(0, count, std::span(&in, 1), std::span(&out, 1));
  return stored;
}

}  // namespace steelyard::fft2d::tests
