#pragma once

#include <Kokkos_Complex.hpp>
#include <algorithm>
#include <bit>
#include <cmath>
#include <complex>
#include <cstdint>
#include <numbers>
#include <utility>
#include <vector>

#include "core/spaces.hpp"
#include "core/sweep/row_pointer.hpp"

namespace steelyard::fft2d {

/// A complex number, or several side by side. @tparam Pack a number or a vector of them
template <class Pack>
struct Pair {
  Pack re;
  Pack im;

  KOKKOS_FORCEINLINE_FUNCTION friend Pair operator+(const Pair& a, const Pair& b) { return {a.re + b.re, a.im + b.im}; }
  KOKKOS_FORCEINLINE_FUNCTION friend Pair operator-(const Pair& a, const Pair& b) { return {a.re - b.re, a.im - b.im}; }
  template <class Scalar>
  KOKKOS_FORCEINLINE_FUNCTION Pair operator*(Scalar factor) const {
    return {re * factor, im * factor};
  }
  template <class Scalar>
  KOKKOS_FORCEINLINE_FUNCTION Pair operator*(const Kokkos::complex<Scalar>& root) const {
    return {re * root.real() - im * root.imag(), re * root.imag() + im * root.real()};
  }
};

/// -i a
template <class Pack>
KOKKOS_FORCEINLINE_FUNCTION Pair<Pack> turned(const Pair<Pack>& a) {
  return {a.im, -a.re};
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
    const Pair<Pack> side = turned((x[1] - x[2]) * Scalar(sine));
    const Pair<Pack> middle = x[0] - sum * Scalar(0.5);
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
    const Pair<Pack> near = x[0] + a * Scalar(cosine_1) + b * Scalar(cosine_2);
    const Pair<Pack> far = x[0] + a * Scalar(cosine_2) + b * Scalar(cosine_1);
    const Pair<Pack> near_side = turned(c * Scalar(sine_1) + d * Scalar(sine_2));
    const Pair<Pack> far_side = turned(c * Scalar(sine_2) - d * Scalar(sine_1));
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
    odd[1] = (odd[1] + turned(odd[1])) * Scalar(half_root);
    odd[2] = turned(odd[2]);
    odd[3] = (turned(odd[3]) - odd[3]) * Scalar(half_root);
    for (int k = 0; k < 4; ++k) {
      x[k] = even[k] + odd[k];
      x[k + 4] = even[k] - odd[k];
    }
  }
}

/// The largest prime that is a radix of its own.
inline constexpr int largest_radix = 31;

/// Forward transform of any odd number of points up to largest_radix in place, in sums over those that lie opposite
/// each other.
/// @param roots whose every `step`th is one of those of `radix`
template <class Pack, class Complex>
KOKKOS_FORCEINLINE_FUNCTION void odd_butterfly(int radix, const RowPointer<const Complex> roots, std::int64_t step,
                                               Pair<Pack>* x) {
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
      middle = middle + sums[j] * root.real();
      side = side - differences[j] * root.imag();
    }
    x[k] = middle + side;
    x[radix - k] = middle - side;
  }
  x[0] = all;
}

/// A length as the product of the radices of its transform's steps.
struct Radices {
  static constexpr int most = 64;
  std::int64_t length = 1;
  int count = 0;
  int values[most] = {};

  void add(int radix) {
    values[count++] = radix;
    length *= radix;
  }
};

/// Real and imaginary parts of rows in the layout of the transform: point j of all lanes, then point j + 1.
template <class Scalar>
struct Planes {
  RowPointer<Scalar> re = nullptr, im = nullptr;

  /// Exchanging the two before and after a forward transform makes it the inverse one.
  KOKKOS_FUNCTION Planes swapped() const { return {im, re}; }
};

/// Two planes of `elements` elements, one behind the other.
template <class Scalar>
KOKKOS_FORCEINLINE_FUNCTION Planes<Scalar> planes_at(Scalar* const memory, const std::int64_t elements) {
  return {row_pointer(memory, 0, elements), row_pointer(memory + elements, 0, elements)};
}

/// Shares out the work of a team that is one thread, in loops.
struct OneThread {
  /// Calls body(i, j) for all i < outer, j < inner; inner is a multiple of the lanes where there are several threads.
  template <class Body>
  KOKKOS_FORCEINLINE_FUNCTION void over(std::int64_t outer, std::int64_t inner, const Body& body) const {
    for (std::int64_t i = 0; i < outer; ++i) {
      for (std::int64_t j = 0; j < inner; ++j) body(i, j);
    }
  }
  KOKKOS_FORCEINLINE_FUNCTION void wait() const {}
};

