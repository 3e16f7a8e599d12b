#pragma once

#include <Kokkos_Complex.hpp>
#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "core/device/device.hpp"
#include "miniapps/fft2d/rows/row_batch.hpp"
#include "miniapps/fft2d/rows/row_pass.hpp"
#include "miniapps/fft2d/rows/stockham.hpp"

namespace steelyard::fft2d {

/// What a thread computes with at once: on a host several numbers, where the compiler has types for that.
template <class Scalar, bool on_host>
struct PackOf {
  using Type = Scalar;
};
#if defined(STEELYARD_HAS_VECTOR_TYPES)
template <class Scalar>
struct PackOf<Scalar, true> {
  using Type [[gnu::vector_size(32), gnu::may_alias]] = Scalar;
};
#endif

/// How a back end shares out rows and their points: a team transforms `lanes` rows at a time, whose equal points lie
/// side by side.
template <class Execution, class Scalar>
struct LaneShape {
  static constexpr bool on_host = runs_on_host<Execution>;
  /// Points that are stored side by side: two cache lines on a host, on a device what its memory moves at a time.
  static constexpr int lanes = (on_host ? 64 : 32) / static_cast<int>(sizeof(Scalar));
  static constexpr int team_size = on_host ? 1 : 256 / lanes;
  static constexpr int vector_length = on_host ? 1 : lanes;
  /// Bytes that a team may have in scratch memory; longer rows go through memory of the unit. On a host that is cache.
  static std::int64_t most_scratch_bytes() {
    return on_host ? 0 : std::min<std::int64_t>(40 << 10, team_scratch_bytes(team_size));
  }
  /// Teams that have such memory at the same time, on a device.
  static constexpr int teams_at_once = 528;
};

/// The kernel of a pass: a team takes `lanes` rows, lays their equal points side by side, transforms them step by step
/// and stores them, `lanes` points of a column at a time. A device reads and writes host memory where it lies.
template <class Execution, class Element>
struct PortableRows {
  using Scalar = typename RowPass<Element>::Scalar;
  using Complex = Kokkos::complex<Scalar>;
  using Member = typename Kokkos::TeamPolicy<Execution>::member_type;
  using Shape = LaneShape<Execution, Scalar>;
  using Pack = typename PackOf<Scalar, Shape::on_host>::Type;
  static constexpr int lanes = Shape::lanes;

  /// Scalars of each of the four planes that a team works in.
  static std::int64_t plane_size(std::int64_t length) { return length * lanes + 64 / sizeof(Scalar); }

  Steps<Scalar> steps;
  const Complex* chirp;  ///< null where there is no convolution; as TransformPlan's
  const Complex* filter;
  std::int64_t points;
  bool inverse;
  bool transpose;
  Scalar scale;
  bool streamed;  ///< stores of a host go past its caches

  const RowPiece<Element>* in;
  std::int64_t in_pieces;
  const StoredPiece<Complex>* out;
  std::int64_t out_pieces;
  std::int64_t first_row;
  std::int64_t end_row;

  Scalar* work;  ///< for every team its planes; null where they are in scratch memory
  std::int64_t plane;

  KOKKOS_FUNCTION int scratch_bytes() const { return static_cast<int>(4 * plane * sizeof(Scalar)) + 64; }

  KOKKOS_FUNCTION void operator()(const Member& member) const {
    Scalar* const memory = work == nullptr ? static_cast<Scalar*>(member.team_scratch(0).get_shmem(scratch_bytes()))
                                           : work + member.league_rank() * 4 * plane;
    const Planes<Scalar> a{memory, memory + plane}, b{memory + 2 * plane, memory + 3 * plane};
    // Teams begin at multiples of the lanes, so that they store whole cache lines wherever they can.
    const std::int64_t first_batch = first_row / lanes, end_batch = (end_row + lanes - 1) / lanes;
    for (std::int64_t batch = first_batch + member.league_rank(); batch < end_batch; batch += member.league_size()) {
      const std::int64_t begin = greater(first_row, batch * lanes), end = lesser(end_row, (batch + 1) * lanes);
      if constexpr (Shape::on_host) {
        transform(OneThread(), begin, static_cast<int>(end - begin), a, b);
      } else {
        transform(ManyThreads<Member, lanes>{member}, begin, static_cast<int>(end - begin), a, b);
      }
    }
  }

 private:
  KOKKOS_INLINE_FUNCTION static std::int64_t lesser(std::int64_t a, std::int64_t b) { return a < b ? a : b; }
  KOKKOS_INLINE_FUNCTION static std::int64_t greater(std::int64_t a, std::int64_t b) { return a > b ? a : b; }

