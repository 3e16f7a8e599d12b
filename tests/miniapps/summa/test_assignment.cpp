#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <initializer_list>
#include <set>
#include <tuple>
#include <utility>

#include "core/base/errors.hpp"
#include "miniapps/summa/plan.hpp"
#include "partition/algorithms.hpp"
#include "partition/rectangles/column.hpp"
#include "tests/miniapps/rectangles.hpp"
#include "tests/models/random_models.hpp"

namespace steelyard::test_assignment {

using namespace steelyard::summa;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;
using models::ConstantModel;
using partition::Rectangle;
using tests::Random;
using tests::Rectangles;
using tests::whole;

namespace {

using Unit = ProcessingUnit::Kind;

/// Ranks with a host, a companion or both, and the models of their units.
struct Ranks {
  std::vector<Slot> slots;
  std::vector<const models::SpeedModel*> models;
  tests::Units units;
  int count = 0;

  Ranks() = default;
  /// @param all of each rank: of its host and its companion, null for a unit that it does not drive
  Ranks(std::initializer_list<std::pair<const models::SpeedModel*, const models::SpeedModel*>> all) {
    for (const auto& [host, companion] : all) add(host, companion);
  }
  Ranks(Random& random, int ranks, tests::Kind kind) {
    for (int i = 0; i < ranks; ++i) {
      const int drives = whole(random, 0, 2);
      const models::SpeedModel* const host = drives != 1 ? random_unit(random, kind) : nullptr;
      add(host, drives != 0 ? random_unit(random, kind) : nullptr);
    }
  }

