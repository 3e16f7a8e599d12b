#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <set>
#include <tuple>
#include <utility>

#include "core/base/errors.hpp"
#include "miniapps/summa/assignment.hpp"
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

/// Processes with a host, a companion or both.
struct Processes {
  tests::Units units;
  std::vector<ProcessModels> models;

  Processes(Random& random, int count, tests::Kind kind) {
    for (int i = 0; i < count; ++i) {
      const int drives = whole(random, 0, 2);
      ProcessModels& process = models.emplace_back();
      if (drives != 1) process.host = add(random, kind);
      if (drives != 0) process.companion = add(random, kind);
    }
  }

  const models::SpeedModel* add(Random& random, tests::Kind kind) {
    units.add(tests::random_model(random, kind, 100.0));
    return units.models.back();
  }
};

double time_s(const models::SpeedModel* model, std::int64_t blocks) {
  return blocks == 0 ? 0.0 : model->time_s(static_cast<double>(blocks));
}

using Pair = std::pair<std::int64_t, std::int64_t>;

Pair pair_of(const UnitRows& rows) { return {rows.host, rows.companion}; }

Problem blocks_of(std::int64_t blocks) { return {blocks * 32, 32}; }

}  // namespace

TEST_CASE("rectangles tile the matrix, whatever the algorithm and the models") {
  Random random(1);
  std::vector<std::string> names{"column"};
  for (const partition::Algorithm& algorithm : partition::algorithms()) names.push_back(algorithm.name);
  for (int trial = 0; trial < 40; ++trial) {
    const Processes processes(random, whole(random, 1, 9),
                              trial % 2 == 0 ? tests::Kind::constant : tests::Kind::increasing_time);
    const Problem problem{whole(random, 1, 250), 32};
    for (const std::string& name : names) {
      INFO(name << ", " << processes.models.size() << " processes, " << problem.blocks() << " blocks");
      const Assignment assignment = assign(problem, processes.models, name);
      REQUIRE(assignment.rectangles.size() == processes.models.size());
      REQUIRE(tests::tile(assignment.rectangles, problem.blocks()));
      double longest_s = 0.0;
      for (std::size_t i = 0; i < processes.models.size(); ++i) {
        const Rectangle& rectangle = assignment.rectangles[i];
        const UnitRows& rows = assignment.rows[i];
        const ProcessModels& models = processes.models[i];
        REQUIRE(rows.host + rows.companion == rectangle.rows);
        if (models.host == nullptr) REQUIRE(rows.host == 0);
        if (models.companion == nullptr) REQUIRE(rows.companion == 0);
        const auto& [host_s, companion_s] = assignment.unit_s[i];
        REQUIRE(host_s == time_s(models.host, rows.host * rectangle.columns));
        REQUIRE(companion_s == time_s(models.companion, rows.companion * rectangle.columns));
        longest_s = std::max({longest_s, host_s, companion_s});
      }
      REQUIRE(assignment.update_s() == longest_s);
    }
  }
}

TEST_CASE("no split of a rectangle ends earlier, and no equal one is more even") {
  Random random(2);
  for (int trial = 0; trial < 60; ++trial) {
    const tests::Kind kind = trial % 3 == 0 ? tests::Kind::constant : tests::Kind::as_measured;
    const Processes processes(random, whole(random, 1, 4), kind);
    const Assignment assignment = assign(blocks_of(whole(random, 1, 14)), processes.models, "column");
    for (std::size_t i = 0; i < processes.models.size(); ++i) {
      const ProcessModels& models = processes.models[i];
      if (models.host == nullptr || models.companion == nullptr) continue;
      const Rectangle& rectangle = assignment.rectangles[i];
      const UnitRows& chosen = assignment.rows[i];
      const double chosen_s = std::max(assignment.unit_s[i].host, assignment.unit_s[i].companion);
      for (std::int64_t host = 0; host <= rectangle.rows; ++host) {
        const double end_s = std::max(time_s(models.host, host * rectangle.columns),
                                      time_s(models.companion, (rectangle.rows - host) * rectangle.columns));
        REQUIRE(chosen_s <= end_s);
        if (chosen_s == end_s) {
          REQUIRE(std::abs(chosen.host - chosen.companion) <= std::abs(2 * host - rectangle.rows));
        }
      }
    }
  }
}