/// Shares out the work of a device's team, each of whose threads has `Lanes` vector lanes.
template <class Member, int Lanes>
struct ManyThreads {
  const Member& member;

  template <class Body>
  KOKKOS_FORCEINLINE_FUNCTION void over(std::int64_t outer, std::int64_t inner, const Body& body) const {
    const auto groups = static_cast<int>(inner / Lanes);
    Kokkos::parallel_for(Kokkos::TeamThreadRange(member, static_cast<int>(outer) * groups), [&](const int i) {
      Kokkos::parallel_for(Kokkos::ThreadVectorRange(member, Lanes), [&](const int lane) {
        body(std::int64_t{i / groups}, std::int64_t{i % groups} * Lanes + lane);
      });
    });
  }
  KOKKOS_FORCEINLINE_FUNCTION void wait() const { member.team_barrier(); }
};

/// One step: of what is left of every row, n' = length / done points, numbers (length / radix) apart are combined.
/// to[q + s (R p + k)] = exp(-2 pi i p k / n') sum over j of from[q + s (p + m j)] exp(-2 pi i j k / R), with
/// s = done, m = n' / R, q < s, p < m: results are in order after the last step, without a permutation.
/// Source: Stockham's autosort transform, decimation in frequency.
template <class Pack, int Lanes, class Scalar>
struct Step {
  static constexpr int pack_bytes = sizeof(Pack), scalar_bytes = sizeof(Scalar), width = pack_bytes / scalar_bytes;

  Planes<Scalar> from;
  Planes<Scalar> to;
  RowPointer<const Kokkos::complex<Scalar>> roots;
  std::int64_t length;
  std::int64_t done;

  KOKKOS_FORCEINLINE_FUNCTION Pair<Pack> load(std::int64_t place) const {
    return {*reinterpret_cast<const Pack*>(&from.re[place]), *reinterpret_cast<const Pack*>(&from.im[place])};
  }
  KOKKOS_FORCEINLINE_FUNCTION void store(std::int64_t place, const Pair<Pack>& pair) const {
    *reinterpret_cast<Pack*>(&to.re[place]) = pair.re;
    *reinterpret_cast<Pack*>(&to.im[place]) = pair.im;
  }

  /// @param p as above @param place of q and lane: q * Lanes + lane
  /// @tparam R the radix, or 0 for any odd one
  template <int R>
  KOKKOS_FORCEINLINE_FUNCTION void combine(int radix, std::int64_t p, std::int64_t place) const {
    const int count = R > 0 ? R : radix;
    const std::int64_t apart = length / count * Lanes, beside = done * Lanes;
    const std::int64_t first = p * beside + place, target = first + p * beside * (count - 1);
    Pair<Pack> x[R > 0 ? R : largest_radix];
    x[0] = load(first);
    for (int j = 1; j < count; ++j) x[j] = load(first + apart * j);
    if constexpr (R > 0) {
      butterfly<R, Scalar>(x);
    } else {
      odd_butterfly(radix, roots, length / radix, x);
    }
    store(target, x[0]);
    if (R > 0 && p == 0) {
      for (int k = 1; k < count; ++k) store(target + beside * k, x[k]);
    } else {
      for (int k = 1; k < count; ++k) store(target + beside * k, x[k] * roots[p * k * done]);
    }
  }

  /// @tparam R, More radices with a butterfly of their own
  template <int R, int... More, class Team>
  KOKKOS_FORCEINLINE_FUNCTION void run(const Team& team, int radix) const {
    if (R == 0 || radix == R) {
      team.over(length / done / radix, done * (Lanes / width),
                [&](std::int64_t p, std::int64_t q) { combine<R>(radix, p, q * width); });
    } else if constexpr (R != 0) {
      run<More...>(team, radix);
    }
  }
};

