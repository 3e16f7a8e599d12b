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

namespace steelyard::fft2d {

/// Sign of the exponent: -1 forward, +1 inverse. An inverse transform is divided by the number of points, so that it
/// undoes the forward one.
enum class Direction { forward, inverse };

/// Points of a row's spectrum that are stored: of real rows the first half, which the other half mirrors.
constexpr std::int64_t stored_points(std::int64_t length, bool real) { return real ? length / 2 + 1 : length; }

/// How hard FFTW searches for a plan; other libraries have no choice.
enum class Planner { estimate, measure, patient };
/// In the order of the values.
inline const std::vector<std::string> planner_names{"estimate", "measure", "patient"};

/// Which library transforms rows: a name of row_fft_libraries(), or nothing for the first of them.
struct RowFftChoice {
  std::string library;
  Planner planner = Planner::measure;
};

/// The transformation of every row.
struct RowTransformation {
  std::int64_t length = 1;                   ///< points of a row
  Direction direction = Direction::forward;  ///< of real rows always forward
  double scale = 1.0;                        ///< what is stored is multiplied by this
  bool transpose = true;
};

/// Columns [first, first + count) of the rows of a slice, in host memory. Element (i, j) is data[i * pitch + j -
/// first], or data[(j - first) * pitch + i] where a store transposes.
template <class Element>
struct PieceOfRows {
  Element* data = nullptr;
  std::int64_t pitch = 0;
  std::int64_t first = 0;
  std::int64_t count = 0;
};
/// Columns as they are read.
template <class Element>
using RowPiece = PieceOfRows<const Element>;
/// Columns as they are stored.
template <class Element>
using StoredPiece = PieceOfRows<Element>;

/// A pass of the row-column method on one processing unit: gathers rows from pieces, transforms them (1D) and stores
/// them in pieces, transposed or as they are; one sweep over memory on the host. The plan is made once. Runs on the
/// thread that calls, with the threads of the unit only, and fences.
/// Source: 002, section 1 (row-column method).
/// @tparam Element double, float, or Kokkos::complex of these
template <class Element>
class RowPass {
 public:
  using Scalar = decltype(Kokkos::real(Element()));
  using Complex = Kokkos::complex<Scalar>;
  using In = std::span<const RowPiece<Element>>;
  using Out = std::span<const StoredPiece<Complex>>;
  static constexpr bool real = std::is_same_v<Element, Scalar>;

  /// A pass of the host unit or of the companion; on that unit's thread.
  /// @param rows the most that one run() is given; devices allocate memory for these
  /// @throws InvalidArgument for an unknown library, a length < 1, rows < 0, or real and inverse
  static std::unique_ptr<RowPass> make(ProcessingUnit::Kind kind, const RowTransformation& transformation,
                                       std::int64_t rows, const RowFftChoice& choice);
  virtual ~RowPass() = default;

  /// Transforms rows [first, first + count) of the slice. Pieces count rows from the slice's first one, and come in any
  /// order; `in` covers every point of a row once, `out` every stored point.
  /// @throws InvalidArgument for pieces that do not; RuntimeFailure from a device
  void run(std::int64_t first, std::int64_t count, In in, Out out);

 protected:
  RowPass(const RowTransformation& transformation, std::int64_t rows) : transformation_(transformation), rows_(rows) {}

  const RowTransformation& transformation() const { return transformation_; }
  /// Points of a row that are stored.
  std::int64_t stored() const { return stored_points(transformation_.length, real); }

  /// run() for at least one row, with pieces that are checked, in order and not empty.
  virtual void transform(std::int64_t first, std::int64_t count, In in, Out out) = 0;

 private:
  RowTransformation transformation_;
  std::int64_t rows_;
};

/// Names of the libraries that can transform rows on an execution space, the best first: `fftw` on hosts, `vendor`,
/// which is its vendor's, on devices, and `portable`, Steelyard's own kernel, everywhere.
template <class Execution>
std::vector<std::string> row_fft_libraries() {
  if constexpr (runs_on_host<Execution>) return {"fftw", "portable"};
  if constexpr (has_device_libraries) return {"vendor", "portable"};
  return {"portable"};
}

/// The name of the library that is chosen for an execution space, which need not have it.
template <class Execution>
std::string row_fft_library(const RowFftChoice& choice) {
  return choice.library.empty() ? row_fft_libraries<Execution>().front() : choice.library;
}

}  // namespace steelyard::fft2d
