#include "comm/session.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>

#include "comm/collective.hpp"
#include "comm/mpi_check.hpp"
#include "core/device/device.hpp"
#include "core/host_blas.hpp"

namespace steelyard {

Nodes find_nodes(MPI_Comm comm, const std::string& host_name) {
  Nodes nodes;
  const int rank = rank_in(comm);
  MPI_Comm node = MPI_COMM_NULL;
  STEELYARD_MPI(MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &node));
  nodes.rank_on_node = rank_in(node);
  nodes.ranks_on_node = size_of(node);
  int lowest = rank;
  STEELYARD_MPI(MPI_Bcast(&lowest, 1, MPI_INT, 0, node));
  STEELYARD_MPI(MPI_Comm_free(&node));

  const std::vector<std::string> names = all_gather_text(comm, host_name);
  const std::vector<double> lowest_of_rank = all_gather(comm, {static_cast<double>(lowest)});
  std::vector<double> leaders;
  for (std::size_t r = 0; r < names.size(); ++r) {
    const auto leader = std::ranges::find(leaders, lowest_of_rank[r]);
    nodes.node_of_rank.push_back(static_cast<int>(leader - leaders.begin()));
    if (leader == leaders.end()) {
      leaders.push_back(lowest_of_rank[r]);
      nodes.hosts.push_back(names[r]);
    }
  }
  return nodes;
}

namespace {

/// Whether Open MPI's mpirun chose a binding itself: to one core each, for a job of few ranks that did not ask for it.
bool is_bound_by_default() {
  return std::getenv("OMPI_COMM_WORLD_SIZE") != nullptr && std::getenv("OMPI_MCA_hwloc_base_binding_policy") == nullptr;
}

/// Ranks that go by different options would wait for each other for ever. @throws CollectiveError
void require_same_options(const Session& session) {
  const std::vector<std::string>& words = session.arguments();
  const std::string mine = fmt::format("{}", fmt::join(words.begin() + 1, words.end(), " "));
  const std::string first = broadcast_text(session.comm(), mine);
  collectively(session.comm(), [&] {
    if (mine == first) return;
    throw InvalidArgument(fmt::format(
        "options \"{}\" (expected \"{}\", those of rank 0; what differs between ranks goes into a --layout)", mine,
        first));
  });
}

}  // namespace

Session::Session(int& argc, char**& argv) : arguments_(argv, argv + argc) {
  place_.launcher_cores = machine_.bound_cores();
  if (place_.launcher_cores.size() == 1 && is_bound_by_default()) place_.launcher_cores.clear();
  int provided = MPI_THREAD_SINGLE;
  STEELYARD_MPI(MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided));
  STEELYARD_MPI(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
  rank_ = rank_in(MPI_COMM_WORLD);
  size_ = size_of(MPI_COMM_WORLD);
  if (provided < MPI_THREAD_FUNNELED) throw RuntimeFailure("this MPI cannot run beside other threads");
  nodes_ = find_nodes(MPI_COMM_WORLD, machine_.host_name());
  place_.rank = rank_;
  place_.rank_on_node = nodes_.rank_on_node;
  place_.ranks_on_node = nodes_.ranks_on_node;
  share_launcher_cores();
}

void Session::share_launcher_cores() {
  CoreList& own = place_.launcher_cores;
  const std::vector<std::string> all = all_gather_text(comm(), format_cores(own));
  const auto mine = static_cast<std::size_t>(rank_);
  if (own.empty()) return;
  place_.launcher_sharers = 0;
  for (std::size_t other = 0; other < all.size(); ++other) {
    if (nodes_.node_of_rank[other] != nodes_.node_of_rank[mine] || all[other] == format_cores({})) continue;
    if (all[other] == all[mine]) {
      if (other < mine) ++place_.launcher_sharer;
      ++place_.launcher_sharers;
      continue;
    }
    const CoreList others = parse_cores(all[other]);
    if (std::ranges::find_first_of(others, own) == others.end()) continue;
    // Bindings that overlap in part do not say who gets which core.
    own.clear();
    return;
  }
}

Session::~Session() { MPI_Finalize(); }

RankUnits Session::plan_units(const RunOptions& options) const {
  RankUnits units;
  collectively(comm(), [&] {
    std::optional<Layout> layout;
    if (!options.layout.empty()) layout = read_layout(options.layout);
    PlanRequest request = place_;
    request.units = options.units;
    request.layout = layout ? &*layout : nullptr;
    request.threads = threads_of_environment();
    request.slowdowns = Slowdowns(options.slowdown);
    if (request.slowdowns.highest_rank() >= size_) {
      throw InvalidArgument(
          fmt::format("slowdown of rank {} (expected a rank below {})", request.slowdowns.highest_rank(), size_));
    }
    units = steelyard::plan_units(machine_, request);
    if (is_root() && !units.note.empty()) fmt::print(stderr, "steelyard: {}\n", units.note);
    if (is_root() && !blas_kernels_note().empty()) fmt::print(stderr, "steelyard: {}\n", blas_kernels_note());
    if (is_root() && companion_is_device && device_count() == 0 && !request.units && !layout) {
      fmt::print(stderr, "steelyard: no GPU on {}: this build runs on the host alone\n", machine_.host_name());
    }
  });
  return units;
}

void Session::print(const std::string& text) const {
  if (!is_root() || is_silent_) return;
  std::fputs(text.c_str(), stdout);
  std::fflush(stdout);
}

