#pragma once

#include <optional>

#include "comm/collective.hpp"

namespace steelyard::tests {

/// What `run` throws, or nothing.
template <class Run>
std::optional<CollectiveError> collective_error(const Run& run) {
  try {
    run();
  } catch (const CollectiveError& error) {
    return error;
  }
  return std::nullopt;
}

}  // namespace steelyard::tests
