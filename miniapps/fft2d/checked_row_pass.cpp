#include "miniapps/fft2d/checked_row_pass.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <type_traits>
#include <vector>

#include "core/base/errors.hpp"

namespace steelyard::fft2d {
namespace {

template <class Piece>
void check_piece(const Piece& piece, const char* what, std::int64_t least_pitch) {
  if (piece.count < 0 || (piece.count > 0 && piece.data == nullptr)) {
    throw InvalidArgument(
        fmt::format("a piece of {} has {} columns{}", what, piece.count, piece.data == nullptr ? " and no data" : ""));
  }
  if (piece.count > 0 && piece.pitch < least_pitch) {
    throw InvalidArgument(
        fmt::format("a piece of {} has a pitch of {}, needed are {}", what, piece.pitch, least_pitch));
  }
}

/// That the pieces, in this order, cover points [0, points).
template <class Pieces>
void check_cover(const Pieces& pieces, const char* what, std::int64_t points) {
  std::int64_t covered = 0;
  for (const auto& piece : pieces) {
    if (piece.first != covered) {
      throw InvalidArgument(fmt::format("pieces of {} go on with point {} instead of {}", what, piece.first, covered));
    }
    covered += piece.count;
  }
  if (covered != points) {
    throw InvalidArgument(fmt::format("pieces of {} cover {} points of {}", what, covered, points));
  }
}

/// Those that have columns: the others may lie anywhere.
template <class Piece>
std::vector<Piece> without_empty(std::span<const Piece> pieces) {
  std::vector<Piece> kept;
  kept.reserve(pieces.size());
  for (const Piece& piece : pieces) {
    if (piece.count > 0) kept.push_back(piece);
  }
  return kept;
}

}  // namespace

template <class Scalar>
CheckedRowPass<Scalar>::CheckedRowPass(const RowTransformation& transformation, std::int64_t rows)
    : transformation_(transformation), rows_(rows) {
  if (transformation.length < 1) {
    throw InvalidArgument(fmt::format("rows of {} points cannot be transformed", transformation.length));
  }
  if (rows < 0) throw InvalidArgument(fmt::format("a pass over {} rows", rows));
  if (transformation.real && transformation.direction == Direction::inverse) {
    throw InvalidArgument("rows of real numbers are transformed forward only");
  }
}

template <class Scalar>
void CheckedRowPass<Scalar>::run(std::int64_t first, std::int64_t count, std::span<const RowPiece<Complex>> in,
                                 std::span<const StoredPiece<Complex>> out) {
  check(first, count, in, out);
  if (count == 0) return;
  const auto rows = without_empty(in);
  const auto stored = without_empty(out);
  transform(first, count, std::span(rows), std::span(stored));
}

template <class Scalar>
void CheckedRowPass<Scalar>::run(std::int64_t first, std::int64_t count, std::span<const RowPiece<Scalar>> in,
                                 std::span<const StoredPiece<Complex>> out) {
  check(first, count, in, out);
  if (count == 0) return;
  const auto rows = without_empty(in);
  const auto stored = without_empty(out);
  transform(first, count, std::span(rows), std::span(stored));
}

template <class Scalar>
template <class Element>
void CheckedRowPass<Scalar>::check(std::int64_t first, std::int64_t count, std::span<const RowPiece<Element>> in,
                                   std::span<const StoredPiece<Complex>> out) const {
  constexpr bool real = std::is_same_v<Element, Scalar>;
  if (real != transformation_.real) {
    throw InvalidArgument(fmt::format("{} rows were given to a transformation of {} ones", real ? "real" : "complex",
                                      real ? "complex" : "real"));
  }
  if (first < 0 || count < 0 || count > rows_) {
    throw InvalidArgument(fmt::format("{} rows from {} on; the pass was made for at most {}", count, first, rows_));
  }
  for (const auto& piece : in) check_piece(piece, "rows", piece.count);
  check_cover(in, "rows", transformation_.length);
  std::vector<StoredPiece<Complex>> stored(out.begin(), out.end());
  // Empty ones first: they begin where others do.
  std::sort(stored.begin(), stored.end(),
            [](const auto& a, const auto& b) { return a.first != b.first ? a.first < b.first : a.count < b.count; });
  for (const auto& piece : stored) {
    check_piece(piece, "what is stored", transformation_.transpose ? count : piece.count);
  }
  check_cover(stored, "what is stored", transformation_.stored());
}

template class CheckedRowPass<double>;
template class CheckedRowPass<float>;

}  // namespace steelyard::fft2d