  /// The transform is a forward one with real and imaginary parts exchanged before and after where it is inverse.
  template <class Team>
  KOKKOS_INLINE_FUNCTION void transform(const Team& team, std::int64_t begin, int rows, const Planes<Scalar>& a,
                                        const Planes<Scalar>& b) const {
    load(team, begin, rows, inverse ? a.swapped() : a);
    team.wait();
    if (chirp != nullptr) {
      multiply(team, a, chirp, points, steps.length);
      team.wait();
    }
    Planes<Scalar> result = transform_lanes<Pack, lanes>(team, steps, a, b);
    if (chirp != nullptr) result = convolve(team, result, result.re == a.re ? b : a);
    if (inverse) result = result.swapped();
    for (std::int64_t i = 0; i < out_pieces; ++i) {
      if constexpr (Shape::on_host) {
        transpose ? store_columns(out[i], begin, rows, result) : store(team, out[i], begin, rows, result);
      } else {
        store(team, out[i], begin, rows, result);
      }
    }
    if constexpr (Shape::on_host) finish_streamed_stores();
    team.wait();
  }

  template <class Team>
  KOKKOS_INLINE_FUNCTION void load(const Team& team, std::int64_t begin, int rows, const Planes<Scalar>& to) const {
    for (std::int64_t i = 0; i < in_pieces; ++i) {
      const RowPiece<Element> piece = in[i];
      const Element* const from = piece.data + begin * piece.pitch;
      team.over(piece.count, lanes, [&](const std::int64_t j, const std::int64_t lane) {
        const std::int64_t place = (piece.first + j) * lanes + lane;
        // Lanes without a row: numbers that slow no processor down.
        const Element element = lane < rows ? from[lane * piece.pitch + j] : Element(0);
        if constexpr (std::is_same_v<Element, Complex>) {
          to.re[place] = element.real();
          to.im[place] = element.imag();
        } else {
          to.re[place] = element;
          to.im[place] = Scalar(0);
        }
      });
    }
  }

  /// From the spectrum of what was multiplied by the chirp to the spectrum of the row.
  template <class Team>
  KOKKOS_INLINE_FUNCTION Planes<Scalar> convolve(const Team& team, const Planes<Scalar>& x,
                                                 const Planes<Scalar>& free) const {
    multiply(team, x, filter, steps.length, steps.length);
    team.wait();
    const Planes<Scalar> back = transform_lanes<Pack, lanes>(team, steps, x.swapped(), free.swapped()).swapped();
    multiply(team, back, chirp, points, points);
    team.wait();
    return back;
  }

  /// Multiplies `count` points by factors, and sets those behind them up to `end` to zero.
  template <class Team>
  KOKKOS_INLINE_FUNCTION void multiply(const Team& team, const Planes<Scalar>& x, const Complex* factors,
                                       std::int64_t count, std::int64_t end) const {
    team.over(end, lanes, [&](const std::int64_t j, const std::int64_t lane) {
      const std::int64_t place = j * lanes + lane;
      const Pair<Scalar> zero{Scalar(0), Scalar(0)};
      const Pair<Scalar> made = j < count ? turned_by(Pair<Scalar>{x.re[place], x.im[place]}, factors[j]) : zero;
      x.re[place] = made.re;
      x.im[place] = made.im;
    });
  }

  template <class Team>
  KOKKOS_INLINE_FUNCTION void store(const Team& team, const StoredPiece<Complex>& piece, std::int64_t begin, int rows,
                                    const Planes<Scalar>& from) const {
    const std::int64_t row_pitch = transpose ? 1 : piece.pitch, column_pitch = transpose ? piece.pitch : 1;
    Complex* const to = piece.data + begin * row_pitch;
    const Scalar factor = scale;
    team.over(piece.count, lanes, [&](const std::int64_t j, const std::int64_t lane) {
      const std::int64_t place = (piece.first + j) * lanes + lane;
      if (lane < rows) {
        to[j * column_pitch + lane * row_pitch] = Complex(factor * from.re[place], factor * from.im[place]);
      }
    });
  }

  /// On a host, transposed.
  void store_columns(const StoredPiece<Complex>& piece, std::int64_t begin, int rows,
                     const Planes<Scalar>& from) const {
    for (std::int64_t j = 0; j < piece.count; ++j) {
      const std::int64_t place = (piece.first + j) * lanes;
      Complex* const to = piece.data + j * piece.pitch + begin;
      const auto point = [&](const std::int64_t lane) {
        return Complex(scale * from.re[place + lane], scale * from.im[place + lane]);
      };
      if (streamed) {
        store_points_streamed(to, rows, point, [] {});
      } else {
        for (int lane = 0; lane < rows; ++lane) to[lane] = point(lane);
      }
    }
  }
};

}  // namespace steelyard::fft2d
