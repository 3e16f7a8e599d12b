#include "miniapps/wave2d/assignment.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/errors.hpp"
#include "partition/algorithms.hpp"
#include "partition/column.hpp"

namespace steelyard::wave2d {

using partition::Rectangle;

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
  try {
    partition::find_algorithm(partition);
  } catch (const InvalidArgument& error) {
    throw InvalidArgument(fmt::format("{}, or column", error.what()));
  }
  return partition;
}

Assignment assign(const Problem& problem, const std::vector<const models::SpeedModel*>& models,
                  const std::string& partition) {
  std::vector<const models::SpeedModel*> known;
  for (const models::SpeedModel* model : models) {
    if (model != nullptr) known.push_back(model);
  }
  const partition::Distribution distribution =
      partition::find_algorithm(row_algorithm(partition)).distribute(problem.rows, known);
  std::vector<std::int64_t> rows(models.size(), 0);
  Assignment assignment{{}, std::vector<double>(models.size(), 0.0)};
  auto share = distribution.units.begin();
  for (std::size_t i = 0; i < models.size(); ++i) {
    if (models[i] != nullptr) rows[i] = *share++;
  }
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
    // Whole blocks are rounded, which may be more than what was asked for.
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

}  // namespace steelyard::wave2d
