#include "comm/run_description.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "comm/collective.hpp"
#include "core/host_blas.hpp"
#include "core/runtime.hpp"

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

/// Variables that decide how many threads and which devices a program uses, and how MPI and Kokkos work; not those that
/// MPI itself sets for its processes.
bool is_kept(const std::string& variable) {
  const auto begins_with = [&](const char* prefix) { return variable.starts_with(prefix); };
  constexpr std::array own = {"OMPI_MCA_ess", "OMPI_MCA_orte", "OMPI_MCA_pmix"};
  constexpr std::array kept = {
      "OMP_",  "KOKKOS_",      "OMPI_MCA_",    "STEELYARD_", "CUDA_VISIBLE",       "HIP_VISIBLE",
      "ROCR_", "SLURM_JOB_ID", "SLURM_NTASKS", "OPENBLAS_",  "SLURM_CPUS_PER_TASK"};
  return std::none_of(own.begin(), own.end(), begins_with) && std::any_of(kept.begin(), kept.end(), begins_with);
}

std::map<std::string, std::string> kept_environment() {
  std::map<std::string, std::string> kept;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string text = *entry;
    const std::string name = text.substr(0, text.find('='));
    if (is_kept(name)) kept[name] = text.substr(std::min(name.size() + 1, text.size()));
  }
  return kept;
}

/// The command line of this process's parent where that is one that starts ranks.
std::vector<std::string> launch_line() {
  std::ifstream file(fmt::format("/proc/{}/cmdline", getppid()), std::ios::binary);
  std::vector<std::string> words;
  for (std::string word; std::getline(file, word, '\0');) words.push_back(word);
  if (words.empty()) return {};
  const std::string name = std::filesystem::path(words.front()).filename().string();
  for (const char* const launcher : {"mpirun", "mpiexec", "orterun", "prterun", "srun", "hydra_pmi_proxy", "orted"}) {
    if (name.starts_with(launcher)) return words;
  }
  return {};
}

/// One of each host, in the order of nodes().hosts.
std::vector<std::string> processors(const Session& session) {
  const bool speaks = session.nodes().rank_on_node == 0;
  std::vector<std::string> all;
  for (const std::string& text :
       all_gather_text(session.comm(), speaks ? "." + session.machine().processor() : std::string{})) {
    if (!text.empty()) all.push_back(text.substr(1));
  }
  return all;
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
  record.date = date_now();
  record.argv = session.arguments();
  record.launch = launch_line();
  record.environment = kept_environment();
  record.seed = options.seed;
  record.kokkos = kokkos_version();
  record.blas = host_blas().name;
  record.mpi = Session::mpi_version();
  record.hosts = session.nodes().hosts;
  record.processors = processors(session);
  record.memory_bytes.resize(record.hosts.size());
  const std::vector<double> of_ranks = all_gather(session.comm(), {session.machine().memory_bytes()});
  for (std::size_t rank = 0; rank < of_ranks.size(); ++rank) {
    record.memory_bytes[static_cast<std::size_t>(session.nodes().node_of_rank[rank])] = of_ranks[rank];
  }
  record.params["ranks"] = static_cast<double>(session.size());
  record.settings["element"] = element_name(options.element);
  record.settings["partition"] = options.partition;
  record.settings["cores"] = units.cores_from + (any_oversubscribed(session, units) ? ", oversubscribed" : "") +
                             (any_unbound(session, units) ? ", unbound" : "");
  for (const std::string& text : all_gather_text(session.comm(), describe_units(session.rank(), units).dump())) {
    for (const nlohmann::json& unit : nlohmann::json::parse(text)) {
      record.units.push_back({unit["rank"], unit["kind"], unit["space"], unit["cores"], unit["slowdown"], {}, {}});
    }
  }
  return record;
}

}  // namespace steelyard
