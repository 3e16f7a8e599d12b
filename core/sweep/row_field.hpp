#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/memory/host_copy.hpp"
#include "core/memory/matrix.hpp"
#include "core/memory/untouched_array.hpp"
#include "core/spaces.hpp"
#include "core/sweep/row_pointer.hpp"

namespace steelyard {

/// Rows [begin, end) of a grid.
struct RowRange {
  std::int64_t begin = 0;
  std::int64_t end = 0;

  KOKKOS_INLINE_FUNCTION std::int64_t count() const { return end - begin; }
  KOKKOS_INLINE_FUNCTION bool empty() const { return end <= begin; }
};

/// Rows of a sweep, in two pieces: those beside a unit's neighbours are its first and its last.
struct RowPieces {
  RowRange first, second;

  KOKKOS_INLINE_FUNCTION std::int64_t count() const { return first.count() + second.count(); }
  KOKKOS_INLINE_FUNCTION std::int64_t operator[](std::int64_t n) const {
    return n < first.count() ? first.begin + n : second.begin + (n - first.count());
  }
};

/// Values of a field in a kernel: component c at row j and column i of the whole grid, as far as a unit holds them.
template <int Components>
class RowAccess {
 public:
  RowAccess() = default;
  /// @param origin where component 0 of row 0 and column 0 would be @param pitch elements of a component's row
  /// @param rows,columns that there are, ghosts included; `columns` begin with -1
  RowAccess(double* origin, std::int64_t pitch, [[maybe_unused]] RowRange rows, [[maybe_unused]] std::int64_t columns)
      : origin_(origin), pitch_(pitch) {
#if defined(KOKKOS_ENABLE_DEBUG_BOUNDS_CHECK)
    rows_ = rows;
    columns_ = columns;
#endif
  }

  KOKKOS_FORCEINLINE_FUNCTION double& operator()(const int c, const std::int64_t j, const std::int64_t i) const {
    require(c, j, i);
    return *place(c, j, i);
  }
  KOKKOS_FORCEINLINE_FUNCTION double& operator()(const std::int64_t j, const std::int64_t i) const {
    static_assert(Components == 1);
    return (*this)(0, j, i);
  }
  /// Where an element is, or would be.
  KOKKOS_FORCEINLINE_FUNCTION double* place(const int c, const std::int64_t j, const std::int64_t i) const {
    return origin_ + ((j * Components + c) * pitch_ + i);
  }
  /// Row j of a field of one component: [i] is column i.
  KOKKOS_FORCEINLINE_FUNCTION RowPointer<double> row(const std::int64_t j) const {
    static_assert(Components == 1);
    return bounded(&(*this)(j, 0));
  }

 private:
#if defined(KOKKOS_ENABLE_DEBUG_BOUNDS_CHECK)
  KOKKOS_FUNCTION void require(const int c, const std::int64_t j, const std::int64_t i) const {
    require_index("steelyard: a component that the field does not have", c, 0, Components);
    require_index("steelyard: a row that the unit does not hold", j, rows_.begin, rows_.end);
    require_index("steelyard: a column that the grid does not have", i, -1, columns_ - 1);
  }
  KOKKOS_FUNCTION RowPointer<double> bounded(double* row) const { return {row, -1, columns_ - 1}; }

  RowRange rows_;
  std::int64_t columns_ = 0;
#else
  KOKKOS_FORCEINLINE_FUNCTION void require(int, std::int64_t, std::int64_t) const {}
  KOKKOS_FORCEINLINE_FUNCTION double* bounded(double* row) const { return row; }
#endif
  double* origin_ = nullptr;
  std::int64_t pitch_ = 0;
};

namespace detail {

template <class Execution>
using RowPolicy = Kokkos::RangePolicy<Execution, Kokkos::Schedule<Kokkos::Static>, Kokkos::IndexType<std::int64_t>>;

/// Functor: fills with zeros, `count` elements each.
struct ZeroElements {
  RowPointer<double> data;
  std::int64_t count;

  KOKKOS_FUNCTION void operator()(const std::int64_t n) const {
    for (std::int64_t i = n * count; i < (n + 1) * count; ++i) data[i] = 0.0;
  }
};

}  // namespace detail

/// A unit's slice of a grid, in its memory: rows with all components one after the other, `ghost_rows` more rows before
/// and after the slice and at least one ghost column on either side. All is 0 at first, and beyond the grid for good.
template <class Execution, int Components = 1>
class RowField {
 public:
  static constexpr int components = Components;
  static constexpr std::int64_t ghost_rows = 3;

