#include "miniapps/steelyard/predict_report.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "core/base/table.hpp"

namespace steelyard::tool {

using nlohmann::ordered_json;

std::string prediction_table(const Prediction& prediction) {
  Table table({"model", "computation", "communication", "total"});
  const std::string computation = prediction.computation_s ? format_seconds(*prediction.computation_s) : "-";
  for (const PredictedCommunication& one : prediction.communication) {
    table.add_row({one.model, computation, format_seconds(one.communication_s), format_seconds(one.total_s)});
  }
  const PredictedCommunication& first = prediction.communication.front();
  return table.text() + fmt::format("total      {} ({}{})\n", format_seconds(first.total_s), first.model,
                                    prediction.computation_s ? "" : "; communication alone, for want of --model");
}

std::string prediction_json(const Prediction& prediction) {
  const PredictedCommunication& first = prediction.communication.front();
  ordered_json json;
  json["app"] = prediction.app;
  json["phases"] = ordered_json::array();
  if (prediction.computation_s) {
    json["phases"].push_back({{"name", "computation"}, {"time_s", *prediction.computation_s}});
  }
  json["phases"].push_back({{"name", "communication"}, {"time_s", first.communication_s}});
  json["time_s"] = first.total_s;
  json["communication_model"] = first.model;
  json["models"] = ordered_json::object();
  for (const PredictedCommunication& one : prediction.communication) json["models"][one.model] = one.communication_s;
  json["rectangles"] = ordered_json::array();
  for (const partition::Rectangle& rectangle : prediction.rectangles) {
    json["rectangles"].push_back({{"row", rectangle.row},
                                  {"column", rectangle.column},
                                  {"rows", rectangle.rows},
                                  {"columns", rectangle.columns}});
  }
  return json.dump(2) + "\n";
}

}  // namespace steelyard::tool
