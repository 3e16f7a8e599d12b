#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "comm/session.hpp"
#include "core/co_execution.hpp"

namespace steelyard::tool {

/// Units that a rank drives, the host unit first.
std::vector<ProcessingUnit> units_of(const RankUnits& units);

/// Runs work on one of a rank's units while the other one is idle.
void run_on(ProcessingUnit::Kind kind, CoExecution& co_execution, const CoExecution::Work& work);

/// Measures the highest rates of this rank's units, one after the other, as an array of `{"rank", "unit",
/// "stream_bytes_per_s", "gemm_flops_per_s", "to_device_bytes_per_s", "to_host_bytes_per_s"}`. Does not communicate.
/// @throws RuntimeFailure from a device
nlohmann::ordered_json measure_rank(const Session& session, const RankUnits& units, CoExecution& co_execution);

/// The arrays of all ranks, joined, on every rank. Collective.
nlohmann::ordered_json join_arrays(const Session& session, const nlohmann::ordered_json& mine);

/// GB/s of STREAM's kernels and of copies, GFLOP/s of GEMM: a row for each unit.
std::string rates_table(const nlohmann::ordered_json& units);

}  // namespace steelyard::tool
