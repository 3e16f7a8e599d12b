#include <algorithm>
#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cmath>
#include <numeric>
#include <sstream>
#include <string>

#include "core/base/errors.hpp"
#include "miniapps/cavity/output/flow_analysis.hpp"
#include "tests/base/full_disk.hpp"
#include "tests/base/temporary_folder.hpp"
#include "tests/miniapps/cavity/output/known_flow.hpp"

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

namespace {

template <class F>
Profile profile_of(std::int64_t cells, const F& f) {
  Profile profile{centres_and_walls(cells, 1.0), {}};
  for (const double x : profile.coordinates) profile.values.push_back(f(x));
  return profile;
}

}  // namespace

TEST_CASE("cubics are interpolated without error, near walls too, where points are half as far apart") {
  const auto cubic = [](double x) { return ((2.0 * x - 3.0) * x + 0.5) * x - 1.0; };
  for (const std::int64_t cells : {2, 3, 8, 129}) {
    const Profile profile = profile_of(cells, cubic);
    for (int k = 0; k <= 100; ++k) CHECK(profile.at(0.01 * k) == Approx(cubic(0.01 * k)).margin(1e-13));
  }
}

TEST_CASE("fewer points than four are used where there are fewer") {
  CHECK(profile_of(1, [](double x) { return x * x; }).at(0.3) == Approx(0.09));
  CHECK(interpolation(std::vector<double>{0.5}, 0.7, 4).count == 1);
}

TEST_CASE("weights add up to one, and a point has its own value exactly") {
  const Profile profile = profile_of(7, [](double x) { return std::exp(x); });
  for (std::size_t most : {2, 4}) {
    for (int k = 0; k <= 50; ++k) {
      const Interpolation between = interpolation(profile.coordinates, 0.02 * k, most);
      CHECK(between.of([](std::size_t) { return 1.0; }) == Approx(1.0).epsilon(1e-14));
    }
    for (std::size_t k = 0; k < profile.values.size(); ++k) {
      const Interpolation on = interpolation(profile.coordinates, profile.coordinates[k], most);
      CHECK(on.of([&](std::size_t m) { return profile.values[m]; }) == profile.values[k]);
    }
  }
}

TEST_CASE("linear interpolation stays between its two points") {
  const std::vector<double> points = {0.0, 1.0, 3.0};
  const Interpolation between = interpolation(points, 2.5, 2);
  CHECK(between.first == 1);
  CHECK(between.count == 2);
  CHECK(between.weight[0] == 0.25);
  CHECK(between.weight[1] == 0.75);
}

TEST_CASE("the interpolation error falls with the fourth power of the cells' size") {
  const auto f = [](double x) { return std::sin(5.0 * x); };
  const auto error = [&](std::int64_t cells) {
    const Profile profile = profile_of(cells, f);
    double largest = 0.0;
    for (int k = 0; k <= 1000; ++k) largest = std::max(largest, std::abs(profile.at(1e-3 * k) - f(1e-3 * k)));
    return largest;
  };
  CHECK(std::log2(error(40) / error(80)) > 3.8);
}

TEST_CASE("extremes of parabolas are exact, between points and beside walls") {
  for (const double middle : {0.06, 0.31, 0.5, 0.93}) {
    const Profile down = profile_of(9, [&](double x) { return 3.0 * (x - middle) * (x - middle) - 0.2; });
    CHECK(down.minimum().value == Approx(-0.2));
    CHECK(down.minimum().coordinate == Approx(middle));
    const Profile up = profile_of(9, [&](double x) { return 0.2 - (x - middle) * (x - middle); });
    CHECK(up.maximum().value == Approx(0.2));
    CHECK(up.maximum().coordinate == Approx(middle));
  }
}

TEST_CASE("extremes at a wall or of a constant are those of a point") {
  const Profile rising = profile_of(5, [](double x) { return x; });
  CHECK(rising.minimum().value == 0.0);
  CHECK(rising.minimum().coordinate == 0.0);
  CHECK(rising.maximum().value == 1.0);
  CHECK(rising.maximum().coordinate == 1.0);
  const Profile level = profile_of(5, [](double) { return 0.25; });
  CHECK(level.minimum().value == 0.25);
  CHECK(level.maximum().value == 0.25);
}

TEST_CASE("an extreme's value is off by the third power of the cells' size or less") {
  const auto f = [](double x) { return std::exp(x) * std::sin(4.0 * x); };
  double truth = 0.0;
  for (int k = 0; k <= 1000000; ++k) truth = std::max(truth, f(1e-6 * k));
  const auto error = [&](std::int64_t cells) {
    double largest = 0.0;  // of some grids, because a point can happen to lie on the extreme
    for (std::int64_t more = 0; more < 8; ++more) {
      largest = std::max(largest, std::abs(profile_of(cells + more, f).maximum().value - truth));
    }
    return largest;
  };
  CHECK(std::log2(error(40) / error(80)) > 2.6);
}