  void add(const models::SpeedModel* host, const models::SpeedModel* companion) {
    for (const auto& [kind, model] : {std::pair{Unit::host, host}, {Unit::companion, companion}}) {
      if (model == nullptr) continue;
      slots.push_back({count, kind});
      models.push_back(model);
    }
    ++count;
  }
  const models::SpeedModel* random_unit(Random& random, tests::Kind kind) {
    units.add(tests::random_model(random, kind, 100.0));
    return units.models.back();
  }
  Assignment assigned(const Problem& problem, const std::string& partition,
                      const partition::RectangleCost& communication_s = {}) const {
    return assign(problem, slots, models, partition, communication_s);
  }
};

/// Rows of each slot.
std::vector<std::int64_t> rows(const Assignment& assignment) {
  std::vector<std::int64_t> rows;
  for (const Rectangle& part : assignment.parts) rows.push_back(part.rows);
  return rows;
}
using Rows = std::vector<std::int64_t>;

double time_s(const models::SpeedModel* model, std::int64_t blocks) {
  return blocks == 0 ? 0.0 : model->time_s(static_cast<double>(blocks));
}

Problem blocks_of(std::int64_t blocks) { return {blocks * 32, 32}; }

}  // namespace

TEST_CASE("rectangles tile the matrix and parts tile rectangles, whatever the algorithm and the models") {
  Random random(1);
  std::vector<std::string> names{"column"};
  for (const partition::Algorithm& algorithm : partition::algorithms()) names.push_back(algorithm.name);
  for (int trial = 0; trial < 40; ++trial) {
    const Ranks ranks(random, whole(random, 1, 9),
                      trial % 2 == 0 ? tests::Kind::constant : tests::Kind::increasing_time);
    const Problem problem{whole(random, 1, 250), 32};
    for (const std::string& name : names) {
      INFO(name << ", " << ranks.count << " ranks, " << problem.blocks() << " blocks");
      const Assignment assignment = ranks.assigned(problem, name);
      REQUIRE(assignment.rectangles.size() == static_cast<std::size_t>(ranks.count));
      REQUIRE(tests::tile(assignment.rectangles, problem.blocks()));
      REQUIRE(assignment.parts.size() == ranks.slots.size());
      REQUIRE(tests::tile(assignment.parts, problem.blocks()));
      for (std::size_t i = 0; i < ranks.slots.size(); ++i) {
        const Rectangle& part = assignment.parts[i];
        const Rectangle& rectangle = assignment.rectangles[static_cast<std::size_t>(ranks.slots[i].rank)];
        REQUIRE(partition::common_part(part, rectangle).area() == part.area());
        REQUIRE(part.columns == rectangle.columns);
        REQUIRE(assignment.unit_s[i] == time_s(ranks.models[i], part.area()));
      }
    }
  }
}

TEST_CASE("no split of a rectangle ends earlier, and no equal one is more even") {
  Random random(2);
  for (int trial = 0; trial < 60; ++trial) {
    const Ranks ranks(random, whole(random, 1, 4), trial % 3 == 0 ? tests::Kind::constant : tests::Kind::as_measured);
    const Assignment assignment = ranks.assigned(blocks_of(whole(random, 1, 14)), "column");
    for (std::size_t i = 1; i < ranks.slots.size(); ++i) {
      if (ranks.slots[i - 1].rank != ranks.slots[i].rank) continue;
      const Rectangle& host = assignment.parts[i - 1];
      const std::int64_t all = host.rows + assignment.parts[i].rows;
      REQUIRE(assignment.parts[i].row == host.end_row());
      const double chosen_s = std::max(assignment.unit_s[i - 1], assignment.unit_s[i]);
      for (std::int64_t first = 0; first <= all; ++first) {
        const double end_s = std::max(time_s(ranks.models[i - 1], first * host.columns),
                                      time_s(ranks.models[i], (all - first) * host.columns));
        REQUIRE(chosen_s <= end_s);
        if (chosen_s == end_s) REQUIRE(std::abs(2 * host.rows - all) <= std::abs(2 * first - all));
      }
    }
  }
}

TEST_CASE("areas follow speeds, a rank's being that of its units together") {
  const ConstantModel slow(1.0), fast(3.0);
  // 2 x 3 + 1 + 1 of 8 parts: 6/8, 1/8 and 1/8 of 16 x 16 blocks.
  const Ranks three{{&fast, &fast}, {&slow, nullptr}, {nullptr, &slow}};
  const Assignment assignment = three.assigned(blocks_of(16), "column");
  CHECK(assignment.rectangles == partition::column(std::vector<double>{192, 32, 32}, {16, 16}).rectangles);
  CHECK(assignment.rectangles[0].area() == 192);
  CHECK(rows(assignment) == Rows{8, 8, assignment.rectangles[1].rows, assignment.rectangles[2].rows});
  CHECK(std::ranges::max(assignment.unit_s) == 32.0);
  CHECK(rows(Ranks{{&slow, &fast}}.assigned(blocks_of(16), "column")) == Rows{4, 12});
}

TEST_CASE("a rank whose communication costs more than it gains gets no blocks, and its gain counts both its units") {
  const ConstantModel slow(1.0), fast(3.0);
  const Ranks ranks{{&fast, &fast}, {&fast, &slow}, {&slow, nullptr}};
  const auto found = [&](double latency_s) {
    // Of the last rank alone; 256 blocks take 256 / 10 s by the first two, 256 / 11 s by all.
    return ranks.assigned(blocks_of(16), "column", [=](const partition::ColumnPartition& columns) {
      return std::vector<double>{0.0, 0.0, columns.rectangles[2].empty() ? 0.0 : latency_s};
    });
  };
  CHECK(found(0.1).rectangles[2].area() > 0);
  const Assignment without = found(1e3);
  REQUIRE(tests::tile(without.rectangles, 16));
  CHECK(without.rectangles[2].area() == 0);
  CHECK(std::ranges::max(without.unit_s) <= 256.0 / 10.0 * 1.2);
}

TEST_CASE("an even grid is near square, with sides that differ by one block at most") {
  const ConstantModel slow(1.0), fast(50.0);
  for (const auto& [count, grid_rows, columns] :
       std::vector<std::tuple<int, int, int>>{{1, 1, 1}, {2, 1, 2}, {6, 2, 3}, {7, 1, 7}, {12, 3, 4}, {16, 4, 4}}) {
    Ranks ranks;
    for (int i = 0; i < count; ++i) ranks.add(&slow, &fast);
    const Assignment assignment = ranks.assigned(blocks_of(23), "even");
    REQUIRE(tests::tile(assignment.rectangles, 23));
    std::set<std::int64_t> tops, lefts;
    for (std::size_t i = 0; i < assignment.rectangles.size(); ++i) {
      const Rectangle& r = assignment.rectangles[i];
      tops.insert(r.row);
      lefts.insert(r.column);
      CHECK((r.rows == 23 / grid_rows || r.rows == 23 / grid_rows + 1));
      CHECK((r.columns == 23 / columns || r.columns == 23 / columns + 1));
      // Half to each, whatever their speeds.
      CHECK(assignment.parts[2 * i].rows == (r.rows + 1) / 2);
      CHECK(assignment.parts[2 * i + 1].rows == r.rows / 2);
    }
    CHECK(tops.size() == static_cast<std::size_t>(grid_rows));
    CHECK(lefts.size() == static_cast<std::size_t>(columns));
  }
  const Ranks five{{&slow, nullptr}, {&slow, nullptr}, {&slow, nullptr}, {&slow, nullptr}, {&slow, nullptr}};
  const Assignment many = five.assigned(blocks_of(3), "even");
  REQUIRE(tests::tile(many.rectangles, 3));
  CHECK(std::count(many.rectangles.begin(), many.rectangles.end(), Rectangle{}) == 2);
}

TEST_CASE("a rectangle's rows stay within what a unit holds") {
  const ConstantModel small(100.0, 20.0), slow(1.0);
  const Ranks one{{&slow, &small}};
  const Assignment assignment = one.assigned(blocks_of(10), "geometric");
  CHECK(rows(assignment) == Rows{8, 2});
  CHECK(assignment.unit_s.front() == 80.0);
  CHECK_THROWS_MATCHES(
      one.assigned(blocks_of(10), "even"), InvalidArgument,
      MessageMatches(ContainsSubstring("process 0") && ContainsSubstring("5 x 10 blocks on its companion")));
}

TEST_CASE("a file that does not cut the matrix for these processes is refused by file and key") {
  const tests::TemporaryFolder folder;
  const ConstantModel slow(1.0);
  const Ranks two{{&slow, nullptr}, {&slow, nullptr}};
  const auto refused = [&](const std::string& text, const std::string& where, const std::string& what) {
    const std::string path = folder.write("cut.json", text);
    CHECK_THROWS_MATCHES(two.assigned(blocks_of(4), path), FileFormatError,
                         MessageMatches(ContainsSubstring(path + ": " + where) && ContainsSubstring(what)));
  };
  refused("{", "", "line");
  refused("{}", "rectangles", "missing");
  refused(R"({"rectangles": 3})", "rectangles", "array");
  refused(tests::json_of({{0, 0, 4, 4}}), "rectangles", "holds 1 (expected one for each of 2 processes)");
  refused(tests::json_of({{0, 0, 4, 2}, {0, 2, 4, 3}}), "rectangles[1]", "column 5");
  refused(tests::json_of({{1, 0, 4, 2}, {0, 2, 4, 2}}), "rectangles[0]", "row 5");
  refused(tests::json_of({{0, 0, 5, 2}, {0, 2, 4, 2}}), "rectangles[0].rows", "is 5");
  refused(tests::json_of({{0, 0, 4, 3}, {2, 2, 2, 2}}), "rectangles[1]", "common with rectangles[0]");
  refused(tests::json_of({{0, 0, 4, 2}, {0, 2, 3, 2}}), "rectangles", "14 blocks (expected all 4 x 4)");
  refused(tests::json_of({{0, 0, 4, -1}, {0, 0, 4, 4}}), "rectangles[0].columns", "-1");
  refused(R"({"rectangles": [{"row": 0.5, "column": 0, "rows": 4, "columns": 4}, {}]})", "rectangles[0].row", "0.5");
  refused(R"({"rectangles": [{"row": 0, "column": 0, "rows": 4, "columns": 4}, {}]})", "rectangles[1].row", "missing");
  refused(R"({"rectangles": [{"row": 0, "column": 0, "rows": 1e300, "columns": 4}, {}]})", "rectangles[0].rows",
          "1e+300");
  CHECK_THROWS_AS(two.assigned(blocks_of(4), folder / "missing.json"), FileFormatError);
}

TEST_CASE("empty rectangles of a file are as if they were nowhere") {
  const tests::TemporaryFolder folder;
  const ConstantModel slow(1.0), fast(3.0);
  const Ranks ranks{{&slow, &fast}, {&fast, nullptr}, {&slow, nullptr}};
  const Rectangles thin{{0, 0, 4, 3}, {0, 3, 4, 1}, {2, 2, 0, 2}};
  const Assignment assignment = ranks.assigned(blocks_of(4), folder.write("thin.json", tests::json_of(thin)));
  CHECK(assignment.rectangles == Rectangles{{0, 0, 4, 3}, {0, 3, 4, 1}, {}});
  CHECK(rows(assignment) == Rows{1, 3, 4, 0});
  CHECK(assignment.unit_s == std::vector<double>{3.0, 3.0, 4.0 / 3.0, 0.0});
}

TEST_CASE("partitions that there are not, and matrices without blocks, are refused") {
  const ConstantModel slow(1.0);
  const Ranks one{{&slow, nullptr}};
  CHECK_THROWS_MATCHES(one.assigned(blocks_of(4), "fair"), InvalidArgument,
                       MessageMatches(ContainsSubstring("fair") && ContainsSubstring("even, constant, geometric")));
  CHECK_THROWS_AS(one.assigned({0, 32}, "even"), InvalidArgument);
}

}  // namespace steelyard::test_assignment
