#include <initializer_list>
#include <tuple>

#include "miniapps/summa/pivot_exchange.hpp"
#include "miniapps/summa/plan.hpp"
#include "partition/algorithms.hpp"
#include "partition/rectangles/column.hpp"
#include "tests/catch.hpp"
#include "tests/miniapps/rectangles.hpp"
#include "tests/models/random_models.hpp"

namespace steelyard::test_assignment {

using namespace steelyard::summa;
using models::ConstantModel;
using partition::Rectangle;
using tests::Random;
using tests::Rectangles;
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
    return assign({blocks * 32 - 1, 32}, slots, models, partition);
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
  for (const auto& [count, grid_rows, grid_columns] :
       std::vector<std::tuple<int, int, int>>{{1, 1, 1}, {2, 1, 2}, {6, 2, 3}, {7, 1, 7}, {12, 3, 4}, {16, 4, 4}}) {
    Ranks ranks;
    for (int i = 0; i < count; ++i) ranks.add(&slow, &fast);
    for (const std::int64_t blocks : {3, 23}) {
      const Assignment assignment = ranks.assigned(blocks, "even");
      REQUIRE(tests::tile(assignment.rectangles, blocks));
      for (const Rectangle& r : assignment.rectangles) {
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
  const auto json = [](const Rectangles& rectangles) { return tests::json_of(rectangles); };
  const std::string one_and = R"({"rectangles": [{"row": 0, "column": 0, "rows": 4, "columns": 4}, )";
  for (const auto& [text, where, what] : std::vector<std::tuple<std::string, std::string, std::string>>{
           {"{", "", "line"},
           {"{}", "rectangles", "missing"},
           {R"({"rectangles": 3})", "rectangles", "array"},
           {json({{0, 0, 4, 4}}), "rectangles", "holds 1 (expected one for each of 2 processes)"},
           {json({{0, 0, 4, 2}, {0, 2, 4, 3}}), "rectangles[1]", "column 5"},
           {json({{1, 0, 4, 2}, {0, 2, 4, 2}}), "rectangles[0]", "row 5"},
           {json({{0, 0, 5, 2}, {0, 2, 4, 2}}), "rectangles[0].rows", "is 5"},
           {json({{0, 0, 4, 3}, {2, 2, 2, 2}}), "rectangles[1]", "common with rectangles[0]"},
           {json({{0, 0, 4, 2}, {0, 2, 3, 2}}), "rectangles", "14 blocks (expected all 4 x 4)"},
           {json({{0, 0, 4, -1}, {0, 0, 4, 4}}), "rectangles[0].columns", "-1"},
           {one_and + R"({"row": 0.5, "column": 0, "rows": 0, "columns": 4}]})", "rectangles[1].row", "0.5"},
           {one_and + R"({"row": 0, "column": 0, "rows": 1e300, "columns": 4}]})", "rectangles[1].rows", "1e+300"},
           {one_and + "{}]}", "rectangles[1].row", "missing"}}) {
    CAPTURE(text);
    const std::string path = folder.write("cut.json", text);
    CHECK_THROWS_MATCHES(two.assigned(4, path), FileFormatError,
                         MessageMatches(ContainsSubstring(path + ": " + where) && ContainsSubstring(what)));
  }
  CHECK_THROWS_AS(two.assigned(4, folder / "missing.json"), FileFormatError);
  CHECK_THROWS_AS(two.assigned(0, "even"), InvalidArgument);
  CHECK_THROWS_MATCHES(two.assigned(4, "fair"), InvalidArgument,
                       MessageMatches(ContainsSubstring("fair") && ContainsSubstring("even, constant, geometric")));
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

}  // namespace steelyard::test_assignment
