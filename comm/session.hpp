#pragma once

#include <mpi.h>

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/base/errors.hpp"
#include "core/base/run_record.hpp"
#include "core/machine.hpp"
#include "core/options.hpp"
#include "core/processing_unit.hpp"
#include "core/runtime.hpp"
#include "core/unit_plan.hpp"

namespace steelyard {

/// Ranks by node: those of a node share memory.
struct Nodes {
  int rank_on_node = 0;
  int ranks_on_node = 1;
  std::vector<int> node_of_rank;   ///< node number of every rank; nodes are numbered by their lowest rank
  std::vector<std::string> hosts;  ///< host name of every node

  int count() const { return static_cast<int>(hosts.size()); }
};

/// Collective. @throws MpiError
Nodes find_nodes(MPI_Comm comm, const std::string& host_name);

/// MPI for the length of a scope, with the facts about this rank that everything else asks for. Errors of MPI calls are
/// returned, not fatal, so that STEELYARD_MPI can name them.
class Session {
 public:
  /// @throws MpiError
  Session(int& argc, char**& argv);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  MPI_Comm comm() const { return MPI_COMM_WORLD; }
  int rank() const { return rank_; }
  int size() const { return size_; }
  bool is_root() const { return rank_ == 0; }
  const Nodes& nodes() const { return nodes_; }
  const Machine& machine() const { return machine_; }
  const std::vector<std::string>& arguments() const { return arguments_; }

  /// Plans the units of this rank from the shared options. Collective: a rank's mistake is everyone's error.
  /// @throws CollectiveError
  RankUnits plan_units(const RunOptions& options) const;

  /// Prints to standard output on rank 0, silent elsewhere.
  void print(const std::string& text) const;
  /// Whether print() does nothing from now on.
  void set_silent(bool is_silent) { is_silent_ = is_silent; }

  /// Names what the program does from now on, such as `repetition 3`, for the message of a failure.
  void enter(const std::string& phase) { phase_ = phase; }
  /// Where this rank is and what it does, before the message of an error: `rank 2 on node-b, repetition 3: `; without
  /// what goes without saying. @param code of the error: what is wrong with the input has no phase
  std::string whereabouts(ExitCode code) const;

  /// Name and version of the MPI library.
  static std::string mpi_version();

 private:
  void share_launcher_cores();

  int rank_ = 0;
  int size_ = 1;
  std::vector<std::string> arguments_;
  Machine machine_;
  Nodes nodes_;
  PlanRequest place_;  ///< where this rank is, and the cores that its launcher bound it to
  bool is_silent_ = false;
  std::string phase_;
};

/// The units that a rank drives, as planned from the shared options, with Kokkos started on their cores.
class StartedUnits {
 public:
  /// Collective. @throws CollectiveError for a layout, slowdown or core that cannot be
  StartedUnits(const Session& session, const RunOptions& options);

  /// They say too whether their threads could be bound.
  const RankUnits& units() const { return units_; }

 private:
  RankUnits units_;
  std::optional<Runtime> runtime_;
};

/// The whole of a program's main(): starts a session, parses the command line with `parser`, runs `program` and turns
/// errors into one message on standard error and the exit code. Where one rank fails on its own, the others are
/// aborted.
/// @param program returns the exit code
int run_program(int argc, char** argv, CLI::App& parser, const std::function<ExitCode(Session&)>& program);

/// A processing unit among those of all ranks, in the order of their slices: by rank, the host unit first.
struct Slot {
  int rank = 0;
  ProcessingUnit::Kind kind = ProcessingUnit::Kind::host;
  int devices = 1;  ///< of a companion
};

/// Slots of all ranks. Collective.
std::vector<Slot> gather_slots(const Session& session, const RankUnits& units);

/// Makes the part of a record that all apps share: program, versions, hosts, units of all ranks, and the options that
/// every app has. `settings["cores"]` says who chose the cores and whether they are oversubscribed or unbound.
/// Collective.
RunRecord describe_run(const Session& session, const std::string& app, const RunOptions& options,
                       const RankUnits& units);

}  // namespace steelyard
