#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "core/spaces.hpp"

// How kernels get at the elements of a row, or of a table: by a pointer. Where Kokkos checks bounds
// (STEELYARD_CHECK_BOUNDS, preset debug) it knows which elements there are, and ends the program at any other one.

namespace steelyard {

#if defined(KOKKOS_ENABLE_DEBUG_BOUNDS_CHECK)

/// Ends the program with a message unless begin <= index < end.
KOKKOS_INLINE_FUNCTION void require_index(const char* message, const std::int64_t index, const std::int64_t begin,
                                          const std::int64_t end) {
  if (index < begin || index >= end) Kokkos::abort(message);
}

template <class Element>
class RowPointer {
 public:
  RowPointer() = default;
  KOKKOS_FUNCTION RowPointer(std::nullptr_t) {}
  KOKKOS_FUNCTION RowPointer(Element* origin, std::int64_t begin, std::int64_t end)
      : origin_(origin), begin_(begin), end_(end) {}
  KOKKOS_FUNCTION operator RowPointer<const Element>() const requires(!std::is_const_v<Element>) {
    return {origin_, begin_, end_};
  }

  KOKKOS_FUNCTION Element& operator[](const std::int64_t i) const {
    require_index("steelyard: an element that the row does not have", i, begin_, end_);
    return origin_[i];
  }
  /// Element 0 is `at`.
  KOKKOS_FUNCTION RowPointer operator+(const std::int64_t at) const { return {origin_ + at, begin_ - at, end_ - at}; }
  /// Elements begin to end - 1 of a row, as they are counted from its element `at`, as far as there are any.
  KOKKOS_FUNCTION friend RowPointer part_of_row(const RowPointer& whole, const std::int64_t at,
                                                const std::int64_t begin, const std::int64_t end) {
    const RowPointer row = whole + at;
    return {row.origin_, begin > row.begin_ ? begin : row.begin_, end < row.end_ ? end : row.end_};
  }
  KOKKOS_FUNCTION friend bool operator==(const RowPointer& a, const RowPointer& b) { return a.origin_ == b.origin_; }

 private:
  Element* origin_ = nullptr;
  std::int64_t begin_ = 0;
  std::int64_t end_ = 0;
};

/// Elements begin to end - 1, as they are counted from `origin`.
template <class Element>
KOKKOS_INLINE_FUNCTION RowPointer<Element> row_pointer(Element* origin, std::int64_t begin, std::int64_t end) {
  return {origin, begin, end};
}

#else

template <class Element>
using RowPointer = Element*;

template <class Element>
KOKKOS_FORCEINLINE_FUNCTION Element* row_pointer(Element* origin, std::int64_t /*begin*/, std::int64_t /*end*/) {
  return origin;
}
template <class Element>
KOKKOS_FORCEINLINE_FUNCTION Element* part_of_row(Element* row, std::int64_t at, std::int64_t /*begin*/,
                                                 std::int64_t /*end*/) {
  return row + at;
}

#endif

/// Row i of a matrix.
template <class Matrix>
KOKKOS_FORCEINLINE_FUNCTION auto row_of(const Matrix& matrix, const std::int64_t i) {
  return row_pointer(&matrix(i, 0), 0, static_cast<std::int64_t>(matrix.extent(1)));
}
/// A vector's elements.
template <class Vector>
KOKKOS_FORCEINLINE_FUNCTION auto elements_of(const Vector& vector) {
  return row_pointer(vector.data(), 0, static_cast<std::int64_t>(vector.extent(0)));
}

}  // namespace steelyard
