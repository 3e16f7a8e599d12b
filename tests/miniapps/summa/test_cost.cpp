#include <map>

#include "miniapps/summa/plan.hpp"
#include "models/communication/cost_models.hpp"
#include "models/communication/loggp.hpp"
#include "models/communication/message_pattern.hpp"
#include "partition/rectangles/rectangle.hpp"
#include "tests/catch.hpp"
#include "tests/models/tau_lop_platforms.hpp"
#include "tests/partition/random_rectangles.hpp"

namespace steelyard::test_cost {

using namespace steelyard::summa;
using models::Placement;
using partition::Rectangle;
using tests::Random;
using tests::uniform;
using tests::whole;

namespace {

using Rectangles = std::vector<Rectangle>;
constexpr double element_bytes = 8.0;

/// Memory 0 and network 1, with parameters of every model: one byte takes 1 / bandwidth by each, beside latencies.
models::Platform platform_of(double memory, double network, double alpha = 1.0, double latency_s = 0.0) {
  models::Platform platform = tests::additive_platform({{0, {memory, alpha}}, {1, {network, alpha}}});
  for (models::Channel& channel : platform.channels) {
    const double bandwidth = channel.id == 0 ? memory : network;
    channel.scope = channel.id == 0 ? models::Channel::Scope::node : models::Channel::Scope::network;
    channel.hockney = {{std::numeric_limits<double>::infinity(), {latency_s, bandwidth}}};
    channel.loggp = models::LogGP{latency_s, 0.0, 0.0, 0.0, 1.0 / bandwidth};
  }
  return platform;
}

std::map<std::string, std::vector<double>> costs_by_model(const Problem& problem, const Rectangles& rectangles,
                                                          Communication communication, const models::Platform& platform,
                                                          const std::vector<int>& nodes,
                                                          Placement::Contention contention = {}) {
  std::map<std::string, std::vector<double>> costs;
  const Placement placement(platform, nodes, {}, contention);
  for (const models::PatternCosts& cost :
       communication_costs(problem, rectangles, element_bytes, communication, platform, placement)) {
    REQUIRE(static_cast<std::int64_t>(cost.time_s.size()) == problem.blocks());
    REQUIRE(costs.emplace(cost.model, cost.time_s).second);
  }
  return costs;
}

}  // namespace

TEST_CASE("iteration 80 of figure 8 costs what equations 8 to 10 say (001, section 4.1)") {
  const Rectangles figure_8 = {{0, 124, 134, 97}, {0, 0, 146, 124},   {152, 221, 104, 35},
                               {0, 221, 152, 35}, {146, 0, 110, 124}, {134, 124, 122, 97}};
  const Problem problem{std::int64_t{256} * 32, 32};
  const double block_bytes = 32 * 32 * element_bytes, memory = 4e9, network = 1e8, latency_s = 2e-5;
  const auto costs =
      costs_by_model(problem, figure_8, Communication::paper, platform_of(memory, network, 0.5, latency_s),
                     {0, 0, 0, 1, 1, 1}, Placement::Contention::per_channel);
  REQUIRE(costs.size() == models::cost_model_names().size());
  const auto several = [](int count) { return std::sqrt(count); };
  const double by_tau_lop =
      block_bytes * ((several(3) * 35 + several(2) * 166 + 81) / network + (several(2) * 116 + 18) / memory);
  CHECK_THAT(costs.at("tau-Lop")[80], WithinRel(by_tau_lop, 1e-12));
  // p1 sends 134 blocks through memory, 146 and 12 through the network; in the first column 124.
  const double without_contention = 4 * latency_s + block_bytes * (134 / memory + (146 + 12 + 124) / network);
  CHECK_THAT(costs.at("Hockney")[80], WithinRel(without_contention, 1e-12));
  // LogGP's first byte is free.
  CHECK_THAT(costs.at("HLogGP")[80], WithinRel(without_contention - 1 / memory - 3 / network, 1e-12));
}

TEST_CASE("every iteration costs what its own messages cost, in phases or all at once") {
  Random random(1);
  for (int trial = 0; trial < 100; ++trial) {
    const int block = whole(random, 1, 5);
    const Problem problem{whole(random, 1, 9 * block), block};
    const Rectangles rectangles = tests::random_rectangles(random, static_cast<int>(problem.blocks()), 9);
    Rectangles tiles;
    std::vector<int> nodes;
    for (const Rectangle& r : rectangles) {
      const auto end = [&](std::int64_t blocks) { return std::min(problem.n, blocks * block); };
      const std::int64_t row = end(r.row), column = end(r.column);
      tiles.push_back({row, column, end(r.end_row()) - row, end(r.end_column()) - column});
      nodes.push_back(whole(random, 0, 2));
    }
    const auto busy = std::ranges::count_if(rectangles, [](const Rectangle& r) { return !r.empty(); });
    const models::Platform platform = platform_of(uniform(random, 1.0, 9.0), uniform(random, 0.1, 1.0), 0.7, 3.0);
    const Placement placement(platform, nodes);
    for (const Communication communication : {Communication::paper, Communication::bcast, Communication::pipelined}) {
      const auto costs = costs_by_model(problem, rectangles, communication, platform, nodes);
      CAPTURE(trial, problem.n, block, communication_name(communication));
      CHECK(costs.size() == models::cost_model_names().size());
      // Between two a broadcast is the paper's message; among more it is a tree, below.
      if (communication == Communication::bcast && busy > 2) continue;
      for (std::int64_t k = 0; k < problem.blocks(); ++k) {
        const std::int64_t first = k * block, depth = std::min<std::int64_t>(block, problem.n - first);
        models::MessagePattern pattern = partition::summa_pattern(tiles, first, depth, element_bytes);
        if (communication == Communication::pipelined) {
          std::vector<models::Message>& messages = pattern.phases[0].messages;
          messages.insert(messages.end(), pattern.phases[1].messages.begin(), pattern.phases[1].messages.end());
          pattern.phases[0].sends = models::Phase::Sends::at_once;
          pattern.phases.pop_back();
        }
        for (const models::PatternCosts& cost : models::pattern_costs(std::vector{pattern}, platform, placement)) {
          REQUIRE_THAT(costs.at(cost.model)[static_cast<std::size_t>(k)], WithinRel(cost.time_s[0], 1e-9));
        }
      }
    }
  }
}

TEST_CASE("a broadcast is a binomial tree in every band, and an owner's bands come one after the other") {
  const models::Platform platform = platform_of(1.0, 1.0);
  // A column of four on one node: T + 2 || T for every pivot row (001, equation 4).
  const Rectangles column{{0, 0, 2, 8}, {2, 0, 2, 8}, {4, 0, 2, 8}, {6, 0, 2, 8}};
  const auto one = costs_by_model({16, 2}, column, Communication::bcast, platform, {0, 0, 0, 0});
  const double row_bytes = 16 * 2 * element_bytes;
  for (std::size_t k = 0; k < 8; ++k) {
    CHECK_THAT(one.at("tau-Lop")[k], WithinRel((1 + 2) * row_bytes, 1e-12));
    CHECK_THAT(one.at("Hockney")[k], WithinRel(2 * row_bytes, 1e-12));
  }
  // Two bands of the left half's owner, to one process each; within columns one message for 4 elements' width.
  const Rectangles bands{{0, 0, 4, 2}, {0, 2, 1, 2}, {1, 2, 3, 2}};
  const auto two = costs_by_model({8, 2}, bands, Communication::bcast, platform, {0, 1, 2});
  CHECK_THAT(two.at("Hockney")[0], WithinRel((8 + 4) * 2 * element_bytes, 1e-12));
  // From the right half both owners send at the same time.
  CHECK_THAT(two.at("Hockney")[3], WithinRel((6 + 4) * 2 * element_bytes, 1e-12));
  CHECK_THAT(two.at("tau-Lop")[3], WithinRel((2 * 2 + 4 + 4) * 2 * element_bytes, 1e-12));
}

TEST_CASE(
    "updates and communication add up in turns after one start, or the longer of each update and the next messages") {
  Random random(4);
  for (int trial = 0; trial < 200; ++trial) {
    const Problem problem{whole(random, 1, 100), whole(random, 1, 20)};
    const std::int64_t last = problem.blocks() - 1;
    models::PatternCosts cost{"random", std::vector<double>(static_cast<std::size_t>(last) + 1)};
    for (double& cost_s : cost.time_s) cost_s = uniform(random, 0.0, 2.0);
    const double update_s = uniform(random, 0.0, 2.0), start_s = uniform(random, 0.0, 0.5);
    double updates_s = start_s, messages_s = 0.0, overlapped_s = start_s + cost.time_s.front();
    for (std::int64_t k = 0; k <= last; ++k) {
      // The last one may be smaller.
      const double depth =
          k < last ? static_cast<double>(problem.block) : static_cast<double>(problem.n - last * problem.block);
      const double one_s = update_s * depth / static_cast<double>(problem.depth(0));
      updates_s += one_s;
      messages_s += cost.time_s[static_cast<std::size_t>(k)];
      overlapped_s += k < last ? std::max(one_s, cost.time_s[static_cast<std::size_t>(k) + 1]) : one_s;
    }
    for (const auto& [communication, total_s] : {std::pair{Communication::paper, updates_s + messages_s},
                                                 {Communication::bcast, updates_s + messages_s},
                                                 {Communication::pipelined, overlapped_s}}) {
      const ModelForecast forecast = total_cost(problem, cost, communication, update_s, start_s);
      CHECK(forecast.model == "random");
      CHECK_THAT(forecast.total_s, WithinRel(total_s, 1e-12));
      CHECK_THAT(forecast.communication_s, WithinRel(messages_s, 1e-12));
      CHECK_THAT(forecast.phases.front().second, WithinRel(updates_s, 1e-12));
      CHECK(std::abs(forecast.exposed_s - (total_s - updates_s)) < 1e-9);
      CHECK(forecast.phases.back() == std::pair<std::string, double>("communication", forecast.exposed_s));
    }
    const ModelForecast alone = total_cost(problem, cost, Communication::paper, {}, 0.0);
    CHECK(alone.phases == std::vector<std::pair<std::string, double>>{{"communication", alone.exposed_s}});
  }
}

}  // namespace steelyard::test_cost
