#pragma once

#include <cstdint>

#include "core/spaces.hpp"
#include "core/sweep/row_pointer.hpp"

namespace steelyard {

/// A column of the grid in a sweep's body, where it is its index. A uniform grid's coefficients are the same in all
/// columns but the first and the last one. Sweeps on the host say so of whole loops, in which compilers take `is_inner`
/// for the constant that it is there: what is the same everywhere is then not read again and again.
class Column {
 public:
  KOKKOS_FORCEINLINE_FUNCTION Column(const std::int64_t index, const bool is_inner = false)
      : index_(index), is_inner_(is_inner) {}

  KOKKOS_FORCEINLINE_FUNCTION operator std::int64_t() const { return index_; }
  /// Neither the first nor the last column; false as well where the caller has not checked.
  KOKKOS_FORCEINLINE_FUNCTION bool is_inner() const { return is_inner_; }

 private:
  std::int64_t index_;
  bool is_inner_;
};

/// Coefficients by column, the same ones in all inner columns.
struct ColumnValues {
  RowPointer<const double> all = nullptr;
  double inner = 0.0;

  KOKKOS_FORCEINLINE_FUNCTION double operator()(const Column i) const { return i.is_inner() ? inner : all[i]; }
};

/// Coefficients by column face, of which face i is on the left of column i: the same ones on both sides of all inner
/// columns.
struct ColumnFaces {
  RowPointer<const double> all = nullptr;
  double inner = 0.0;

  KOKKOS_FORCEINLINE_FUNCTION double left(const Column i) const { return i.is_inner() ? inner : all[i]; }
  KOKKOS_FORCEINLINE_FUNCTION double right(const Column i) const { return i.is_inner() ? inner : all[i + 1]; }
};

}  // namespace steelyard
