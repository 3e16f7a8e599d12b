#pragma once

#include <vector>

#include "core/measurable_kernel.hpp"
#include "core/spaces.hpp"

namespace steelyard::tests {

/// The units of this build.
inline std::vector<ProcessingUnit::Kind> kinds() {
  if (has_companion) return {ProcessingUnit::Kind::host, ProcessingUnit::Kind::companion};
  return {ProcessingUnit::Kind::host};
}

}  // namespace steelyard::tests
