#pragma once

#include <optional>

#include "comm/session.hpp"
#include "core/runtime.hpp"

namespace steelyard {

/// The units that a rank drives, as planned from the shared options, with Kokkos started on their cores.
class StartedUnits {
 public:
  /// Collective. @throws CollectiveError for a layout, slowdown or core that cannot be
  StartedUnits(const Session& session, const RunOptions& options);

  /// They say too whether their threads could be bound.
  const RankUnits& units() const { return units_; }

 private:
  RankUnits units_;
  std::optional<Runtime> runtime_;
};

}  // namespace steelyard
