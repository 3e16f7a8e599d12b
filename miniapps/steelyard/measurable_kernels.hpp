#pragma once

#include <memory>
#include <vector>

#include "core/measurable_kernel.hpp"

namespace steelyard::tool {

/// A kernel of every mini-app, for `steelyard measure APP` and `steelyard conformance`: to add one, derive from
/// MeasurableKernel and list it here.
std::vector<std::shared_ptr<MeasurableKernel>> measurable_kernels();

}  // namespace steelyard::tool
