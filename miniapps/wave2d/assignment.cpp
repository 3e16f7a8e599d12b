#include "miniapps/wave2d/assignment.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/errors.hpp"
#include "partition/algorithms.hpp"
#include "partition/rectangles/column.hpp"

namespace steelyard::wave2d {

using partition::common_part;
using partition::Rectangle;

namespace {

/// The points that a pass reads around a rectangle: one rectangle around it, or one for each arm of the stencil.
std::vector<Rectangle> read_by(const Problem& problem, const Rectangle& rectangle, std::int64_t depth, bool corners) {
  const Rectangle whole = widened(problem, rectangle, depth);
  if (corners) return {whole};
  return {{whole.row, rectangle.column, whole.rows, rectangle.columns},
          {rectangle.row, whole.column, rectangle.rows, whole.columns}};
}

std::vector<Rectangle> owned_parts(const std::vector<Rectangle>& read, const Rectangle& owner) {
  std::vector<Rectangle> parts;
  for (const Rectangle& area : read) {
    const Rectangle part = common_part(area, owner);
    if (!part.empty()) parts.push_back(part);
  }
  return parts;
}

}  // namespace

double Assignment::makespan_s() const { return pass_s.empty() ? 0.0 : *std::max_element(pass_s.begin(), pass_s.end()); }

bool Assignment::in_slices(const Problem& problem) const {
  return std::all_of(rectangles.begin(), rectangles.end(), [&](const Rectangle& rectangle) {
    return rectangle.empty() || rectangle.columns == problem.columns;
  });
}

std::vector<std::int64_t> Assignment::shares(const Problem& problem) const {
  const bool whole_rows = in_slices(problem);
  std::vector<std::int64_t> shares;
  for (const Rectangle& rectangle : rectangles) shares.push_back(whole_rows ? rectangle.rows : rectangle.area());
  return shares;
}

std::vector<Rectangle> row_slices(const Problem& problem, const std::vector<std::int64_t>& rows) {
  std::vector<Rectangle> slices;
  std::int64_t first = 0;
  for (const std::int64_t count : rows) {
    slices.push_back(count > 0 ? Rectangle{first, 0, count, problem.columns} : Rectangle{});
    first += count;
  }
  return slices;
}

std::string row_algorithm(const std::string& partition) {
  if (partition == "column") return "geometric";
  partition::find_algorithm(partition, ", dynamic, or column");
  return partition;
}

Assignment assign(const Problem& problem, const std::vector<const models::SpeedModel*>& models,
                  const std::string& partition) {
  const std::vector<std::int64_t> rows =
      partition::find_algorithm(row_algorithm(partition)).distribute(problem.rows, models).units;
  Assignment assignment{{}, std::vector<double>(models.size(), 0.0)};
  if (partition == "column") {
    const std::vector<double> areas(rows.begin(), rows.end());
    assignment.rectangles = partition::column(areas, {problem.rows, problem.columns}).rectangles;
  } else {
    assignment.rectangles = row_slices(problem, rows);
  }
  for (std::size_t i = 0; i < models.size(); ++i) {
    const Rectangle& rectangle = assignment.rectangles[i];
    if (rectangle.empty()) continue;
    const double in_rows = static_cast<double>(rectangle.area()) / static_cast<double>(problem.columns);
    // Rectangles of whole points may be larger than the areas that the algorithm gave.
    if (in_rows > models[i]->max_units()) {
      throw InvalidArgument(
          fmt::format("unit {} gets {} x {} points, as many as {:.6g} rows (expected at most {:.6g}, "
                      "which is what it holds)",
                      i, rectangle.rows, rectangle.columns, in_rows, models[i]->max_units()));
    }
    assignment.pass_s[i] = models[i]->time_s(in_rows);
  }
  return assignment;
}

std::int64_t HaloMessage::points() const {
  std::int64_t sum = 0;
  for_parts(*this, [&](Level, const Rectangle& part) { sum += part.area(); });
  return sum;
}

HaloDepth halo_depth(const Problem& problem, int steps) {
  const std::int64_t radius = problem.radius();
  return {radius * steps, radius * (steps - 1)};
}

Rectangle widened(const Problem& problem, const Rectangle& rectangle, std::int64_t depth) {
  if (rectangle.empty()) return {};
  const Rectangle wide{rectangle.row - depth, rectangle.column - depth, rectangle.rows + 2 * depth,
                       rectangle.columns + 2 * depth};
  return common_part(wide, {0, 0, problem.rows, problem.columns});
}

std::vector<HaloMessage> halo_messages(const Problem& problem, std::span<const Rectangle> rectangles, int steps) {
  const HaloDepth depth = halo_depth(problem, steps);
  std::vector<HaloMessage> messages;
  for (std::size_t to = 0; to < rectangles.size(); ++to) {
    if (rectangles[to].empty()) continue;
    const std::vector<Rectangle> current = read_by(problem, rectangles[to], depth.current, steps > 1);
    const std::vector<Rectangle> previous = read_by(problem, rectangles[to], depth.previous, true);
    for (std::size_t from = 0; from < rectangles.size(); ++from) {
      if (from == to || rectangles[from].empty()) continue;
      HaloMessage message{static_cast<int>(from), static_cast<int>(to), owned_parts(current, rectangles[from]),
                          owned_parts(previous, rectangles[from])};
      if (!message.current.empty()) messages.push_back(std::move(message));
    }
  }
  std::stable_sort(messages.begin(), messages.end(),
                   [](const HaloMessage& a, const HaloMessage& b) { return a.from < b.from; });
  return messages;
}

BorderAndInterior cut_border(const Problem& problem, const Rectangle& own, int steps) {
  const std::int64_t depth = halo_depth(problem, steps).current;
  const std::int64_t above = own.row > 0 ? std::min(depth, own.rows) : 0;
  const std::int64_t below = own.end_row() < problem.rows ? std::min(depth, own.rows - above) : 0;
  const std::int64_t left = own.column > 0 ? std::min(depth, own.columns) : 0;
  const std::int64_t right = own.end_column() < problem.columns ? std::min(depth, own.columns - left) : 0;
  const Rectangle rest{own.row + above, own.column + left, own.rows - above - below, own.columns - left - right};
  BorderAndInterior parts;
  for (const Rectangle& border :
       {Rectangle{own.row, own.column, above, own.columns}, Rectangle{rest.end_row(), own.column, below, own.columns},
        Rectangle{rest.row, own.column, rest.rows, left}, Rectangle{rest.row, rest.end_column(), rest.rows, right}}) {
    if (!border.empty()) parts.border.push_back(border);
  }
  if (!rest.empty()) parts.interior = rest;
  return parts;
}

}  // namespace steelyard::wave2d