  RowField() = default;
  /// Touched by the unit's own threads; fences.
  RowField(const Execution& space, RowRange rows, std::int64_t columns)
      : rows_(rows), columns_(columns), pitch_(pitch_of(columns)) {
    const std::int64_t held = rows.count() + 2 * ghost_rows;
    const auto elements = static_cast<std::size_t>(held * row_elements());
    const bool huge = runs_on_host<Execution> && worth_huge_pages(elements * sizeof(double));
    memory_ = {space, "steelyard::sweep::field", elements + (huge ? 7 * apart : 0)};
    first_ = memory_.data();
    if (huge) {
      // Fields that all begin with a page would wait for each other in the cache.
      static std::atomic<std::size_t> made{0};
      first_ += made++ % 8 * apart;
    }
    exceeds_caches_ =
        elements * sizeof(double) > cached_bytes_per_thread * static_cast<std::size_t>(space.concurrency());
    // Rows by the host threads that will sweep them, elements side by side on a device.
    const std::int64_t at_once = runs_on_host<Execution> ? row_elements() : 1;
    Kokkos::parallel_for("steelyard::sweep::touch",
                         detail::RowPolicy<Execution>(space, 0, held * row_elements() / at_once),
                         detail::ZeroElements{row_pointer(first_, 0, held * row_elements()), at_once});
    space.fence();
  }

  RowRange rows() const { return rows_; }
  std::int64_t columns() const { return columns_; }
  /// From one row of all components to the next.
  std::int64_t row_elements() const { return Components * pitch_; }
  std::int64_t pitch() const { return pitch_; }
  static constexpr std::int64_t left_ghost_columns() { return left_ghosts; }

  /// Whether it is so large that caches do not keep what one sweep has written until the next one reads it.
  bool exceeds_caches() const { return exceeds_caches_; }

  /// Where the grid's row 0 would begin, with its ghost column; for RowExchange.
  double* origin() const { return first_ + (ghost_rows - rows_.begin) * row_elements(); }
  /// Access to the values; to none of a field without memory.
  RowAccess<Components> access() const {
    if (first_ == nullptr) return {};
    return {origin() + left_ghosts, pitch_, {rows_.begin - ghost_rows, rows_.end + ghost_rows}, columns_ + 2};
  }
  /// First row of the slice with its ghost column; for RowGather.
  double* slice() const { return origin() + rows_.begin * row_elements(); }

  static std::int64_t pitch_of(std::int64_t columns) { return padded_pitch<double>(left_ghosts + columns + 1); }

 private:
  /// Bytes of one field that a cache keeps among the several that sweeps read and write in between.
  static constexpr std::size_t cached_bytes_per_thread = std::size_t{2} << 20;
  static constexpr std::int64_t line = 64 / sizeof(double);
  /// Distance of fields' beginnings: odd numbers of lines that are spread over a page.
  static constexpr std::size_t apart = 9 * line;
  /// Elements before column 0, a multiple of a cache line.
  static constexpr std::int64_t left_ghosts = line;

  RowRange rows_;
  std::int64_t columns_ = 0;
  std::int64_t pitch_ = 0;
  UntouchedArray<double, typename Execution::memory_space> memory_;
  double* first_ = nullptr;
  bool exceeds_caches_ = false;
};

/// A table in a unit's memory, of which nothing changes.
template <class Execution, class Element>
class UnitTable {
 public:
  UnitTable() = default;
  /// By the unit's own thread; fences. @param padding entries more at both ends, copies of the first and the last
  UnitTable(const Execution& space, const std::vector<Element>& values, std::size_t padding = 0) : padding_(padding) {
    if (values.empty()) return;
    std::vector<Element> padded(padding, values.front());
    padded.insert(padded.end(), values.begin(), values.end());
    padded.resize(padded.size() + padding, values.back());
    memory_ = Memory(Kokkos::view_alloc(space, Kokkos::WithoutInitializing, "steelyard::sweep::table"), padded.size());
    copy_from_host(space, memory_.data(), padded.data(), padded.size());
    space.fence();
  }

  /// Where the values begin, behind the padding.
  RowPointer<const Element> data() const {
    const auto padding = static_cast<std::int64_t>(padding_);
    const auto size = static_cast<std::int64_t>(memory_.extent(0));
    return row_pointer(static_cast<const Element*>(memory_.data()) + padding, -padding, size - padding);
  }

 private:
  using Memory = Kokkos::View<Element*, DeviceOf<Execution>>;
  std::size_t padding_ = 0;
  Memory memory_;
};

}  // namespace steelyard
