#pragma once

#include <string>
#include <vector>

#include "miniapps/steelyard/conformance.hpp"
#include "miniapps/steelyard/rank_rates.hpp"

namespace steelyard::tool {

/// A result and the rank that has it.
struct RankResult {
  int rank = 0;
  ConformanceResult result;
};
/// A line that other ranks read back.
std::string format_result(const RankResult& result);
std::vector<RankResult> parse_results(const std::string& lines);

/// A row for each case and unit: speeds beside those of STREAM's fastest kernel and of the GEMM in the same type.
std::string conformance_table(const std::vector<RankResult>& results, const std::vector<MeasuredRates>& units);
std::string conformance_json(const std::vector<RankResult>& results, const std::vector<MeasuredRates>& units);

}  // namespace steelyard::tool
