#pragma once

#include "core/host_array.hpp"
#include "core/processing_unit.hpp"
#include "miniapps/gemm/random_fill.hpp"

namespace steelyard::gemm {

/// The first rows and columns of the random matrix of seed 1, by the unit's own threads; called on the unit's.
template <class Scalar>
void fill_random_array(ProcessingUnit::Kind kind, MatrixName name, const HostArray<Scalar>& array) {
  const RandomMatrix matrix(1, name);
  const std::int64_t rows = array.row_count();
  const std::span<Scalar> elements = array.elements(0, rows);
  const std::int64_t columns = rows > 0 ? static_cast<std::int64_t>(elements.size()) / rows : 0;
  if (kind == ProcessingUnit::Kind::host) {
    fill_random(matrix, 0, 0, columns, elements);
  } else {
    const RandomFill<Scalar> fill{matrix, 0, 0, columns, elements.data()};
    for (std::int64_t row = 0; row < rows; ++row) fill(row);
  }
}

/// The same in a new array.
template <class Scalar>
HostArray<Scalar> random_array(ProcessingUnit::Kind kind, MatrixName name, std::int64_t rows, std::int64_t columns) {
  HostArray<Scalar> array(rows, columns);
  fill_random_array(kind, name, array);
  return array;
}

}  // namespace steelyard::gemm
