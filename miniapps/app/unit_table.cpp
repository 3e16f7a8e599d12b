#include "miniapps/app/unit_table.hpp"

#include <fmt/format.h>

#include <vector>

#include "core/base/accuracy.hpp"
#include "core/base/errors.hpp"
#include "core/base/table.hpp"

namespace steelyard {
namespace {

void require_one_each(const RunRecord& record, const UnitHeadings& headings, std::span<const double> predicted_s,
                      std::span<const double> measured_s) {
  const std::size_t count = record.units.size();
  for (const UnitColumn& column : headings.columns) {
    if (column.cells.size() == count) continue;
    throw InvalidArgument(fmt::format("{} cells of column {} for {} processing units (expected one each)",
                                      column.cells.size(), column.heading, count));
  }
  const bool right = record.distribution.size() == count && predicted_s.size() == count &&
                     (measured_s.empty() || measured_s.size() == count);
  if (right) return;
  throw InvalidArgument(
      fmt::format("{} slices, {} predicted and {} measured times for {} processing units (expected one each)",
                  record.distribution.size(), predicted_s.size(), measured_s.size(), count));
}

}  // namespace

std::string unit_table(const RunRecord& record, const UnitHeadings& headings, std::span<const double> predicted_s,
                       std::span<const double> measured_s) {
  require_one_each(record, headings, predicted_s, measured_s);
  std::vector<std::string> columns{"unit", "space", "cores", "slowdown"};
  for (const UnitColumn& column : headings.columns) columns.push_back(column.heading);
  columns.insert(columns.end(), {headings.computation_units, "share", "predicted" + headings.per});
  if (!measured_s.empty()) columns.insert(columns.end(), {"measured" + headings.per, "difference"});
  Table table(columns);
  double total = 0.0;
  for (const std::int64_t units : record.distribution) total += static_cast<double>(units);
  for (std::size_t i = 0; i < record.units.size(); ++i) {
    const UnitRecord& unit = record.units[i];
    const double share = total > 0.0 ? static_cast<double>(record.distribution[i]) / total : 0.0;
    std::vector<std::string> row{fmt::format("rank {} {}", unit.rank, unit.kind), unit.space, unit.cores,
                                 unit.slowdown > 1.0 ? fmt::format("{:g} (emulated)", unit.slowdown) : "-"};
    for (const UnitColumn& column : headings.columns) row.push_back(column.cells[i]);
    row.insert(row.end(), {fmt::format("{}", record.distribution[i]), fmt::format("{:.1f} %", 100.0 * share),
                           format_seconds(predicted_s[i])});
    if (!measured_s.empty()) {
      const bool comparable = measured_s[i] > 0.0 && predicted_s[i] > 0.0;
      row.push_back(format_seconds(measured_s[i]));
      row.push_back(comparable ? fmt::format("{:.1f} %", percentage_difference(predicted_s[i], measured_s[i])) : "-");
    }
    table.add_row(row);
  }
  return table.text();
}

}  // namespace steelyard