TEST_CASE("areas follow speeds, a process's being that of its units together") {
  const ConstantModel slow(1.0), fast(3.0);
  // 2 x 3 + 1 + 1 of 8 parts: 6/8, 1/8 and 1/8 of 16 x 16 blocks.
  const Assignment assignment = assign(blocks_of(16), {{&fast, &fast}, {&slow, nullptr}, {nullptr, &slow}}, "column");
  CHECK(assignment.rectangles == partition::column(std::vector<double>{192, 32, 32}, {16, 16}).rectangles);
  CHECK(assignment.rectangles[0].area() == 192);
  CHECK(pair_of(assignment.rows[0]) == Pair{8, 8});
  CHECK(pair_of(assignment.rows[2]) == Pair{0, assignment.rectangles[2].rows});
  CHECK(assignment.update_s() == 32.0);
  CHECK(pair_of(assign(blocks_of(16), {{&slow, &fast}}, "column").rows[0]) == Pair{4, 12});
}

TEST_CASE("a process whose communication costs more than it gains gets no blocks, and its gain counts both its units") {
  const ConstantModel slow(1.0), fast(3.0);
  const std::vector<ProcessModels> processes{{&fast, &fast}, {&fast, &slow}, {&slow, nullptr}};
  const auto found = [&](double latency_s) {
    // Of the last process alone; 256 blocks take 256 / 10 s by the first two, 256 / 11 s by all.
    return assign(blocks_of(16), processes, "column", {}, [=](const partition::ColumnPartition& columns) {
      return std::vector<double>{0.0, 0.0, columns.rectangles[2].empty() ? 0.0 : latency_s};
    });
  };
  CHECK(found(0.1).rectangles[2].area() > 0);
  const Assignment without = found(1e3);
  REQUIRE(tests::tile(without.rectangles, 16));
  CHECK(without.rectangles[2].area() == 0);
  CHECK(without.update_s() <= 256.0 / 10.0 * 1.2);
}

TEST_CASE("an even grid is near square, with sides that differ by one block at most") {
  const ConstantModel slow(1.0), fast(50.0);
  for (const auto& [count, rows, columns] :
       std::vector<std::tuple<int, int, int>>{{1, 1, 1}, {2, 1, 2}, {6, 2, 3}, {7, 1, 7}, {12, 3, 4}, {16, 4, 4}}) {
    std::vector<ProcessModels> processes(static_cast<std::size_t>(count), {&slow, &fast});
    const Assignment assignment = assign(blocks_of(23), processes, "even");
    REQUIRE(tests::tile(assignment.rectangles, 23));
    std::set<std::int64_t> tops, lefts;
    for (std::size_t i = 0; i < assignment.rectangles.size(); ++i) {
      const Rectangle& r = assignment.rectangles[i];
      tops.insert(r.row);
      lefts.insert(r.column);
      CHECK((r.rows == 23 / rows || r.rows == 23 / rows + 1));
      CHECK((r.columns == 23 / columns || r.columns == 23 / columns + 1));
      // Half to each, whatever their speeds.
      CHECK(pair_of(assignment.rows[i]) == Pair{(r.rows + 1) / 2, r.rows / 2});
    }
    CHECK(tops.size() == static_cast<std::size_t>(rows));
    CHECK(lefts.size() == static_cast<std::size_t>(columns));
  }
  const Assignment many = assign(blocks_of(3), std::vector<ProcessModels>(5, {&slow, nullptr}), "even");
  REQUIRE(tests::tile(many.rectangles, 3));
  CHECK(std::count(many.rectangles.begin(), many.rectangles.end(), Rectangle{}) == 2);
}

TEST_CASE("a rectangle's rows stay within what a unit holds") {
  const ConstantModel small(100.0, 20.0), slow(1.0);
  const Assignment assignment = assign(blocks_of(10), {{&slow, &small}}, "geometric");
  CHECK(pair_of(assignment.rows[0]) == Pair{8, 2});
  CHECK(assignment.update_s() == 80.0);
  CHECK_THROWS_MATCHES(assign(blocks_of(10), {{&slow, &small}}, "even"), InvalidArgument,
                       MessageMatches(ContainsSubstring("process 0") && ContainsSubstring("10 x 10 blocks")));
}

