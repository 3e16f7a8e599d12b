#include "miniapps/wave2d/halo_plan.hpp"

#include <algorithm>

namespace steelyard::wave2d {

using partition::common_part;
using partition::Rectangle;

namespace {

/// What is read around a rectangle: one rectangle around it, or one for each arm of the stencil.
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

BorderAndInterior cut_border(const Problem& problem, const Rectangle& rectangle, int steps) {
  BorderAndInterior parts;
  if (rectangle.empty()) return parts;
  const std::int64_t depth = halo_depth(problem, steps).current;
  Rectangle rest = rectangle;
  const auto take = [&](const Rectangle& border) {
    if (!border.empty()) parts.border.push_back(border);
  };
  if (rest.row > 0) {
    const std::int64_t rows = std::min(depth, rest.rows);
    take({rest.row, rest.column, rows, rest.columns});
    rest.row += rows;
    rest.rows -= rows;
  }
  if (rest.end_row() < problem.rows) {
    const std::int64_t rows = std::min(depth, rest.rows);
    take({rest.end_row() - rows, rest.column, rows, rest.columns});
    rest.rows -= rows;
  }
  if (rest.column > 0) {
    const std::int64_t columns = std::min(depth, rest.columns);
    take({rest.row, rest.column, rest.rows, columns});
    rest.column += columns;
    rest.columns -= columns;
  }
  if (rest.end_column() < problem.columns) {
    const std::int64_t columns = std::min(depth, rest.columns);
    take({rest.row, rest.end_column() - columns, rest.rows, columns});
    rest.columns -= columns;
  }
  if (!rest.empty()) parts.interior = rest;
  return parts;
}

}  // namespace steelyard::wave2d