std::string Session::whereabouts(ExitCode code) const {
  std::string where;
  if (size() > 1) where = fmt::format("rank {}", rank_);
  if (nodes_.count() > 1)
    where += " on " + nodes_.hosts[static_cast<std::size_t>(nodes_.node_of_rank[static_cast<std::size_t>(rank_)])];
  if (code == ExitCode::failed && !phase_.empty()) where += (where.empty() ? "" : ", ") + phase_;
  return where.empty() ? "" : where + ": ";
}

std::string Session::mpi_version() {
  std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> text{};
  int length = 0;
  STEELYARD_MPI(MPI_Get_library_version(text.data(), &length));
  const std::string version(text.data(), static_cast<std::size_t>(length));
  return version.substr(0, version.find_first_of(",\n"));
}

StartedUnits::StartedUnits(const Session& session, const RunOptions& options) : units_(session.plan_units(options)) {
  collectively(session.comm(), [&] { runtime_.emplace(session.machine(), units_); });
  units_.bound = runtime_->bound();
}

int run_program(int argc, char** argv, CLI::App& parser, const std::function<ExitCode(Session&)>& program) {
  const std::string name = parser.get_name();
  // A full disk or a reader that is gone is no success; the shell would take it for one.
  const auto exit_code_of = [&](ExitCode code) {
    if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return static_cast<int>(code);
    fmt::print(stderr, "{}: standard output cannot be written\n", name);
    return static_cast<int>(code == ExitCode::good ? ExitCode::failed : code);
  };
  // A file that may not grow further is an error of its own, not the end.
  std::signal(SIGXFSZ, SIG_IGN);
  try {
    choose_blas_kernels(argv);
    Session session(argc, argv);
    const auto tell = [&](const std::string& message, ExitCode code) {
      fmt::print(stderr, "{}: {}{}\n", name, session.whereabouts(code), message);
    };
    try {
      require_same_options(session);
      std::optional<std::string> text;
      collectively(session.comm(), [&] { text = parse_command_line(parser, argc, argv); });
      if (text) {
        session.print(*text);
        return exit_code_of(ExitCode::good);
      }
      return exit_code_of(program(session));
    } catch (const CollectiveError& error) {
      if (session.rank() == error.teller()) tell(error.what(), error.code());
      return static_cast<int>(error.code());
    } catch (const std::exception& error) {
      const ExitCode code = code_of(error);
      tell(message_of(error), code);
      // The other ranks may be waiting in a call that this one will never make.
      if (session.size() > 1) MPI_Abort(session.comm(), static_cast<int>(code));
      return static_cast<int>(code);
    }
  } catch (const std::exception& error) {
    const char* const rank = std::getenv("OMPI_COMM_WORLD_RANK");
    const std::string who = rank == nullptr ? "" : fmt::format("rank {}, ", rank);
    fmt::print(stderr, "{}: {}start of its units: {}\n", name, who, message_of(error));
    return static_cast<int>(ExitCode::failed);
  }
}

std::vector<Slot> gather_slots(const Session& session, const RankUnits& units) {
  const double devices = units.companion ? units.companion->devices : 0.0;
  const std::vector<double> have = all_gather(session.comm(), {units.host ? 1.0 : 0.0, devices});
  std::vector<Slot> slots;
  for (int rank = 0; rank < session.size(); ++rank) {
    const std::size_t at = 2 * static_cast<std::size_t>(rank);
    if (have[at] > 0.0) slots.push_back({rank, ProcessingUnit::Kind::host});
    if (have[at + 1] > 0.0) {
      slots.push_back({rank, ProcessingUnit::Kind::companion, static_cast<int>(have[at + 1])});
    }
  }
  return slots;
}

namespace {

/// Kind, space, cores and slowdown of each unit.
nlohmann::json describe_units(const RankUnits& units) {
  nlohmann::json json = nlohmann::json::array();
  for (const auto& unit : {units.host, units.companion}) {
    if (unit) json.push_back({unit->name(), unit->space, format_cores(unit->cores), unit->slowdown});
  }
  return json;
}

/// Variables that decide how many threads and which devices a program uses, and how MPI and Kokkos work; not those that
/// MPI and a program itself set for its processes.
bool is_kept(const std::string& variable) {
  const auto begins_with = [&](const char* prefix) { return variable.starts_with(prefix); };
  constexpr std::array own = {"OMPI_MCA_ess", "OMPI_MCA_orte", "OMPI_MCA_pmix", "STEELYARD_BLAS_KERNELS"};
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

}  // namespace

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
  record.processors.resize(record.hosts.size());
  record.memory_bytes.resize(record.hosts.size());
  const std::vector<std::string> processors = all_gather_text(session.comm(), session.machine().processor());
  const std::vector<double> memory_bytes = all_gather(session.comm(), {session.machine().memory_bytes()});
  for (std::size_t rank = 0; rank < processors.size(); ++rank) {
    const auto node = static_cast<std::size_t>(session.nodes().node_of_rank[rank]);
    record.processors[node] = processors[rank];
    record.memory_bytes[node] = memory_bytes[rank];
  }
  record.params["ranks"] = static_cast<double>(session.size());
  record.settings["element"] = element_name(options.element);
  record.settings["partition"] = options.partition + (options.levels == 2 ? ", two levels" : "");
  record.settings["cores"] = units.cores_from +
                             (any_rank(session.comm(), units.oversubscribed) ? ", oversubscribed" : "") +
                             (any_rank(session.comm(), !units.bound) ? ", unbound" : "");
  int rank = 0;
  for (const std::string& text : all_gather_text(session.comm(), describe_units(units).dump())) {
    for (const nlohmann::json& unit : nlohmann::json::parse(text)) {
      record.units.push_back({rank, unit[0], unit[1], unit[2], unit[3], {}, {}});
    }
    ++rank;
  }
  return record;
}

}  // namespace steelyard
