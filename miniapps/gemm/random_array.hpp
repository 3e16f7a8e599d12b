#pragma once

#include "core/host_array.hpp"
#include "core/processing_unit.hpp"
#include "miniapps/gemm/random_fill.hpp"

namespace steelyard::gemm {

/// The first rows and columns of the random matrix of seed 1, filled by the unit's own threads; called on the unit's.
template <class Scalar>
HostArray<Scalar> random_array(ProcessingUnit::Kind kind, MatrixName name, std::int64_t rows, std::int64_t columns) {
  HostArray<Scalar> array(rows, columns);
  const RandomMatrix matrix(1, name);
  const std::span<Scalar> elements = array.elements(0, rows);
  if (kind == ProcessingUnit::Kind::host) {
    fill_random(matrix, 0, 0, columns, elements);
  } else {
    const RandomFill<Scalar> fill{matrix, 0, 0, columns, elements.data()};
    for (std::int64_t row = 0; row < rows; ++row) fill(row);
  }
  return array;
}

}  // namespace steelyard::gemm
