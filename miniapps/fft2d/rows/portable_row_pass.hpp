#pragma once

#include <algorithm>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <span>
#include <vector>

#include "core/host_copy.hpp"
#include "core/spaces.hpp"
#include "core/untouched_array.hpp"
#include "miniapps/fft2d/rows/portable_rows.hpp"
#include "miniapps/fft2d/rows/row_pass.hpp"
#include "miniapps/fft2d/rows/stockham.hpp"

namespace steelyard::fft2d {

/// Pieces as a device's kernel reads them; the memory is kept from run to run.
template <class Execution>
class PieceTable {
 public:
  /// On the space's queue, which the caller fences before the next call.
  template <class Piece>
  const Piece* hold(const Execution& space, std::span<const Piece> pieces) {
    const std::size_t bytes = pieces.size_bytes();
    if (bytes > own_.size()) {
      staged_ =
          decltype(staged_)(Kokkos::view_alloc(Kokkos::WithoutInitializing, "steelyard::fft2d::staged_pieces"), bytes);
      own_ = decltype(own_)(Kokkos::view_alloc(space, Kokkos::WithoutInitializing, "steelyard::fft2d::pieces"), bytes);
    }
    std::memcpy(staged_.data(), pieces.data(), bytes);
    copy_from_host(space, own_.data(), static_cast<const unsigned char*>(staged_.data()), bytes);
    return reinterpret_cast<const Piece*>(own_.data());
  }

 private:
  Kokkos::View<unsigned char*, PinnedMemory> staged_;
  Kokkos::View<unsigned char*, DeviceOf<Execution>> own_;
};

/// Rows by Steelyard's own kernel, on any execution space: see TransformPlan and PortableRows.
template <class Execution, class Element>
class PortableRowPass : public RowPass<Element> {
 public:
  using typename RowPass<Element>::Scalar;
  using typename RowPass<Element>::Complex;
  using typename RowPass<Element>::In;
  using typename RowPass<Element>::Out;
  using Shape = LaneShape<Execution, Scalar>;

  PortableRowPass(const Execution& space, const RowTransformation& transformation, std::int64_t rows)
      : RowPass<Element>(transformation, rows),
        space_(space),
        plan_(plan_transform(transformation.length)),
        roots_(to_unit(plan_.roots)),
        chirp_(to_unit(plan_.chirp)),
        filter_(to_unit(plan_.filter)),
        plane_(Rows::plane_size(plan_.transform_length)) {
    steps_.set(plan_, roots_.data());
    const std::int64_t batches = rows / Shape::lanes + 2;
    const std::int64_t scratch_bytes = 4 * plane_ * static_cast<std::int64_t>(sizeof(Scalar)) + 64;
    in_scratch_ = scratch_bytes <= Shape::most_scratch_bytes();
    most_teams_ = std::min(batches, in_scratch_ ? std::numeric_limits<int>::max() : teams_at_once());
    if (in_scratch_) return;
    work_ = Kokkos::View<Scalar*, DeviceOf<Execution>>(
        Kokkos::view_alloc(space_, Kokkos::WithoutInitializing, "steelyard::fft2d::work"),
        static_cast<std::size_t>(most_teams_ * 4 * plane_));
  }

 protected:
  void transform(std::int64_t first, std::int64_t count, In in, Out out) override {
    const RowTransformation& what = this->transformation();
    const std::int64_t stored_bytes = count * this->stored() * static_cast<std::int64_t>(sizeof(Complex));
    Rows rows{steps_,
              plan_.convolves() ? chirp_.data() : nullptr,
              filter_.data(),
              what.length,
              what.direction == Direction::inverse,
              what.transpose,
              static_cast<Scalar>(what.scale),
              stored_bytes > teams_at_once() * streamed_bytes_per_thread,
              in.data(),
              static_cast<std::int64_t>(in.size()),
              out.data(),
              static_cast<std::int64_t>(out.size()),
              first,
              first + count,
              in_scratch_ ? nullptr : work_.data(),
              plane_};
    if constexpr (!Shape::on_host) {
      rows.in = in_pieces_.hold(space_, in);
      rows.out = out_pieces_.hold(space_, out);
    }
    const std::int64_t batches = (first + count + Shape::lanes - 1) / Shape::lanes - first / Shape::lanes;
    Kokkos::TeamPolicy<Execution> policy(space_, static_cast<int>(std::min(batches, most_teams_)), Shape::team_size,
                                         Shape::vector_length);
    if (in_scratch_) policy.set_scratch_size(0, Kokkos::PerTeam(rows.scratch_bytes()));
    Kokkos::parallel_for("steelyard::fft2d::rows", policy, rows);
    space_.fence();
  }

 private:
  using Rows = PortableRows<Execution, Element>;
  using Table = Kokkos::View<Complex*, DeviceOf<Execution>>;

  std::int64_t teams_at_once() const {
    return Shape::on_host ? static_cast<std::int64_t>(space_.concurrency()) : std::int64_t{Shape::teams_at_once};
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
  PieceTable<Execution> in_pieces_, out_pieces_;  ///< empty on a host
  bool in_scratch_ = false;
  std::int64_t most_teams_ = 0;
  Kokkos::View<Scalar*, DeviceOf<Execution>> work_;
};

}  // namespace steelyard::fft2d
