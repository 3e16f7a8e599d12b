#include "core/base/run_record.hpp"

#include <fmt/chrono.h>

#include <cmath>
#include <ctime>
#include <nlohmann/json.hpp>

#include "core/base/build_info.hpp"
#include "core/base/json_file.hpp"
#include "core/base/text_file.hpp"

namespace steelyard {
namespace {

using Json = nlohmann::ordered_json;

Json optional_number(const std::optional<double>& value) { return value ? Json(*value) : Json(nullptr); }

/// Whole numbers without a fraction, as they were typed.
Json numbers(const std::map<std::string, double>& values) {
  constexpr double exact = 9007199254740992.0;  // 2^53
  Json json = Json::object();
  for (const auto& [name, value] : values) {
    if (std::abs(value) <= exact && value == std::floor(value)) {
      json[name] = static_cast<std::int64_t>(value);
    } else {
      json[name] = value;
    }
  }
  return json;
}

Json run_json(const RunRecord& record) {
  Json json;
  json["schema"] = "steelyard.run/1";
  json["app"] = record.app;
  json["date"] = record.date;
  json["argv"] = record.argv;
  json["launch"] = record.launch;
  json["environment"] = record.environment;
  json["seed"] = record.seed;
  json["version"] = build_info().version;
  json["commit"] = build_info().commit;
  json["dirty"] = build_info().dirty;
  json["compiler"] = build_info().compiler;
  json["flags"] = build_info().flags;
  json["kokkos"] = record.kokkos;
  json["blas"] = record.blas;
  json["mpi"] = record.mpi;
  json["hosts"] = record.hosts;
  json["processors"] = record.processors;
  json["memory_bytes"] = record.memory_bytes;
  json["params"] = numbers(record.params);
  json["settings"] = record.settings;
  json["units"] = Json::array();
  for (const UnitRecord& unit : record.units) {
    json["units"].push_back({{"rank", unit.rank},
                             {"kind", unit.kind},
                             {"space", unit.space},
                             {"cores", unit.cores},
                             {"slowdown", unit.slowdown},
                             {"emulated", unit.slowdown > 1.0},
                             {"predicted_s", optional_number(unit.predicted_s)},
                             {"measured_s", optional_number(unit.measured_s)}});
  }
  json["timed_per"] = record.timed_per;
  json["computation_units"] = record.computation_units;
  json["distribution"] = record.distribution;
  if (!record.column_distribution.empty()) json["column_distribution"] = record.column_distribution;
  if (!record.rectangles.empty()) {
    json["rectangles"] = Json::array();
    for (const RectangleRecord& rectangle : record.rectangles) {
      json["rectangles"].push_back({{"row", rectangle.row},
                                    {"column", rectangle.column},
                                    {"rows", rectangle.rows},
                                    {"columns", rectangle.columns}});
    }
  }
  const auto measured = [&](double seconds) { return record.is_dry_run ? Json(nullptr) : Json(seconds); };
  json["median_time_s"] = measured(record.median_time_s);
  json["predicted_time_s"] = optional_number(record.predicted_time_s);
  const std::optional<Interval>& interval = record.predicted_interval_s;
  json["predicted_interval_s"] = interval ? Json{interval->lower, interval->upper} : Json(nullptr);
  const std::optional<FigureOfMerit>& merit = record.figure_of_merit;
  json["figure_of_merit"] = merit ? Json{{"name", merit->name}, {"value", merit->value}} : Json(nullptr);
  json["figures"] = record.figures;
  for (const auto& [name, point] : record.points) json["figures"][name] = point;
  json["phases"] = Json::array();
  for (const PhaseTime& phase : record.phases) {
    json["phases"].push_back({{"name", phase.name},
                              {"measured_s", measured(phase.measured_s)},
                              {"predicted_s", optional_number(phase.predicted_s)}});
  }
  json["check"] = {{"performed", record.check.performed},
                   {"passed", record.check.performed ? Json(record.check.passed) : Json(nullptr)},
                   {"error", record.check.error},
                   {"tolerance", record.check.tolerance},
                   {"against", record.check.against}};
  json["notes"] = record.notes;
  if (record.is_interrupted) json["interrupted"] = true;
  if (record.is_dry_run) json["dry_run"] = true;
  return json;
}

}  // namespace

std::string date_now() { return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr))); }

void write_run_record(const std::filesystem::path& folder, const RunRecord& record) {
  std::string lines;
  for (const Sample& sample : record.samples) {
    Json line;
    line["params"] = numbers(sample.params);
    line["metric"] = sample.metric;
    line["value"] = sample.value;
    for (const auto& [key, text] : sample.keys) line[key] = text;
    lines += line.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
  }
  write_text_file(folder / "samples.jsonl", lines);
  write_json_file(folder / "run.json", run_json(record));
}

}  // namespace steelyard
