#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_floating_point.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cmath>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "core/base/errors.hpp"
#include "miniapps/wave2d/assignment.hpp"
#include "miniapps/wave2d/cost.hpp"
#include "models/communication/cost_models.hpp"
#include "tests/miniapps/wave2d/grid_cuts.hpp"
#include "tests/models/tau_lop_platforms.hpp"

namespace steelyard::test_cost {

using namespace steelyard::wave2d;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;
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
using Names = std::vector<std::string>;
/// Seconds by model.
using Costs = std::map<std::string, double>;
constexpr double infinity = std::numeric_limits<double>::infinity();
const std::vector<int> three_ranks{0, 1, 2};

/// Memory 0 inside nodes and network 1 between them, without any model's parameters.
models::Platform bare_platform() {
  models::Platform platform;
  platform.channels.resize(2);
  platform.channels[1].id = 1;
  platform.channels[1].scope = Channel::Scope::network;
  return platform;
}

void add_hockney(models::Platform& platform) {
  platform.channels[0].hockney = {{infinity, {3.0, 4.0}}};
  platform.channels[1].hockney = {{infinity, {50.0, 0.5}}};
}

void add_loggp(models::Platform& platform) {
  platform.channels[0].loggp = models::LogGP{1.0, 2.0, 4.0, 8.0, 0.25};
  platform.channels[1].loggp = models::LogGP{10.0, 20.0, 40.0, 80.0, 2.0};
}

/// Channels whose k transmissions at once each take sqrt(k) times as long as one.
void add_tau_lop(models::Platform& platform) {
  const models::Platform shared = tests::additive_platform({{0, {4.0, 0.5}}, {1, {0.5, 0.5}}});
  for (std::size_t i = 0; i < 2; ++i) {
    platform.channels[i].path = shared.channels[i].path;
    platform.channels[i].tau_lop = shared.channels[i].tau_lop;
  }
}

/// With parameters of every model.
models::Platform full_platform() {
  models::Platform platform = bare_platform();
  add_hockney(platform);
  add_loggp(platform);
  add_tau_lop(platform);
  return platform;
}

/// Three slices of 5 rows and 10 columns, each a rank's: the middle one sends two messages of 80 bytes, the others one.
MessagePattern three_slices(int steps = 1) {
  const Problem problem{15, 10};
  return exchange_pattern(halo_messages(problem, row_slices(problem, {5, 5, 5}), steps), three_ranks, 3, 8.0);
}

Costs costs_by_model(const MessagePattern& pattern, const models::Platform& platform, const std::vector<int>& nodes) {
  Costs costs;
  for (const ExchangeCost& cost : exchange_costs(pattern, platform, Placement(platform, nodes))) {
    REQUIRE(costs.emplace(cost.model, cost.time_s).second);
  }
  return costs;
}

/// In the order of exchange_costs().
Names models_that_tell(const models::Platform& platform, const std::vector<int>& nodes) {
  Names names;
  for (const ExchangeCost& cost : exchange_costs(three_slices(), platform, Placement(platform, nodes))) {
    names.push_back(cost.model);
  }
  return names;
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

TEST_CASE("what is sent is the points of messages between different ranks") {
  Random random(1);
  for (int trial = 0; trial < 200; ++trial) {
    const partition::Extents extents{whole(random, 3, 20), whole(random, 3, 20)};
    const Problem problem{extents.rows, extents.columns, 0.5, Boundary::neumann, 2 * whole(random, 1, 2)};
    const Rectangles rectangles = tests::random_cut(random, extents);
    const int ranks = whole(random, 1, 5);
    std::vector<int> rank_of_unit;
    for (std::size_t i = 0; i < rectangles.size(); ++i) rank_of_unit.push_back(whole(random, 0, ranks - 1));
    const std::vector<HaloMessage> messages = halo_messages(problem, rectangles, whole(random, 1, 5));
    std::vector<Message> expected;
    for (const HaloMessage& message : messages) {
      const int from = rank_of_unit[static_cast<std::size_t>(message.from)];
      const int to = rank_of_unit[static_cast<std::size_t>(message.to)];
      if (from != to) expected.push_back({from, to, 4.0 * static_cast<double>(message.points())});
    }
    const MessagePattern pattern = exchange_pattern(messages, rank_of_unit, ranks, 4.0);
    REQUIRE(pattern.processes == ranks);
    REQUIRE(pattern.phases.size() == 1);
    REQUIRE(pattern.phases[0].messages == expected);
    REQUIRE_NOTHROW(models::require_pattern(pattern));
  }
}

TEST_CASE("by Hockney and LogGP an exchange takes as long as its busiest sender") {
  models::Platform platform = bare_platform();
  add_hockney(platform);
  const Costs one_node = costs_by_model(three_slices(), platform, {0, 0, 0});
  REQUIRE(one_node.size() == 1);
  CHECK_THAT(one_node.at("Hockney"), WithinRel(2 * (3.0 + 80.0 / 4.0), 1e-12));
  // Rank 2 on another node: the middle one sends through memory and network.
  CHECK_THAT(costs_by_model(three_slices(), platform, {0, 0, 1}).at("Hockney"),
             WithinRel(3.0 + 80.0 / 4.0 + 50.0 + 80.0 / 0.5, 1e-12));

  add_loggp(platform);
  const Costs two_nodes = costs_by_model(three_slices(), platform, {0, 0, 1});
  REQUIRE(two_nodes.size() == 2);
  CHECK_THAT(two_nodes.at("HLogGP"), WithinRel(1.0 + 2.0 + 4.0 + 79 * 0.25 + 10.0 + 20.0 + 40.0 + 79 * 2.0, 1e-12));
}

TEST_CASE("by tau-Lop all messages of an exchange share the channel") {
  const models::Platform platform = full_platform();
  for (const char* model : {"tau-Lop", "tau-Lop event"}) {
    INFO(model);
    CHECK_THAT(costs_by_model(three_slices(), platform, {0, 0, 0}).at(model),
               WithinRel(std::sqrt(4.0) * 80.0 / 4.0, 1e-12));
    // All on nodes of their own: four messages in the network.
    CHECK_THAT(costs_by_model(three_slices(), platform, {0, 1, 2}).at(model),
               WithinRel(std::sqrt(4.0) * 80.0 / 0.5, 1e-12));
    // 0 and 1 on a node: two in memory, two in the network, at once; the network's take longer.
    CHECK_THAT(costs_by_model(three_slices(), platform, {0, 0, 1}).at(model),
               WithinRel(std::sqrt(2.0) * 80.0 / 0.5, 1e-12));
  }
}

TEST_CASE("a model tells where all channels in use have its parameters, the first one first") {
  models::Platform platform = full_platform();
  const std::vector<int> one_node{0, 0, 0}, two_nodes{0, 0, 1}, apart{0, 1, 2};
  CHECK(models_that_tell(platform, two_nodes) == models::cost_model_names());
  platform.channels[1].tau_lop.reset();
  CHECK(models_that_tell(platform, one_node) == models::cost_model_names());
  CHECK(models_that_tell(platform, two_nodes) == Names{"HLogGP", "Hockney"});
  platform.channels[0].loggp.reset();
  CHECK(models_that_tell(platform, two_nodes) == Names{"Hockney"});
  CHECK(models_that_tell(platform, apart) == Names{"HLogGP", "Hockney"});
  platform.channels[1].hockney.clear();
  platform.channels[1].loggp.reset();
  CHECK_THROWS_MATCHES(models_that_tell(platform, two_nodes), InvalidArgument,
                       MessageMatches(ContainsSubstring("channels 0, 1 ")));
}

TEST_CASE("ranks that no channel joins are refused") {
  models::Platform platform = full_platform();
  platform.channels.pop_back();
  CHECK_THROWS_MATCHES(models_that_tell(platform, {0, 0, 1}), InvalidArgument,
                       MessageMatches(ContainsSubstring("no channel between nodes")));
}

TEST_CASE("nothing to send costs nothing by every model, on any platform") {
  const Problem problem{15, 10};
  const std::vector<HaloMessage> messages = halo_messages(problem, row_slices(problem, {5, 5, 5}), 1);
  for (const MessagePattern& pattern :
       {exchange_pattern({}, {}, 1, 8.0), exchange_pattern(messages, std::vector<int>{0, 0, 0}, 1, 8.0)}) {
    CHECK(pattern.phases.at(0).messages.empty());
    const models::Platform nothing;
    const std::vector<ExchangeCost> costs = exchange_costs(pattern, nothing, Placement(nothing, {0}));
    REQUIRE(costs.size() == models::cost_model_names().size());
    for (std::size_t i = 0; i < costs.size(); ++i) {
      CHECK(costs[i].model == models::cost_model_names()[i]);
      CHECK(costs[i].time_s == 0.0);
    }
  }
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

TEST_CASE("a pass is started, then whoever drives messages computes and exchanges in turns beside the others") {
  PassCost pass = pass_cost(std::vector<int>{0, 0}, interiors({4.0, 8.0}));
  pass.start_s = 0.5;
  CHECK(pass.total_s() == 8.5);
  pass.exchange_s = 3.0;
  CHECK(pass.total_s() == 8.5);
  pass.exchange_s = 5.0;
  CHECK(pass.total_s() == 9.5);
  // Where all units drive, exchange and kernels simply add up.
  PassCost serial = pass_cost(std::vector<int>{0, 1}, interiors({4.0, 8.0}));
  serial.exchange_s = 5.0;
  CHECK(serial.total_s() == 13.0);
}

TEST_CASE("nobody's interior starts before the slowest border is packed") {
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
      for (std::int64_t row = own.row; row < own.end_row(); ++row) {
        for (std::int64_t column = own.column; column < own.end_column(); ++column) {
          const bool is_near = (own.row > 0 && row < own.row + depth) ||
                               (own.end_row() < problem.rows && row >= own.end_row() - depth) ||
                               (own.column > 0 && column < own.column + depth) ||
                               (own.end_column() < problem.columns && column >= own.end_column() - depth);
          border += is_near ? 1 : 0;
        }
      }
      CHECK(points[i].border == border);
    }
    for (const HaloMessage& message : halo_messages(problem, rectangles, steps)) carried += message.points();
    CHECK(leaving == carried);
    CHECK(arriving == carried);
  }
}

}  // namespace steelyard::test_cost
