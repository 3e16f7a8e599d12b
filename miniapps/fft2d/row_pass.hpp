#pragma once

#include <Kokkos_Complex.hpp>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "core/device/device.hpp"
#include "core/processing_unit.hpp"
#include "core/spaces.hpp"
#include "miniapps/fft2d/problem.hpp"
#include "miniapps/fft2d/row_piece.hpp"

namespace steelyard::fft2d {

/// How hard FFTW looks for a plan; other libraries have no choice.
enum class Planner { estimate, measure, patient };

/// What is done to every row.
struct RowTransformation {
  std::int64_t length = 1;  ///< points of a row
  Direction direction = Direction::forward;
  bool real = false;   ///< rows are real, and length / 2 + 1 points of their spectra are stored; forward only
  double scale = 1.0;  ///< what is stored is multiplied by this
  bool transpose = true;
  std::int64_t stored() const { return real ? length / 2 + 1 : length; }
};

/// Which library transforms rows: a name of row_fft_libraries(), or nothing for the first of them.
struct RowFftChoice {
  std::string library;
  Planner planner = Planner::measure;
};

/// A pass of the row-column method on one processing unit: gathers rows from pieces, transforms them (1D) and stores
/// them in pieces, transposed or as they are; one sweep over memory on the host. The plan is made once. Runs on the
/// thread that calls, with the threads of the unit only, and fences.
/// Source: 002, section 1 (row-column method).
template <class Scalar>
class RowPass {
 public:
  using Complex = Kokkos::complex<Scalar>;
  virtual ~RowPass() = default;

  /// Transforms rows [first, first + count) of the slice. Pieces count rows from the slice's first one; `in` covers
  /// every point of a row once, in ascending order, `out` every stored point once.
  /// @throws InvalidArgument for pieces that do not; RuntimeFailure from a device
  virtual void run(std::int64_t first, std::int64_t count, std::span<const RowPiece<Complex>> in,
                   std::span<const StoredPiece<Complex>> out) = 0;
  /// The same of real rows. @throws InvalidArgument unless the transformation is real (and run() if it is)
  virtual void run(std::int64_t first, std::int64_t count, std::span<const RowPiece<Scalar>> in,
                   std::span<const StoredPiece<Complex>> out) = 0;
};

/// Names of the libraries that can transform rows on an execution space, the best first: `fftw` on hosts, `vendor`,
/// which is its vendor's, on devices, and `portable`, Steelyard's own kernel, everywhere.
template <class Execution>
std::vector<std::string> row_fft_libraries() {
  if constexpr (runs_on_host<Execution>) return {"fftw", "portable"};
  if constexpr (has_device_libraries) return {"vendor", "portable"};
  return {"portable"};
}

namespace detail {

// Compiled for the two units only. The kind tells them apart in builds where both have the same execution space.
template <ProcessingUnit::Kind unit, class Execution, class Scalar>
std::unique_ptr<RowPass<Scalar>> make_row_pass(const Execution& space, const RowTransformation& transformation,
                                               std::int64_t rows, const RowFftChoice& choice);

}  // namespace detail

/// @tparam Execution of the host unit or of the companion
/// @tparam Scalar double or float
/// @param rows the most that one run() is given; devices allocate for so many
/// @throws InvalidArgument for an unknown library, a length < 1, or real and inverse
template <class Execution, class Scalar>
std::unique_ptr<RowPass<Scalar>> make_row_pass(const Execution& space, const RowTransformation& transformation,
                                               std::int64_t rows, const RowFftChoice& choice = {}) {
  static_assert(std::is_same_v<Execution, HostExecution> || std::is_same_v<Execution, CompanionExecution>);
  constexpr auto unit =
      std::is_same_v<Execution, HostExecution> ? ProcessingUnit::Kind::host : ProcessingUnit::Kind::companion;
  return detail::make_row_pass<unit, Execution, Scalar>(space, transformation, rows, choice);
}

}  // namespace steelyard::fft2d
