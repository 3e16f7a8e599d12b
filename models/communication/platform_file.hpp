#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "models/communication/piecewise_hockney.hpp"

namespace steelyard::models {

/// A communication path with its own cost.
struct Channel {
  int id = 0;  ///< 0: shared memory; 1, …: networks
  std::string name;
  std::vector<int> path;  ///< channels whose transfer times a message adds up (001, equations 1-3)
  std::vector<HockneySegment> hockney;
  /// By the segment that holds `bytes`. @throws InvalidArgument without Hockney parameters
  double time_s(double bytes) const;
};

/// Measured communication parameters of a machine (`*.platform.json`, schema steelyard.platform/1).
struct Platform {
  std::string path;  ///< the file, for messages
  std::vector<Channel> channels;
  /// @throws InvalidArgument naming the ids that there are
  const Channel& channel(int id) const;
};

/// @throws FileFormatError naming file and key
Platform read_platform_file(const std::filesystem::path& path);

}  // namespace steelyard::models
