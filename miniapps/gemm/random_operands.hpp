#pragma once

#include <cstdint>
#include <vector>

#include "core/memory/host_array.hpp"
#include "core/options.hpp"
#include "core/processing_unit.hpp"
#include "miniapps/gemm/random_matrix.hpp"
#include "miniapps/gemm/unit_gemm.hpp"

namespace steelyard::gemm {

/// The first rows and columns of the random matrices of seed 1, for a kernel that is measured and checked: filled by
/// the unit's own threads, which construct this.
template <class Scalar>
class RandomOperands {
 public:
  /// A of rows x depth, B of depth x columns, C of rows x columns.
  RandomOperands(ProcessingUnit::Kind kind, std::int64_t rows, std::int64_t columns, std::int64_t depth)
      : kind_(kind), a_(rows, depth), b_(depth, columns), c_(rows, columns) {
    fill(MatrixName::a, a_, depth);
    fill(MatrixName::b, b_, columns);
    fill(MatrixName::c, c_, columns);
  }

  Operands<Scalar> views() const {
    return {a_.rows(0, a_.row_count()), b_.rows(0, b_.row_count()), c_.rows(0, c_.row_count())};
  }
  void reset_c() { fill(MatrixName::c, c_, static_cast<std::int64_t>(views().c.extent(1))); }
  std::vector<double> c() const {
    const std::span<const Scalar> values = c_.elements(0, c_.row_count());
    return {values.begin(), values.end()};
  }

 private:
  void fill(MatrixName name, const HostArray<Scalar>& array, std::int64_t columns) const {
    const RandomMatrix matrix(1, name);
    const std::span<Scalar> elements = array.elements(0, array.row_count());
    if (kind_ == ProcessingUnit::Kind::host) {
      fill_random<HostExecution>(matrix, 0, 0, columns, elements);
    } else {
      fill_random<CompanionExecution>(matrix, 0, 0, columns, elements);
    }
  }

  ProcessingUnit::Kind kind_;
  HostArray<Scalar> a_, b_, c_;
};

/// alpha A B + beta C of these operands, computed in long double.
inline std::vector<double> random_product(ElementType type, std::int64_t rows, std::int64_t columns, std::int64_t depth,
                                          double alpha, double beta) {
  const auto element = [&](MatrixName name, std::int64_t i, std::int64_t j) {
    const double value = RandomMatrix(1, name).element(i, j);
    return static_cast<long double>(type == ElementType::float64 ? value : static_cast<float>(value));
  };
  std::vector<double> c;
  for (std::int64_t i = 0; i < rows; ++i) {
    for (std::int64_t j = 0; j < columns; ++j) {
      long double sum = 0.0L;
      for (std::int64_t l = 0; l < depth; ++l) sum += element(MatrixName::a, i, l) * element(MatrixName::b, l, j);
      const long double before = beta == 0.0 ? 0.0L : beta * element(MatrixName::c, i, j);
      c.push_back(static_cast<double>(alpha * sum + before));
    }
  }
  return c;
}

}  // namespace steelyard::gemm
