#pragma once

#include <cstdint>
#include <map>
#include <span>

#include "core/device_fft.hpp"
#include "core/matrix_copy.hpp"
#include "miniapps/fft2d/checked_row_pass.hpp"
#include "miniapps/fft2d/device_store.hpp"

namespace steelyard::fft2d {

/// Rows by the device's own library: pieces are copied into a matrix in the device's memory, transformed there in
/// place, and stored from there; what goes to host memory by way of a second matrix, in which every piece is
/// contiguous.
template <class Execution, class Scalar>
class DeviceRowPass : public CheckedRowPass<Scalar> {
 public:
  static_assert(!runs_on_host<Execution>);
  using typename CheckedRowPass<Scalar>::Complex;

  DeviceRowPass(const Execution& space, const RowTransformation& transformation, std::int64_t rows)
      : CheckedRowPass<Scalar>(transformation, rows),
        space_(space),
        pitch_(transformation.stored()),
        matrix_(allocated(rows)) {
    if (rows > 0) plan_for(rows);
  }

 protected:
  void transform(std::int64_t first, std::int64_t count, std::span<const RowPiece<Complex>> in,
                 std::span<const StoredPiece<Complex>> out) override {
    transform_rows(first, count, in, out, matrix_.data(), pitch_);
  }
  void transform(std::int64_t first, std::int64_t count, std::span<const RowPiece<Scalar>> in,
                 std::span<const StoredPiece<Complex>> out) override {
    transform_rows(first, count, in, out, reinterpret_cast<Scalar*>(matrix_.data()), 2 * pitch_);
  }

 private:
  using Memory = Kokkos::View<Complex*, DeviceOf<Execution>>;

  Memory allocated(std::int64_t rows) const {
    return Memory(Kokkos::view_alloc(space_, Kokkos::WithoutInitializing, "steelyard::fft2d::matrix"),
                  static_cast<std::size_t>(rows * pitch_));
  }

  /// Plans are for a number of rows; there are few different ones.
  const DeviceFft<Scalar>& plan_for(std::int64_t count) {
    const auto found = plans_.find(count);
    if (found != plans_.end()) return found->second;
    const RowTransformation& what = this->transformation();
    const DeviceFftRows rows{what.length, count, pitch_, what.direction == Direction::inverse, what.real};
    return plans_.emplace(count, DeviceFft<Scalar>(space_, rows)).first->second;
  }

  template <class Element>
  void transform_rows(std::int64_t first, std::int64_t count, std::span<const RowPiece<Element>> in,
                      std::span<const StoredPiece<Complex>> out, Element* matrix, std::int64_t pitch) {
    const DeviceFft<Scalar>& plan = plan_for(count);
    for (const RowPiece<Element>& piece : in) {
      const Element* const from = piece.data + first * piece.pitch;
      if (piece.home == Home::host) {
        copy_matrix_from_host<Execution, Element>(space_,
                                                  matrix_at<Execution>(matrix + piece.first, count, piece.count, pitch),
                                                  matrix_at<HostExecution>(from, count, piece.count, piece.pitch));
      } else {
        ScaledCopy<Execution, Element, Scalar>{from,  piece.pitch, count, piece.count, matrix + piece.first,
                                               pitch, Scalar(1)}
            .launch(space_);
      }
    }
    plan.run(matrix_.data());
    for (const StoredPiece<Complex>& piece : out) store(piece, first, count);
    space_.fence();
  }

  void store(const StoredPiece<Complex>& piece, std::int64_t first, std::int64_t count) {
    const bool transpose = this->transformation().transpose;
    // As the piece lies where it is stored.
    const std::int64_t rows = transpose ? piece.count : count, columns = transpose ? count : piece.count;
    Complex* const end = piece.data + (transpose ? first : first * piece.pitch);
    if (piece.home == Home::unit) {
      store_here(piece, count, end, piece.pitch);
      return;
    }
    if (leaving_.extent(0) == 0) leaving_ = allocated(this->most_rows());
    Complex* const leaving = leaving_.data() + piece.first * count;
    store_here(piece, count, leaving, columns);
    copy_matrix_to_host<Execution, Complex>(
        space_, matrix_at<HostExecution>(end, rows, columns, piece.pitch),
        matrix_at<Execution>(static_cast<const Complex*>(leaving), rows, columns, columns));
  }

  void store_here(const StoredPiece<Complex>& piece, std::int64_t count, Complex* to, std::int64_t to_pitch) const {
    const Complex* const from = matrix_.data() + piece.first;
    const auto scale = static_cast<Scalar>(this->transformation().scale);
    if (this->transformation().transpose) {
      TiledTranspose<Execution, Scalar>{from, pitch_, count, piece.count, to, to_pitch, scale}.launch(space_);
    } else {
      ScaledCopy<Execution, Complex, Scalar>{from, pitch_, count, piece.count, to, to_pitch, scale}.launch(space_);
    }
  }

  Execution space_;
  std::int64_t pitch_;
  Memory matrix_;
  Memory leaving_;
  std::map<std::int64_t, DeviceFft<Scalar>> plans_;
};

}  // namespace steelyard::fft2d
