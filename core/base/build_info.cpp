#include "core/base/build_info.hpp"

#include "build_facts.hpp"

namespace steelyard {

const BuildInfo& build_info() {
  static const BuildInfo info{STEELYARD_VERSION, STEELYARD_COMMIT, STEELYARD_DIRTY, STEELYARD_COMPILER,
                              STEELYARD_FLAGS};
  return info;
}

}  // namespace steelyard
