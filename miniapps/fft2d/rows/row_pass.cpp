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

/// The pieces that have columns, in ascending order; the others may lie anywhere.
/// @param least_pitch of a piece @throws InvalidArgument unless they cover points [0, points), each once
template <class Piece, class LeastPitch>
std::vector<Piece> sorted_cover(std::span<const Piece> pieces, const char* what, std::int64_t points,
                                const LeastPitch& least_pitch) {
  std::vector<Piece> cover;
  std::copy_if(pieces.begin(), pieces.end(), std::back_inserter(cover),
               [](const auto& piece) { return piece.count != 0; });
  std::sort(cover.begin(), cover.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  std::int64_t covered = 0;
  for (const Piece& piece : cover) {
    if (piece.data == nullptr || piece.count < 0 || piece.first != covered || piece.pitch < least_pitch(piece)) {
      throw InvalidArgument(
          fmt::format("piece of {} with {} columns from {} on and a pitch of {}{} (expected from {} on, "
                      "a pitch of at least {})",
                      what, piece.count, piece.first, piece.pitch, piece.data == nullptr ? ", without data" : "",
                      covered, least_pitch(piece)));
    }
    covered += piece.count;
  }
  if (covered != points) {
    throw InvalidArgument(fmt::format("pieces of {} cover {} points of {}", what, covered, points));
  }
  return cover;
}

/// On the space's default instance.
template <class Execution, class Element>
std::unique_ptr<RowPass<Element>> make(const RowTransformation& transformation, std::int64_t rows,
                                       const RowFftChoice& choice) {
  const std::vector<std::string> libraries = row_fft_libraries<Execution>();
  const std::string library = choice.library.empty() ? libraries.front() : choice.library;
  if constexpr (runs_on_host<Execution>) {
    if (library == "fftw") {
      return std::make_unique<FftwRowPass<Execution, Element>>(transformation, rows, choice.planner);
    }
  } else if constexpr (has_device_libraries) {
    if (library == "vendor") return std::make_unique<DeviceRowPass<Execution, Element>>(transformation, rows);
  }
  if (library == "portable") return std::make_unique<PortableRowPass<Execution, Element>>(transformation, rows);
  throw InvalidArgument(
      fmt::format("unknown FFT library '{}'; this unit has: {}", library, fmt::join(libraries, ", ")));
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
  const bool transpose = transformation_.transpose;
  const std::vector rows =
      sorted_cover(in, "rows", transformation_.length, [](const auto& piece) { return piece.count; });
  const std::vector columns =
      sorted_cover(out, "what is stored", stored(), [&](const auto& piece) { return transpose ? count : piece.count; });
  if (count > 0) transform(first, count, rows, columns);
}

template <class Element>
std::unique_ptr<RowPass<Element>> make_row_pass(ProcessingUnit::Kind kind, const RowTransformation& transformation,
                                                std::int64_t rows, const RowFftChoice& choice) {
  return kind == ProcessingUnit::Kind::host ? make<HostExecution, Element>(transformation, rows, choice)
                                            : make<CompanionExecution, Element>(transformation, rows, choice);
}

template class RowPass<double>;
template class RowPass<float>;
template class RowPass<Kokkos::complex<double>>;
template class RowPass<Kokkos::complex<float>>;
template std::unique_ptr<RowPass<double>> make_row_pass(ProcessingUnit::Kind, const RowTransformation&, std::int64_t,
                                                        const RowFftChoice&);
template std::unique_ptr<RowPass<float>> make_row_pass(ProcessingUnit::Kind, const RowTransformation&, std::int64_t,
                                                       const RowFftChoice&);
template std::unique_ptr<RowPass<Kokkos::complex<double>>> make_row_pass(ProcessingUnit::Kind, const RowTransformation&,
                                                                         std::int64_t, const RowFftChoice&);
template std::unique_ptr<RowPass<Kokkos::complex<float>>> make_row_pass(ProcessingUnit::Kind, const RowTransformation&,
                                                                        std::int64_t, const RowFftChoice&);

}  // namespace steelyard::fft2d
