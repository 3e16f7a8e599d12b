#pragma once

#include <string>
#include <vector>

#include "comm/session.hpp"
#include "core/co_execution.hpp"
#include "core/unit_rates.hpp"

namespace steelyard::tool {

/// Those that a rank drives, the host unit first.
std::vector<ProcessingUnit> units_of(const RankUnits& units);

/// Runs work on one of a rank's units while the other one is idle.
void run_on(ProcessingUnit::Kind kind, CoExecution& co_execution, const CoExecution::Work& work);

/// A unit of a rank and what it can do at most.
struct MeasuredRates {
  int rank = 0;
  std::string unit;  ///< host or device
  UnitRates rates;
};

/// Of this rank's units, one after the other. Does not communicate. @throws RuntimeFailure from a device
std::vector<MeasuredRates> measure_rank(const Session& session, const RankUnits& units, CoExecution& co_execution);

/// A line that other ranks read back.
std::string format_rates(const MeasuredRates& rates);
std::vector<MeasuredRates> parse_rates(const std::string& lines);

/// Lines of every rank, on every rank. Collective.
std::string all_lines(const Session& session, const std::string& mine);

/// GB/s of STREAM's kernels and of copies, GFLOP/s of GEMM: a row for each unit.
std::string rates_table(const std::vector<MeasuredRates>& units);

}  // namespace steelyard::tool