/// Transforms all lanes forward, step by step between two places; returns the one with the result.
/// @tparam Pack what a thread takes at once @tparam Lanes rows side by side
/// @param team over() shares out work, wait() waits for all of it
/// @param roots exp(-2 pi i k / length)
template <class Pack, int Lanes, class Team, class Scalar>
KOKKOS_INLINE_FUNCTION Planes<Scalar> transform_lanes(const Team& team, const Radices& radices,
                                                      const RowPointer<const Kokkos::complex<Scalar>> roots,
                                                      Planes<Scalar> from, Planes<Scalar> to) {
  std::int64_t done = 1;
  for (int i = 0; i < radices.count; ++i) {
    const int radix = radices.values[i];
    const Step<Pack, Lanes, Scalar> step{from, to, roots, radices.length, done};
    step.template run<8, 4, 2, 3, 5, 0>(team, radix);
    team.wait();
    done *= radix;
    const Planes<Scalar> result = to;
    to = from;
    from = result;
  }
  return from;
}

/// Radices for a length; their product is less than it where it has larger prime factors.
inline Radices radices_of(std::int64_t length) {
  Radices radices;
  int twos = std::countr_zero(static_cast<std::uint64_t>(length));
  length >>= twos;
  // As few steps as there can be, and no step of 2 beside one of 8: 4 and 4 are the same for less.
  for (; twos > 4 || twos == 3; twos -= 3) radices.add(8);
  for (; twos >= 2; twos -= 2) radices.add(4);
  if (twos == 1) radices.add(2);
  for (int radix = 3; radix <= largest_radix; radix += 2) {
    for (; length % radix == 0; length /= radix) radices.add(radix);
  }
  return radices;
}

/// exp(-2 pi i k / n), to the last bit or the one before: sine and cosine are taken of angles up to pi / 4 only.
/// @param k 0 to n - 1
inline std::complex<double> root_of_unity(std::int64_t k, std::int64_t n) {
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

/// Steps of a row's transform, and the numbers that it multiplies with. A length whose prime factors are all at most
/// largest_radix is transformed step by step (Stockham). Others become a convolution of a longer one that is
/// (Bluestein): x_j c_j is transformed, multiplied with `filter`, transformed back, and multiplied with c_k, where
/// c_j = exp(-pi i j^2 / n).
struct TransformPlan {
  Radices radices;                           ///< of the length that is transformed step by step
  std::vector<std::complex<double>> roots;   ///< exp(-2 pi i k / length)
  std::vector<std::complex<double>> chirp;   ///< c_j; empty where there is no convolution
  std::vector<std::complex<double>> filter;  ///< spectrum of conj(c), divided by the length

  /// @param points of a row
  explicit TransformPlan(std::int64_t points) : radices(radices_of(points)) {
    const bool convolves = radices.length != points;
    if (convolves) radices = radices_of(convolution_length(2 * points - 1));
    for (std::int64_t k = 0; k < radices.length; ++k) roots.push_back(root_of_unity(k, radices.length));
    if (convolves) add_convolution(points);
  }

 private:
  /// The length that takes the fewest operations, about, among those of at least `least` points without large factors.
  static std::int64_t convolution_length(std::int64_t least) {
    auto best = static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(least)));
    for (const std::int64_t odd : {9, 15, 25, 27, 45, 75}) {
      std::int64_t length = odd * 8;
      while (length < least) length *= 2;
      best = std::min(best, length);
    }
    return best;
  }

  void add_convolution(std::int64_t points) {
    // Squares modulo 2 n, from one to the next: they may be larger than any integer.
    std::int64_t square = 0;
    for (std::int64_t j = 0; j < points; ++j) {
      chirp.push_back(root_of_unity(square, 2 * points));
      square = (square + 2 * j + 1) % (2 * points);
    }
    const std::int64_t length = radices.length;
    std::vector<double> memory(static_cast<std::size_t>(4 * length));
    const Planes<double> from = planes_at(memory.data(), length), to = planes_at(memory.data() + 2 * length, length);
    for (std::int64_t j = 0; j < points; ++j) {
      const auto factor = std::conj(chirp[static_cast<std::size_t>(j)]) / static_cast<double>(length);
      for (const std::int64_t at : {j, (length - j) % length}) from.re[at] = factor.real(), from.im[at] = factor.imag();
    }
    const std::vector<Kokkos::complex<double>> own_roots(roots.begin(), roots.end());
    const Planes<double> made =
        transform_lanes<double, 1>(OneThread(), radices, row_pointer(own_roots.data(), 0, length), from, to);
    for (std::int64_t k = 0; k < length; ++k) filter.emplace_back(made.re[k], made.im[k]);
  }
};

}  // namespace steelyard::fft2d
