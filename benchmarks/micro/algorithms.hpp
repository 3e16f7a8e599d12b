#pragma once

namespace steelyard::micro {

/// Registers a benchmark for every partitioning algorithm, for rectangles in columns, and for every fit of a speed
/// model.
void register_algorithms();

}  // namespace steelyard::micro
