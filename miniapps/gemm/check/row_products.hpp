#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "core/matrix.hpp"

namespace steelyard::gemm {

/// Some vectors of doubles, elements of the same index side by side, so that a loop over the vectors fills SIMD lanes;
/// vectors of zeros fill the last of them. Copies share their elements.
class VectorBundle {
 public:
  static constexpr int lanes = 8;

  VectorBundle() = default;
  /// All elements are 0.
  VectorBundle(std::int64_t length, int vectors)
      : vectors_(vectors),
        width_((vectors + lanes - 1) / lanes * lanes),
        elements_("steelyard::gemm::vectors", static_cast<std::size_t>(length * width_)) {}

  int vectors() const { return vectors_; }
  int width() const { return width_; }  ///< vectors with those of zeros
  /// The elements of index i, of all vectors.
  double* at(std::int64_t i) const { return elements_.data() + i * width_; }
  /// Those of `count` indices from `first` on, sharing them.
  VectorBundle part(std::int64_t first, std::int64_t count) const {
    VectorBundle result(*this);
    result.elements_ = Kokkos::subview(elements_, std::make_pair(first * width_, (first + count) * width_));
    return result;
  }

 private:
  int vectors_ = 0;
  int width_ = 0;
  Kokkos::View<double*, DeviceOf<HostExecution>> elements_;
};

/// What one reading of a matrix says about its rows, columns that are skipped left out.
struct RowProducts {
  VectorBundle products;              ///< of the row with each vector; element i is row i
  std::vector<double> norms;          ///< Euclidean
  std::vector<double> partial_norms;  ///< root mean square of the products' partial sums, over vectors and over the
                                      ///< places, 64 columns apart, where the sum is looked at; may over- or underflow
  std::vector<unsigned char> finite;  ///< 0 where there is a NaN or Inf; the row's numbers above then mean nothing
};

/// Multiplies a matrix, double or float, with all vectors in double precision at the cost of reading it once.
/// @param matrix in host memory @param x as many elements per vector as the matrix has columns
/// @param skipped for each column, whether it is left out, whatever it contains; empty: none
template <class Scalar>
RowProducts row_products(const HostExecution& space, const ConstMatrix<HostExecution, Scalar>& matrix,
                         const VectorBundle& x, const std::vector<unsigned char>& skipped);

/// Euclidean norm where squares might over- or underflow.
double euclidean_norm(const std::vector<double>& values);

}  // namespace steelyard::gemm
