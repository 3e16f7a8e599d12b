#pragma once

namespace steelyard {

/// Where data lies that a processing unit works with: in (pinned) host memory, or in the unit's own, which on host
/// spaces is the same.
enum class Home { host, unit };

/// A message between units and where it lies.
template <class Scalar, class Message>
struct MessageBuffer {
  const Message* message = nullptr;
  Scalar* data = nullptr;
  Home home = Home::host;
};

}  // namespace steelyard
