#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "miniapps/gemm/check/row_check.hpp"

namespace steelyard::gemm {

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
template <class Scalar>
RowProducts row_products(const ConstHostMatrix<Scalar>& matrix, const VectorBundle& x,
                         const std::vector<unsigned char>& skipped);

/// Euclidean norm where squares might over- or underflow.
double euclidean_norm(const std::vector<double>& values);

}  // namespace steelyard::gemm
