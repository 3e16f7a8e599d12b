#pragma once

#include <Kokkos_Complex.hpp>
#include <complex>
#include <cstdint>
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
      middle = middle + times(sums[j], root.real());
      side = side - times(differences[j], root.imag());
    }
    x[k] = middle + side;
    x[radix - k] = middle - side;
  }
  x[0] = all;
}

/// exp(-2 pi i k / n), to the last bit or the one before: sine and cosine are taken of angles up to pi / 4 only.
/// @param k 0 to n - 1
std::complex<double> root_of_unity(std::int64_t k, std::int64_t n);

/// How Steelyard's own kernel transforms rows of one length: the steps, and the numbers that it multiplies with.
/// A length whose prime factors are all at most largest_radix is transformed step by step (Stockham). Others become a
/// convolution of a longer one that is (Bluestein): x_j c_j is transformed, multiplied with `filter`, transformed back,
/// and multiplied with c_k, where c_j = exp(-pi i j^2 / n).
struct TransformPlan {
  std::int64_t points = 1;                   ///< of a row
  std::int64_t transform_length = 1;         ///< what is transformed step by step
  std::vector<int> radices;                  ///< their product is the transform's length
  std::vector<std::complex<double>> roots;   ///< exp(-2 pi i k / length)
  std::vector<std::complex<double>> chirp;   ///< c_j; empty where there is no convolution
  std::vector<std::complex<double>> filter;  ///< spectrum of conj(c), divided by the length

  bool convolves() const { return !chirp.empty(); }
};

TransformPlan plan_transform(std::int64_t points);

/// Real and imaginary parts of rows in the layout of the transform: point j of all lanes, then point j + 1.
template <class Scalar>
struct Planes {
  RowPointer<Scalar> re = nullptr, im = nullptr;

  /// Exchanging the two before and after a forward transform makes it the inverse one.
  KOKKOS_FUNCTION Planes swapped() const { return {im, re}; }
};

/// Two planes of so many elements, one behind the other.
template <class Scalar>
KOKKOS_FORCEINLINE_FUNCTION Planes<Scalar> planes_at(Scalar* const memory, const std::int64_t elements) {
  return {row_pointer(memory, 0, elements), row_pointer(memory + elements, 0, elements)};
}

/// The steps of a plan, as a kernel takes them along.
template <class Scalar>
struct Steps {
  static constexpr int most = 64;
  std::int64_t length = 1;
  int count = 0;
  int radices[most] = {};
  RowPointer<const Kokkos::complex<Scalar>> roots = nullptr;  ///< in the unit's memory

  void set(const TransformPlan& plan, const RowPointer<const Kokkos::complex<Scalar>> table) {
    length = plan.transform_length;
    count = static_cast<int>(plan.radices.size());
    for (int i = 0; i < count; ++i) radices[i] = plan.radices[static_cast<std::size_t>(i)];
    roots = table;
  }
};

/// Shares out a team's work: loops for a thread that is alone.
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

/// The same for the threads of a device's team, each of them with `Lanes` vector lanes.
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
  static constexpr int pack_bytes = sizeof(Pack), scalar_bytes = sizeof(Scalar);
  static constexpr int width = pack_bytes / scalar_bytes;
  static constexpr int packs = Lanes / width;

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
      for (int k = 1; k < count; ++k) store(target + beside * k, turned_by(x[k], roots[p * k * done]));
    }
  }

  template <int R, class Team>
  KOKKOS_FORCEINLINE_FUNCTION void run(const Team& team, int radix) const {
    team.over(length / done / radix, done * packs,
              [&](std::int64_t p, std::int64_t q) { combine<R>(radix, p, q * width); });
  }
};

/// Transforms all lanes forward, step by step between two places; returns the one with the result.
/// @tparam Pack what a thread takes at once @tparam Lanes rows side by side
/// @param team over() shares out work, wait() waits for all of it
template <class Pack, int Lanes, class Team, class Scalar>
KOKKOS_INLINE_FUNCTION Planes<Scalar> transform_lanes(const Team& team, const Steps<Scalar>& steps, Planes<Scalar> from,
                                                      Planes<Scalar> to) {
  std::int64_t done = 1;
  for (int i = 0; i < steps.count; ++i) {
    const int radix = steps.radices[i];
    const Step<Pack, Lanes, Scalar> step{from, to, steps.roots, steps.length, done};
    if (radix == 2) {
      step.template run<2>(team, radix);
    } else if (radix == 3) {
      step.template run<3>(team, radix);
    } else if (radix == 4) {
      step.template run<4>(team, radix);
    } else if (radix == 5) {
      step.template run<5>(team, radix);
    } else if (radix == 8) {
      step.template run<8>(team, radix);
    } else {
      step.template run<0>(team, radix);
    }
    team.wait();
    done *= radix;
    const Planes<Scalar> result = to;
    to = from;
    from = result;
  }
  return from;
}

}  // namespace steelyard::fft2d
