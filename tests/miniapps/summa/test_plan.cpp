// Who owns which blocks, and what iterations cost.
#include <initializer_list>
#include <map>
#include <tuple>

#include "miniapps/summa/pivot_exchange.hpp"
#include "miniapps/summa/plan.hpp"
#include "models/communication/cost_models.hpp"
#include "models/communication/message_pattern.hpp"
#include "partition/algorithms.hpp"
#include "partition/rectangles/column.hpp"
#include "tests/catch.hpp"
#include "tests/miniapps/rectangles.hpp"
#include "tests/models/random_models.hpp"
#include "tests/models/tau_lop_platforms.hpp"
#include "tests/partition/random_rectangles.hpp"

namespace steelyard::test_summa_plan {

using namespace steelyard::summa;
using models::ConstantModel;
using models::Placement;
using partition::Rectangle;
using tests::Random;
using tests::Rectangles;
using tests::uniform;
using tests::whole;

namespace {

using Model = const models::SpeedModel*;

/// Ranks with a host, a companion or both, and the models of their units.
struct Ranks {
  std::vector<Slot> slots;
  std::vector<Model> models;
  tests::Units units;
  int count = 0;

  Ranks() = default;
  Ranks(std::initializer_list<std::pair<Model, Model>> all) {
    for (const auto& [host, companion] : all) add(host, companion);
  }
  Ranks(Random& random, int ranks, tests::Kind kind) {
    for (int i = 0; i < ranks; ++i) {
      const int drives = whole(random, 0, 2);
      add(drives != 1 ? random_unit(random, kind) : nullptr, drives != 0 ? random_unit(random, kind) : nullptr);
    }
  }
  /// Another rank; null for a unit that it does not drive.
  void add(Model host, Model companion) {
    using Unit = ProcessingUnit::Kind;
    for (const auto& [kind, model] : {std::pair{Unit::host, host}, {Unit::companion, companion}}) {
      if (model == nullptr) continue;
      slots.push_back({count, kind});
      models.push_back(model);
    }
    ++count;
  }
  Assignment assigned(std::int64_t blocks, const std::string& partition) const {
    return assign({blocks * 32 - 1, 32}, slots, models, partition, area_algorithm(partition));
  }

