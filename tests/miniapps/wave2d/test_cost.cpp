#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_floating_point.hpp>
#include <cmath>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "miniapps/wave2d/assignment.hpp"
#include "miniapps/wave2d/cost.hpp"
#include "models/communication/cost_models.hpp"
#include "tests/miniapps/wave2d/grid_cuts.hpp"
#include "tests/models/tau_lop_platforms.hpp"

namespace steelyard::test_cost {

using namespace steelyard::wave2d;
using Catch::Matchers::WithinRel;
using models::Channel;
using models::Message;
using models::MessagePattern;
using models::Phase;
using models::Placement;
using partition::Rectangle;
using tests::Random;
using tests::whole;

namespace {

using Rectangles = std::vector<Rectangle>;
const std::vector<int> three_ranks{0, 1, 2};

/// Memory 0 inside nodes and network 1 between them, with Hockney's and tau-Lop's parameters: by tau-Lop k
/// transmissions at once each take sqrt(k) times as long as one.
models::Platform two_channels() {
  models::Platform platform = tests::additive_platform({{0, {4.0, 0.5}}, {1, {0.5, 0.5}}});
  platform.channels[1].scope = Channel::Scope::network;
  platform.channels[0].hockney = {{std::numeric_limits<double>::infinity(), {3.0, 4.0}}};
  platform.channels[1].hockney = {{std::numeric_limits<double>::infinity(), {50.0, 0.5}}};
  return platform;
}

/// Three slices of 5 rows and 10 columns, each a rank's: the middle one sends two messages of 80 bytes, the others one.
MessagePattern three_slices(int steps = 1) {
  const Problem problem{15, 10};
  return exchange_pattern(halo_messages(problem, row_slices(problem, {5, 5, 5}), steps), three_ranks, 3, 8.0);
}

}  // namespace

TEST_CASE("every rank sends what the units of others need, all at once and with all its bytes") {
  const MessagePattern pattern = three_slices();
  CHECK(pattern.processes == 3);
  CHECK_FALSE(pattern.name.empty());
  REQUIRE(pattern.phases.size() == 1);
  CHECK(pattern.phases[0].sends == Phase::Sends::at_once);
  CHECK(pattern.phases[0].messages == std::vector<Message>{{0, 1, 80.0}, {1, 0, 80.0}, {1, 2, 80.0}, {2, 1, 80.0}});
  // Two steps: two rows of one level and one of the other.
  CHECK(three_slices(2).phases[0].messages ==
        std::vector<Message>{{0, 1, 240.0}, {1, 0, 240.0}, {1, 2, 240.0}, {2, 1, 240.0}});
  CHECK_NOTHROW(models::require_pattern(pattern));
}

TEST_CASE("units of one rank exchange in memory, those of two ranks each a message of their own") {
  const Problem problem{12, 10};
  const std::vector<int> ranks{0, 0, 1, 1, 0};
  // Rows 0-2, 3-5, 6, 7-8 and 9-11. Three steps read three rows of level n and two of level n - 1 on either side, some
  // of them beyond a thin neighbour.
  const std::vector<HaloMessage> messages = halo_messages(problem, row_slices(problem, {3, 3, 1, 2, 3}), 3);
  const MessagePattern pattern = exchange_pattern(messages, ranks, 2, 4.0);
  CHECK(pattern.phases.at(0).messages == std::vector<Message>{{0, 1, 200.0},
                                                              {0, 1, 120.0},
                                                              {1, 0, 80.0},
                                                              {1, 0, 40.0},
                                                              {1, 0, 120.0},
                                                              {1, 0, 160.0},
                                                              {0, 1, 40.0},
                                                              {0, 1, 200.0}});
}

TEST_CASE("an exchange costs what the models say of its messages, all of them sent at once") {
  const models::Platform platform = two_channels();
  const auto costs = [&](const std::vector<int>& nodes) {
    std::map<std::string, double> by_model;
    const MessagePattern pattern = three_slices();
    for (const auto& cost : models::pattern_costs(std::span(&pattern, 1), platform, Placement(platform, nodes))) {
      by_model[cost.model] = cost.time_s.front();
    }
    return by_model;
  };
  // As long as the middle rank sends; rank 2 may be on another node.
  CHECK_THAT(costs({0, 0, 0}).at("Hockney"), WithinRel(2 * (3.0 + 80.0 / 4.0), 1e-12));
  CHECK_THAT(costs({0, 0, 1}).at("Hockney"), WithinRel(3.0 + 80.0 / 4.0 + 50.0 + 80.0 / 0.5, 1e-12));
  // Four messages share the memory, or the network; or two are in each, and the network's take longer.
  CHECK_THAT(costs({0, 0, 0}).at("tau-Lop"), WithinRel(std::sqrt(4.0) * 80.0 / 4.0, 1e-12));
  CHECK_THAT(costs({0, 1, 2}).at("tau-Lop"), WithinRel(std::sqrt(4.0) * 80.0 / 0.5, 1e-12));
  CHECK_THAT(costs({0, 0, 1}).at("tau-Lop"), WithinRel(std::sqrt(2.0) * 80.0 / 0.5, 1e-12));
}

namespace {

/// Units of which nothing but the interior takes time.
std::vector<UnitTimes> interiors(const std::vector<double>& seconds) {
  std::vector<UnitTimes> units;
  for (const double one_s : seconds) units.push_back({0.0, 0.0, 0.0, one_s});
  return units;
}

}  // namespace

TEST_CASE("the first unit of every rank drives its messages") {
  const std::vector<UnitTimes> units = interiors({1.0, 9.0, 2.0, 8.0, 3.0});
  CHECK(pass_cost(std::vector<int>{0, 0, 1, 1, 2}, units).driving_s == 3.0);
  CHECK(pass_cost(std::vector<int>{0, 1, 2, 3, 4}, units).driving_s == 9.0);
  CHECK(pass_cost(std::vector<int>{0, 0, 0, 0, 0}, units).driving_s == 1.0);
  CHECK(pass_cost({}, {}).total_s() == 0.0);
}

TEST_CASE("units that drive messages compute and exchange in turns beside the others") {
  PassCost pass = pass_cost(std::vector<int>{0, 0}, interiors({4.0, 8.0}));
  CHECK(pass.total_s() == 8.0);
  pass.exchange_s = 3.0;
  CHECK(pass.total_s() == 8.0);
  pass.exchange_s = 5.0;
  CHECK(pass.total_s() == 9.0);
  // Where all units drive, exchange and kernels simply add up.
  PassCost serial = pass_cost(std::vector<int>{0, 1}, interiors({4.0, 8.0}));
  serial.exchange_s = 5.0;
  CHECK(serial.total_s() == 13.0);
}

TEST_CASE("no interior starts before the slowest border is packed") {
  const std::vector<UnitTimes> units{{1.0, 2.0, 4.0, 10.0}, {0.5, 8.0, 0.25, 20.0}};
  const PassCost pass = pass_cost(std::vector<int>{0, 0}, units);
  CHECK(pass.begin_s == 8.75);
  CHECK(pass.driving_s == 10.0);
  CHECK(pass.phases.unpacking_s == 1.0);
  CHECK(pass.phases.border_s == 8.0);
  CHECK(pass.phases.packing_s == 4.0);
  CHECK(pass.kernels_s() == 28.75);
  CHECK(pass.total_s() == 28.75);
}

TEST_CASE("the phases of a unit grow with the points they work on, and add up to the pass of a unit like the sample") {
  const UnitTimes sample{1.0, 6.0, 2.0, 100.0};
  const EdgePoints points{60, 20, 10};
  const UnitTimes same = split_pass(50.0, 470, points, sample, points);
  CHECK(same.begin_s() == 9.0);
  CHECK(same.interior_s == 41.0);
  // Fewer neighbours: the points that are not at a border cost what the interior's cost.
  const UnitTimes half = split_pass(50.0, 470, {30, 10, 0}, sample, points);
  CHECK(half.unpacking_s == 0.0);
  CHECK(half.border_s == 3.0);
  CHECK(half.packing_s == 1.0);
  CHECK_THAT(half.interior_s, WithinRel(44.0));
  const UnitTimes alone = split_pass(50.0, 470, {}, sample, points);
  CHECK(alone.begin_s() == 0.0);
  CHECK_THAT(alone.interior_s, WithinRel(47.0));
  // A sample whose phases alone are longer than the pass.
  const UnitTimes squeezed = split_pass(3.0, 470, points, sample, points);
  CHECK_THAT(squeezed.begin_s(), WithinRel(3.0));
  CHECK_THAT(squeezed.border_s, WithinRel(2.0));
  CHECK(squeezed.interior_s == 0.0);
  // A unit that is all border, and one that was not sampled.
  CHECK(split_pass(12.0, 60, points, sample, points).interior_s == 3.0);
  CHECK(split_pass(5.0, 100, {}, {}, {}).interior_s == 5.0);
}

TEST_CASE("edges are the points within the halo's depth of a neighbour, and what messages carry") {
  Random random(2);
  for (int trial = 0; trial < 100; ++trial) {
    const partition::Extents extents{whole(random, 3, 20), whole(random, 3, 20)};
    const Problem problem{extents.rows, extents.columns, 0.5, Boundary::neumann, 2 * whole(random, 1, 2)};
    const Rectangles rectangles = tests::random_cut(random, extents);
    const int steps = whole(random, 1, 3);
    const std::vector<EdgePoints> points = edge_points(problem, rectangles, steps);
    REQUIRE(points.size() == rectangles.size());
    std::int64_t leaving = 0, arriving = 0, carried = 0;
    const std::int64_t depth = static_cast<std::int64_t>(problem.radius()) * steps;
    for (std::size_t i = 0; i < points.size(); ++i) {
      leaving += points[i].leaving;
      arriving += points[i].arriving;
      const Rectangle& own = rectangles[i];
      std::int64_t border = 0;
      for_points(own, [&](std::int64_t row, std::int64_t column) {
        const bool is_near = (own.row > 0 && row < own.row + depth) ||
                             (own.end_row() < problem.rows && row >= own.end_row() - depth) ||
                             (own.column > 0 && column < own.column + depth) ||
                             (own.end_column() < problem.columns && column >= own.end_column() - depth);
        border += is_near ? 1 : 0;
      });
      CHECK(points[i].border == border);
    }
    for (const HaloMessage& message : halo_messages(problem, rectangles, steps)) carried += message.points();
    CHECK(leaving == carried);
    CHECK(arriving == carried);
  }
}

}  // namespace steelyard::test_cost