namespace {

std::vector<GhiaComparison> at_rest(double reynolds) {
  const Problem problem = cavity_of(128, 128, 1.0, reynolds);
  return ghia_comparison(problem, FlowState::at_rest(problem));
}

double published(const std::vector<GhiaComparison>& points, char profile, double coordinate) {
  const auto found = std::find_if(points.begin(), points.end(), [&](const GhiaComparison& point) {
    return point.profile == profile && std::abs(point.coordinate - coordinate) < 1e-4;
  });
  REQUIRE(found != points.end());
  return found->ghia;
}

}  // namespace

TEST_CASE("tables are there for square cavities with Reynolds numbers 100, 400 and 1000 only") {
  for (const double reynolds : {100.0, 400.0, 1000.0}) {
    CHECK(ghia_has(cavity_of(8, 9, 1.0, reynolds)));
    CHECK_FALSE(ghia_has(cavity_of(8, 9, 1.5, reynolds)));
    CHECK_FALSE(ghia_has(cavity_of(8, 9, 1.0, reynolds + 1.0)));
  }
  const Problem other = cavity_of(8, 8, 1.0, 3200.0);
  CHECK(ghia_comparison(other, FlowState::at_rest(other)).empty());
  CHECK(largest_difference({}) == 0.0);
}

TEST_CASE("each table has 17 points from wall to wall, less the one that is a misprint") {
  for (const double reynolds : {100.0, 400.0, 1000.0}) {
    const std::vector<GhiaComparison> points = at_rest(reynolds);
    const auto v = std::find_if(points.begin(), points.end(), [](const auto& point) { return point.profile == 'v'; });
    CHECK(v - points.begin() == 17);
    CHECK(points.end() - v == (reynolds == 400.0 ? 16 : 17));
    const auto by_coordinate = [](const auto& a, const auto& b) { return a.coordinate < b.coordinate; };
    CHECK(std::is_sorted(points.begin(), v, by_coordinate));
    CHECK(std::is_sorted(v, points.end(), by_coordinate));
    CHECK(points.front().coordinate == 0.0);
    CHECK((v - 1)->ghia == 1.0);
    CHECK(std::none_of(points.begin(), points.end(), [](const auto& point) { return std::isnan(point.ghia); }));
  }
  for (const GhiaComparison& point : at_rest(400.0)) {
    CHECK_FALSE((point.profile == 'v' && std::abs(point.coordinate - 0.9063) < 1e-3));
  }
}

TEST_CASE("figures that the paper's text and other authors quote are in the tables") {
  CHECK(published(at_rest(100.0), 'u', 0.4531) == -0.21090);
  CHECK(published(at_rest(100.0), 'v', 0.8047) == -0.24533);
  CHECK(published(at_rest(100.0), 'v', 0.2344) == 0.17527);
  CHECK(published(at_rest(400.0), 'u', 0.2813) == -0.32726);
  CHECK(published(at_rest(400.0), 'v', 0.8594) == -0.44993);
  CHECK(published(at_rest(400.0), 'v', 0.2266) == 0.30203);
  CHECK(published(at_rest(1000.0), 'u', 0.1719) == -0.38289);
  CHECK(published(at_rest(1000.0), 'v', 0.9063) == -0.51550);
  CHECK(published(at_rest(1000.0), 'v', 0.1563) == 0.37095);
}

TEST_CASE("the run's value is that of its profile at the table's coordinate, and differences are run minus table") {
  const Problem problem = cavity_of(64, 64);
  const FlowState state = flow_of(
      problem, [](double x, double y) { return 4.0 * x * (1.0 - x) * y * y * y; },
      [](double x, double y) { return 4.0 * y * (1.0 - y) * x * (1.0 - x) * (0.5 - x); },
      [](double, double) { return 0.0; });
  const std::vector<GhiaComparison> points = ghia_comparison(problem, state);
  double largest = 0.0;
  for (const GhiaComparison& point : points) {
    const double x = point.coordinate;
    const double expected = point.profile == 'u' ? x * x * x : x * (1.0 - x) * (0.5 - x);
    CHECK(point.value == Approx(expected).margin(1e-13));
    CHECK(point.difference() == point.value - point.ghia);
    largest = std::max(largest, std::abs(expected - point.ghia));
  }
  CHECK(largest_difference(points) == Approx(largest));
}

}  // namespace steelyard::test_centre_lines
