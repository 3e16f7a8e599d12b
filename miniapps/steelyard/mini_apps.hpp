#pragma once

#include <memory>
#include <vector>

#include "miniapps/app/mini_app.hpp"

namespace steelyard::tool {

/// Every mini-app of the build, in the order of miniapps/CMakeLists.txt. The build writes its source.
std::vector<std::unique_ptr<MiniApp>> mini_apps();

/// The kernel of each, for `steelyard measure APP` and `steelyard conformance`.
inline std::vector<std::shared_ptr<MeasurableKernel>> measurable_kernels() {
  std::vector<std::shared_ptr<MeasurableKernel>> kernels;
  for (const std::unique_ptr<MiniApp>& app : mini_apps()) kernels.push_back(app->measurable_kernel());
  return kernels;
}

}  // namespace steelyard::tool
