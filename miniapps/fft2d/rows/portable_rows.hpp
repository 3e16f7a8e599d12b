#pragma once

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "core/device/device.hpp"
#include "core/memory/host_copy.hpp"
#include "core/memory/untouched_array.hpp"
#include "core/spaces.hpp"
#include "miniapps/fft2d/rows/row_pass.hpp"
#include "miniapps/fft2d/rows/stockham.hpp"

namespace steelyard::fft2d {

/// Numbers that a thread computes with at once: on a host several numbers, where the compiler has types for that.
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

/// Rows by Steelyard's own kernel, for HostRowPass and DeviceRowPass: takes `lanes` rows at a time, lays their equal
/// points side by side and transforms them, see TransformPlan. On a device a team does that, with rows of a matrix in
/// the device's memory.
template <class Execution, class Element>
class PortableRows {
 public:
  using Scalar = typename RowPass<Element>::Scalar;
  using Complex = Kokkos::complex<Scalar>;
  using Policy = Kokkos::TeamPolicy<Execution>;
  static constexpr bool on_host = runs_on_host<Execution>;
  static constexpr bool fetches_ahead = false;
  /// Rows side by side: two cache lines of points on a host, on a device what its memory moves at a time.
  static constexpr int lanes = (on_host ? 64 : 32) / static_cast<int>(sizeof(Scalar));

  /// Transformed rows. Point (i, j) is point j of row i of the batch.
  struct Points {
    Planes<Scalar> planes;
    Scalar scale;
    KOKKOS_FORCEINLINE_FUNCTION Complex operator()(std::int64_t i, std::int64_t j) const {
      return {scale * planes.re[j * lanes + i], scale * planes.im[j * lanes + i]};
    }
  };

  /// @param pitch, rows for run(): complex numbers from row to row, and the most rows that are transformed at a time
  PortableRows(const Execution& queue, const RowTransformation& what, std::int64_t pitch = 0, std::int64_t rows = 0)
      : points_(what.length),
        scale_(static_cast<Scalar>(what.scale)),
        inverse_(what.direction == Direction::inverse),
        pitch_(pitch) {
    const TransformPlan plan(points_);
    radices_ = plan.radices;
    roots_ = table(queue, plan.roots);
    chirp_ = table(queue, plan.chirp);
    filter_ = table(queue, plan.filter);
    // Planes do not begin at the same place in a cache.
    plane_ = radices_.length * lanes + static_cast<std::int64_t>(64 / sizeof(Scalar));
    constexpr std::int64_t most_scratch_bytes = 40 << 10, most_teams = 264;
    if (on_host || scratch_bytes() <= std::min(most_scratch_bytes, team_scratch_bytes(team_size))) return;
    teams_ = std::min(rows / lanes + 1, most_teams);
    work_ = Memory(Kokkos::view_alloc(queue, Kokkos::WithoutInitializing, "steelyard::fft2d::work"),
                   static_cast<std::size_t>(teams_ * scratch_points()));
  }

  std::int64_t batch_rows() const { return lanes; }
  /// Complex numbers that a thread of a host, or a device's team, works in: four planes.
  KOKKOS_FUNCTION std::int64_t scratch_points() const { return 2 * plane_; }

  /// Transforms rows [begin, end), at most `lanes`, on a host.
  Points transform(Complex* scratch, typename RowPass<Element>::In in, std::int64_t begin, std::int64_t end) const {
    const Planes<Scalar> loaded = first_planes(scratch);
    for (const RowPiece<Element>& piece : in) load(OneThread(), piece, begin, end - begin, loaded);
    return {transform(OneThread(), scratch), scale_};
  }

  /// Transforms the rows of a matrix in a device's memory, in place and unscaled, on the queue.
  void run(const Execution& queue, Complex* matrix, std::int64_t rows) {
    matrix_ = matrix;
    rows_ = rows;
    const std::int64_t batches = (rows + lanes - 1) / lanes;
    Policy policy(queue, static_cast<int>(teams_ > 0 ? std::min(batches, teams_) : batches), team_size, lanes);
    if (teams_ == 0) policy.set_scratch_size(0, Kokkos::PerTeam(scratch_bytes()));
    Kokkos::parallel_for("steelyard::fft2d::rows", policy, *this);
  }
  KOKKOS_FUNCTION void operator()(const typename Policy::member_type& member) const {
    Complex* const scratch = teams_ == 0 ? static_cast<Complex*>(member.team_scratch(0).get_shmem(scratch_bytes()))
                                         : work_.data() + member.league_rank() * scratch_points();
    const ManyThreads<typename Policy::member_type, lanes> team{member};
    constexpr std::int64_t parts = sizeof(Complex) / sizeof(Element);
    const RowPiece<Element> piece{reinterpret_cast<Element*>(matrix_), parts * pitch_, 0, points_};
    for (std::int64_t begin = member.league_rank() * lanes; begin < rows_; begin += member.league_size() * lanes) {
      const std::int64_t count = Kokkos::min<std::int64_t>(rows_ - begin, lanes);
      load(team, piece, begin, count, first_planes(scratch));
      const Points points{transform(team, scratch), Scalar(1)};
      Complex* const to = matrix_ + begin * pitch_;
      const std::int64_t pitch = pitch_;
      team.over(parts == 1 ? points_ : points_ / 2 + 1, lanes, [&](const std::int64_t j, const std::int64_t lane) {
        if (lane < count) to[lane * pitch + j] = points(lane, j);
      });
      team.wait();
    }
  }

