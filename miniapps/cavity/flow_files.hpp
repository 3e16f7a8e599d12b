#pragma once

#include <filesystem>

#include "miniapps/cavity/flow_state.hpp"
#include "miniapps/cavity/options.hpp"
#include "miniapps/cavity/run_log.hpp"

namespace steelyard::cavity {

/// Asks, before anything runs, whether the files that the user named for the flow could be written.
/// @throws RuntimeFailure
void require_flow_outputs(const Options& options);

/// Writes them: `--output`, `--profiles`, `--picture`, `--checkpoint`, each where it was given; and with `--result` the
/// first three into that folder as `flow.vti`, `centre_lines.csv` and `flow.png`. @throws RuntimeFailure
void write_flow_outputs(const Options& options, const Problem& problem, const FlowState& state);

/// Writes `solves.jsonl` into the folder: a line per time step with step, time and, of every linear solve, iterations,
/// restarts and residuals over the right-hand side's 2-norm. @param start state before the first step
/// @throws RuntimeFailure
void write_histories(const std::filesystem::path& folder, const Problem& problem, const FlowState& start,
                     const RunLog& log);

}  // namespace steelyard::cavity
