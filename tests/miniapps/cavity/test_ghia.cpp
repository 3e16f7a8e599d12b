#include <algorithm>
#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>
#include <cmath>

#include "miniapps/cavity/ghia.hpp"
#include "tests/miniapps/cavity/known_flow.hpp"

namespace steelyard::test_ghia {

using Catch::Approx;
using namespace steelyard::cavity;
using steelyard::cavity::tests::cavity_of;
using steelyard::cavity::tests::flow_of;

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

}  // namespace steelyard::test_ghia
