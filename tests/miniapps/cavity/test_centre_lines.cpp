#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cmath>
#include <sstream>
#include <string>

#include "core/base/errors.hpp"
#include "miniapps/cavity/centre_lines.hpp"
#include "miniapps/cavity/ghia.hpp"
#include "tests/base/full_disk.hpp"
#include "tests/base/temporary_folder.hpp"
#include "tests/miniapps/cavity/known_flow.hpp"

namespace steelyard::test_centre_lines {

using Catch::Approx;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;
using namespace steelyard::cavity;
using steelyard::cavity::tests::cavity_of;
using steelyard::cavity::tests::flow_of;
using steelyard::cavity::tests::random_flow;
using steelyard::tests::failure_on_full_disk;
using steelyard::tests::TemporaryFolder;

namespace {

/// Cubics that are 0 on the side walls for u, on the lower and upper wall for v.
double u_at(double x, double y) { return x * (1.0 - x) * (1.0 + x) * (2.0 + y); }
double v_at(double height, double x, double y) { return y * (height - y) * (1.0 + y) * (x - 0.3); }

FlowState cubic_flow(const Problem& problem) {
  const auto v = [&](double x, double y) { return v_at(problem.height, x, y); };
  return flow_of(problem, u_at, v, [](double, double) { return 0.0; });
}

struct Row {
  std::string profile, coordinate, value, ghia, difference;
};

std::vector<Row> rows_of(const std::string& csv) {
  std::istringstream lines(csv);
  std::string line;
  REQUIRE(std::getline(lines, line));
  REQUIRE(line == "profile,coordinate,value,ghia,difference");
  std::vector<Row> rows;
  while (std::getline(lines, line)) {
    std::istringstream cells(line + ",");
    Row row;
    for (std::string* cell : {&row.profile, &row.coordinate, &row.value, &row.ghia, &row.difference}) {
      REQUIRE(std::getline(cells, *cell, ','));
    }
    REQUIRE(cells.peek() == std::char_traits<char>::eof());
    rows.push_back(row);
  }
  return rows;
}

}  // namespace

TEST_CASE("centre lines of a cubic flow are exact for odd and even numbers of cells, walls included") {
  for (const auto& [rows, columns] :
       std::vector<std::pair<std::int64_t, std::int64_t>>{{4, 4}, {5, 5}, {3, 8}, {8, 3}, {65, 64}, {128, 129}}) {
    for (const double height : {1.0, 0.4, 3.0}) {
      INFO(rows << " x " << columns << ", height " << height);
      const Problem problem = cavity_of(rows, columns, height);
      const FlowState state = cubic_flow(problem);
      const Profile u = u_on_vertical_centre_line(problem, state);
      REQUIRE(u.coordinates.size() == static_cast<std::size_t>(rows + 2));
      REQUIRE(u.values.size() == u.coordinates.size());
      CHECK(u.coordinates.front() == 0.0);
      CHECK(u.coordinates.back() == height);
      CHECK(u.values.front() == 0.0);
      CHECK(u.values.back() == 1.0);
      for (std::size_t k = 1; k + 1 < u.values.size(); ++k) {
        CHECK(u.coordinates[k] == Approx((static_cast<double>(k) - 0.5) * problem.dy()));
        CHECK(u.values[k] == Approx(u_at(0.5, u.coordinates[k])).epsilon(1e-12));
      }
      const Profile v = v_on_horizontal_centre_line(problem, state);
      REQUIRE(v.coordinates.size() == static_cast<std::size_t>(columns + 2));
      REQUIRE(v.values.size() == v.coordinates.size());
      CHECK(v.coordinates.back() == 1.0);
      CHECK(v.values.front() == 0.0);
      CHECK(v.values.back() == 0.0);
      for (std::size_t k = 1; k + 1 < v.values.size(); ++k) {
        CHECK(v.values[k] == Approx(v_at(height, v.coordinates[k], 0.5 * height)).margin(1e-12));
      }
    }
  }
}

TEST_CASE("cavities of a single cell have centre lines") {
  const Problem problem = cavity_of(1, 1);
  const FlowState state = FlowState::at_rest(problem);
  CHECK(u_on_vertical_centre_line(problem, state).values == std::vector<double>{0.0, 0.0, 1.0});
  CHECK(v_on_horizontal_centre_line(problem, state).values == std::vector<double>{0.0, 0.0, 0.0});
}

TEST_CASE("the CSV has all points of the grid, bit for bit, and then those of the tables") {
  const TemporaryFolder folder;
  for (const double reynolds : {100.0, 400.0, 1000.0, 250.0}) {
    const Problem problem = cavity_of(12, 9, 1.0, reynolds);
    const FlowState state = random_flow(problem, 5);
    write_centre_lines(folder / "centre_lines.csv", problem, state);
    const std::vector<Row> rows = rows_of(folder.read("centre_lines.csv"));
    std::size_t at = 0;
    const auto expect = [&](const std::string& name, const Profile& profile) {
      for (std::size_t k = 0; k < profile.values.size(); ++k, ++at) {
        CHECK(rows[at].profile == name);
        CHECK(std::stod(rows[at].coordinate) == profile.coordinates[k]);
        CHECK(std::stod(rows[at].value) == profile.values[k]);
        CHECK(rows[at].ghia.empty());
        CHECK(rows[at].difference.empty());
      }
    };
    expect("u", u_on_vertical_centre_line(problem, state));
    expect("v", v_on_horizontal_centre_line(problem, state));
    const std::vector<GhiaComparison> points = ghia_comparison(problem, state);
    REQUIRE(rows.size() == at + points.size());
    for (const GhiaComparison& point : points) {
      CHECK(rows[at].profile == std::string(1, point.profile));
      CHECK(std::stod(rows[at].coordinate) == point.coordinate);
      CHECK(std::stod(rows[at].value) == point.value);
      CHECK(std::stod(rows[at].ghia) == point.ghia);
      CHECK(std::stod(rows[at].difference) == point.value - point.ghia);
      ++at;
    }
  }
  CHECK(folder.entries() == 1);
}

TEST_CASE("flows of another grid are refused with both sizes") {
  const Problem problem = cavity_of(4, 5);
  const FlowState other = FlowState::at_rest(cavity_of(5, 4));
  CHECK_THROWS_MATCHES(u_on_vertical_centre_line(problem, other), InvalidArgument,
                       MessageMatches(ContainsSubstring("5 x 4") && ContainsSubstring("4 x 5")));
  FlowState torn = FlowState::at_rest(problem);
  torn.v_before.pop_back();
  CHECK_THROWS_MATCHES(v_on_horizontal_centre_line(problem, torn), InvalidArgument,
                       MessageMatches(ContainsSubstring("19 values (expected 20)")));
  CHECK_THROWS_AS(u_on_vertical_centre_line(cavity_of(0, 5), FlowState{}), InvalidArgument);
  CHECK_THROWS_AS(u_on_vertical_centre_line(cavity_of(4, 5, 0.0), other), InvalidArgument);
}

TEST_CASE("centre lines on a disk without room are told with file and reason, and nothing is left") {
  const TemporaryFolder folder;
  const Problem problem = cavity_of(50, 50);
  const std::string failure = failure_on_full_disk<RuntimeFailure>(
      200, [&] { write_centre_lines(folder / "a.csv", problem, FlowState::at_rest(problem)); });
  CHECK_THAT(failure, ContainsSubstring((folder / "a.csv").string() + ": cannot be written"));
  CHECK(folder.entries() == 0);
}

}  // namespace steelyard::test_centre_lines
