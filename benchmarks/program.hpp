#pragma once

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <functional>
#include <string>
#include <vector>

#include "comm/collective.hpp"
#include "comm/unit_group.hpp"
#include "core/base/errors.hpp"
#include "core/base/statistics.hpp"
#include "core/base/table.hpp"
#include "core/options.hpp"
#include "core/timing.hpp"
#include "core/typed_options.hpp"

namespace steelyard {

inline void add_rounds(CLI::App& parser, int& rounds) {
  add_number(parser, "--rounds", rounds, "Times that everything runs, in turns; medians count", 1, 1000)
      ->capture_default_str();
}
inline void add_slowdown(CLI::App& parser, RunOptions& options) {
  parser.add_option("--slowdown", options.slowdown, "Emulate slower units: host=F or device=F, F >= 1")
      ->type_name("UNIT=F");
}

/// Options of a run on the units of that choice.
inline RunOptions run_options(UnitChoice units) {
  RunOptions options;
  options.units = units;
  return options;
}

/// The units of all ranks, started.
struct StartedGroup {
  StartedUnits started;
  CoExecution co_execution;
  UnitGroup group;

  /// Collective. @throws CollectiveError
  StartedGroup(const Session& session, const RunOptions& options)
      : started(session, options),
        co_execution(session.machine(), started.units()),
        group(session.comm(), co_execution, started.units(), gather_slots(session, started.units())) {}
};

/// Ends a program that compares what the two units of a single rank do.
inline void require_two_units(const Session& session, const RankUnits& units) {
  if (session.size() == 1 && units.host && units.companion) return;
  throw CollectiveError("expected one rank with a host unit and a companion", ExitCode::wrong_input, 0);
}

/// Seconds that `work` takes on the calling thread.
template <class Work>
double seconds_of(const Work& work) {
  const double start_s = now_s();
  work();
  return now_s() - start_s;
}

/// Something that is timed in turns with others.
struct Contender {
  std::string name;
  std::function<void()> call;
  int steps = 1;                       ///< of a call
  std::function<void()> prepare = {};  ///< before each round, not timed
  std::vector<double> step_s = {};     ///< by round

  double time_s() const { return median(step_s); }
};

/// One round: every contender for about `seconds`, from an idle space to an idle space, after a call that is not timed.
template <class Execution>
void measure_round(const Execution& space, std::vector<Contender>& contenders, double seconds, int most_calls) {
  for (Contender& contender : contenders) {
    if (contender.prepare) contender.prepare();
    contender.call();
    const double once_s = fenced_seconds(space, contender.call);
    const int calls = std::min(most_calls, 1 + static_cast<int>(seconds / once_s));
    const double all_s = fenced_seconds(space, [&] {
      for (int i = 0; i < calls; ++i) contender.call();
    });
    contender.step_s.push_back(all_s / calls / contender.steps);
  }
}

/// How many times longer the one took, round by round.
inline std::vector<double> ratios(const std::vector<double>& over, const std::vector<double>& under) {
  std::vector<double> all;
  for (std::size_t round = 0; round < over.size(); ++round) all.push_back(over[round] / under[round]);
  return all;
}

/// `2 ranks on 1 node`.
inline std::string ranks_text(const Session& session) {
  const int nodes = session.nodes().count();
  return fmt::format("{} ranks on {} node{}", session.size(), nodes, nodes == 1 ? "" : "s");
}

}  // namespace steelyard
