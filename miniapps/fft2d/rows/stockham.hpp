#pragma once

#include <Kokkos_Complex.hpp>
#include <complex>
#include <cstdint>
#include <vector>

#include "core/spaces.hpp"
#include "miniapps/fft2d/rows/butterflies.hpp"

namespace steelyard::fft2d {

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
  Scalar* re = nullptr;
  Scalar* im = nullptr;

  /// Exchanging the two before and after a forward transform makes it the inverse one.
  KOKKOS_FUNCTION Planes swapped() const { return {im, re}; }
};

/// The steps of a plan, as a kernel takes them along.
template <class Scalar>
struct Steps {
  static constexpr int most = 64;
  std::int64_t length = 1;
  int count = 0;
  int radices[most] = {};
  const Kokkos::complex<Scalar>* roots = nullptr;  ///< in the unit's memory

  void set(const TransformPlan& plan, const Kokkos::complex<Scalar>* table) {
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
  const Kokkos::complex<Scalar>* roots;
  std::int64_t length;
  std::int64_t done;

  KOKKOS_FORCEINLINE_FUNCTION Pair<Pack> load(std::int64_t place) const {
    return {*reinterpret_cast<const Pack*>(from.re + place), *reinterpret_cast<const Pack*>(from.im + place)};
  }
  KOKKOS_FORCEINLINE_FUNCTION void store(std::int64_t place, const Pair<Pack>& pair) const {
    *reinterpret_cast<Pack*>(to.re + place) = pair.re;
    *reinterpret_cast<Pack*>(to.im + place) = pair.im;
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