 private:
  using Pack = typename PackOf<Scalar, on_host>::Type;
  using Memory = Kokkos::View<Complex*, DeviceOf<Execution>>;
  using Table = Kokkos::View<const Complex*, DeviceOf<Execution>>;
  static constexpr int team_size = 256 / lanes;

  /// Numbers in this precision, in the unit's memory.
  static Table table(const Execution& space, const std::vector<std::complex<double>>& numbers) {
    const UntouchedArray<Complex, PinnedMemory> staged("steelyard::fft2d::staged", numbers.size());
    std::transform(numbers.begin(), numbers.end(), staged.data(), [](const std::complex<double>& x) {
      return Complex(static_cast<Scalar>(x.real()), static_cast<Scalar>(x.imag()));
    });
    const Memory own(Kokkos::view_alloc(space, Kokkos::WithoutInitializing, "steelyard::fft2d::table"), numbers.size());
    copy_from_host(space, own.data(), static_cast<const Complex*>(staged.data()), numbers.size());
    space.fence();
    return own;
  }

  KOKKOS_FUNCTION int scratch_bytes() const { return static_cast<int>(scratch_points() * sizeof(Complex)) + 64; }
  /// Where rows are loaded to. An inverse transform is a forward one with real and imaginary parts exchanged.
  KOKKOS_FUNCTION Planes<Scalar> first_planes(Complex* scratch) const {
    const Planes<Scalar> planes = planes_at(reinterpret_cast<Scalar*>(scratch), plane_);
    return inverse_ ? planes.swapped() : planes;
  }

  template <class Team>
  KOKKOS_INLINE_FUNCTION static void load(const Team& team, const RowPiece<Element>& piece, std::int64_t begin,
                                          std::int64_t rows, const Planes<Scalar>& to) {
    const Element* const from = piece.data + begin * piece.pitch;
    const std::int64_t pitch = piece.pitch, first = piece.first;
    team.over(piece.count, lanes, [&](const std::int64_t j, const std::int64_t lane) {
      const std::int64_t place = (first + j) * lanes + lane;
      // Lanes without a row: numbers that slow no processor down.
      const Element element = lane < rows ? from[lane * pitch + j] : Element(0);
      if constexpr (std::is_same_v<Element, Complex>) {
        to.re[place] = element.real();
        to.im[place] = element.imag();
      } else {
        to.re[place] = element;
        to.im[place] = Scalar(0);
      }
    });
  }

  /// Transforms the rows that are loaded.
  template <class Team>
  KOKKOS_INLINE_FUNCTION Planes<Scalar> transform(const Team& team, Complex* scratch) const {
    auto* const memory = reinterpret_cast<Scalar*>(scratch);
    const Planes<Scalar> a = planes_at(memory, plane_), b = planes_at(memory + 2 * plane_, plane_);
    const RowPointer<const Complex> roots = elements_of(roots_), chirp = elements_of(chirp_);
    const std::int64_t length = radices_.length;
    const bool convolves = length != points_;
    team.wait();
    if (convolves) multiply(team, a, chirp, points_, length);
    Planes<Scalar> x = transform_lanes<Pack, lanes>(team, radices_, roots, a, b);
    if (convolves) {
      // From the spectrum of what was multiplied by the chirp to the spectrum of the row.
      multiply(team, x, elements_of(filter_), length, length);
      const Planes<Scalar> other = x.re == a.re ? b : a;
      x = transform_lanes<Pack, lanes>(team, radices_, roots, x.swapped(), other.swapped()).swapped();
      multiply(team, x, chirp, points_, points_);
    }
    return inverse_ ? x.swapped() : x;
  }

  /// Multiplies `count` points by factors, and sets those behind them up to `end` to zero.
  template <class Team>
  KOKKOS_INLINE_FUNCTION static void multiply(const Team& team, const Planes<Scalar>& x,
                                              const RowPointer<const Complex> factors, std::int64_t count,
                                              std::int64_t end) {
    team.over(end, lanes, [&](const std::int64_t j, const std::int64_t lane) {
      const std::int64_t place = j * lanes + lane;
      const Pair<Scalar> zero{Scalar(0), Scalar(0)};
      const Pair<Scalar> made = j < count ? Pair<Scalar>{x.re[place], x.im[place]} * factors[j] : zero;
      x.re[place] = made.re;
      x.im[place] = made.im;
    });
    team.wait();
  }

  Radices radices_;
  Table roots_, chirp_, filter_;  ///< as of TransformPlan
  std::int64_t points_;           ///< of a row
  std::int64_t plane_ = 0;        ///< numbers of a plane
  Scalar scale_;
  bool inverse_;
  // Of run().
  Complex* matrix_ = nullptr;
  std::int64_t rows_ = 0, pitch_;
  std::int64_t teams_ = 0;  ///< that have memory to work in; 0 where it is scratch memory
  Memory work_;
};

}  // namespace steelyard::fft2d
