#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <numeric>

#include "miniapps/cavity/centre_lines.hpp"
#include "miniapps/cavity/profile.hpp"

namespace steelyard::test_profile {

using Catch::Approx;
using namespace steelyard::cavity;

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

}  // namespace steelyard::test_profile
