#include "miniapps/app/started_units.hpp"

#include "comm/collective.hpp"

namespace steelyard {

StartedUnits::StartedUnits(const Session& session, const RunOptions& options) : units_(session.plan_units(options)) {
  collectively(session.comm(), [&] { runtime_.emplace(session.machine(), units_); });
  units_.bound = runtime_->bound();
}

}  // namespace steelyard
