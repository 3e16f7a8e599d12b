#include <fmt/format.h>

#include "comm/collective.hpp"
#include "core/base/table.hpp"
#include "core/memory/unit_memory.hpp"
#include "core/unit_rates.hpp"
#include "miniapps/steelyard/command.hpp"

namespace steelyard::tool {
namespace {

using nlohmann::ordered_json;

ordered_json as_json(int rank, const std::string& unit, const UnitRates& rates) {
  // Nothing where there is none: of copies where the unit works in host memory, of vector units where it is a device.
  const auto rate = [](double per_s) { return per_s > 0.0 ? ordered_json(per_s) : ordered_json(); };
  const auto& stream = rates.stream_bytes_per_s;
  return {{"rank", rank},
          {"unit", unit},
          {"stream_bytes_per_s", {{"copy", stream[0]}, {"scale", stream[1]}, {"add", stream[2]}, {"triad", stream[3]}}},
          {"gemm_flops_per_s", {{"double", rates.gemm_double_flops_per_s}, {"float", rates.gemm_float_flops_per_s}}},
          {"vector_flops_per_s", rate(rates.vector_flops_per_s)},
          {"to_device_bytes_per_s", rate(rates.to_device_bytes_per_s)},
          {"to_host_bytes_per_s", rate(rates.to_host_bytes_per_s)}};
}

std::string in_billions(const ordered_json& per_s) {
  return per_s.is_null() ? "-" : fmt::format("{:.1f}", 1e-9 * per_s.get<double>());
}

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

ordered_json measure_rank(const Session& session, const RankUnits& units, CoExecution& co_execution) {
  ordered_json measured = ordered_json::array();
  for (const ProcessingUnit& unit : units_of(units)) {
    const double memory_bytes = unit_memory_bytes(session.machine(), units, unit.kind, session.nodes().ranks_on_node);
    const std::int64_t elements = stream_elements(session.machine(), unit.kind, memory_bytes);
    UnitRates rates;
    run_on(unit.kind, co_execution, [&] { rates = measure_unit_rates(unit.kind, elements, memory_bytes); });
    measured.push_back(as_json(session.rank(), unit.name(), rates));
  }
  return measured;
}

ordered_json join_arrays(const Session& session, const ordered_json& mine) {
  ordered_json all = ordered_json::array();
  for (const std::string& text : all_gather_text(session.comm(), mine.dump())) {
    for (const ordered_json& element : ordered_json::parse(text)) all.push_back(element);
  }
  return all;
}

std::string rates_table(const ordered_json& units) {
  Table table({"rank", "unit", "copy GB/s", "scale", "add", "triad", "GEMM GFLOP/s double", "float", "to device GB/s",
               "to host", "vector units GFLOP/s"});
  std::string slow;
  for (const ordered_json& unit : units) {
    std::vector<std::string> row{unit.at("rank").dump(), unit.at("unit")};
    for (const ordered_json& rate : unit.at("stream_bytes_per_s")) row.push_back(in_billions(rate));
    for (const ordered_json& rate : unit.at("gemm_flops_per_s")) row.push_back(in_billions(rate));
    const ordered_json &gemm = unit.at("gemm_flops_per_s").at("double"), &most = unit.at("vector_flops_per_s");
    if (!most.is_null() && 2.0 * gemm.get<double>() < most.get<double>()) {
      slow += fmt::format("rank {} {}: GEMM reaches {:.0f} % of what the vector units can do\n", row[0], row[1],
                          100.0 * gemm.get<double>() / most.get<double>());
    }
    row.push_back(in_billions(unit.at("to_device_bytes_per_s")));
    row.push_back(in_billions(unit.at("to_host_bytes_per_s")));
    row.push_back(in_billions(unit.at("vector_flops_per_s")));
    table.add_row(row);
  }
  return table.text() + slow;
}

}  // namespace steelyard::tool
