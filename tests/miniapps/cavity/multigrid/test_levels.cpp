#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_floating_point.hpp>
#include <cmath>
#include <numeric>
#include <vector>

#include "core/base/errors.hpp"
#include "miniapps/cavity/multigrid/levels.hpp"

namespace steelyard::test_multigrid_coefficients {

using namespace steelyard::cavity;
using Catch::Matchers::WithinRel;

namespace {

std::vector<double> faces(std::int64_t cells, double width) {
  std::vector<double> all(static_cast<std::size_t>(cells + 1), 1.0 / width);
  all.front() = all.back() = 0.0;
  return all;
}

/// Of a cavity of width 1; weights next to walls are halved.
std::vector<MultigridLevel> levels(std::int64_t rows, std::int64_t columns, double height = 1.0) {
  const double dx = 1.0 / static_cast<double>(columns), dy = height / static_cast<double>(rows);
  std::vector<double> y(static_cast<std::size_t>(rows), dy), s(static_cast<std::size_t>(columns), dx);
  for (auto* weights : {&y, &s}) {
    weights->front() *= 0.5;
    weights->back() *= 0.5;
  }
  return multigrid_levels(faces(columns, dx), y, faces(rows, dy), s);
}

double sum(const std::vector<double>& values) { return std::accumulate(values.begin(), values.end(), 0.0); }

std::size_t index(std::int64_t cell) { return static_cast<std::size_t>(cell); }

std::vector<double> interpolated(const AxisTransfer& axis, const std::vector<double>& merged) {
  std::vector<double> fine;
  for (const CellParents& way : axis.parents) {
    fine.push_back(way.interpolated(merged[index(way.parent)], merged[index(way.other)]));
  }
  return fine;
}

std::vector<double> restricted(const AxisTransfer& axis, const std::vector<double>& fine) {
  std::vector<double> merged;
  for (const CellChildren& cell : axis.children) {
    double sum = 0.0;
    for (std::int64_t k = 0; k < 4; ++k) {
      const std::int64_t i = cell.first - 1 + k;
      if (i < 0 || i >= static_cast<std::int64_t>(fine.size())) {
        CHECK(cell.weights[k] == 0.0);
      } else {
        sum += cell.weights[k] * fine[index(i)];
      }
    }
    merged.push_back(sum);
  }
  return merged;
}

std::vector<double> some_values(std::size_t count, double phase) {
  std::vector<double> values;
  for (std::size_t i = 0; i < count; ++i) values.push_back(std::sin(phase + 1.7 * static_cast<double>(i * i % 31)));
  return values;
}

std::vector<double> centres(const std::vector<double>& widths) {
  std::vector<double> all;
  double begin = 0.0;
  for (const double width : widths) {
    all.push_back(begin + width / 2.0);
    begin += width;
  }
  return all;
}

std::vector<double> product(const MultigridLevel& level, const std::vector<double>& p) {
  const std::int64_t rows = level.rows(), columns = level.columns();
  const auto at = [&](std::int64_t j, std::int64_t i) { return static_cast<std::size_t>(j * columns + i); };
  std::vector<double> result;
  for (std::int64_t j = 0; j < rows; ++j) {
    for (std::int64_t i = 0; i < columns; ++i) {
      const auto row = static_cast<std::size_t>(j), column = static_cast<std::size_t>(i);
      double value = level.diagonal(j, i) * p[at(j, i)];
      const double weight = level.row_weights[row], across = level.column_weights[column];
      if (i > 0) value -= weight * level.column_faces[column] * p[at(j, i - 1)];
      if (i + 1 < columns) value -= weight * level.column_faces[column + 1] * p[at(j, i + 1)];
      if (j > 0) value -= across * level.row_faces[row] * p[at(j - 1, i)];
      if (j + 1 < rows) value -= across * level.row_faces[row + 1] * p[at(j + 1, i)];
      result.push_back(value);
    }
  }
  return result;
}

}  // namespace

TEST_CASE("multigrid goes up by the transpose of the way down, which keeps constants and lines away from walls") {
  for (std::int64_t cells = 1; cells <= 70; ++cells) {
    CAPTURE(cells);
    const auto all = levels(cells, 90, static_cast<double>(cells) / 90.0);
    for (std::size_t k = 0; k + 1 < all.size(); ++k) {
      const AxisTransfer& axis = all[k].row_transfer;
      const std::size_t fine = axis.parents.size(), merged = axis.children.size();
      CHECK(merged == all[k + 1].row_widths.size());
      for (const double value : interpolated(axis, std::vector<double>(merged, 1.0))) CHECK(value == 1.0);

      const auto x = some_values(merged, 0.3), y = some_values(fine, 1.1);
      const auto down = interpolated(axis, x), up = restricted(axis, y);
      const double one = std::inner_product(down.begin(), down.end(), y.begin(), 0.0);
      const double other = std::inner_product(up.begin(), up.end(), x.begin(), 0.0);
      CHECK(std::abs(one - other) <= 1e-13 * static_cast<double>(fine));

      const auto line = interpolated(axis, centres(all[k + 1].row_widths));
      const auto exact = centres(all[k].row_widths);
      for (std::size_t i = 1; i + 3 < fine; ++i) CHECK_THAT(line[i], WithinRel(exact[i], 1e-13));
    }
  }
}

TEST_CASE("multigrid levels halve and stay discretisations of the same cavity") {
  for (const auto& [rows, columns] :
       {std::pair<std::int64_t, std::int64_t>{129, 129}, {257, 64}, {1, 1000}, {37, 997}}) {
    CAPTURE(rows, columns);
    const auto all = levels(rows, columns);
    CHECK(all.back().cells() <= most_bottom_cells);
    for (std::size_t k = 0; k < all.size(); ++k) {
      const MultigridLevel& level = all[k];
      CHECK_THAT(sum(level.row_weights), WithinRel(sum(all[0].row_weights), 1e-12));
      CHECK_THAT(sum(level.column_weights), WithinRel(sum(all[0].column_weights), 1e-12));
      CHECK_THAT(sum(level.column_widths), WithinRel(1.0, 1e-12));
      CHECK(level.column_faces.front() == 0.0);
      CHECK(level.column_faces.back() == 0.0);
      for (std::size_t i = 1; i < level.column_widths.size(); ++i) {
        const double distance = (level.column_widths[i - 1] + level.column_widths[i]) / 2.0;
        CHECK_THAT(level.column_faces[i] * distance, WithinRel(1.0, 1e-12));
      }
      // No cell is much wider or narrower than the others of its axis.
      for (const auto* widths : {&level.column_widths, &level.row_widths}) {
        const auto [narrowest, widest] = std::minmax_element(widths->begin(), widths->end());
        CHECK(*widest < 2.01 * *narrowest);
      }
      if (k == 0) continue;
      CHECK(level.cells() < all[k - 1].cells());
      // Either all pairs merge, or none.
      CHECK((level.rows() == all[k - 1].rows() || std::abs(2 * level.rows() - all[k - 1].rows()) <= 1));
      CHECK((level.columns() == all[k - 1].columns() || std::abs(2 * level.columns() - all[k - 1].columns()) <= 1));
    }
  }
}

TEST_CASE("multigrid merges only the axis of narrow cells until cells are about square") {
  const auto all = levels(16, 256);
  CHECK(all[0].row_transfer.children.size() == 16);
  CHECK(all[0].column_transfer.children.size() == 128);
  CHECK(all[4].rows() == 16);
  CHECK(all[4].columns() == 16);
  CHECK(all[5].rows() == 8);
  CHECK(all[5].columns() == 8);
}

TEST_CASE("multigrid's direct solution solves the coarsest level") {
  for (const auto& [rows, columns] : {std::pair<std::int64_t, std::int64_t>{8, 8}, {5, 7}, {1, 64}, {3, 1}, {1, 1}}) {
    CAPTURE(rows, columns);
    const MultigridLevel level = levels(rows, columns).back();
    const std::vector<double> inverse = bottom_inverse(level);
    const auto n = static_cast<std::size_t>(level.cells());
    std::vector<double> right = some_values(n, 0.7);
    const double mean = sum(right) / static_cast<double>(n);
    for (double& value : right) value -= mean;
    std::vector<double> solved(n, 0.0);
    for (std::size_t k = 0; k < n; ++k) {
      for (std::size_t l = 0; l < n; ++l) {
        solved[k] += inverse[k * n + l] * right[l];
        CHECK(inverse[k * n + l] == inverse[l * n + k]);
      }
    }
    const auto back = product(level, solved);
    for (std::size_t k = 0; k < n; ++k) CHECK(std::abs(back[k] - right[k]) <= 1e-11);
  }
}

TEST_CASE("multigrid levels need arrays that fit each other") {
  CHECK_THROWS_AS(multigrid_levels(faces(4, 0.25), {1.0, 1.0}, faces(2, 0.5), {1.0, 1.0, 1.0}), InvalidArgument);
  CHECK_THROWS_AS(multigrid_levels({}, {1.0, 1.0}, faces(2, 0.5), {}), InvalidArgument);
}

}  // namespace steelyard::test_multigrid_coefficients
