#include "miniapps/summa/assignment.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <utility>

#include "core/base/errors.hpp"
#include "core/base/json_file.hpp"
#include "partition/algorithms.hpp"
#include "partition/column.hpp"
#include "partition/column_order.hpp"

namespace steelyard::summa {
namespace {

using partition::Rectangle;

/// `count` processes as rows x columns, rows <= columns as near to each other as can be.
partition::Extents near_square(std::int64_t count) {
  std::int64_t rows = 1;
  for (std::int64_t candidate = 1; candidate * candidate <= count; ++candidate) {
    if (count % candidate == 0) rows = candidate;
  }
  return {rows, count / rows};
}

std::vector<Rectangle> even_grid(const partition::Extents& extents, std::int64_t processes) {
  const partition::Extents grid = near_square(processes);
  std::vector<Rectangle> rectangles;
  for (std::int64_t i = 0; i < grid.rows; ++i) {
    for (std::int64_t j = 0; j < grid.columns; ++j) {
      const std::int64_t row = i * extents.rows / grid.rows, column = j * extents.columns / grid.columns;
      const Rectangle cell{row, column, (i + 1) * extents.rows / grid.rows - row,
                           (j + 1) * extents.columns / grid.columns - column};
      rectangles.push_back(cell.empty() ? Rectangle{} : cell);
    }
  }
  return rectangles;
}

/// A process's area is the sum of its units' shares of all blocks.
std::vector<Rectangle> columns_by_area(const partition::Extents& extents, const std::vector<ProcessModels>& processes,
                                       const std::string& algorithm, std::span<const int> node_of_process) {
  std::vector<const models::SpeedModel*> units;
  for (const ProcessModels& process : processes) {
    for (const models::SpeedModel* model : {process.host, process.companion}) {
      if (model != nullptr) units.push_back(model);
    }
  }
  const partition::Distribution distribution =
      partition::find_algorithm(algorithm).distribute(extents.rows * extents.columns, units);
  std::vector<double> areas;
  auto unit = distribution.units.begin();
  for (const ProcessModels& process : processes) {
    double area = 0.0;
    for (const models::SpeedModel* model : {process.host, process.companion}) {
      if (model != nullptr) area += static_cast<double>(*unit++);
    }
    areas.push_back(area);
  }
  const partition::ColumnPartition columns = partition::column(areas, extents);
  return node_of_process.empty() ? columns.rectangles : partition::order_by_node(columns, node_of_process).rectangles;
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

bool overlap(const Rectangle& one, const Rectangle& other) {
  return !one.empty() && !other.empty() && one.row < other.end_row() && other.row < one.end_row() &&
         one.column < other.end_column() && other.column < one.end_column();
}

Rectangle read_rectangle(const JsonReader& reader, const partition::Extents& extents) {
  const Rectangle rectangle{blocks(reader, "row"), blocks(reader, "column"), blocks(reader, "rows"),
                            blocks(reader, "columns")};
  if (rectangle.empty()) return {};
  if (rectangle.end_row() > extents.rows || rectangle.end_column() > extents.columns) {
    reader.fail("", fmt::format("ends at block row {}, column {} (expected at most {}, {})", rectangle.end_row(),
                                rectangle.end_column(), extents.rows, extents.columns));
  }
  return rectangle;
}

/// The rectangles of all processes, which cover every block exactly once. @throws FileFormatError where they do not
std::vector<Rectangle> read_rectangles(const std::filesystem::path& path, const partition::Extents& extents,
                                       int processes) {
  const nlohmann::json json = read_json_file(path);
  const JsonReader top(path.string(), json);
  const std::vector<JsonReader> readers = top.array("rectangles");
  if (readers.size() != static_cast<std::size_t>(processes)) {
    top.fail("rectangles", fmt::format("holds {} (expected one for each of {} processes)", readers.size(), processes));
  }
  std::vector<Rectangle> rectangles;
  std::int64_t covered = 0;
  for (const JsonReader& reader : readers) {
    rectangles.push_back(read_rectangle(reader, extents));
    const Rectangle& last = rectangles.back();
    const auto same = std::find_if(rectangles.begin(), rectangles.end() - 1,
                                   [&](const Rectangle& other) { return overlap(last, other); });
    if (same != rectangles.end() - 1) {
      reader.fail("", fmt::format("has blocks in common with rectangles[{}]", same - rectangles.begin()));
    }
    covered += last.area();
  }
  if (covered != extents.rows * extents.columns) {
    top.fail("rectangles",
             fmt::format("cover {} blocks (expected all {} x {})", covered, extents.rows, extents.columns));
  }
  return rectangles;
}

double rows_s(const models::SpeedModel* model, std::int64_t rows, std::int64_t width) {
  return rows == 0 ? 0.0 : model->time_s(static_cast<double>(rows * width));
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
  const auto end_s = [&](const UnitRows& rows) {
    return std::max(rows_s(process.host, rows.host, rectangle.columns),
                    rows_s(process.companion, rows.companion, rectangle.columns));
  };
  const auto unevenness = [](const UnitRows& rows) { return std::abs(rows.host - rows.companion); };
  double best_s = end_s(best);
  for (std::int64_t host = 0; host <= rectangle.rows; ++host) {
    const UnitRows rows{host, rectangle.rows - host};
    const double rows_end_s = end_s(rows);
    if (rows_end_s < best_s || (rows_end_s == best_s && unevenness(rows) < unevenness(best))) {
      best = rows;
      best_s = rows_end_s;
    }
  }
  return best;
}

void require_processes(const Problem& problem, const std::vector<ProcessModels>& processes) {
  if (problem.n < 1 || problem.block < 1) {
    throw InvalidArgument(
        fmt::format("{0} x {0} elements in blocks of {1} x {1} (expected at least 1 each)", problem.n, problem.block));
  }
  partition::require_extents(problem.extents());
  if (processes.empty()) throw InvalidArgument("matrices for no processes (expected at least one)");
  for (std::size_t i = 0; i < processes.size(); ++i) {
    if (processes[i].host == nullptr && processes[i].companion == nullptr) {
      throw InvalidArgument(fmt::format("process {} drives no processing unit (expected at least one)", i));
    }
  }
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
  std::string names = "column";
  for (const partition::Algorithm& algorithm : partition::algorithms()) {
    if (algorithm.name == partition) return partition;
    names += ", " + algorithm.name;
  }
  throw InvalidArgument(
      fmt::format("partition \"{}\" is unknown (expected one of {} or a file *.json)", partition, names));
}

Assignment assign(const Problem& problem, const std::vector<ProcessModels>& processes, const std::string& partition,
                  std::span<const int> node_of_process) {
  require_processes(problem, processes);
  const std::string algorithm = area_algorithm(partition);
  const partition::Extents extents = problem.extents();
  const bool even = partition == "even";
  Assignment assignment;
  if (is_partition_file(partition)) {
    assignment.rectangles = read_rectangles(partition, extents, static_cast<int>(processes.size()));
  } else if (even) {
    assignment.rectangles = even_grid(extents, static_cast<std::int64_t>(processes.size()));
  } else {
    assignment.rectangles = columns_by_area(extents, processes, algorithm, node_of_process);
  }
  for (std::size_t i = 0; i < processes.size(); ++i) {
    const Rectangle& rectangle = assignment.rectangles[i];
    const UnitRows rows = even ? half_each(rectangle, processes[i]) : earliest_end(rectangle, processes[i]);
    assignment.rows.push_back(rows);
    const PerUnit<double> time_s{rows_s(processes[i].host, rows.host, rectangle.columns),
                                 rows_s(processes[i].companion, rows.companion, rectangle.columns)};
    assignment.unit_s.push_back(time_s);
    if (!std::isfinite(time_s.host) || !std::isfinite(time_s.companion)) {
      throw InvalidArgument(
          fmt::format("process {} cannot compute its rectangle of {} x {} blocks: {} block rows for its host, {} for "
                      "its companion are more than they hold",
                      i, rectangle.rows, rectangle.columns, rows.host, rows.companion));
    }
  }
  return assignment;
}

}  // namespace steelyard::summa
