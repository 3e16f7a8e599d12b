#pragma once

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "core/memory/streamed_store.hpp"
#include "miniapps/fft2d/rows/row_pass.hpp"

namespace steelyard::fft2d {

/// Rows [first, end) of a slice in batches, which begin at multiples of `batch_rows` so that they store whole cache
/// lines wherever they can. Every thread takes neighbouring batches from a part of its own, and when that is done those
/// that others have left. Fences.
/// @param work called with the thread's number, below the space's concurrency, and a batch's first row and end; may
///             end with streamed stores
template <class Execution, class Work>
void for_each_batch(const Execution& space, std::int64_t first, std::int64_t end, std::int64_t batch_rows,
                    const Work& work) {
  using Policy = Kokkos::TeamPolicy<Execution, Kokkos::Schedule<Kokkos::Dynamic>>;
  const std::int64_t first_batch = first / batch_rows, batches = (end + batch_rows - 1) / batch_rows - first_batch;
  const Kokkos::Experimental::UniqueToken<Execution> threads(space);
  Policy policy(space, static_cast<int>(batches), 1);
  policy.set_chunk_size(1);
  Kokkos::parallel_for("steelyard::fft2d::rows", policy, [&](const typename Policy::member_type& member) {
    const std::int64_t begin = (first_batch + member.league_rank()) * batch_rows;
    const auto thread = threads.acquire();
    work(std::int64_t{thread}, std::max(first, begin), std::min(end, begin + batch_rows));
    finish_streamed_stores();
    threads.release(thread);
  });
  space.fence();
}

/// What stays in a thread's caches may be read from there: more than this is stored past them.
inline constexpr std::int64_t streamed_bytes_per_thread = 1 << 20;

/// Row i of a slice, if it lies in one piece.
template <class Element>
const Element* whole_row(std::span<const RowPiece<Element>> pieces, std::int64_t i, std::int64_t length) {
  for (const RowPiece<Element>& piece : pieces) {
    if (piece.count == length) return piece.data + i * piece.pitch;
  }
  return nullptr;
}

/// Puts row i of a slice together. @param row as many elements as the pieces have columns
template <class Element>
void gather_row(std::span<const RowPiece<Element>> pieces, std::int64_t i, Element* row) {
  for (const RowPiece<Element>& piece : pieces) {
    std::copy_n(piece.data + i * piece.pitch, piece.count, row + piece.first);
  }
}

/// Brings rows [begin, end) of a slice into the cache, some lines at a time, while a core is busy with stores.
template <class Element>
class RowsAhead {
 public:
  RowsAhead(std::span<const RowPiece<Element>> pieces, std::int64_t begin, std::int64_t end)
      : pieces_(pieces), row_(begin), end_(end) {
    if (row_ < end_) enter();
  }

  void fetch(int lines) {
    for (; lines > 0 && row_ < end_; --lines) {
      prefetch_line(next_);
      next_ += cache_line_bytes;
      if (next_ >= last_) leave();
    }
  }

 private:
  void enter() {
    const RowPiece<Element>& piece = pieces_[piece_];
    next_ = reinterpret_cast<const char*>(piece.data + row_ * piece.pitch);
    last_ = next_ + static_cast<std::size_t>(piece.count) * sizeof(Element);
  }
  void leave() {
    if (++piece_ == pieces_.size()) {
      piece_ = 0;
      ++row_;
    }
    if (row_ < end_) enter();
  }

  std::span<const RowPiece<Element>> pieces_;
  std::int64_t row_;
  std::int64_t end_;
  std::size_t piece_ = 0;
  const char* next_ = nullptr;
  const char* last_ = nullptr;
};

/// Transformed rows [first, first + count) of a slice in a core's cache, row after row.
template <class Scalar>
struct RowBatch {
  const Kokkos::complex<Scalar>* data = nullptr;
  std::int64_t pitch = 0;
  std::int64_t first = 0;
  std::int64_t count = 0;
};

/// Stores `count` points, the whole cache lines among them past the caches: the caller ends with
/// finish_streamed_stores().
/// @param point gives the point that has this number @param after_line is called when a cache line has been stored
template <class Complex, class Point, class AfterLine>
void store_points_streamed(Complex* to, std::int64_t count, const Point& point, const AfterLine& after_line) {
  constexpr auto line = static_cast<std::int64_t>(cache_line_bytes / sizeof(Complex));
  std::int64_t i = 0;
  for (; i < count && !begins_cache_line(to + i); ++i) to[i] = point(i);
  for (; i + line <= count; i += line) {
    alignas(cache_line_bytes) Complex points[line];
    for (std::int64_t k = 0; k < line; ++k) points[k] = point(i + k);
    store_streamed(to + i, points);
    after_line();
  }
  for (; i < count; ++i) to[i] = point(i);
}

/// Stores columns of a batch as rows, times `scale`: a cache line of every row at a time, from which `count` points go
/// to each of its columns.
/// @param streamed whole cache lines past the caches: the caller ends with finish_streamed_stores()
/// @param ahead rows that are read next: fetched while stores are on their way
template <class Scalar, class Element>
void store_transposed(const RowBatch<Scalar>& rows, const StoredPiece<Kokkos::complex<Scalar>>& piece, Scalar scale,
                      bool streamed, RowsAhead<Element>& ahead) {
  const std::int64_t end = piece.first + piece.count;
  for (std::int64_t j = piece.first; j < end; ++j) {
    Kokkos::complex<Scalar>* const to = piece.data + (j - piece.first) * piece.pitch + rows.first;
    const Kokkos::complex<Scalar>* const from = rows.data + j;
    const auto point = [&](std::int64_t i) { return scale * from[i * rows.pitch]; };
    if (streamed) {
      store_points_streamed(to, rows.count, point, [&] { ahead.fetch(1); });
    } else {
      for (std::int64_t i = 0; i < rows.count; ++i) to[i] = point(i);
    }
  }
}

/// Stores columns of a batch as they are, times `scale`.
template <class Scalar>
void store_rows(const RowBatch<Scalar>& rows, const StoredPiece<Kokkos::complex<Scalar>>& piece, Scalar scale) {
  for (std::int64_t i = 0; i < rows.count; ++i) {
    const Kokkos::complex<Scalar>* const from = rows.data + i * rows.pitch + piece.first;
    Kokkos::complex<Scalar>* const to = piece.data + (rows.first + i) * piece.pitch;
    for (std::int64_t j = 0; j < piece.count; ++j) to[j] = scale * from[j];
  }
}

}  // namespace steelyard::fft2d
