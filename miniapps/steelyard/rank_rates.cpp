#include "miniapps/steelyard/rank_rates.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "comm/collective.hpp"
#include "core/base/table.hpp"
#include "core/unit_memory.hpp"

namespace steelyard::tool {
namespace {

using nlohmann::ordered_json;

ordered_json as_json(const MeasuredRates& unit) {
  const UnitRates& rates = unit.rates;
  ordered_json json;
  json["rank"] = unit.rank;
  json["unit"] = unit.unit;
  json["stream_bytes_per_s"] = {{"copy", rates.stream_bytes_per_s[0]},
                                {"scale", rates.stream_bytes_per_s[1]},
                                {"add", rates.stream_bytes_per_s[2]},
                                {"triad", rates.stream_bytes_per_s[3]}};
  json["gemm_flops_per_s"] = {{"double", rates.gemm_double_flops_per_s}, {"float", rates.gemm_float_flops_per_s}};
  // Nothing where the unit works in host memory.
  const auto rate = [](double bytes_per_s) { return bytes_per_s > 0.0 ? ordered_json(bytes_per_s) : ordered_json(); };
  json["to_device_bytes_per_s"] = rate(rates.to_device_bytes_per_s);
  json["to_host_bytes_per_s"] = rate(rates.to_host_bytes_per_s);
  return json;
}

std::string in_billions(double per_s) { return fmt::format("{:.1f}", 1e-9 * per_s); }

}  // namespace

std::vector<ProcessingUnit> units_of(const RankUnits& units) {
  std::vector<ProcessingUnit> all;
  for (const std::optional<ProcessingUnit>* unit : {&units.host, &units.companion}) {
    if (*unit) all.push_back(**unit);
  }
  return all;
}

void run_on(ProcessingUnit::Kind kind, CoExecution& co_execution, const CoExecution::Work& work) {
  const CoExecution::Work nothing = [] {};
  const bool host = kind == ProcessingUnit::Kind::host;
  co_execution.run(host ? work : nothing, host ? nothing : work);
}

std::vector<MeasuredRates> measure_rank(const Session& session, const RankUnits& units, CoExecution& co_execution) {
  std::vector<MeasuredRates> measured;
  for (const ProcessingUnit& unit : units_of(units)) {
    const double memory_bytes = unit_memory_bytes(session.machine(), units, unit.kind, session.nodes().ranks_on_node);
    const std::int64_t elements = stream_elements(session.machine(), unit.kind, memory_bytes);
    measured.push_back({session.rank(), unit.name(), {}});
    run_on(unit.kind, co_execution,
           [&] { measured.back().rates = measure_unit_rates(unit.kind, elements, memory_bytes); });
  }
  return measured;
}

std::string format_rates(const MeasuredRates& rates) { return as_json(rates).dump() + "\n"; }

std::vector<MeasuredRates> parse_rates(const std::string& lines) {
  std::vector<MeasuredRates> units;
  std::istringstream text(lines);
  for (std::string line; std::getline(text, line);) {
    const ordered_json json = ordered_json::parse(line);
    const auto bytes_per_s = [&](const char* key) { return json.at(key).is_null() ? 0.0 : json.at(key).get<double>(); };
    MeasuredRates unit{json.at("rank"), json.at("unit"), {}};
    const ordered_json& stream = json.at("stream_bytes_per_s");
    unit.rates.stream_bytes_per_s = {stream.at("copy"), stream.at("scale"), stream.at("add"), stream.at("triad")};
    unit.rates.gemm_double_flops_per_s = json.at("gemm_flops_per_s").at("double");
    unit.rates.gemm_float_flops_per_s = json.at("gemm_flops_per_s").at("float");
    unit.rates.to_device_bytes_per_s = bytes_per_s("to_device_bytes_per_s");
    unit.rates.to_host_bytes_per_s = bytes_per_s("to_host_bytes_per_s");
    units.push_back(unit);
  }
  return units;
}

std::string all_lines(const Session& session, const std::string& mine) {
  std::string all;
  for (const std::string& text : all_gather_text(session.comm(), mine)) all += text;
  return all;
}

std::string rates_table(const std::vector<MeasuredRates>& units) {
  Table table({"rank", "unit", "copy GB/s", "scale", "add", "triad", "GEMM GFLOP/s double", "float", "to device GB/s",
               "to host"});
  for (const MeasuredRates& unit : units) {
    std::vector<std::string> row{fmt::format("{}", unit.rank), unit.unit};
    for (const double rate : unit.rates.stream_bytes_per_s) row.push_back(in_billions(rate));
    row.push_back(in_billions(unit.rates.gemm_double_flops_per_s));
    row.push_back(in_billions(unit.rates.gemm_float_flops_per_s));
    for (const double rate : {unit.rates.to_device_bytes_per_s, unit.rates.to_host_bytes_per_s}) {
      row.push_back(rate > 0.0 ? in_billions(rate) : "-");
    }
    table.add_row(row);
  }
  return table.text();
}

}  // namespace steelyard::tool
