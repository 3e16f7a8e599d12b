#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_floating_point.hpp>
#include <limits>
#include <numeric>
#include <vector>

#include "core/base/errors.hpp"
#include "miniapps/fft2d/cost.hpp"
#include "models/communication/cost_models.hpp"
#include "models/kinds/constant_model.hpp"
#include "partition/algorithms.hpp"

namespace steelyard::test_cost {

using namespace steelyard::fft2d;
using Catch::Matchers::WithinRel;
using models::Channel;
using models::Placement;

namespace {

using Counts = std::vector<std::int64_t>;

/// Memory 0 inside nodes and network 1 between them; Hockney's model alone.
models::Platform hockney_platform(double memory_s, double network_s) {
  models::Platform platform;
  platform.channels.resize(2);
  platform.channels[1].id = 1;
  platform.channels[1].scope = Channel::Scope::network;
  const double infinity = std::numeric_limits<double>::infinity();
  platform.channels[0].hockney = {{infinity, {memory_s, infinity}}};
  platform.channels[1].hockney = {{infinity, {network_s, infinity}}};
  return platform;
}

std::int64_t sum(const Counts& units) { return std::accumulate(units.begin(), units.end(), std::int64_t{0}); }

TEST_CASE("Rows and columns of the spectrum are shared out whole, each pass by its own models") {
  const models::ConstantModel slow(1.0), fast(3.0);
  for (const partition::Algorithm& algorithm : partition::algorithms()) {
    for (const bool real : {false, true}) {
      CAPTURE(algorithm.name, real);
      const Problem problem{48, 60, Direction::forward, real, false};
      const Assignment assignment = assign(problem, {&slow, &fast}, {&fast, &slow}, algorithm.name, 16);
      CHECK(sum(assignment.rows.units) == 48);
      CHECK(sum(assignment.columns.units) == (real ? 31 : 60));
      REQUIRE(assignment.rows.predicted_s.size() == 2);
      CHECK_THAT(assignment.rows.predicted_s[0], WithinRel(static_cast<double>(assignment.rows.units[0]), 1e-9));
      CHECK_THAT(assignment.columns.predicted_s[1], WithinRel(static_cast<double>(assignment.columns.units[1]), 1e-9));
      if (algorithm.name == "geometric" || algorithm.name == "exact") {
        CHECK(assignment.rows.units == Counts{12, 36});
        CHECK(assignment.columns.units[0] > 2 * assignment.columns.units[1]);
      }
    }
  }
}

TEST_CASE("Slices begin where cache lines do, as far as the total allows") {
  CHECK(slice_granularity(1024, 16) == 4);
  CHECK(slice_granularity(1024, 8) == 8);
  CHECK(slice_granularity(1030, 16) == 2);
  CHECK(slice_granularity(1031, 16) == 1);
  const models::ConstantModel slow(1.0), fast(2.3);
  for (const std::int64_t point_bytes : {8, 16}) {
    for (const std::int64_t rows : {40, 100, 126, 1031}) {
      CAPTURE(rows, point_bytes);
      const Assignment assignment = assign({rows, 24}, {&slow, &fast}, {&fast, &slow}, "exact", point_bytes);
      CHECK(sum(assignment.rows.units) == rows);
      CHECK(assignment.rows.units[0] % slice_granularity(rows, point_bytes) == 0);
      CHECK(assignment.columns.units[0] % slice_granularity(24, point_bytes) == 0);
    }
  }
}

TEST_CASE("Unknown algorithms are refused") {
  const models::ConstantModel speed(1.0);
  CHECK_THROWS_AS(assign({5, 5}, {&speed}, {&speed}, "fair", 16), InvalidArgument);
}

TEST_CASE("The pattern sends all bytes that change their rank, batch by batch") {
  const Problem problem{30, 50};
  const std::vector<int> ranks{0, 0, 1, 2};
  for (const int batches : {1, 4}) {
    const ExchangeChoice exchange{batches > 1 ? Exchange::pipelined : Exchange::at_once, batches};
    const PassPlans plans = plan_passes(problem, {{5, 5, 12, 8}, {10, 10, 0, 30}}, ranks, exchange);
    const models::MessagePattern pattern = exchange_pattern(plans.rows, 3, 16.0);
    CHECK(pattern.phases.size() == static_cast<std::size_t>(batches));
    double bytes = 0.0;
    for (const models::Phase& phase : pattern.phases) {
      CHECK(phase.sends == models::Phase::Sends::at_once);
      for (const models::Message& message : phase.messages) bytes += message.bytes;
    }
    // 10 rows x 30 columns, 12 x 50, 8 x 20
    CHECK(bytes == 16.0 * (300 + 600 + 160));
    // Of rank 0's 10 rows 5 belong to each of its units, and every row receives the 30 columns of rank 2; the others
    // receive 20 columns of rank 0, and those of rank 1 30 more.
    const std::vector<double> alike(4, 1.0), fourth_alone{0.0, 0.0, 0.0, 1.0}, first_slow{9.0, 1.0, 1.0, 1.0};
    CHECK(unpack_seconds(plans.columns, 16.0, alike, 48.0) == 12 * 50);
    CHECK(unpack_seconds(plans.columns, 16.0, fourth_alone, 48.0) == 8 * 20);
    CHECK(unpack_seconds(plans.columns, 16.0, first_slow, 48.0) == 9 * 5 * 30);
  }
}

TEST_CASE("One rank sends nothing, and left transposed no rank sends twice") {
  const ExchangeChoice exchange{Exchange::pipelined, 4};
  const PassPlans alone = plan_passes({8, 8}, {{3, 5}, {4, 4}}, {0, 0}, exchange);
  for (const models::PatternCosts& cost : exchange_costs(alone, 16.0, {}, Placement({}, {0}))) {
    CHECK(cost.time_s == std::vector<double>(2, 0.0));
  }
  const models::Platform platform = hockney_platform(2.0, 50.0);
  const PassPlans transposed = plan_passes({8, 8, Direction::forward, false, true}, {{3, 5}, {4, 4}}, {0, 1}, exchange);
  const models::PatternCosts cost = exchange_costs(transposed, 16.0, platform, Placement(platform, {0, 0})).front();
  CHECK(cost.time_s[0] > 0.0);
  CHECK(cost.time_s[1] == 0.0);
}

TEST_CASE("Exchanges by Hockney take the messages of the busiest rank, by the channels between them") {
  const models::Platform platform = hockney_platform(2.0, 50.0);
  const PassPlans plans = plan_passes({6, 6}, {{2, 2, 2}, {2, 2, 2}}, {0, 1, 2}, {Exchange::at_once, 1});
  const auto one_node = exchange_costs(plans, 16.0, platform, Placement(platform, {0, 0, 0}));
  REQUIRE(one_node.size() == 1);
  CHECK(one_node.front().model == "Hockney");
  CHECK_THAT(one_node.front().time_s[0], WithinRel(4.0, 1e-12));
  const auto two_nodes = exchange_costs(plans, 16.0, platform, Placement(platform, {0, 0, 1}));
  CHECK_THAT(two_nodes.front().time_s[1], WithinRel(100.0, 1e-12));
  CHECK_FALSE(all_by_network(plans.rows, platform, Placement(platform, {0, 0, 1})));
  CHECK(all_by_network(plans.rows, platform, Placement(platform, {0, 1, 2})));
}

TEST_CASE("Pipelined by network, all but the first batch's kernels or the last one's exchange overlap") {
  for (const double kernels_s : {1.0, 8.0, 64.0}) {
    for (const double exchange_s : {0.0, 8.0, 24.0}) {
      for (const int batches : {2, 8}) {
        const PassCost cost{kernels_s, kernels_s, exchange_s, batches, true};
        // Batch by batch: a batch is sent when it is ready and the one before has left.
        double ready = 0.0, sent = 0.0;
        for (int batch = 0; batch < batches; ++batch) {
          ready += kernels_s / batches;
          sent = std::max(ready, sent) + exchange_s / batches;
        }
        CHECK_THAT(cost.total_s(), WithinRel(sent, 1e-12));
        CHECK(cost.total_s() <= kernels_s + exchange_s + 1e-12);
      }
    }
  }
}

TEST_CASE("At once all adds up; pipelined through memory, only what a companion computes meanwhile hides an exchange") {
  CHECK(PassCost{3.0, 2.0, 5.0, 1, true}.total_s() == 8.0);
  CHECK(PassCost{3.0, 2.0, 5.0, 1, true}.exposed_s() == 5.0);
  CHECK(PassCost{4.0, 4.0, 2.0, 4, false}.total_s() == 6.0);
  CHECK(PassCost{9.0, 4.0, 2.0, 4, false}.total_s() == 9.5);
  CHECK(PassCost{9.0, 4.0, 20.0, 4, false}.total_s() == 24.0);
}

TEST_CASE("The unit that drives MPI is a rank's first one") {
  const PassCost cost = kernel_cost({0, 0, 1, 2, 2}, {1.0, 7.0, 3.0, 2.0, 5.0}, {Exchange::pipelined, 6});
  CHECK(cost.kernels_s == 7.0);
  CHECK(cost.driving_s == 3.0);
  CHECK(cost.batches == 6);
  CHECK(kernel_cost({0}, {2.0}, {Exchange::at_once, 6}).batches == 1);
}

TEST_CASE("A transform takes what its phases take") {
  const TransformCost cost{{4.0, 4.0, 1.0, 1, false}, {3.0, 3.0, 2.0, 1, false}, 0.25, 0.5};
  CHECK(cost.rows_s() + cost.columns_s() == 7.5);
  CHECK(cost.first_exchange_s() == 1.0);
  CHECK(cost.second_exchange_s() == 2.5);
  CHECK(cost.total_s() == 11.0);
}

TEST_CASE("Unless the user says otherwise, only several nodes pipeline") {
  CHECK(ExchangeOptions{}.choice(1).exchange == Exchange::at_once);
  CHECK(ExchangeOptions{}.choice(2).exchange == Exchange::pipelined);
  CHECK(ExchangeOptions{Exchange::pipelined, 3}.choice(1).parts() == 3);
  CHECK(ExchangeOptions{Exchange::at_once, 3}.choice(2).parts() == 1);
}

}  // namespace

}  // namespace steelyard::test_cost
