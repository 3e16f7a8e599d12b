#pragma once

#include "core/spaces.hpp"

namespace steelyard::fft2d {

/// A complex number, or several side by side. @tparam Pack a number or a vector of them
template <class Pack>
struct Pair {
  Pack re;
  Pack im;

  KOKKOS_FORCEINLINE_FUNCTION friend Pair operator+(const Pair& a, const Pair& b) { return {a.re + b.re, a.im + b.im}; }
  KOKKOS_FORCEINLINE_FUNCTION friend Pair operator-(const Pair& a, const Pair& b) { return {a.re - b.re, a.im - b.im}; }
};

/// -i a
template <class Pack>
KOKKOS_FORCEINLINE_FUNCTION Pair<Pack> turned(const Pair<Pack>& a) {
  return {a.im, -a.re};
}

template <class Pack, class Scalar>
KOKKOS_FORCEINLINE_FUNCTION Pair<Pack> times(const Pair<Pack>& a, Scalar factor) {
  return {a.re * factor, a.im * factor};
}

template <class Pack, class Complex>
KOKKOS_FORCEINLINE_FUNCTION Pair<Pack> turned_by(const Pair<Pack>& a, const Complex& root) {
  return {a.re * root.real() - a.im * root.imag(), a.re * root.imag() + a.im * root.real()};
}

/// Forward transforms of R numbers in place: y_k = sum over j of x_j exp(-2 pi i j k / R).
template <int R, class Scalar, class Pack>
KOKKOS_FORCEINLINE_FUNCTION void butterfly(Pair<Pack>* x) {
  static_assert(R == 2 || R == 3 || R == 4 || R == 5 || R == 8);
  if constexpr (R == 2) {
    const Pair<Pack> difference = x[0] - x[1];
    x[0] = x[0] + x[1];
    x[1] = difference;
  } else if constexpr (R == 3) {
    constexpr auto sine = static_cast<Scalar>(0.86602540378443864676);
    const Pair<Pack> sum = x[1] + x[2];
    const Pair<Pack> side = turned(times(x[1] - x[2], Scalar(sine)));
    const Pair<Pack> middle = x[0] - times(sum, Scalar(0.5));
    x[0] = x[0] + sum;
    x[1] = middle + side;
    x[2] = middle - side;
  } else if constexpr (R == 4) {
    const Pair<Pack> a = x[0] + x[2], b = x[0] - x[2], c = x[1] + x[3], d = turned(x[1] - x[3]);
    x[0] = a + c;
    x[1] = b + d;
    x[2] = a - c;
    x[3] = b - d;
  } else if constexpr (R == 5) {
    // Cosines and sines of 72 and 144 degrees.
    constexpr auto cosine_1 = static_cast<Scalar>(0.30901699437494742410);
    constexpr auto cosine_2 = static_cast<Scalar>(-0.80901699437494742410);
    constexpr auto sine_1 = static_cast<Scalar>(0.95105651629515357212);
    constexpr auto sine_2 = static_cast<Scalar>(0.58778525229247312917);
    const Pair<Pack> a = x[1] + x[4], b = x[2] + x[3], c = x[1] - x[4], d = x[2] - x[3];
    const Pair<Pack> near = x[0] + times(a, Scalar(cosine_1)) + times(b, Scalar(cosine_2));
    const Pair<Pack> far = x[0] + times(a, Scalar(cosine_2)) + times(b, Scalar(cosine_1));
    const Pair<Pack> near_side = turned(times(c, Scalar(sine_1)) + times(d, Scalar(sine_2)));
    const Pair<Pack> far_side = turned(times(c, Scalar(sine_2)) - times(d, Scalar(sine_1)));
    x[0] = x[0] + a + b;
    x[1] = near + near_side;
    x[2] = far + far_side;
    x[3] = far - far_side;
    x[4] = near - near_side;
  } else {
    constexpr auto half_root = static_cast<Scalar>(0.70710678118654752440);
    Pair<Pack> even[4] = {x[0], x[2], x[4], x[6]}, odd[4] = {x[1], x[3], x[5], x[7]};
    butterfly<4, Scalar>(even);
    butterfly<4, Scalar>(odd);
    // Turned by 0, 45, 90 and 135 degrees.
    odd[1] = times(odd[1] + turned(odd[1]), Scalar(half_root));
    odd[2] = turned(odd[2]);
    odd[3] = times(turned(odd[3]) - odd[3], Scalar(half_root));
    for (int k = 0; k < 4; ++k) {
      x[k] = even[k] + odd[k];
      x[k + 4] = even[k] - odd[k];
    }
  }
}

/// The largest prime that is a radix of its own.
inline constexpr int largest_radix = 31;

/// The same for any odd number of points up to largest_radix, in sums over those that lie opposite each other.
/// @param roots whose every `step`th is one of those of `radix`
template <class Pack, class Complex>
KOKKOS_FORCEINLINE_FUNCTION void odd_butterfly(int radix, const Complex* roots, std::int64_t step, Pair<Pack>* x) {
  const int half = radix / 2;
  Pair<Pack> sums[largest_radix / 2 + 1], differences[largest_radix / 2 + 1];
  Pair<Pack> all = x[0];
  for (int j = 1; j <= half; ++j) {
    sums[j] = x[j] + x[radix - j];
    differences[j] = turned(x[j] - x[radix - j]);
    all = all + sums[j];
  }
  for (int k = 1; k <= half; ++k) {
    Pair<Pack> middle = x[0], side = {x[0].re - x[0].re, x[0].re - x[0].re};
    int turn = 0;
    for (int j = 1; j <= half; ++j) {
      turn = turn + k >= radix ? turn + k - radix : turn + k;
      const Complex root = roots[turn * step];
      middle = middle + times(sums[j], root.real());
      side = side - times(differences[j], root.imag());
    }
    x[k] = middle + side;
    x[radix - k] = middle - side;
  }
  x[0] = all;
}

}  // namespace steelyard::fft2d
