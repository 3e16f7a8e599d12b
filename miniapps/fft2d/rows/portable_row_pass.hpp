#pragma once

#include <Kokkos_Complex.hpp>
#include <algorithm>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <type_traits>
#include <vector>

#include "core/device/device.hpp"
#include "core/memory/host_copy.hpp"
#include "core/memory/untouched_array.hpp"
#include "core/spaces.hpp"
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

/// The kernel of a pass: takes `lanes` rows, lays their equal points side by side, transforms them step by step and
/// stores them, `lanes` points of a column at a time. A device reads and writes host memory where it lies.
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
  RowPointer<const Complex> chirp;  ///< null where there is no convolution; as TransformPlan's
  RowPointer<const Complex> filter;
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

  Scalar* work;  ///< for every team of a device its planes; null where they are in scratch memory
  std::int64_t plane;

  KOKKOS_FUNCTION int scratch_bytes() const { return static_cast<int>(4 * plane * sizeof(Scalar)) + 64; }

  /// What a device's team does: batches begin at multiples of the lanes.
  KOKKOS_FUNCTION void operator()(const Member& member) const {
    Scalar* const memory = work == nullptr ? static_cast<Scalar*>(member.team_scratch(0).get_shmem(scratch_bytes()))
                                           : work + member.league_rank() * 4 * plane;
    const ManyThreads<Member, lanes> team{member};
    const std::int64_t first_batch = first_row / lanes, end_batch = (end_row + lanes - 1) / lanes;
    for (std::int64_t batch = first_batch + member.league_rank(); batch < end_batch; batch += member.league_size()) {
      const std::int64_t begin = batch * lanes < first_row ? first_row : batch * lanes;
      const int rows = static_cast<int>((end_row < (batch + 1) * lanes ? end_row : (batch + 1) * lanes) - begin);
      const Planes<Scalar> result = transform(team, begin, rows, memory);
      for (std::int64_t i = 0; i < out_pieces; ++i) store(team, out[i], begin, rows, result);
      team.wait();
    }
  }

  /// What a thread of a host does. @param memory four planes
  void transform_batch(Scalar* memory, std::int64_t begin, int rows) const {
    const Planes<Scalar> result = transform(OneThread(), begin, rows, memory);
    for (std::int64_t i = 0; i < out_pieces; ++i) {
      transpose ? store_columns(out[i], begin, rows, result) : store(OneThread(), out[i], begin, rows, result);
    }
  }

 private:
  /// The transform is a forward one with real and imaginary parts exchanged before and after where it is inverse.
  template <class Team>
  KOKKOS_INLINE_FUNCTION Planes<Scalar> transform(const Team& team, std::int64_t begin, int rows,
                                                  Scalar* memory) const {
    const Planes<Scalar> a = planes_at(memory, plane), b = planes_at(memory + 2 * plane, plane);
    load(team, begin, rows, inverse ? a.swapped() : a);
    team.wait();
    if (chirp != nullptr) {
      multiply(team, a, chirp, points, steps.length);
      team.wait();
    }
    Planes<Scalar> result = transform_lanes<Pack, lanes>(team, steps, a, b);
    if (chirp != nullptr) result = convolve(team, result, result.re == a.re ? b : a);
    return inverse ? result.swapped() : result;
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
  KOKKOS_INLINE_FUNCTION void multiply(const Team& team, const Planes<Scalar>& x,
                                       const RowPointer<const Complex> factors, std::int64_t count,
                                       std::int64_t end) const {
    team.over(end, lanes, [&](const std::int64_t j, const std::int64_t lane) {
      const std::int64_t place = j * lanes + lane;
      const Pair<Scalar> zero{Scalar(0), Scalar(0)};
      const Pair<Scalar> made = j < count ? turned_by(Pair<Scalar>{x.re[place], x.im[place]}, factors[j]) : zero;
      x.re[place] = made.re;
      x.im[place] = made.im;
    });
  }

  template <class Team>
  KOKKOS_INLINE_FUNCTION void store(const Team& team, const StoredPiece<Complex> piece, std::int64_t begin, int rows,
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

  /// Transposed.
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

/// Rows by Steelyard's own kernel, on any execution space: see TransformPlan and PortableRows. Threads of a host take
/// batches of rows, each into planes of its own.
template <class Execution, class Element>
class PortableRowPass : public RowPass<Element> {
 public:
  using typename RowPass<Element>::Scalar;
  using typename RowPass<Element>::Complex;
  using typename RowPass<Element>::In;
  using typename RowPass<Element>::Out;
  using Shape = LaneShape<Execution, Scalar>;

  PortableRowPass(const RowTransformation& transformation, std::int64_t rows)
      : RowPass<Element>(transformation, rows),
        plan_(plan_transform(transformation.length)),
        roots_(to_unit(plan_.roots)),
        chirp_(to_unit(plan_.chirp)),
        filter_(to_unit(plan_.filter)),
        plane_(Rows::plane_size(plan_.transform_length)) {
    steps_.set(plan_, elements_of(roots_));
    const std::int64_t scratch_bytes = 4 * plane_ * static_cast<std::int64_t>(sizeof(Scalar)) + 64;
    if (scratch_bytes <= Shape::most_scratch_bytes()) return;
    most_teams_ = Shape::on_host ? static_cast<std::int64_t>(space_.concurrency())
                                 : std::min<std::int64_t>(rows / Shape::lanes + 2, Shape::teams_at_once);
    work_ = Kokkos::View<Scalar*, DeviceOf<Execution>>(
        Kokkos::view_alloc(space_, Kokkos::WithoutInitializing, "steelyard::fft2d::work"),
        static_cast<std::size_t>(most_teams_ * 4 * plane_));
  }

 protected:
  void transform(std::int64_t first, std::int64_t count, In in, Out out) override {
    const RowTransformation& what = this->transformation();
    const std::int64_t stored_bytes = count * this->stored() * static_cast<std::int64_t>(sizeof(Complex));
    Rows rows{steps_,
              plan_.convolves() ? elements_of(chirp_) : nullptr,
              elements_of(filter_),
              what.length,
              what.direction == Direction::inverse,
              what.transpose,
              static_cast<Scalar>(what.scale),
              stored_bytes > most_teams_ * streamed_bytes_per_thread,
              in.data(),
              static_cast<std::int64_t>(in.size()),
              out.data(),
              static_cast<std::int64_t>(out.size()),
              first,
              first + count,
              work_.data(),
              plane_};
    if constexpr (Shape::on_host) {
      for_each_batch(space_, first, first + count, Shape::lanes,
                     [&](std::int64_t thread, std::int64_t begin, std::int64_t end) {
                       rows.transform_batch(work_.data() + thread * 4 * plane_, begin, static_cast<int>(end - begin));
                     });
    } else {
      rows.in = pinned(in_pieces_, in);
      rows.out = pinned(out_pieces_, out);
      const std::int64_t batches = (first + count + Shape::lanes - 1) / Shape::lanes - first / Shape::lanes;
      Kokkos::TeamPolicy<Execution> policy(space_, static_cast<int>(std::min(batches, most_teams_)), Shape::team_size,
                                           Shape::vector_length);
      if (rows.work == nullptr) policy.set_scratch_size(0, Kokkos::PerTeam(rows.scratch_bytes()));
      Kokkos::parallel_for("steelyard::fft2d::rows", policy, rows);
      space_.fence();
    }
  }

 private:
  using Rows = PortableRows<Execution, Element>;
  using Table = Kokkos::View<Complex*, DeviceOf<Execution>>;

  template <class Piece>
  using PinnedPieces = Kokkos::View<Piece*, PinnedMemory>;

  /// A copy where a device's kernel can read it; the memory is kept from run to run.
  template <class Piece>
  static const Piece* pinned(PinnedPieces<Piece>& memory, std::span<const Piece> pieces) {
    if (pieces.size() > memory.extent(0)) {
      memory = PinnedPieces<Piece>(Kokkos::view_alloc(Kokkos::WithoutInitializing, "steelyard::fft2d::pieces"),
                                   pieces.size());
    }
    std::copy(pieces.begin(), pieces.end(), memory.data());
    return memory.data();
  }

  /// In this precision, in the unit's memory.
  Table to_unit(const std::vector<std::complex<double>>& numbers) const {
    const UntouchedArray<Complex, PinnedMemory> staged("steelyard::fft2d::staged", numbers.size());
    std::transform(numbers.begin(), numbers.end(), staged.data(), [](const std::complex<double>& x) {
      return Complex(static_cast<Scalar>(x.real()), static_cast<Scalar>(x.imag()));
    });
    Table own(Kokkos::view_alloc(space_, Kokkos::WithoutInitializing, "steelyard::fft2d::table"), numbers.size());
    copy_from_host(space_, own.data(), static_cast<const Complex*>(staged.data()), numbers.size());
    space_.fence();
    return own;
  }

  Execution space_;
  TransformPlan plan_;
  Table roots_;
  Table chirp_;
  Table filter_;
  std::int64_t plane_;
  Steps<Scalar> steps_;
  PinnedPieces<RowPiece<Element>> in_pieces_;  ///< empty on a host
  PinnedPieces<StoredPiece<Complex>> out_pieces_;
  std::int64_t most_teams_ = std::numeric_limits<int>::max();  ///< that may run at a time, or a host's threads
  Kokkos::View<Scalar*, DeviceOf<Execution>> work_;  ///< empty where a team's planes fit into its scratch memory
};

}  // namespace steelyard::fft2d
