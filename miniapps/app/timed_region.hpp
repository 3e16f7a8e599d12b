#pragma once

#include <functional>
#include <string>

#include "comm/session.hpp"

namespace steelyard {

/// Seconds from when all ranks are ready to run `work` until the slowest has done so, the same on all ranks. Meanwhile
/// the profiling region `name` (`steelyard::<app>::<phase>`) is open. Collective.
double timed_region(const Session& session, const std::string& name, const std::function<void()>& work);

}  // namespace steelyard
