#pragma once

#include <cstdint>
#include <span>

#include "miniapps/fft2d/row_pass.hpp"

namespace steelyard::fft2d {

/// A pass that has looked at what it was given; libraries do the rest.
template <class Scalar>
class CheckedRowPass : public RowPass<Scalar> {
 public:
  using typename RowPass<Scalar>::Complex;

  void run(std::int64_t first, std::int64_t count, std::span<const RowPiece<Complex>> in,
           std::span<const StoredPiece<Complex>> out) final;
  void run(std::int64_t first, std::int64_t count, std::span<const RowPiece<Scalar>> in,
           std::span<const StoredPiece<Complex>> out) final;

 protected:
  /// @throws InvalidArgument for a length < 1, rows < 0, or real and inverse
  CheckedRowPass(const RowTransformation& transformation, std::int64_t rows);

  const RowTransformation& transformation() const { return transformation_; }
  std::int64_t most_rows() const { return rows_; }

  /// At least one row; pieces as run() wants them, none of them empty.
  virtual void transform(std::int64_t first, std::int64_t count, std::span<const RowPiece<Complex>> in,
                         std::span<const StoredPiece<Complex>> out) = 0;
  virtual void transform(std::int64_t first, std::int64_t count, std::span<const RowPiece<Scalar>> in,
                         std::span<const StoredPiece<Complex>> out) = 0;

 private:
  template <class Element>
  void check(std::int64_t first, std::int64_t count, std::span<const RowPiece<Element>> in,
             std::span<const StoredPiece<Complex>> out) const;

  RowTransformation transformation_;
  std::int64_t rows_;
};

}  // namespace steelyard::fft2d
