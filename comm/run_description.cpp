#include "comm/run_description.hpp"

#include <nlohmann/json.hpp>

#include "comm/collective.hpp"
#include "core/compatibility.hpp"

namespace steelyard {
namespace {

nlohmann::json describe_units(int rank, const RankUnits& units) {
  nlohmann::json json = nlohmann::json::array();
  for (const std::optional<ProcessingUnit>* unit : {&units.host, &units.companion}) {
    if (!*unit) continue;
    json.push_back({{"rank", rank},
                    {"kind", (*unit)->name()},
                    {"space", (*unit)->space},
                    {"cores", format_cores((*unit)->cores)},
                    {"slowdown", (*unit)->slowdown}});
  }
  return json;
}

}  // namespace

bool any_oversubscribed(const Session& session, const RankUnits& units) {
  return all_max(session.comm(), units.oversubscribed ? 1.0 : 0.0) > 0.0;
}

bool any_unbound(const Session& session, const RankUnits& units) {
  return all_max(session.comm(), units.bound ? 0.0 : 1.0) > 0.0;
}

RunRecord describe_run(const Session& session, const std::string& app, const RunOptions& options,
                       const RankUnits& units) {
  RunRecord record;
  record.app = app;
  record.argv = session.arguments();
  record.seed = options.seed;
  record.kokkos = kokkos_version();
  record.mpi = Session::mpi_version();
  record.hosts = session.nodes().hosts;
  record.params["ranks"] = static_cast<double>(session.size());
  record.settings["element"] = element_name(options.element);
  record.settings["partition"] = options.partition;
  record.settings["cores"] = units.cores_from + (any_oversubscribed(session, units) ? ", oversubscribed" : "") +
                             (any_unbound(session, units) ? ", unbound" : "");
  for (const std::string& text : all_gather_text(session.comm(), describe_units(session.rank(), units).dump())) {
    for (const nlohmann::json& unit : nlohmann::json::parse(text)) {
      record.units.push_back({unit["rank"], unit["kind"], unit["space"], unit["cores"], unit["slowdown"]});
    }
  }
  return record;
}

}  // namespace steelyard
