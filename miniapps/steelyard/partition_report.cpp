#include "miniapps/steelyard/partition_report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/base/table.hpp"

namespace steelyard::tool {
namespace {

using nlohmann::ordered_json;

ordered_json as_json(const std::string& algorithm, std::int64_t total, const partition::Distribution& distribution) {
  ordered_json json;
  json["algorithm"] = algorithm;
  json["total"] = total;
  json["units"] = distribution.units;
  json["predicted_s"] = distribution.predicted_s;
  json["makespan_s"] = distribution.makespan_s();
  return json;
}

std::string share(std::int64_t units, std::int64_t total) {
  return fmt::format("{:.1f} %", total > 0 ? 100.0 * static_cast<double>(units) / static_cast<double>(total) : 0.0);
}

std::string last_line(const PartitionInput& input, const partition::Distribution& distribution) {
  return fmt::format("{}: {} computation units in {}, imbalance {:.1f} %\n", input.algorithm, input.total,
                     format_seconds(distribution.makespan_s()), 100.0 * distribution.imbalance());
}

}  // namespace

std::string distribution_table(const PartitionInput& input, const partition::Distribution& distribution,
                               const std::vector<std::int64_t>& groups) {
  Table table({"model", "units", "share", "predicted"});
  for (std::size_t i = 0; i < distribution.units.size(); ++i) {
    table.add_row({input.names[i], fmt::format("{}", distribution.units[i]), share(distribution.units[i], input.total),
                   format_seconds(distribution.predicted_s[i])});
  }
  const std::string nodes = groups.empty() ? "" : fmt::format("nodes      {}\n", fmt::join(groups, ", "));
  return table.text() + nodes + last_line(input, distribution);
}

std::string distribution_json(const PartitionInput& input, const partition::Distribution& distribution,
                              const std::vector<std::int64_t>& groups) {
  auto json = as_json(input.algorithm, input.total, distribution);
  if (!groups.empty()) json["nodes"] = groups;
  return json.dump(2) + "\n";
}

std::string columns_table(const PartitionInput& input, const partition::Distribution& distribution,
                          const partition::ColumnPartition& columns) {
  Table table({"model", "blocks", "share", "row", "column", "rows", "columns", "predicted"});
  for (std::size_t i = 0; i < columns.rectangles.size(); ++i) {
    const partition::Rectangle& rectangle = columns.rectangles[i];
    table.add_row({input.names[i], fmt::format("{}", rectangle.area()), share(rectangle.area(), input.total),
                   fmt::format("{}", rectangle.row), fmt::format("{}", rectangle.column),
                   fmt::format("{}", rectangle.rows), fmt::format("{}", rectangle.columns),
                   format_seconds(distribution.predicted_s[i])});
  }
  return table.text() + last_line(input, distribution) +
         fmt::format("{} columns over {} x {} blocks, half-perimeters {} blocks\n", columns.columns.size(),
                     columns.extents.rows, columns.extents.columns, columns.half_perimeters());
}

std::string columns_json(const PartitionInput& input, const partition::Distribution& distribution,
                         const partition::ColumnPartition& columns) {
  ordered_json json = as_json(input.algorithm, input.total, distribution);
  json["rectangles"] = ordered_json::array();
  for (const partition::Rectangle& rectangle : columns.rectangles) {
    json["rectangles"].push_back({{"row", rectangle.row},
                                  {"column", rectangle.column},
                                  {"rows", rectangle.rows},
                                  {"columns", rectangle.columns}});
  }
  json["columns"] = ordered_json::array();
  for (const partition::Column& column : columns.columns) {
    json["columns"].push_back({{"first", column.first}, {"count", column.count}, {"units", column.units}});
  }
  return json.dump(2) + "\n";
}

std::string compared_table(const PartitionInput& input, const std::vector<ComparedAlgorithm>& compared) {
  std::vector<std::string> headings{"algorithm", "makespan", "to best", "imbalance"};
  headings.insert(headings.end(), input.names.begin(), input.names.end());
  Table table(headings);
  double best_s = compared.front().distribution.makespan_s();
  for (const ComparedAlgorithm& algorithm : compared) best_s = std::min(best_s, algorithm.distribution.makespan_s());
  for (const ComparedAlgorithm& algorithm : compared) {
    const double makespan_s = algorithm.distribution.makespan_s();
    std::vector<std::string> row{algorithm.name, format_seconds(makespan_s),
                                 best_s > 0.0 ? fmt::format("{:.3f}", makespan_s / best_s) : "-",
                                 fmt::format("{:.1f} %", 100.0 * algorithm.distribution.imbalance())};
    for (const std::int64_t units : algorithm.distribution.units) row.push_back(fmt::format("{}", units));
    table.add_row(row);
  }
  return table.text();
}

std::string compared_json(const PartitionInput& input, const std::vector<ComparedAlgorithm>& compared) {
  ordered_json json;
  json["total"] = input.total;
  json["algorithms"] = ordered_json::array();
  for (const ComparedAlgorithm& algorithm : compared) {
    json["algorithms"].push_back(as_json(algorithm.name, input.total, algorithm.distribution));
  }
  return json.dump(2) + "\n";
}

}  // namespace steelyard::tool
