#pragma once

#include <algorithm>
#include <cstdint>

#include "core/sweep/sweep_body.hpp"

namespace steelyard {

/// Calls `body(i)` for all columns of a row, in any order, by one host thread. Columns are independent.
template <class Body>
[[gnu::flatten]] void for_columns(const std::int64_t columns, const Body body) {
#if defined(_OPENMP)
#pragma omp simd
#endif
  for (std::int64_t i = 0; i < columns; ++i) body(i);
}

// Sweeps over one row by one host thread.
namespace detail {

/// Some of a row's cells. The body is a copy, which no store can change, and becomes a part of the loop, however long:
/// what is called cell by cell is not vectorised. @tparam inner whether all cells are in inner columns
template <bool inner, class Body>
[[gnu::flatten]] void host_cells(const Body body, const std::int64_t j, const std::int64_t begin,
                                 const std::int64_t end) {
#if defined(_OPENMP)
#pragma omp simd
#endif
  for (std::int64_t i = begin; i < end; ++i) body(j, Column(i, inner));
}

/// So few cells that processors load the next block's values while they compute this one.
inline constexpr std::int64_t block_cells = 32;

/// A block of a row's cells, which begins `begin` columns into it.
template <class Body>
void host_block(const Body& body, const std::int64_t j, const std::int64_t begin, const std::int64_t columns) {
  if (begin > 0 && begin + block_cells < columns) {
    host_cells<true>(body, j, begin, begin + block_cells);
  } else {
    host_cells<false>(body, j, begin, std::min(begin + block_cells, columns));
  }
}

/// A whole row in three parts at most; vectors of all processors divide the outer ones.
template <class Body>
void host_row(const Body& body, const std::int64_t j, const std::int64_t columns) {
  constexpr std::int64_t outer = 8;
  const std::int64_t first = std::min(outer, columns), last = std::max(first, columns - outer);
  host_cells<false>(body, j, 0, first);
  host_cells<true>(body, j, first, last);
  host_cells<false>(body, j, last, columns);
}
/// Sweeps a row block by block, one component after the other.
template <class Body, class... Fields>
void host_row(const Reading<Body, Fields...>& whole, const std::int64_t j, const std::int64_t columns) {
  const auto sweep = [=](const auto& part) {
    for (std::int64_t i = 0; i < columns; i += block_cells) {
      prefetch_ahead(part, j, i, i + block_cells);
      host_block(part.body, j, i, columns);
    }
  };
  by_component(sweep, whole);
}

/// Sums over a row's cells, block by block, each in `lanes` parts that take turns: in the same order on every unit.
/// Terms of a block wait in the first cache to be summed up, for compilers vectorise two loops but not many bodies with
/// sums of a given order in them. @tparam Operation AddTerms or KeepLarger
template <int N, class Operation>
class HostRowSums {
 public:
  /// The next block.
  template <class Body>
  void add_block(const Body& body, const std::int64_t j, const std::int64_t begin, const std::int64_t columns) {
    if (begin > 0 && begin + block_cells < columns) {
      add<true>(body, j, begin, begin + block_cells);
    } else {
      add<false>(body, j, begin, std::min(begin + block_cells, columns));
    }
  }

  /// The next cells, a block but for the row's last ones. @tparam inner as of host_cells()
  template <bool inner, class Body>
  [[gnu::flatten]] void add(const Body body, const std::int64_t j, const std::int64_t begin, const std::int64_t end) {
    const int count = static_cast<int>(end - begin);
    double waiting[N][block_cells];
    alignas(cache_line_bytes) double values[block_cells];
#if defined(_OPENMP)
#pragma omp simd
#endif
    for (int i = 0; i < count; ++i) keep<inner>(body, j, begin, i, waiting, values);
    if constexpr (is_storing<Body>) body.body.store(component_of<Body>, j, begin, count, values);
    for (int i = count; i % lanes != 0; ++i) {
      for (int k = 0; k < N; ++k) waiting[k][i] = 0.0;
    }
    for (int k = 0; k < N; ++k) {
      for (int i = 0; i < count; i += lanes) {
        for (int lane = 0; lane < lanes; ++lane) Operation::add(sums_[k][lane], waiting[k][i + lane]);
      }
    }
  }

  /// When all cells have been added. @param row_terms N of them
  void store(double* const row_terms) {
    for (int k = 0; k < N; ++k) {
      for (int half = lanes / 2; half > 0; half /= 2) {
        for (int lane = 0; lane < half; ++lane) Operation::add(sums_[k][lane], sums_[k][lane + half]);
      }
      row_terms[k] = sums_[k][0];
    }
  }

 private:
  static constexpr int lanes = 8;

  /// Not in the loop itself, where GCC would keep the terms in memory, as private variables that are no scalars.
  template <bool inner, class Body>
  static void keep(const Body& body, const std::int64_t j, const std::int64_t begin, const int i,
                   double (&waiting)[N][block_cells], [[maybe_unused]] double (&values)[block_cells]) {
    Terms<N> terms;
    if constexpr (is_storing<Body>) {
      const ValueAndTerms<N> result = body.body.body(component_of<Body>, j, Column(begin + i, inner));
      values[i] = result.value;
      terms = result.terms;
    } else {
      terms = body(j, Column(begin + i, inner));
    }
    for (int k = 0; k < N; ++k) waiting[k][i] = terms.of[k];
  }

  double sums_[N][lanes] = {};
};

/// Ends the stores of a body that has swept a row.
template <class Body>
void finish_row(const Body& body) {
  if constexpr (is_storing<Body>) body.body.finish();
}

/// Adds a row's cells to its sums.
template <class Body, class Sums>
void add_row(const Body& body, const std::int64_t j, const std::int64_t columns, Sums& sums) {
  for (std::int64_t i = 0; i < columns; i += block_cells) {
    prefetch_ahead(body, j, i, i + block_cells);
    sums.add_block(bare(body), j, i, columns);
  }
  finish_row(bare(body));
}

/// Adds a row's cells a row and a block behind updates, so that memory is at work on the next block's values while
/// those in the caches are summed up. All in one function, for compilers to keep what blocks share in registers.
template <class Update, class Body, class Sums>
[[gnu::flatten]] void add_row_behind(const Update update, const Body body, const std::int64_t j,
                                     const std::int64_t columns, Sums& sums) {
  for (std::int64_t i = 0; i < columns + block_cells; i += block_cells) {
    prefetch_ahead(update, j + 1, i, i + block_cells);
    prefetch_ahead(body, j, i, i + block_cells);
    if (i < columns) host_block(bare(update), j + 1, i, columns);
    if (i > 0) sums.add_block(bare(body), j, i - block_cells, columns);
  }
  finish_row(bare(body));
}

/// Sums of a row, of one component after the other. @param row_terms N of them
template <int N, class Operation = AddTerms, class Body>
void host_row_terms(const Body& body, const std::int64_t j, const std::int64_t columns, double* const row_terms) {
  HostRowSums<N, Operation> sums;
  by_component([&](const auto& part) { add_row(part, j, columns, sums); }, body);
  sums.store(row_terms);
}
/// Sums of a row by add_row_behind().
template <int N, class Update, class Body>
void host_row_terms_behind(const Update& update, const Body& body, const std::int64_t j, const std::int64_t columns,
                           double* const row_terms) {
  HostRowSums<N, AddTerms> sums;
  by_component([&](const auto& update_part, const auto& part) { add_row_behind(update_part, part, j, columns, sums); },
               update, body);
  sums.store(row_terms);
}

}  // namespace detail
}  // namespace steelyard
