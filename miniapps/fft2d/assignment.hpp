#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "miniapps/fft2d/problem.hpp"
#include "models/speed_model.hpp"
#include "partition/distribution.hpp"

namespace steelyard::fft2d {

/// Who owns which rows of the input and which columns of the spectrum, and how long the passes over them are predicted
/// to take. Both are slices in the order of the units.
struct Assignment {
  partition::Distribution rows;     ///< of pass 1
  partition::Distribution columns;  ///< of the spectrum: the rows of pass 2
};

/// Slices come in multiples of the points of a cache line, as far as these divide `total`: in the transposed matrix
/// every row of a slice that begins elsewhere shares its first and last line with another unit.
/// @param point_bytes of a complex number
std::int64_t slice_granularity(std::int64_t total, std::int64_t point_bytes);

/// Both passes by a one-dimensional algorithm, in multiples of slice_granularity().
/// Source: 002, sections 1 and 6.2.2.
/// @param row_models, column_models of every unit: seconds of so many rows of each pass; those without one get nothing
/// @param point_bytes of a complex number
/// @throws InvalidArgument for an unknown name, and as the algorithm does
Assignment assign(const Problem& problem, const std::vector<const models::SpeedModel*>& row_models,
                  const std::vector<const models::SpeedModel*>& column_models, const std::string& partition,
                  std::int64_t point_bytes);

}  // namespace steelyard::fft2d
