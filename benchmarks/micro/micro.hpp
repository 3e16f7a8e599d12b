#pragma once

#include <memory>
#include <vector>

#include "miniapps/app/mini_app.hpp"

namespace steelyard::micro {

/// Every mini-app of the build, as CMake lists them.
std::vector<std::unique_ptr<MiniApp>> mini_apps();

/// Registers a benchmark for every partitioning algorithm, for rectangles in columns, and for every fit of a speed
/// model.
void register_algorithms();

}  // namespace steelyard::micro
