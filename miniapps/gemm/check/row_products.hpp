#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "core/memory/matrix.hpp"

namespace steelyard::gemm {

/// A matrix in host memory, to be read.
template <class Scalar>
using ConstHostMatrix = ConstMatrix<HostExecution, Scalar>;

/// Vectors that a matrix is multiplied with at the same time: as many as fill SIMD lanes.
inline constexpr int vectors = 8;

/// Such vectors of doubles, elements of the same index side by side, so that a loop over the vectors fills SIMD lanes.
/// Copies share their elements.
class VectorBundle {
 public:
  VectorBundle() = default;
  /// All elements are 0.
  explicit VectorBundle(std::int64_t length)
      : elements_("steelyard::gemm::vectors", static_cast<std::size_t>(length * vectors)) {}

  /// The elements of index i, of all vectors.
  double* at(std::int64_t i) const { return elements_.data() + i * vectors; }
  /// Those of `count` indices from `first` on, sharing them.
  VectorBundle part(std::int64_t first, std::int64_t count) const {
    VectorBundle result;
    result.elements_ = Kokkos::subview(elements_, std::make_pair(first * vectors, (first + count) * vectors));
    return result;
  }

 private:
  Kokkos::View<double*, DeviceOf<HostExecution>> elements_;
};

/// Products and norms of a matrix's rows from one reading of it, without the columns that are skipped.
struct RowProducts {
  VectorBundle products;              ///< of the row with each vector; element i is row i
  std::vector<double> norms;          ///< Euclidean
  std::vector<double> partial_norms;  ///< root mean square of the products' partial sums, over vectors and over the
                                      ///< places, 64 columns apart, where sums are sampled; may over- or underflow
  std::vector<unsigned char> finite;  ///< 0 where there is a NaN or Inf; the row's numbers above then mean nothing
};

/// Multiplies a matrix, double or float, with all vectors in double precision at the cost of reading it once, on the
/// host unit's threads. @param x as many elements per vector as the matrix has columns
/// @param skipped for each column, whether it is left out, whatever it contains; empty: none
/// @return products and norms of every row
template <class Scalar>
RowProducts row_products(const ConstHostMatrix<Scalar>& matrix, const VectorBundle& x,
                         const std::vector<unsigned char>& skipped);

/// @return the Euclidean norm of values whose squares might over- or underflow
double euclidean_norm(const std::vector<double>& values);

/// @throws InvalidArgument unless the matrix, called `name`, has these extents
template <class Scalar>
void expect_extents(const std::string& name, const ConstHostMatrix<Scalar>& matrix, std::int64_t rows,
                    std::int64_t columns);

/// Calls work(row) for all rows on the host unit's threads; fences.
template <class Work>
void for_host_rows(std::int64_t rows, const Work& work) {
  const HostExecution space;
  using Policy = Kokkos::RangePolicy<HostExecution, Kokkos::IndexType<std::int64_t>>;
  Kokkos::parallel_for("steelyard::gemm::check", Policy(space, 0, rows), work);
  space.fence();
}

/// @return the largest error(row) of all rows, which are 0 or more, found on the host unit's threads; 0 without rows
template <class Error>
double largest_error(std::int64_t rows, const Error& error) {
  const HostExecution space;
  using Policy = Kokkos::RangePolicy<HostExecution, Kokkos::IndexType<std::int64_t>>;
  double largest = 0.0;
  Kokkos::parallel_reduce(
      "steelyard::gemm::check", Policy(space, 0, rows),
      [=](const std::int64_t row, double& found) { found = std::max(found, error(row)); },
      Kokkos::Max<double, Kokkos::HostSpace>(largest));
  return std::max(0.0, largest);
}

}  // namespace steelyard::gemm
