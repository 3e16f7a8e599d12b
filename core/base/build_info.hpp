#pragma once

#include <string>

namespace steelyard {

/// Facts of this binary's build, written into every result so that a figure can be traced to its source.
struct BuildInfo {
  std::string version;   ///< of the suite
  std::string commit;    ///< git commit, or "unknown" outside a checkout
  bool dirty = false;    ///< the checkout held uncommitted changes
  std::string compiler;  ///< name and version
  std::string flags;     ///< build type and compiler flags
};

const BuildInfo& build_info();

}  // namespace steelyard