TEST_CASE("rectangles come from a file as they are") {
  const tests::TemporaryFolder folder;
  const ConstantModel slow(1.0), fast(3.0);
  const std::vector<ProcessModels> processes{{&slow, &fast}, {&fast, nullptr}, {&slow, nullptr}};
  const Rectangles rectangles{{0, 0, 4, 3}, {0, 3, 4, 1}, {}};
  const Assignment assignment = assign(blocks_of(4), processes, folder.write("cut.json", tests::json_of(rectangles)));
  CHECK(assignment.rectangles == rectangles);
  CHECK(pair_of(assignment.rows[0]) == Pair{1, 3});
  CHECK(assignment.unit_s[0].host == 3.0);
  CHECK(assignment.unit_s[1].host == 4.0 / 3.0);
  CHECK(assignment.unit_s[2].host == 0.0);
  const Rectangles thin{{0, 0, 4, 3}, {0, 3, 4, 1}, {2, 2, 0, 2}};
  CHECK(assign(blocks_of(4), processes, folder.write("thin.json", tests::json_of(thin))).rectangles == rectangles);
}

TEST_CASE("a file that does not cut the matrix for these processes is refused by file and key") {
  const tests::TemporaryFolder folder;
  const ConstantModel slow(1.0);
  const std::vector<ProcessModels> two{{&slow, nullptr}, {&slow, nullptr}};
  const auto refused = [&](const std::string& text, const std::string& where, const std::string& what) {
    const std::string path = folder.write("cut.json", text);
    CHECK_THROWS_MATCHES(assign(blocks_of(4), two, path), FileFormatError,
                         MessageMatches(ContainsSubstring(path + ": " + where) && ContainsSubstring(what)));
  };
  refused("{", "", "line");
  refused("{}", "rectangles", "missing");
  refused(R"({"rectangles": 3})", "rectangles", "array");
  refused(tests::json_of({{0, 0, 4, 4}}), "rectangles", "holds 1 (expected one for each of 2 processes)");
  refused(tests::json_of({{0, 0, 4, 2}, {0, 2, 4, 3}}), "rectangles[1]", "column 5");
  refused(tests::json_of({{0, 0, 5, 2}, {0, 2, 4, 2}}), "rectangles[0]", "row 5");
  refused(tests::json_of({{0, 0, 4, 3}, {2, 2, 2, 2}}), "rectangles[1]", "common with rectangles[0]");
  refused(tests::json_of({{0, 0, 4, 2}, {0, 2, 3, 2}}), "rectangles", "14 blocks (expected all 4 x 4)");
  refused(tests::json_of({{0, 0, 4, -1}, {0, 0, 4, 4}}), "rectangles[0].columns", "-1");
  refused(R"({"rectangles": [{"row": 0.5, "column": 0, "rows": 4, "columns": 4}, {}]})", "rectangles[0].row", "0.5");
  refused(R"({"rectangles": [{"row": 0, "column": 0, "rows": 4, "columns": 4}, {}]})", "rectangles[1].row", "missing");
  refused(R"({"rectangles": [{"row": 0, "column": 0, "rows": 1e300, "columns": 4}, {}]})", "rectangles[0].rows",
          "1e+300");
  CHECK_THROWS_AS(assign(blocks_of(4), two, folder / "missing.json"), FileFormatError);
}

TEST_CASE("partitions that there are not, and processes without units, are refused") {
  const ConstantModel slow(1.0);
  CHECK(area_algorithm("column") == "geometric");
  CHECK(area_algorithm("cut.json") == "geometric");
  CHECK(area_algorithm("hpopta") == "hpopta");
  CHECK(is_partition_file("a/cut.json"));
  CHECK(!is_partition_file("column"));
  CHECK_THROWS_MATCHES(assign(blocks_of(4), {{&slow, nullptr}}, "fair"), InvalidArgument,
                       MessageMatches(ContainsSubstring("fair") && ContainsSubstring("even, constant, geometric")));
  CHECK_THROWS_MATCHES(assign(blocks_of(4), {{&slow, nullptr}, {}}, "column"), InvalidArgument,
                       MessageMatches(ContainsSubstring("process 1")));
  CHECK_THROWS_AS(assign(blocks_of(4), {}, "column"), InvalidArgument);
  CHECK_THROWS_AS(assign({0, 32}, {{&slow, nullptr}}, "even"), InvalidArgument);
}

}  // namespace steelyard::test_assignment
