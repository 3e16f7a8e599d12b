#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_floating_point.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cmath>
#include <limits>
#include <map>
#include <set>

#include "core/base/errors.hpp"
#include "miniapps/summa/plan.hpp"
#include "models/communication/cost_models.hpp"
#include "models/communication/loggp.hpp"
#include "models/communication/message_pattern.hpp"
#include "models/communication/tau_lop/aligned_evaluation.hpp"
#include "models/communication/tau_lop/event_evaluation.hpp"
#include "tests/models/tau_lop_platforms.hpp"
#include "tests/partition/random_rectangles.hpp"

namespace steelyard::test_cost {

using namespace steelyard::summa;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;
using Catch::Matchers::WithinRel;
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

std::vector<int> random_nodes(Random& random, std::size_t processes) {
  std::vector<int> nodes;
  for (std::size_t i = 0; i < processes; ++i) nodes.push_back(whole(random, 0, 2));
  return nodes;
}

/// A problem, who owns what and who is where.
struct Case {
  Problem problem;
  Rectangles rectangles;
  std::vector<int> nodes;

  explicit Case(Random& random, int most_blocks = 9) {
    problem.block = whole(random, 1, 5);
    problem.n = whole(random, 1, most_blocks * static_cast<int>(problem.block));
    rectangles = tests::random_rectangles(random, static_cast<int>(problem.blocks()), 9);
    nodes = random_nodes(random, rectangles.size());
  }
};

/// Element by element: who has one of the pivot column (or row) sends it to all who compute in its row (or column).
models::Phase pivot_phase(const Case& c, std::int64_t k, bool along_rows) {
  const auto owner = [&](std::int64_t row, std::int64_t column) {
    for (std::size_t i = 0; i < c.rectangles.size(); ++i) {
      const Rectangle& r = c.rectangles[i];
      const std::int64_t block_row = row / c.problem.block, block_column = column / c.problem.block;
      if (r.row <= block_row && block_row < r.end_row() && r.column <= block_column && block_column < r.end_column()) {
        return static_cast<int>(i);
      }
    }
    return -1;
  };
  std::map<std::pair<int, int>, double> bytes;
  for (std::int64_t pivot = k * c.problem.block; pivot < std::min(c.problem.n, (k + 1) * c.problem.block); ++pivot) {
    for (std::int64_t i = 0; i < c.problem.n; ++i) {
      const int from = along_rows ? owner(i, pivot) : owner(pivot, i);
      std::set<int> to;
      for (std::int64_t j = 0; j < c.problem.n; ++j) to.insert(along_rows ? owner(i, j) : owner(j, i));
      for (const int one : to) {
        if (one != from) bytes[{from, one}] += element_bytes;
      }
    }
  }
  models::Phase phase;
  for (const auto& [pair, sum] : bytes) phase.messages.push_back({pair.first, pair.second, sum});
  return phase;
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

TEST_CASE("every iteration costs what its messages, gathered element by element, cost") {
  Random random(1);
  for (int trial = 0; trial < 60; ++trial) {
    const Case c(random);
    const models::Platform platform = platform_of(uniform(random, 1.0, 9.0), uniform(random, 0.1, 1.0), 0.7, 3.0);
    const Placement placement(platform, c.nodes);
    const models::TauLop tau_lop(platform);
    const models::HLogGP hloggp = models::HLogGP::from_links(placement.processes(), [&](int from, int to) {
      return *platform.channel(placement.channel(from, to).channel).loggp;
    });
    const auto by_hloggp = [&](const models::Message& m) { return hloggp.time_s(m.from, m.to, m.bytes); };
    const auto by_hockney = [&](const models::Message& m) {
      return platform.channel(placement.channel(m.from, m.to).channel).time_s(m.bytes);
    };
    for (const Communication communication : {Communication::paper, Communication::pipelined}) {
      const auto costs = costs_by_model(c.problem, c.rectangles, communication, platform, c.nodes);
      for (std::int64_t k = 0; k < c.problem.blocks(); ++k) {
        models::MessagePattern pattern{"by hand", placement.processes(), {pivot_phase(c, k, true)}};
        const models::Phase row = pivot_phase(c, k, false);
        if (communication == Communication::paper) {
          pattern.phases.push_back(row);
        } else {
          pattern.phases[0].sends = models::Phase::Sends::at_once;
          for (const models::Message& message : row.messages) pattern.phases[0].messages.push_back(message);
        }
        const auto at = static_cast<std::size_t>(k);
        const models::Expression sent = models::expression(pattern, placement);
        REQUIRE_THAT(costs.at("tau-Lop")[at],
                     WithinRel(models::cost_s(models::aligned_form(sent, tau_lop), tau_lop), 1e-9));
        REQUIRE_THAT(costs.at("tau-Lop event")[at],
                     WithinRel(models::cost_s(models::event_form(sent, tau_lop), tau_lop), 1e-9));
        REQUIRE_THAT(costs.at("HLogGP")[at], WithinRel(models::serial_cost_s(pattern, by_hloggp), 1e-9));
        REQUIRE_THAT(costs.at("Hockney")[at], WithinRel(models::serial_cost_s(pattern, by_hockney), 1e-9));
      }
    }
  }
}

TEST_CASE("one process, and processes without blocks, cost nothing") {
  for (const Communication communication : {Communication::paper, Communication::bcast, Communication::pipelined}) {
    const auto costs = costs_by_model({100, 32}, {{}, {0, 0, 4, 4}, {}}, communication, {}, {0, 0, 1});
    REQUIRE(costs.size() == models::cost_model_names().size());
    for (const auto& [model, iteration_s] : costs) CHECK(iteration_s == std::vector<double>(4, 0.0));
  }
}

TEST_CASE("a broadcast between two processes is the paper's message") {
  const models::Platform platform = platform_of(3.0, 1.0, 0.5, 7.0);
  for (const Rectangles& two : {Rectangles{{0, 0, 3, 5}, {3, 0, 2, 5}}, Rectangles{{0, 0, 5, 2}, {0, 2, 5, 3}}}) {
    const auto paper = costs_by_model({17, 4}, two, Communication::paper, platform, {0, 1});
    CHECK(costs_by_model({17, 4}, two, Communication::bcast, platform, {0, 1}) == paper);
    CHECK(paper.at("Hockney")[0] == 7.0 + 17 * 4 * element_bytes);
    CHECK(paper.at("Hockney")[4] == 7.0 + 17 * 1 * element_bytes);
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
  // The owner of the left half broadcasts two bands to one process each, on a node of its own; within columns, the
  // right ones have one message for the pivot row of 4 elements' width.
  const Rectangles bands{{0, 0, 4, 2}, {0, 2, 1, 2}, {1, 2, 3, 2}};
  const auto two = costs_by_model({8, 2}, bands, Communication::bcast, platform, {0, 1, 2});
  CHECK_THAT(two.at("tau-Lop")[0], WithinRel(8 * 2 * element_bytes + 4 * 2 * element_bytes, 1e-12));
  CHECK_THAT(two.at("Hockney")[0], WithinRel(8 * 2 * element_bytes + 4 * 2 * element_bytes, 1e-12));
  // From the right half both owners send at the same time.
  CHECK_THAT(two.at("Hockney")[3], WithinRel(6 * 2 * element_bytes + 4 * 2 * element_bytes, 1e-12));
  CHECK_THAT(two.at("tau-Lop")[3], WithinRel((2 * 2 + 4) * 2 * element_bytes + 4 * 2 * element_bytes, 1e-12));
}

TEST_CASE("models without parameters for a channel in use are left out, and costs that cannot be told refused") {
  const Rectangles two{{0, 0, 4, 2}, {0, 2, 4, 2}};
  models::Platform platform = platform_of(1.0, 1.0);
  platform.channels[1].hockney.clear();
  platform.channels[1].tau_lop.reset();
  const auto costs = [&](const std::vector<int>& nodes) {
    return costs_by_model({8, 2}, two, Communication::paper, platform, nodes);
  };
  CHECK(costs({0, 0}).size() == 4);
  const auto network = costs({0, 1});
  REQUIRE(network.size() == 1);
  CHECK(network.count("HLogGP") == 1);
  platform.channels.pop_back();
  CHECK_THROWS_MATCHES(costs({0, 1}), InvalidArgument, MessageMatches(ContainsSubstring("no channel between nodes")));
}

TEST_CASE("updates and communication add up in turns after one start, the last update being smaller") {
  const auto total_s = [](const Problem& problem, const std::vector<double>& cost_s, Communication communication) {
    return total_cost(problem, {"by hand", cost_s}, communication, 8.0, 0.5).total_s;
  };
  const Problem problem{10, 4};
  const ModelForecast cost = total_cost(problem, {"by hand", {1.0, 2.0, 3.0}}, Communication::paper, 8.0, 0.5);
  CHECK(cost.model == "by hand");
  CHECK(cost.communication_s == 6.0);
  CHECK(cost.exposed_s == 6.0);
  CHECK(cost.phases == std::vector<std::pair<std::string, double>>{{"update", 20.5}, {"communication", 6.0}});
  CHECK(cost.total_s == 6.0 + 0.5 + 8.0 + 8.0 + 4.0);
  CHECK(total_s(problem, {1.0, 2.0, 3.0}, Communication::bcast) == cost.total_s);
  CHECK(total_s(problem, {1.0, 2.0, 30.0}, Communication::pipelined) == 0.5 + 1.0 + 8.0 + 30.0 + 4.0);
  CHECK(total_s({3, 4}, {5.0}, Communication::pipelined) == 0.5 + 5.0 + 6.0);
  const ModelForecast alone = total_cost(problem, {"by hand", {1.0, 2.0, 3.0}}, Communication::paper, {}, 0.0);
  CHECK(alone.phases == std::vector<std::pair<std::string, double>>{{"communication", 6.0}});
}

TEST_CASE("overlap takes no longer than turns, and no less than the longer of the two") {
  Random random(4);
  for (int trial = 0; trial < 200; ++trial) {
    const Problem problem{whole(random, 1, 100), whole(random, 1, 20)};
    models::PatternCosts cost{"random", std::vector<double>(static_cast<std::size_t>(problem.blocks()))};
    for (double& cost_s : cost.time_s) cost_s = uniform(random, 0.0, 2.0);
    const double update_s = uniform(random, 0.0, 2.0), start_s = uniform(random, 0.0, 0.5);
    const ModelForecast turns = total_cost(problem, cost, Communication::paper, update_s, start_s);
    const ModelForecast overlap = total_cost(problem, cost, Communication::pipelined, update_s, start_s);
    const double computation_s = turns.phases.front().second;
    CHECK(overlap.communication_s == turns.communication_s);
    CHECK(overlap.phases.front().second == computation_s);
    CHECK(overlap.total_s <= turns.total_s * (1 + 1e-12));
    CHECK(overlap.total_s >= std::max(turns.communication_s, computation_s) * (1 - 1e-12));
  }
}

}  // namespace steelyard::test_cost
