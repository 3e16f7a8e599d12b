#pragma once

namespace steelyard {

/// Where data lies that a processing unit works with: in (pinned) host memory, or in the unit's own, which on host
/// spaces is the same.
enum class Home { host, unit };

}  // namespace steelyard
