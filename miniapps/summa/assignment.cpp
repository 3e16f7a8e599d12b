#include "miniapps/summa/assignment.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdlib>
#include <deque>
#include <filesystem>
#include <utility>

#include "core/base/errors.hpp"
#include "core/base/json_file.hpp"
#include "partition/algorithms.hpp"
#include "partition/group_model.hpp"
#include "partition/rectangles/column.hpp"
#include "partition/rectangles/column_order.hpp"

namespace steelyard::summa {
namespace {

using partition::Rectangle;

/// A grid of rows x columns cells, rows <= columns as near to each other as can be.
std::vector<Rectangle> even_grid(const partition::Extents& extents, std::int64_t processes) {
  std::int64_t rows = 1;
  for (std::int64_t candidate = 1; candidate * candidate <= processes; ++candidate) {
    if (processes % candidate == 0) rows = candidate;
  }
  const std::int64_t columns = processes / rows;
  std::vector<Rectangle> rectangles;
  for (std::int64_t cell = 0; cell < processes; ++cell) {
    const std::int64_t i = cell / columns, j = cell % columns;
    const std::int64_t row = i * extents.rows / rows, column = j * extents.columns / columns;
    const Rectangle rectangle{row, column, (i + 1) * extents.rows / rows - row,
                              (j + 1) * extents.columns / columns - column};
    rectangles.push_back(rectangle.empty() ? Rectangle{} : rectangle);
  }
  return rectangles;
}

/// Of the units that a process drives, the host's first.
std::vector<const models::SpeedModel*> units_of(const ProcessModels& process) {
  std::vector<const models::SpeedModel*> units;
  for (const models::SpeedModel* model : {process.host, process.companion}) {
    if (model != nullptr) units.push_back(model);
  }
  return units;
}

/// A process's area is the sum of its units' shares of all blocks.
partition::ColumnPartition columns_by_area(const partition::Extents& extents,
                                           const std::vector<ProcessModels>& processes,
                                           const partition::Algorithm& algorithm) {
  std::vector<const models::SpeedModel*> units;
  std::vector<std::size_t> process_of_unit;
  for (std::size_t i = 0; i < processes.size(); ++i) {
    for (const models::SpeedModel* unit : units_of(processes[i])) {
      units.push_back(unit);
      process_of_unit.push_back(i);
    }
  }
  const partition::Distribution shares = algorithm.distribute(extents.rows * extents.columns, units);
  std::vector<double> areas(processes.size(), 0.0);
  for (std::size_t i = 0; i < units.size(); ++i) areas[process_of_unit[i]] += static_cast<double>(shares.units[i]);
  return partition::column(areas, extents);
}

/// A process is as fast as its units together.
partition::ColumnPartition columns_by_cost(const partition::Extents& extents,
                                           const std::vector<ProcessModels>& processes,
                                           const partition::Algorithm& algorithm,
                                           const partition::RectangleCost& communication_s) {
  std::deque<partition::GroupModel> groups;
  std::vector<const models::SpeedModel*> models;
  for (const ProcessModels& process : processes) {
    models.push_back(&groups.emplace_back(units_of(process), algorithm, extents.rows * extents.columns));
  }
  return partition::communication_aware(extents, models, algorithm, communication_s).partition;
}

/// A whole number of blocks, so small that sums of two fit.
std::int64_t blocks(const JsonReader& reader, const std::string& key) {
  const double value = reader.number(key);
  if (!(value >= 0.0 && value <= static_cast<double>(partition::most_blocks_per_side) && std::floor(value) == value)) {
    reader.fail(key,
                fmt::format("is {} (expected a whole number from 0 to {})", value, partition::most_blocks_per_side));
  }
  return static_cast<std::int64_t>(value);
}

/// The rectangles of all processes, which cover every block exactly once. @throws FileFormatError where they do not
std::vector<Rectangle> read_rectangles(const std::filesystem::path& path, const partition::Extents& extents,
                                       std::size_t processes) {
  const nlohmann::json json = read_json_file(path);
  const JsonReader top(path.string(), json);
  const std::vector<JsonReader> readers = top.array("rectangles");
  if (readers.size() != processes) {
    top.fail("rectangles", fmt::format("holds {} (expected one for each of {} processes)", readers.size(), processes));
  }
  std::vector<Rectangle> rectangles;
  std::int64_t covered = 0;
  for (const JsonReader& reader : readers) {
    const Rectangle read{blocks(reader, "row"), blocks(reader, "column"), blocks(reader, "rows"),
                         blocks(reader, "columns")};
    if (!read.empty() && (read.end_row() > extents.rows || read.end_column() > extents.columns)) {
      reader.fail("", fmt::format("ends at block row {}, column {} (expected at most {}, {})", read.end_row(),
                                  read.end_column(), extents.rows, extents.columns));
    }
    for (std::size_t i = 0; i < rectangles.size(); ++i) {
      if (partition::common_part(read, rectangles[i]).empty()) continue;
      reader.fail("", fmt::format("has blocks in common with rectangles[{}]", i));
    }
    rectangles.push_back(read.empty() ? Rectangle{} : read);
    covered += read.area();
  }
  if (covered != extents.rows * extents.columns) {
    top.fail("rectangles",
             fmt::format("cover {} blocks (expected all {} x {})", covered, extents.rows, extents.columns));
  }
  return rectangles;
}

/// Seconds of each unit's rows.
PerUnit<double> rows_s(const ProcessModels& process, const UnitRows& rows, std::int64_t width) {
  PerUnit<double> seconds;
  for (const auto kind : {ProcessingUnit::Kind::host, ProcessingUnit::Kind::companion}) {
    if (rows[kind] > 0) seconds[kind] = process[kind]->time_s(static_cast<double>(rows[kind] * width));
  }
  return seconds;
}

UnitRows half_each(const Rectangle& rectangle, const ProcessModels& process) {
  if (process.companion == nullptr) return {rectangle.rows, 0};
  if (process.host == nullptr) return {0, rectangle.rows};
  return {rectangle.rows - rectangle.rows / 2, rectangle.rows / 2};
}

/// Least time of the slower unit among all splits; of equal ones the most even. Speeds may have any shape, so all are
/// tried.
UnitRows earliest_end(const Rectangle& rectangle, const ProcessModels& process) {
  UnitRows best = half_each(rectangle, process);
  if (process.host == nullptr || process.companion == nullptr) return best;
  const auto badness = [&](const UnitRows& rows) {
    const auto [host_s, companion_s] = rows_s(process, rows, rectangle.columns);
    return std::pair(std::max(host_s, companion_s), std::abs(rows.host - rows.companion));
  };
  for (std::int64_t host = 0; host <= rectangle.rows; ++host) {
    const UnitRows rows{host, rectangle.rows - host};
    if (badness(rows) < badness(best)) best = rows;
  }
  return best;
}

}  // namespace

double Assignment::update_s() const {
  double longest_s = 0.0;
  for (const PerUnit<double>& process : unit_s) longest_s = std::max({longest_s, process.host, process.companion});
  return longest_s;
}

bool is_partition_file(const std::string& partition) { return std::filesystem::path(partition).extension() == ".json"; }

std::string area_algorithm(const std::string& partition) {
  if (partition == "column" || is_partition_file(partition)) return "geometric";
  partition::find_algorithm(partition, ", column, or a file *.json");
  return partition;
}

Assignment assign(const Problem& problem, const std::vector<ProcessModels>& processes, const std::string& partition,
                  std::span<const int> node_of_process, const partition::RectangleCost& communication_s) {
  const partition::Algorithm& algorithm = partition::find_algorithm(area_algorithm(partition));
  const partition::Extents extents = problem.extents();
  partition::require_extents(extents);
  for (std::size_t i = 0; i < processes.size(); ++i) {
    if (!units_of(processes[i]).empty()) continue;
    throw InvalidArgument(fmt::format("process {} drives no processing unit (expected at least one)", i));
  }
  const bool even = partition == "even";
  Assignment assignment;
  if (is_partition_file(partition)) {
    assignment.rectangles = read_rectangles(partition, extents, processes.size());
  } else if (even) {
    assignment.rectangles = even_grid(extents, static_cast<std::int64_t>(processes.size()));
  } else {
    const partition::ColumnPartition columns = communication_s
                                                   ? columns_by_cost(extents, processes, algorithm, communication_s)
                                                   : columns_by_area(extents, processes, algorithm);
    assignment.rectangles =
        node_of_process.empty() ? columns.rectangles : partition::order_by_node(columns, node_of_process).rectangles;
  }
  for (std::size_t i = 0; i < processes.size(); ++i) {
    const Rectangle& rectangle = assignment.rectangles[i];
    const UnitRows rows = even ? half_each(rectangle, processes[i]) : earliest_end(rectangle, processes[i]);
    const PerUnit<double> time_s = rows_s(processes[i], rows, rectangle.columns);
    if (!std::isfinite(time_s.host) || !std::isfinite(time_s.companion)) {
      throw InvalidArgument(
          fmt::format("process {} cannot compute its rectangle of {} x {} blocks: {} block rows for its host, {} for "
                      "its companion are more than they hold",
                      i, rectangle.rows, rectangle.columns, rows.host, rows.companion));
    }
    assignment.rows.push_back(rows);
    assignment.unit_s.push_back(time_s);
  }
  return assignment;
}

}  // namespace steelyard::summa
