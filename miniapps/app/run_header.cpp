#include "miniapps/app/run_header.hpp"

#include <fmt/format.h>

namespace steelyard {

std::string rank_text(const Session& session, const RunRecord& record) {
  const int ranks = session.size();
  const int nodes = session.nodes().count();
  return fmt::format("{} rank{} on {} node{}, partition {}", ranks, ranks == 1 ? "" : "s", nodes, nodes == 1 ? "" : "s",
                     record.settings.at("partition"));
}

std::string core_notes(const RunRecord& record) {
  const std::string& cores = record.settings.at("cores");
  std::string notes;
  if (cores.find("oversubscribed") != std::string::npos) {
    notes += "note: there are more threads than cores; times mean little\n";
  }
  if (cores.find("unbound") != std::string::npos) {
    notes += "note: this system refuses to bind threads to cores; times vary\n";
  }
  return notes;
}

}  // namespace steelyard
