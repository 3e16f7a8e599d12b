#pragma once

#include <string>

namespace steelyard {

/// Facts of this binary's build, written into every result so that a figure can be traced to its source.
struct BuildInfo {
  std::string version;   ///< of the suite
  std::string commit;    ///< git commit of the program's project, or "unknown" outside a checkout
  bool dirty = false;    ///< that checkout held uncommitted changes
  std::string compiler;  ///< name and version
  std::string flags;     ///< build type and compiler flags
};

const BuildInfo& build_info();

/// Sets the commit that results name, of a project outside the tree; to be called before main(). @return true
bool name_commit(const std::string& commit, bool dirty);

}  // namespace steelyard
