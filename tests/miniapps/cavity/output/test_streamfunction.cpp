#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <map>
#include <random>

#include "miniapps/cavity/output/flow_analysis.hpp"
#include "tests/miniapps/cavity/output/known_flow.hpp"

namespace steelyard::test_streamfunction {

using Catch::Approx;
using namespace steelyard::cavity;
using steelyard::cavity::tests::cavity_of;
using steelyard::cavity::tests::flow_of;

namespace {

constexpr double pi = 3.14159265358979323846;

/// One vortex away from the middle of a cavity of this height: 0 on the walls, and its own least value and place.
struct Vortex {
  double height;

  double operator()(double x, double y) const {
    return -0.1 * std::sin(pi * x * x * (1.3 - 0.3 * x)) * std::sin(pi * std::pow(y / height, 1.4));
  }
};

/// Of values on a much finer grid, step by step finer around the least.
VortexCentre truth(const Vortex& psi) {
  VortexCentre best{0.0, {0.5, 0.5 * psi.height}};
  for (double step = 0.05; step > 1e-9; step *= 0.1) {
    const std::array<double, 2> middle = best.position;
    for (int a = -10; a <= 10; ++a) {
      for (int b = -10; b <= 10; ++b) {
        const double x = middle[0] + step * a;
        const double y = middle[1] + step * psi.height * b;
        if (!(x > 0.0 && x < 1.0 && y > 0.0 && y < psi.height)) continue;
        if (psi(x, y) < best.streamfunction) best = {psi(x, y), {x, y}};
      }
    }
  }
  return best;
}

}  // namespace

TEST_CASE("the streamfunction of fluxes made from one is that one, exactly where no digit is lost") {
  const Problem problem = cavity_of(32, 16, 2.0);
  std::map<std::pair<double, double>, double> known;
  std::mt19937 random(3);
  const FlowState state = flow_of(problem, [&](double x, double y) {
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
}

TEST_CASE("it closes to rounding at the lid for any grid and height") {
  for (const double height : {0.3, 1.0, 2.5}) {
    const Problem problem = cavity_of(77, 53, height);
    const Vortex vortex{height};
    const Streamfunction psi = streamfunction(problem, flow_of(problem, vortex));
    CHECK(psi.closure_error() < 1e-15);
    CHECK(psi.at(40, 20) == Approx(vortex(20 * problem.dx(), 40 * problem.dy())).epsilon(1e-13));
  }
}

TEST_CASE("a flow that loses mass does not close") {
  const Problem problem = cavity_of(8, 8);
  FlowState state = flow_of(problem, Vortex{1.0});
  state.u[state.index(3, 4)] += 1e-6;
  CHECK(streamfunction(problem, state).closure_error() == Approx(1e-6 / 8.0).epsilon(1e-6));
}

TEST_CASE("the vortex's value converges with the third power of the cells' size, its centre with the second") {
  for (const double height : {1.0, 0.6, 2.0}) {
    const Vortex vortex{height};
    const VortexCentre exact = truth(vortex);
    const auto errors = [&](std::int64_t cells) {
      std::array<double, 2> largest{};  // of some grids, because a corner can happen to lie on the centre
      for (std::int64_t more = 0; more < 6; ++more) {
        const Problem problem = cavity_of(cells + 2 * more, cells + more, height);
        const auto found = primary_vortex(problem, streamfunction(problem, flow_of(problem, vortex)));
        REQUIRE(found);
        largest[0] = std::max(largest[0], std::abs(found->streamfunction - exact.streamfunction));
        largest[1] = std::max(
            largest[1], std::hypot(found->position[0] - exact.position[0], found->position[1] - exact.position[1]));
      }
      return largest;
    };
    const auto coarse = errors(40);
    const auto fine = errors(160);
    INFO("height " << height << ": value " << coarse[0] << " -> " << fine[0] << ", centre " << coarse[1] << " -> "
                   << fine[1]);
    CHECK(0.5 * std::log2(coarse[0] / fine[0]) > 2.7);
    CHECK(0.5 * std::log2(coarse[1] / fine[1]) > 1.8);
  }
}

TEST_CASE("a quadratic vortex is exact wherever its centre lies between corners") {
  const Problem problem = cavity_of(20, 20);
  for (const double x : {0.5, 0.512, 0.4761, 0.525}) {
    for (const double y : {0.5, 0.53, 0.61}) {
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
}

TEST_CASE("there is no vortex at rest, in a single cell, or where all turns the other way") {
  for (const Problem& problem : {cavity_of(8, 8), cavity_of(1, 1), cavity_of(1, 9)}) {
    CHECK_FALSE(primary_vortex(problem, streamfunction(problem, FlowState::at_rest(problem))));
  }
  const Problem problem = cavity_of(8, 8);
  const auto other_way = [](double x, double y) { return -Vortex{1.0}(x, y); };
  CHECK_FALSE(primary_vortex(problem, streamfunction(problem, flow_of(problem, other_way))));
}

TEST_CASE("figures are those of the profiles and of the streamfunction") {
  const Problem problem = cavity_of(200, 201);
  const auto psi = [](double x, double y) { return -0.1 * std::pow(std::sin(pi * x) * std::sin(pi * y), 2.0); };
  const FlowFigures figures = flow_figures(problem, flow_of(problem, psi));
  REQUIRE(figures.vortex);
  CHECK(figures.vortex->streamfunction == Approx(-0.1).epsilon(1e-4));
  CHECK(figures.vortex->position[0] == Approx(0.5).margin(1e-9));
  // u = -0.1 pi sin(2 pi y) and v = 0.1 pi sin(2 pi x) on the centre lines.
  CHECK(figures.u_min.value == Approx(-0.1 * pi).epsilon(1e-3));
  CHECK(figures.u_min.coordinate == Approx(0.25).margin(1e-3));
  CHECK(figures.v_min.value == Approx(-0.1 * pi).epsilon(1e-3));
  CHECK(figures.v_min.coordinate == Approx(0.75).margin(1e-3));
  CHECK(figures.v_max.value == Approx(0.1 * pi).epsilon(1e-3));
  CHECK(figures.v_max.coordinate == Approx(0.25).margin(1e-3));
}

}  // namespace steelyard::test_streamfunction
