// How near the field is to the truth, whoever computes which points of it and however many steps a pass makes; fields
// from files and back.
#include <nlohmann/json.hpp>

#include "core/base/json_file.hpp"
#include "tests/catch.hpp"
#include "tests/miniapps/wave2d/wave2d_runs.hpp"

namespace steelyard::tests::test_wave2d {
namespace {

TEST_CASE("wave2d converges to the analytic standing wave at the order of the scheme", "[host]") {
  const std::string boundary = GENERATE("dirichlet", "neumann");
  const int order = GENERATE(2, 4);
  const TemporaryFolder folder;
  std::vector<AppRun> runs;
  for (const int factor : {1, 2, 4}) {
    // Time steps that are of second order alone shrink with the square of the spacing.
    const int shrink = order == 2 ? 1 : factor;
    runs.push_back({1,
                    {"--rows", std::to_string(20 * factor + 1), "--columns", std::to_string(16 * factor + 1), "--steps",
                     std::to_string(25 * factor * shrink), "--courant", std::to_string(0.5 / shrink), "--order",
                     std::to_string(order), "--boundary", boundary, "--result", std::to_string(factor)}});
  }
  run_wave2d(runs, folder);
  double coarser = 0.0;
  for (const char* factor : {"1", "2", "4"}) {
    const auto json = read_json_file(folder / factor / "run.json");
    CHECK(json.at("check").at("passed") == true);
    const double error = json.at("figures").at("analytic_error").get<double>();
    REQUIRE(error > 0.0);
    INFO(boundary << ", order " << order << ": error " << error << " after " << coarser);
    if (coarser > 0.0) CHECK(std::abs(std::log2(coarser / error) - order) <= 0.3);
    coarser = error;
  }
}

TEST_CASE("The scheme stays bounded and passes its check at the largest Courant number it allows, in any type",
          "[host]") {
  const Words order =
      GENERATE(Words{"2", "--courant", "0.70710678118654752"}, Words{"4", "--courant", "0.612372435695794"});
  const TemporaryFolder folder;
  const Words arguments = Words{"--size", "33", "--steps", "2000", "--order"} + order;
  run_wave2d({{1, arguments + Words{"--output", "field.npy"}},
              {1, arguments + Words{"--type", "float", "--time-tile", "8", "--check", "all"}}},
             folder);
  CHECK(largest_difference(read_grid<double>(folder / "field.npy"), {33, 33}) <= 1.01);
}

TEST_CASE("A field that rounding has ruined fails its check and wave2d exits 1") {
  // In floats 2 (1 - 2 C^2) rounds to 2: nothing pulls the wave back, and it grows without end.
  const Words arguments{"--size",  "5",    "--type",  "float",  "--courant",     "1e-4", "--steps",   "5000",
                        "--model", "even", "--units", "device", "--repetitions", "1",    "--warmups", "0"};
  const int ranks = GENERATE(1, 3);
  const TemporaryFolder folder;
  write_model(folder, "even", 1e-6);
  const Outcome outcome = run(ranks, wave2d, arguments + Words{"--result", "result"}, folder.path());
  CHECK(outcome.status == 1);
  CHECK(contains(outcome.out, "FAILED"));
  const auto check = read_json_file(folder / "result" / "run.json").at("check");
  CHECK(check.at("passed") == false);
  CHECK(check.at("error").get<double>() > check.at("tolerance").get<double>());
  CHECK(run(ranks, wave2d, arguments + Words{"--check", "none"}, folder.path()).status == 0);
}

/// The level before a field at rest: half way between it and what a step makes of it as if it had been there before.
template <class Scalar>
Grid<Scalar> before_rest(const Grid<Scalar>& field, bool neumann, int order) {
  Grid<Scalar> before = advanced(field, field, 1, 0.5, neumann, order);
  for (std::size_t i = 0; i < before.values.size(); ++i) before.values[i] = (before.values[i] + field.values[i]) / 2;
  return before;
}

TEMPLATE_TEST_CASE("A field at rest from one file, and a moving one from two, move as on paper", "", double, float) {
  const bool neumann = GENERATE(false, true);
  const bool at_rest = GENERATE(false, true);
  const int order = GENERATE(2, 4), steps = neumann ? 9 : 8;
  const TemporaryFolder folder;
  const auto current = random_grid<TestType>(23, 37, 5);
  auto previous = at_rest ? before_rest(current, neumann, order) : random_grid<TestType>(23, 37, 6);
  write_grid(folder / "previous.npy", previous);
  write_grid(folder / "current.npy", current);
  // Edges that the boundary holds keep the values of the current field.
  for (std::int64_t i = 0; i < previous.rows && !neumann; ++i) {
    for (std::int64_t j = 0; j < previous.columns; ++j) {
      if (current.is_edge(i, j)) previous(i, j) = current(i, j);
    }
  }
  const auto paper = advanced(previous, current, steps, 0.5, neumann, order);
  const Words input = at_rest ? Words{"--input", "current.npy"} : Words{"--input", "previous.npy", "current.npy"};
  const Words arguments = input + Words{"--steps",    std::to_string(steps),
                                        "--order",    std::to_string(order),
                                        "--type",     sizeof(TestType) == 8 ? "double" : "float",
                                        "--boundary", neumann ? "neumann" : "dirichlet"};
  std::vector<AppRun> runs{
      {1, {"--time-tile", "1"}}, {3, {"--time-tile", "2"}}, {3, {"--time-tile", "7", "--partition", "column"}}};
  for (std::size_t i = 0; i < runs.size(); ++i) {
    runs[i].arguments = runs[i].arguments + arguments + Words{"--output", "end" + std::to_string(i) + ".npy"};
  }
  run_wave2d(runs, folder);
  const auto first = read_grid<TestType>(folder / "end0.npy");
  // Random fields grow up to a few times their start.
  CHECK(largest_difference(first, paper) <= 4.0 * rounding<TestType>(steps));
  for (std::size_t i = 0; i < runs.size(); ++i) {
    INFO(i);
    CHECK(read_grid<TestType>(folder / ("end" + std::to_string(i) + ".npy")) == first);
  }
}

TEMPLATE_TEST_CASE("After no steps the output is the current input bit for bit", "", double, float) {
  const TemporaryFolder folder;
  auto current = random_grid<TestType>(23, 37, 3);
  current(4, 5) = -TestType(0);
  current(6, 7) = std::numeric_limits<TestType>::denorm_min();
  write_grid(folder / "current.npy", current);
  write_grid(folder / "previous.npy", random_grid<TestType>(23, 37, 4));
  const Words none{"--steps", "0", "--type", sizeof(TestType) == 8 ? "double" : "float", "--output"};
  run_wave2d({{1, none + Words{"one.npy", "--input", "current.npy"}},
              {3, none + Words{"two.npy", "--input", "previous.npy", "current.npy", "--time-tile", "5", "--partition",
                               "column"}}},
             folder);
  for (const char* file : {"one.npy", "two.npy"}) CHECK(folder.read(file) == folder.read("current.npy"));
}

TEST_CASE("A run that goes on from files, in place of one of them, equals the run in one piece", "[host]") {
  const std::string boundary = GENERATE("dirichlet", "neumann");
  const std::string order = GENERATE("2", "4");
  const Words problem{"--size", "29", "--boundary", boundary, "--order", order, "--steps"};
  const TemporaryFolder folder;
  run_wave2d({{1, problem + Words{"12", "--output", "whole.npy", "--time-tile", "1"}},
              {2, problem + Words{"6", "--output", "six.npy", "--time-tile", "4"}},
              {3, problem + Words{"7", "--output", "seven.npy", "--time-tile", "3", "--partition", "column"}}},
             folder);
  const Words rest{"5", "--input", "six.npy", "seven.npy", "--output", "seven.npy", "--time-tile", "2"};
  run_wave2d(2, problem + rest + Words{"--repetitions", "2"}, folder);
  CHECK(folder.read("seven.npy") == folder.read("whole.npy"));
}

TEMPLATE_TEST_CASE("Any time tile, ranks, partition, units, speeds and order of phases compute the same bits", "",
                   double, float) {
  const bool neumann = GENERATE(false, true);
  const int order = GENERATE(2, 4);
  SplitTest<TestType> test({.rows = 41, .columns = 53, .neumann = neumann, .order = order, .steps = 17});
  const std::vector<int> rank_counts{1, 2, 3, 4, 6};
  const Words tiles{"1", "2", "3", "4", "7", "16", "auto"};
  const Words partitions = partition_names() + Words{"column", "column"};
  const std::vector<Words> units{{"--units", "host"}, {"--units", "host+device"}, {"--units", "device"}};
  // Each repetition starts anew.
  const std::vector<Words> manners{{"--repetitions", "3", "--warmups", "2", "--check", "all"},
                                   {"--serialize"},
                                   {},
                                   {"--barrier"},
                                   {"--slowdown", "rank0=2"},
                                   {"--serialize", "--barrier"}};
  std::vector<AppRun> runs;
  // Each tile with each number of ranks once, or some of these.
  const std::size_t stride = sizeof(TestType) == 8 && neumann && order == 4 ? 1 : 4;
  for (std::size_t i = 0; i < tiles.size() * rank_counts.size(); i += stride) {
    const int ranks = rank_counts[i % rank_counts.size()];
    const Words& driven = units[(i / 2) % units.size()];
    // Speeds of all units, so that some have few rows or none and halos reach beyond them.
    std::vector<double> seconds;
    const std::size_t count = (driven[1] == "host+device" ? 2 : 1) * static_cast<std::size_t>(ranks);
    for (std::size_t unit = 0; unit < count; ++unit) {
      const std::size_t speed = (5 * unit + i) % 7;
      seconds.push_back(speed == 0 ? 1.0 : 1e-6 * static_cast<double>(speed));
    }
    const Words split{"--time-tile", tiles[i % tiles.size()], "--partition",
                      partitions[(i + i / 4) % partitions.size()]};
    runs.push_back({ranks, split + driven + manners[i % manners.size()] + with_models(test.folder(), seconds)});
  }
  test.expect_same(runs);
}

TEST_CASE("The smallest grids, a row for each unit and passes longer than a run compute like any other") {
  const bool neumann = GENERATE(false, true);
  const int order = GENERATE(2, 4);
  const Words even{"--partition", "even", "--units"};
  SplitTest<double>({.rows = 6, .columns = 3, .neumann = neumann, .order = order})
      .expect_same(
          {{3, even + Words{"host+device"}}, {6, even + Words{"host"}}, {6, even + Words{"host", "--time-tile", "5"}}});
  SplitTest<float>({.rows = 3, .columns = 3, .neumann = neumann, .order = order})
      .expect_same({{3, even + Words{"host"}},
                    {1, even + Words{"host+device", "--time-tile", "4"}},
                    {3, {"--units", "host", "--partition", "column", "--time-tile", "2"}}});
  std::vector<AppRun> runs;
  for (const char* tile : {"4", "5", "6", "64"}) {
    runs.push_back({3, even + Words{"host", "--time-tile", tile}});
    runs.push_back({3, {"--units", "host", "--partition", "column", "--time-tile", tile}});
  }
  SplitTest<float>({.rows = 11, .columns = 7, .neumann = neumann, .order = order, .steps = 5}).expect_same(runs);
}

TEST_CASE("Rows that move while the field runs, or are balanced by trying out, change no bits", "[host]") {
  const Words balance =
      GENERATE(Words{"--balance", "dynamic"}, Words{"--partition", "dynamic"}, Words{"--balance", "binary"},
               Words{"--balance", "ternary"}, Words{"--balance", "ternary", "--balance-level", "internal"},
               Words{"--balance", "binary", "--balance-level", "external"});
  SplitTest<double> test({.rows = 61, .columns = 47, .order = 4, .steps = 83});
  const Words slow =
      balance + Words{"--slowdown", "rank0=3",   "--units", "host",     "--time-tile", "2",        "--repetitions",
                      "1",          "--warmups", "1",       "--output", "field0.npy",  "--result", "result"};
  const TemporaryFolder platform;
  good_run(3, wave2d, slow + with_platform(platform) + test.arguments(), test.folder().path());
  test.expect_same(read_grid<double>(test.folder() / "field0.npy"));
  const auto json = read_json_file(test.folder() / "result" / "run.json");
  CHECK(sum(json.at("distribution").get<std::vector<long long>>()) == 61);
  if (balance.back() == "internal") CHECK(json.at("distribution") == nlohmann::json{21, 20, 20});
  CHECK(json.at("check").at("passed") == true);
  // Nothing is known of a run that balances itself, nor how far off that is.
  const bool predicted = balance[1] != "dynamic";
  CHECK(json.at("predicted_time_s").is_null() != predicted);
  CHECK(json.at("figures").contains("percentage_difference") == predicted);
  CHECK(json.at("figures").contains("repartitions") != predicted);
}

TEST_CASE("Pictures are drawn, of the same bits") {
  SplitTest<double> test({.rows = 19, .columns = 41, .steps = 7});
  test.expect_same({{2, {"--frames", "5", "--frame-dir", "pictures", "--time-tile", "4", "--partition", "column"}}});
  CHECK(std::filesystem::exists(test.folder() / "pictures" / "frame_0004.png"));
}

TEST_CASE("Speeds and a time tile that a run finds itself change no bits, and its models serve runs and the tool",
          "[alone]") {
  const auto [order, tile] = GENERATE(table<int, std::string>({{2, "auto"}, {4, "auto"}, {4, "3"}}));
  const int ranks = order / 2;
  SplitTest<double> test({.rows = 97, .columns = 131, .neumann = true, .order = order, .steps = 23});
  const TemporaryFolder& folder = test.folder();
  const Words problem = test.arguments() + Words{"--units", "host+device"} + with_platform(folder);
  const Words own{"--time-tile", tile, "--repetitions", "1", "--output", "own.npy", "--result", "own"};
  const Outcome first = run(ranks, wave2d, problem + own, folder.path());
  INFO(first.out << first.err);
  REQUIRE(first.status == 0);
  test.expect_same(read_grid<double>(folder / "own.npy"));
  CHECK(contains(first.out, "speed models measured in "));
  const auto json = read_json_file(folder / "own" / "run.json");
  const int chosen = json.at("params").at("time_tile").get<int>();
  CHECK((tile == "auto" ? chosen >= 1 && chosen <= 23 : chosen == 3));
  CHECK(json.at("figures").contains("time_tile_time_s") == (tile == "auto"));
  CHECK(contains(first.out, "time tile  " + std::to_string(chosen) + " step") == (tile == "auto"));

  Words models{"--model"};
  const nlohmann::json parameters{
      {"columns", 131.0}, {"order", static_cast<double>(order)}, {"time_tile", static_cast<double>(chosen)}};
  for (int rank = 0; rank < ranks; ++rank) {
    for (const char* unit : {"-host", "-device"}) {
      models.push_back(folder / "own" / "models" / ("rank" + std::to_string(rank) + unit + ".fpm.json"));
      const auto model = read_json_file(models.back());
      CHECK(model.at("app") == "wave2d");
      CHECK(model.at("element") == "double");
      CHECK(model.at("parameters") == parameters);
    }
  }
  // Without a time tile, or with any, it is that of the models.
  const Words again{"--repetitions", "1", "--output", "again.npy", "--result", "again"};
  for (const Words& any : {Words{}, Words{"--time-tile", "auto"}}) {
    const Outcome next = good_run(ranks, wave2d, problem + models + again + any, folder.path());
    CHECK_FALSE(contains(next.out, "speed models measured"));
    test.expect_same(read_grid<double>(folder / "again.npy"));
    CHECK(read_json_file(folder / "again" / "run.json").at("params").at("time_tile") == chosen);
  }
  const Words partition{"partition", "--total", "97", "--format", "json", "--models"};
  models.erase(models.begin());
  const auto shares = nlohmann::json::parse(good_run(1, steelyard_tool, partition + models, folder.path()).out);
  CHECK(shares.at("units") == read_json_file(folder / "again" / "run.json").at("distribution"));
}

}  // namespace
}  // namespace steelyard::tests::test_wave2d
