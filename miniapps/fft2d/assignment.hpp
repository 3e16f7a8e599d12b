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

/// Both passes by a one-dimensional algorithm.
/// Source: 002, sections 1 and 6.2.2.
/// @param row_models, column_models of every unit: seconds of so many rows of each pass; those without one get nothing
/// @throws InvalidArgument for an unknown name, and as the algorithm does
Assignment assign(const Problem& problem, const std::vector<const models::SpeedModel*>& row_models,
                  const std::vector<const models::SpeedModel*>& column_models, const std::string& partition);

}  // namespace steelyard::fft2d
