#include "miniapps/fft2d/rows/row_pass.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>

#include "core/base/errors.hpp"
#include "miniapps/fft2d/rows/device_row_pass.hpp"
#include "miniapps/fft2d/rows/fftw_row_pass.hpp"
#include "miniapps/fft2d/rows/portable_row_pass.hpp"

namespace steelyard::fft2d {
namespace {

template <class Piece>
void require_piece(const Piece& piece, const char* what, std::int64_t least_pitch) {
  if (piece.count < 0 || (piece.count > 0 && piece.data == nullptr)) {
    throw InvalidArgument(
        fmt::format("a piece of {} has {} columns{}", what, piece.count, piece.data == nullptr ? " and no data" : ""));
  }
  if (piece.count > 0 && piece.pitch < least_pitch) {
    throw InvalidArgument(
        fmt::format("a piece of {} has a pitch of {}, needed are {}", what, piece.pitch, least_pitch));
  }
}

/// Throws unless the pieces, in this order, cover points [0, points).
template <class Pieces>
void require_cover(const Pieces& pieces, const char* what, std::int64_t points) {
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

/// The pieces that have columns: the others may lie anywhere.
template <class Piece>
std::vector<Piece> without_empty(std::span<const Piece> pieces) {
  std::vector<Piece> kept;
  kept.reserve(pieces.size());
  std::copy_if(pieces.begin(), pieces.end(), std::back_inserter(kept),
               [](const auto& piece) { return piece.count > 0; });
  return kept;
}

}  // namespace

template <class Element>
RowPass<Element>::RowPass(const RowTransformation& transformation, std::int64_t rows)
    : transformation_(transformation), rows_(rows) {
  if (transformation.length < 1) {
    throw InvalidArgument(fmt::format("rows of {} points cannot be transformed", transformation.length));
  }
  if (rows < 0) throw InvalidArgument(fmt::format("a pass over {} rows", rows));
  if (real && transformation.direction == Direction::inverse) {
    throw InvalidArgument("rows of real numbers are transformed forward only");
  }
}

template <class Element>
void RowPass<Element>::run(std::int64_t first, std::int64_t count, In in, Out out) {
  if (first < 0 || count < 0 || count > rows_) {
    throw InvalidArgument(fmt::format("{} rows from {} on; the pass was made for at most {}", count, first, rows_));
  }
  for (const auto& piece : in) require_piece(piece, "rows", piece.count);
  require_cover(in, "rows", transformation_.length);
  std::vector<StoredPiece<Complex>> sorted(out.begin(), out.end());
  // Empty ones first: they begin where others do.
  std::sort(sorted.begin(), sorted.end(),
            [](const auto& a, const auto& b) { return a.first != b.first ? a.first < b.first : a.count < b.count; });
  for (const auto& piece : sorted) {
    require_piece(piece, "what is stored", transformation_.transpose ? count : piece.count);
  }
  require_cover(sorted, "what is stored", stored());
  if (count > 0) transform(first, count, without_empty(in), without_empty(out));
}

template class RowPass<double>;
template class RowPass<float>;
template class RowPass<Kokkos::complex<double>>;
template class RowPass<Kokkos::complex<float>>;

namespace detail {

template <ProcessingUnit::Kind unit, class Execution, class Element>
std::unique_ptr<RowPass<Element>> RowPassMaker<unit, Execution, Element>::make(const Execution& space,
                                                                               const RowTransformation& transformation,
                                                                               std::int64_t rows,
                                                                               const RowFftChoice& choice) {
  const std::vector<std::string> libraries = row_fft_libraries<Execution>();
  const std::string library = choice.library.empty() ? libraries.front() : choice.library;
  if constexpr (runs_on_host<Execution>) {
    if (library == "fftw") {
      return std::make_unique<FftwRowPass<Execution, Element>>(space, transformation, rows, choice.planner);
    }
  } else if constexpr (has_device_libraries) {
    if (library == "vendor") return std::make_unique<DeviceRowPass<Execution, Element>>(transformation, rows);
  }
  if (library == "portable") {
    return std::make_unique<PortableRowPass<Execution, Element>>(space, transformation, rows);
  }
  throw InvalidArgument(
      fmt::format("unknown FFT library '{}'; this unit has: {}", library, fmt::join(libraries, ", ")));
}

using Kind = ProcessingUnit::Kind;
template struct RowPassMaker<Kind::host, HostExecution, double>;
template struct RowPassMaker<Kind::host, HostExecution, float>;
template struct RowPassMaker<Kind::host, HostExecution, Kokkos::complex<double>>;
template struct RowPassMaker<Kind::host, HostExecution, Kokkos::complex<float>>;
template struct RowPassMaker<Kind::companion, CompanionExecution, double>;
template struct RowPassMaker<Kind::companion, CompanionExecution, float>;
template struct RowPassMaker<Kind::companion, CompanionExecution, Kokkos::complex<double>>;
template struct RowPassMaker<Kind::companion, CompanionExecution, Kokkos::complex<float>>;

}  // namespace detail
}  // namespace steelyard::fft2d
