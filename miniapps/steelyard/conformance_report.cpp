#include "miniapps/steelyard/conformance_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <sstream>

#include "core/base/table.hpp"

namespace steelyard::tool {
namespace {

using nlohmann::ordered_json;

ordered_json as_json(const RankResult& of_rank) {
  const ConformanceResult& result = of_rank.result;
  ordered_json json;
  json["rank"] = of_rank.rank;
  json["app"] = result.app;
  json["options"] = result.options;
  json["unit"] = result.unit;
  json["type"] = result.element;
  json["passed"] = result.passed();
  json["error_roundings"] = result.error;  // null where it is not finite
  json["tolerance_roundings"] = result.tolerance;
  json["same_bits"] = result.same_bits == SameBits::any_unit ? "any unit" : "again";
  const auto rate = [&](double per_s) { return result.has_rates ? ordered_json(per_s) : ordered_json(); };
  json["bytes_per_s"] = rate(result.bytes_per_s);
  json["flops_per_s"] = rate(result.flops_per_s);
  json["wrong"] = result.wrong;
  return json;
}

double number_or(const ordered_json& json, double otherwise) { return json.is_null() ? otherwise : json.get<double>(); }

/// `12.3 (45 %)`, of the most that the unit can do.
std::string beside(double per_s, double most_per_s) {
  return fmt::format("{:.1f} ({:.0f} %)", 1e-9 * per_s, most_per_s > 0.0 ? 100.0 * per_s / most_per_s : 0.0);
}

UnitRates rates_of(const RankResult& of_rank, const std::vector<MeasuredRates>& units) {
  const auto found = std::find_if(units.begin(), units.end(), [&](const MeasuredRates& unit) {
    return unit.rank == of_rank.rank && unit.unit == of_rank.result.unit;
  });
  return found == units.end() ? UnitRates() : found->rates;
}

std::size_t wrong_ones(const std::vector<RankResult>& results) {
  return static_cast<std::size_t>(std::count_if(results.begin(), results.end(),
                                                [](const RankResult& of_rank) { return !of_rank.result.passed(); }));
}

}  // namespace

std::string format_result(const RankResult& result) { return as_json(result).dump() + "\n"; }

std::vector<RankResult> parse_results(const std::string& lines) {
  std::vector<RankResult> results;
  std::istringstream stream(lines);
  for (std::string line; std::getline(stream, line);) {
    const ordered_json json = ordered_json::parse(line);
    RankResult of_rank;
    of_rank.rank = json.at("rank");
    ConformanceResult& result = of_rank.result;
    result.app = json.at("app");
    result.options = json.at("options");
    result.unit = json.at("unit");
    result.element = json.at("type");
    result.error = number_or(json.at("error_roundings"), std::numeric_limits<double>::infinity());
    result.tolerance = json.at("tolerance_roundings");
    result.same_bits = json.at("same_bits") == "again" ? SameBits::again : SameBits::any_unit;
    result.has_rates = !json.at("bytes_per_s").is_null();
    result.bytes_per_s = number_or(json.at("bytes_per_s"), 0.0);
    result.flops_per_s = number_or(json.at("flops_per_s"), 0.0);
    result.wrong = json.at("wrong");
    results.push_back(of_rank);
  }
  return results;
}

std::string conformance_table(const std::vector<RankResult>& results, const std::vector<MeasuredRates>& units) {
  const bool several_ranks =
      std::any_of(results.begin(), results.end(), [](const RankResult& of_rank) { return of_rank.rank > 0; });
  Table table(
      {"app", "case", "unit", "error", "allowed", "same bits", "GB/s (of STREAM)", "GFLOP/s (of GEMM)", "result"});
  for (const RankResult& of_rank : results) {
    const ConformanceResult& result = of_rank.result;
    const UnitRates rates = rates_of(of_rank, units);
    const double gemm = result.element == "float" ? rates.gemm_float_flops_per_s : rates.gemm_double_flops_per_s;
    table.add_row({result.app, result.options,
                   several_ranks ? fmt::format("{} of rank {}", result.unit, of_rank.rank) : result.unit,
                   fmt::format("{:.1f}", result.error), fmt::format("{:.0f}", result.tolerance),
                   result.same_bits == SameBits::any_unit ? "on any unit" : "again",
                   result.has_rates ? beside(result.bytes_per_s, rates.memory_bytes_per_s()) : "-",
                   result.has_rates ? beside(result.flops_per_s, gemm) : "-",
                   result.passed() ? "good" : "WRONG: " + result.wrong});
  }
  const std::size_t wrong = wrong_ones(results);
  return table.text() +
         "Errors are in roundings of the reference's largest value; speeds are of larger problems, beside STREAM's "
         "fastest kernel and a GEMM of the same type.\n\n" +
         rates_table(units) + fmt::format("\n{} of {} cases are wrong\n", wrong, results.size());
}

std::string conformance_json(const std::vector<RankResult>& results, const std::vector<MeasuredRates>& units) {
  ordered_json json;
  json["passed"] = wrong_ones(results) == 0;
  json["units"] = ordered_json::array();
  for (const MeasuredRates& unit : units) json["units"].push_back(ordered_json::parse(format_rates(unit)));
  json["cases"] = ordered_json::array();
  for (const RankResult& of_rank : results) json["cases"].push_back(as_json(of_rank));
  return json.dump(2) + "\n";
}

}  // namespace steelyard::tool