 private:
  Model random_unit(Random& random, tests::Kind kind) {
    units.add(tests::random_model(random, kind, 100.0));
    return units.models.back();
  }
};

double time_s(Model model, std::int64_t blocks) {
  return blocks == 0 ? 0.0 : model->time_s(static_cast<double>(blocks));
}

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

TEST_CASE(
    "rectangles tile the matrix and parts tile rectangles, whatever the algorithm and the models; no split of a "
    "rectangle ends earlier, and no equal one is more even") {
  Random random(1);
  std::vector<std::string> names{"column"};
  for (const partition::Algorithm& algorithm : partition::algorithms()) names.push_back(algorithm.name);
  for (int trial = 0; trial < 90; ++trial) {
    const auto kind = std::array{tests::Kind::constant, tests::Kind::increasing_time,
                                 tests::Kind::as_measured}[static_cast<std::size_t>(trial % 3)];
    const Ranks ranks(random, whole(random, 1, 9), kind);
    const std::int64_t blocks = whole(random, 1, 14);
    for (const std::string& name : names) {
      // Not every algorithm takes times of any shape.
      if (kind == tests::Kind::as_measured && name != "column") continue;
      INFO(name << ", " << ranks.count << " ranks, " << blocks << " blocks");
      const Assignment assignment = ranks.assigned(blocks, name);
      REQUIRE(assignment.rectangles.size() == static_cast<std::size_t>(ranks.count));
      REQUIRE(tests::tile(assignment.rectangles, blocks));
      REQUIRE(assignment.parts.size() == ranks.slots.size());
      REQUIRE(tests::tile(assignment.parts, blocks));
      for (std::size_t i = 0; i < ranks.slots.size(); ++i) {
        const Rectangle& part = assignment.parts[i];
        const Rectangle& rectangle = assignment.rectangles[static_cast<std::size_t>(ranks.slots[i].rank)];
        REQUIRE(partition::common_part(part, rectangle).area() == part.area());
        REQUIRE(part.columns == rectangle.columns);
        REQUIRE(assignment.unit_s[i] == time_s(ranks.models[i], part.area()));
        if (i == 0 || ranks.slots[i - 1].rank != ranks.slots[i].rank) continue;
        const Rectangle& host = assignment.parts[i - 1];
        REQUIRE(part.row == host.end_row());
        if (name == "even") {
          REQUIRE(host.rows - part.rows <= 1);
          REQUIRE(host.rows >= part.rows);
          continue;
        }
        const double chosen_s = std::max(assignment.unit_s[i - 1], assignment.unit_s[i]);
        for (std::int64_t first = 0; first <= rectangle.rows; ++first) {
          const double end_s = std::max(time_s(ranks.models[i - 1], first * host.columns),
                                        time_s(ranks.models[i], (rectangle.rows - first) * host.columns));
          REQUIRE(chosen_s <= end_s);
          if (chosen_s < end_s) continue;
          REQUIRE(std::abs(2 * host.rows - rectangle.rows) <= std::abs(2 * first - rectangle.rows));
        }
      }
    }
  }
}

TEST_CASE("areas follow speeds, a rank's being that of its units together, within what a unit holds") {
  const ConstantModel slow(1.0), fast(3.0), small(100.0, 20.0);
  // 2 x 3 + 1 + 1 of 8 parts: 6/8, 1/8 and 1/8 of 16 x 16 blocks.
  const Ranks three{{&fast, &fast}, {&slow, nullptr}, {nullptr, &slow}};
  const Assignment assignment = three.assigned(16, "column");
  CHECK(assignment.rectangles == partition::column(std::vector<double>{192, 32, 32}, {16, 16}).rectangles);
  CHECK(assignment.rectangles[0].area() == 192);
  const Ranks one{{&slow, &small}};
  CHECK(one.assigned(10, "geometric").parts[1].rows == 2);
  CHECK_THROWS_MATCHES(
      one.assigned(10, "even"), InvalidArgument,
      MessageMatches(ContainsSubstring("process 0") && ContainsSubstring("5 x 10 blocks on its companion")));
}

TEST_CASE("an even grid is near square, with sides that differ by one block at most") {
  const ConstantModel slow(1.0), fast(50.0);
  for (const auto& [grid_rows, grid_columns] : {std::pair{1, 1}, {1, 2}, {2, 3}, {1, 7}, {3, 4}, {4, 4}}) {
    Ranks ranks;
    while (ranks.count < grid_rows * grid_columns) ranks.add(&slow, &fast);
    for (const std::int64_t blocks : {3, 23}) {
      for (const Rectangle& r : ranks.assigned(blocks, "even").rectangles) {
        if (r.empty()) continue;
        CHECK((r.rows == blocks / grid_rows || r.rows == blocks / grid_rows + 1));
        CHECK((r.columns == blocks / grid_columns || r.columns == blocks / grid_columns + 1));
      }
    }
  }
}

TEST_CASE(
    "rectangles of a file are followed, empty ones as if they were nowhere, and bad ones refused by file and key") {
  const tests::TemporaryFolder folder;
  const ConstantModel slow(1.0), fast(3.0);
  const Rectangles thin{{0, 0, 4, 3}, {0, 3, 4, 1}, {2, 2, 0, 2}};
  const Ranks three{{&slow, &fast}, {&fast, nullptr}, {&slow, nullptr}};
  const Assignment assignment = three.assigned(4, folder.write("thin.json", tests::json_of(thin)));
  CHECK(assignment.rectangles == Rectangles{{0, 0, 4, 3}, {0, 3, 4, 1}, {}});
  CHECK(assignment.unit_s == std::vector<double>{3.0, 3.0, 4.0 / 3.0, 0.0});

  const Ranks two{{&slow, nullptr}, {&slow, nullptr}};
  const std::string one_and = R"({"rectangles": [{"row": 0, "column": 0, "rows": 4, "columns": 4}, )";
  for (const auto& [text, where, what] : std::vector<std::tuple<std::string, std::string, std::string>>{
           {"{", "", "line"},
           {"{}", "rectangles", "missing"},
           {R"({"rectangles": 3})", "rectangles", "array"},
           {tests::json_of({{0, 0, 4, 4}}), "rectangles", "holds 1 (expected one for each of 2 processes)"},
           {tests::json_of({{0, 0, 4, 2}, {0, 2, 4, 3}}), "rectangles[1]", "column 5"},
           {tests::json_of({{1, 0, 4, 2}, {0, 2, 4, 2}}), "rectangles[0]", "row 5"},
           {tests::json_of({{0, 0, 5, 2}, {0, 2, 4, 2}}), "rectangles[0].rows", "is 5"},
           {tests::json_of({{0, 0, 4, 3}, {2, 2, 2, 2}}), "rectangles[1]", "common with rectangles[0]"},
           {tests::json_of({{0, 0, 4, 2}, {0, 2, 3, 2}}), "rectangles", "14 blocks (expected all 4 x 4)"},
           {tests::json_of({{0, 0, 4, -1}, {0, 0, 4, 4}}), "rectangles[0].columns", "-1"},
           {one_and + R"({"row": 0.5, "column": 0, "rows": 0, "columns": 4}]})", "rectangles[1].row", "0.5"},
           {one_and + R"({"row": 0, "column": 0, "rows": 1e300, "columns": 4}]})", "rectangles[1].rows", "1e+300"},
           {one_and + "{}]}", "rectangles[1].row", "missing"}}) {
    CAPTURE(text);
    const std::string path = folder.write("cut.json", text);
    CHECK_THROWS_MATCHES(two.assigned(4, path), FileFormatError,
                         MessageMatches(ContainsSubstring(path + ": " + where) && ContainsSubstring(what)));
  }
  CHECK_THROWS_AS(two.assigned(4, folder / "missing.json"), FileFormatError);
}

TEST_CASE("parts of pivots of 2^31 elements are refused, for MPI counts with an int") {
  const auto require = [](std::int64_t n, std::int64_t block, std::int64_t side) {
    require_countable_pivots({n, block}, {{}, {0, 0, side, side}});
  };
  constexpr std::int64_t square = 46341;  // whose square is just more than 2^31
  CHECK_THROWS_AS(require(std::int64_t{1} << 17, std::int64_t{1} << 16, 2), InvalidArgument);
  CHECK_THROWS_AS(require(square, square, 1), InvalidArgument);
  CHECK_NOTHROW(require(square - 1, square - 1, 1));
}

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
      const Tile tile = problem.tile(r);
      tiles.push_back({tile.row, tile.column, tile.rows, tile.columns});
      nodes.push_back(whole(random, 0, 2));
    }
    const auto busy = std::ranges::count_if(rectangles, [](const Rectangle& r) { return !r.empty(); });
    const models::Platform platform = platform_of(uniform(random, 1.0, 9.0), uniform(random, 0.1, 1.0), 0.7, 3.0);
    const Placement placement(platform, nodes);
    for (const Communication communication : {Communication::paper, Communication::bcast, Communication::pipelined}) {
      const auto costs = costs_by_model(problem, rectangles, communication, platform, nodes);
      CAPTURE(trial, problem.n, block, word_of(communication_names, communication));
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
      const auto depth = static_cast<double>(std::min<std::int64_t>(problem.block, problem.n - k * problem.block));
      const double one_s = update_s * depth / static_cast<double>(std::min<std::int64_t>(problem.block, problem.n));
      updates_s += one_s;
      messages_s += cost.time_s[static_cast<std::size_t>(k)];
      overlapped_s += k < last ? std::max(one_s, cost.time_s[static_cast<std::size_t>(k) + 1]) : one_s;
    }
    for (const Communication communication : {Communication::paper, Communication::bcast, Communication::pipelined}) {
      const double total_s = communication == Communication::pipelined ? overlapped_s : updates_s + messages_s;
      const ModelForecast forecast = total_cost(problem, cost, communication, update_s, start_s);
      CHECK_THAT(forecast.total_s, WithinRel(total_s, 1e-12));
      CHECK_THAT(forecast.communication_s, WithinRel(messages_s, 1e-12));
      CHECK_THAT(forecast.phases.front().second, WithinRel(updates_s, 1e-12));
      CHECK_THAT(forecast.exposed_s, WithinAbs(total_s - updates_s, 1e-9));
      CHECK(forecast.phases.back() == std::pair<std::string, double>("communication", forecast.exposed_s));
    }
  }
}

}  // namespace steelyard::test_summa_plan
