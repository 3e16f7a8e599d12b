#include <fmt/format.h>

#include <catch2/catch_approx.hpp>
#include <map>
#include <tuple>

#include "miniapps/cavity/output/flow_analysis.hpp"
#include "tests/base/temporary_folder.hpp"
#include "tests/catch.hpp"
#include "tests/miniapps/cavity/known_flow.hpp"

namespace steelyard::test_flow_analysis {

using Catch::Approx;
using namespace steelyard::cavity;
using namespace steelyard::cavity::tests;
using steelyard::tests::TemporaryFolder;

namespace {

template <class F>
Profile profile_of(std::int64_t cells, const F& f) {
  Profile profile{centres_and_walls(cells, 1.0), {}};
  for (const double x : profile.coordinates) profile.values.push_back(f(x));
  return profile;
}

double published(const std::vector<GhiaComparison>& points, char profile, double coordinate) {
  for (const GhiaComparison& point : points) {
    if (point.profile == profile && std::abs(point.coordinate - coordinate) < 1e-4) return point.ghia;
  }
  FAIL("no such point");
  return 0.0;
}

}  // namespace

TEST_CASE("centre lines of a cubic flow are exact for odd and even numbers of cells, walls included") {
  const auto u_at = [](double x, double y) { return x * (1.0 - x) * (1.0 + x) * (2.0 + y); };
  for (const auto& [rows, columns] :
       std::vector<std::pair<std::int64_t, std::int64_t>>{{4, 4}, {5, 5}, {3, 8}, {8, 3}, {65, 64}, {128, 129}}) {
    for (const double height : {1.0, 0.4, 3.0}) {
      CAPTURE(rows, columns, height);
      const Problem problem = cavity_of(rows, columns, height);
      const auto v_at = [&](double x, double y) { return y * (height - y) * (1.0 + y) * (x - 0.3); };
      const FlowState state = flow_of(problem, u_at, v_at, u_at);
      const Profile u = u_on_vertical_centre_line(problem, state), v = v_on_horizontal_centre_line(problem, state);
      CHECK(u.coordinates == centres_and_walls(rows, height));
      CHECK(v.coordinates == centres_and_walls(columns, 1.0));
      REQUIRE(u.values.size() == static_cast<std::size_t>(rows + 2));
      REQUIRE(v.values.size() == static_cast<std::size_t>(columns + 2));
      CHECK((u.values.front() == 0.0 && u.values.back() == 1.0));
      CHECK((v.values.front() == 0.0 && v.values.back() == 0.0));
      for (std::size_t k = 1; k + 1 < u.values.size(); ++k) {
        CHECK(u.coordinates[k] == Approx((static_cast<double>(k) - 0.5) * problem.dy()));
        CHECK(u.values[k] == Approx(u_at(0.5, u.coordinates[k])).epsilon(1e-12));
      }
      for (std::size_t k = 1; k + 1 < v.values.size(); ++k) {
        CHECK(v.values[k] == Approx(v_at(v.coordinates[k], 0.5 * height)).margin(1e-12));
      }
    }
  }
  const Problem single = cavity_of(1, 1);
  CHECK(u_on_vertical_centre_line(single, FlowState::at_rest(single)).values == std::vector<double>{0.0, 0.0, 1.0});
}

TEST_CASE("extremes of parabolas are exact, between points and beside walls, and at a wall those of a point") {
  for (const double middle : {0.06, 0.31, 0.5, 0.93}) {
    CHECK(profile_of(9, [&](double x) { return 3.0 * (x - middle) * (x - middle) - 0.2; }).minimum() == Approx(-0.2));
    CHECK(profile_of(9, [&](double x) { return 0.2 - (x - middle) * (x - middle); }).maximum() == Approx(0.2));
  }
  const Profile rising = profile_of(5, [](double x) { return x; });
  CHECK(rising.minimum() == 0.0);
  CHECK(rising.maximum() == 1.0);
  CHECK(profile_of(5, [](double) { return 0.25; }).minimum() == 0.25);
}

TEST_CASE("the CSV has all points of the grid, bit for bit, and then those of the tables") {
  const TemporaryFolder folder;
  for (const double reynolds : {100.0, 400.0, 1000.0, 250.0}) {
    const Problem problem = cavity_of(12, 9, 1.0, reynolds);
    const FlowState state = random_flow(problem, 5);
    write_centre_lines(folder / "centre_lines.csv", problem, state);
    std::string expected = "profile,coordinate,value,ghia,difference\n";
    const auto add = [&](char name, const Profile& profile) {
      for (std::size_t k = 0; k < profile.values.size(); ++k) {
        expected += fmt::format("{},{},{},,\n", name, profile.coordinates[k], profile.values[k]);
      }
    };
    add('u', u_on_vertical_centre_line(problem, state));
    add('v', v_on_horizontal_centre_line(problem, state));
    for (const GhiaComparison& point : ghia_comparison(problem, state)) {
      expected += fmt::format("{},{},{},{},{}\n", point.profile, point.coordinate, point.value, point.ghia,
                              point.value - point.ghia);
    }
    CHECK(folder.read("centre_lines.csv") == expected);
  }
}

TEST_CASE("Ghia's tables hold the figures that the paper's text and other authors quote, for their cavities only") {
  for (const auto& [reynolds, profile, coordinate, value] : {std::tuple{100.0, 'u', 0.4531, -0.21090},
                                                             {100.0, 'v', 0.8047, -0.24533},
                                                             {100.0, 'v', 0.2344, 0.17527},
                                                             {400.0, 'u', 0.2813, -0.32726},
                                                             {400.0, 'v', 0.8594, -0.44993},
                                                             {400.0, 'v', 0.2266, 0.30203},
                                                             {1000.0, 'u', 0.1719, -0.38289},
                                                             {1000.0, 'v', 0.9063, -0.51550},
                                                             {1000.0, 'v', 0.1563, 0.37095}}) {
    const Problem problem = cavity_of(9, 14, 1.0, reynolds);
    // Cubic on the centre lines: interpolated without error, near walls too, where points are half as far apart.
    const FlowState state = flow_of(
        problem, [](double x, double y) { return 4.0 * x * (1.0 - x) * y * y * y; },
        [](double x, double y) { return 4.0 * y * (1.0 - y) * x * (1.0 - x) * (0.5 - x); },
        [](double, double) { return 0.0; });
    const std::vector<GhiaComparison> points = ghia_comparison(problem, state);
    CHECK(published(points, profile, coordinate) == value);
    // From wall to wall, without the misprint.
    CHECK(points.size() == (reynolds == 400.0 ? 33 : 34));
    CHECK(published(points, 'u', 1.0) == 1.0);
    double largest = 0.0;
    for (std::size_t k = 0; k < points.size(); ++k) {
      const GhiaComparison& point = points[k];
      const double x = point.coordinate;
      const double expected = point.profile == 'u' ? x * x * x : x * (1.0 - x) * (0.5 - x);
      CHECK(point.value == Approx(expected).margin(1e-13));
      CHECK((k % 17 == 0 ? x == 0.0 : x > points[k - 1].coordinate));
      CHECK_FALSE((reynolds == 400.0 && point.profile == 'v' && std::abs(x - 0.9063) < 1e-3));
      largest = std::max(largest, std::abs(expected - point.ghia));
    }
    CHECK(largest_difference(points) == Approx(largest));
    for (const Problem& other : {cavity_of(8, 9, 1.5, reynolds), cavity_of(8, 9, 1.0, reynolds + 1.0)}) {
      CHECK(ghia_comparison(other, FlowState::at_rest(other)).empty());
    }
  }
}

TEST_CASE("the streamfunction of fluxes made from one is that one, exactly where no digit is lost") {
  const Problem problem = cavity_of(32, 16, 2.0);
  std::map<std::pair<double, double>, double> known;
  std::mt19937 random(3);
  FlowState state = flow_of(problem, [&](double x, double y) {
    const auto [at, made] = known.try_emplace({x, y}, 0.0);
    if (made) at->second = std::ldexp(std::uniform_int_distribution<int>(-1000, 1000)(random), -10);
    return at->second;
  });
  const Streamfunction psi = streamfunction(problem, state);
  REQUIRE(psi.values.size() == 561);
  for (std::int64_t j = 0; j <= 32; ++j) {
    for (std::int64_t i = 0; i <= 16; ++i) {
      const bool wall = j == 0 || i == 0 || j == 32 || i == 16;
      CHECK(psi.at(j, i) == (wall ? 0.0 : known.at({static_cast<double>(i) / 16.0, static_cast<double>(j) / 16.0})));
    }
  }
  CHECK(psi.closure_error() == 0.0);
  // A flow that loses mass does not close.
  state.u[state.index(3, 4)] -= 1.0 / 1024.0;
  CHECK(streamfunction(problem, state).closure_error() == std::ldexp(1.0, -14));
}

TEST_CASE(
    "a quadratic vortex is exact wherever its centre lies between corners, and none is found where none turns so") {
  const Problem problem = cavity_of(20, 24, 1.6);
  for (const double x : {0.5, 0.512, 0.4761, 0.525}) {
    for (const double y : {0.8, 0.83, 0.91}) {
      const auto psi = [&](double a, double b) {
        return -0.1 + (a - x) * (a - x) + 2.0 * (b - y) * (b - y) + 0.8 * (a - x) * (b - y);
      };
      const auto found = primary_vortex(problem, streamfunction(problem, flow_of(problem, psi)));
      REQUIRE(found);
      CHECK(found->streamfunction == Approx(-0.1));
      CHECK(found->position[0] == Approx(x));
      CHECK(found->position[1] == Approx(y));
    }
  }
  for (const Problem& none : {cavity_of(8, 8), cavity_of(1, 1), cavity_of(1, 9)}) {
    const auto other_way = [](double x, double y) { return x * (1.0 - x) * y * (1.0 - y); };
    for (const FlowState& state : {FlowState::at_rest(none), flow_of(none, other_way)}) {
      CHECK_FALSE(primary_vortex(none, streamfunction(none, state)));
    }
  }
}

}  // namespace steelyard::test_flow_analysis
