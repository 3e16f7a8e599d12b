// C = A B + C', whoever computes which blocks of it, and however its pivots travel; what summa prints, leaves for other
// programs and refuses.

#include <nlohmann/json.hpp>

#include "core/base/json_file.hpp"
#include "tests/catch.hpp"
#include "tests/miniapps/product_runs.hpp"
#include "tests/miniapps/rectangles.hpp"
#include "tests/partition/random_rectangles.hpp"

namespace steelyard::tests::test_summa {
namespace {

const std::filesystem::path summa = built("summa");

/// The ways that pivots travel, with barriers where there may be any.
const std::vector<Words> communications{{"--communication", "paper"},
                                        {"--communication", "bcast"},
                                        {"--communication", "pipelined"},
                                        {"--communication", "paper", "--barrier"},
                                        {"--communication", "bcast", "--barrier"}};

/// run_app() with summa; nothing is measured before.
std::vector<Outcome> run_summa(std::vector<AppRun> runs, const TemporaryFolder& folder) {
  const TemporaryFolder platform;
  for (AppRun& run : runs) run.arguments = run.arguments + with_platform(platform);
  return run_app(summa, runs, folder);
}
Outcome run_summa(int ranks, const Words& arguments, const TemporaryFolder& folder) {
  return run_summa({{ranks, arguments}}, folder).front();
}

/// Where every unit's blocks are, as the table says that summa prints; that also has to count them right.
Rectangles parts_in_table(const std::string& out) {
  const std::vector<long long> row = slices_in_table(out, "row"), column = slices_in_table(out, "column"),
                               rows = slices_in_table(out, "rows"), columns = slices_in_table(out, "columns"),
                               blocks = slices_in_table(out, "blocks");
  REQUIRE_FALSE(rows.empty());
  for (const auto* other : {&row, &column, &columns, &blocks}) REQUIRE(other->size() == rows.size());
  Rectangles parts;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    parts.push_back({row[i], column[i], rows[i], columns[i]});
    CHECK(parts[i].area() == blocks[i]);
  }
  return parts;
}

/// Whether each part of ranks that drive host and companion is in its rank's rectangle, and all together cover these.
bool share_out(const Rectangles& rectangles, const Rectangles& parts) {
  bool inside = parts.size() == 2 * rectangles.size();
  std::int64_t area = 0;
  for (std::size_t i = 0; i < parts.size() && inside; ++i) {
    inside = partition::common_part(parts[i], rectangles[i / 2]).area() == parts[i].area();
    area += rectangles[i / 2].area() - 2 * parts[i].area();
  }
  return inside && area == 0;
}

/// Runs of summa on the same files.
template <class Scalar>
class SummaTest : public ProductRuns<Scalar> {
 public:
  /// Random n x n matrices.
  explicit SummaTest(std::int64_t n) : ProductRuns<Scalar>(summa, n, n, n) {}

  /// All runs at the same time, on A, B and C' or without C'.
  void expect_products(const std::vector<AppRun>& runs, bool reads_c = true) {
    const Words platform = with_platform(this->folder());
    std::vector<typename ProductRuns<Scalar>::Product> products;
    for (const AppRun& run : runs) {
      products.push_back({{run.ranks, run.arguments + platform}, {1.0, reads_c ? 1.0 : 0.0}, reads_c});
    }
    ProductRuns<Scalar>::expect_products(products);
  }

  Rectangles parts(std::size_t run) const { return parts_in_table(this->outcomes()[run].out); }
};

TEMPLATE_TEST_CASE(
    "summa writes A B + C' of any size, in any blocks, by any units, ranks, partitions and memories, however pivots "
    "travel",
    "", double, float) {
  const unsigned seed = sizeof(TestType);
  CAPTURE(seed);
  std::mt19937 random(seed);
  const auto any = [&](const auto& choices) { return choices[random() % choices.size()]; };
  Words partitions = partition_names();
  partitions.insert(partitions.end(), {"column", "column", "constant:20"});
  // n and block: prime, less than a block, one block, a block and one element, blocks of one element, a giant one.
  const std::vector<std::array<int, 2>> problems{{97, 13}, {31, 7}, {5, 8}, {8, 8},        {9, 8},
                                                 {7, 1},   {1, 1},  {2, 1}, {60, 1048576}, {150, 32}};
  std::size_t number = 0;
  for (const auto& [n, block] : problems) {
    const int side = (n + block - 1) / block;
    CAPTURE(n, block);
    SummaTest<TestType> test(n);
    std::vector<AppRun> runs;
    std::vector<Words> kinds;
    for (int i = 0; i < 3; ++i, ++number) {
      const int ranks = any(std::array{1, 2, 3, 4, 6, 9});
      kinds.push_back(any(std::vector<Words>{{"host"}, {"device"}, {"host", "device"}, {"host", "device"}}));
      std::vector<double> seconds(static_cast<std::size_t>(ranks) * kinds.back().size());
      for (double& of_unit : seconds) of_unit = any(std::array{1e-6, 3e-6, 5e-7, 4e-6});
      const std::string units = kinds.back().size() == 2 ? "host+device" : kinds.back().front();
      Words words{"--block", std::to_string(block), "--units", units, "--partition", any(partitions)};
      words = words + communications[number % communications.size()] + test.models(seconds);
      // Panels of a block's depth.
      const std::size_t least = sizeof(TestType) * 32 * (3 * static_cast<std::size_t>(block) + 64);
      const Words memories{std::to_string(least), std::to_string(2 * least), "1GiB"};
      if (i % 2 == 1 && block <= 32) words = words + Words{"--device-memory", any(memories)};
      // Every repetition starts from C' again.
      if (i % 3 == 2) words = words + Words{"--repetitions", "3", "--warmups", "1", "--check", "all"};
      runs.push_back({ranks, words});
    }
    test.expect_products(runs, number % 4 != 0);
    for (std::size_t i = 0; i < runs.size(); ++i) {
      const Rectangles parts = test.parts(i);
      CHECK(parts.size() == static_cast<std::size_t>(runs[i].ranks) * kinds[i].size());
      CHECK(tile(parts, side));
    }
  }
}

TEST_CASE("Ranks that drive other units than their neighbours, and ranks without blocks, write the product") {
  SummaTest<double> test(59);
  REQUIRE(run(4, steelyard_tool, {"layout", "--output", "all"}, test.folder().path()).status == 0);
  const std::string both = "host+device";
  std::string layout = test.folder().read("all");
  std::size_t from = 0;
  for (const std::string& kind : Words{"host", "device", both, "device"}) {
    from = layout.find(both, from);
    layout.replace(from, both.size(), kind);
    from += kind.size();
  }
  const std::string file = test.folder().write("mixed.layout", layout);
  // A second is too slow for a single block.
  const std::vector<std::vector<double>> speeds{{1e-6, 1e-6, 1e-6, 1e-6, 1e-6},
                                                {1e-6, 1.0, 1e-6, 1e-6, 1.0},
                                                {1.0, 1.0, 1e-6, 1.0, 1e-6},
                                                {1.0, 1.0, 1.0, 1e-6, 1.0},
                                                {1.0, 1e-6, 1e-6, 1.0, 1.0}};
  std::vector<AppRun> runs;
  for (std::size_t i = 0; i < speeds.size(); ++i) {
    runs.push_back({4, Words{"--block", "8", "--layout", file} + test.models(speeds[i]) + communications[i]});
  }
  test.expect_products(runs);
  for (std::size_t run = 0; run < speeds.size(); ++run) {
    const Rectangles parts = test.parts(run);
    CHECK(tile(parts, 8));
    REQUIRE(parts.size() == speeds[run].size());
    for (std::size_t i = 0; i < parts.size(); ++i) CHECK(parts[i].empty() == (speeds[run][i] == 1.0));
  }
}

TEST_CASE("Rectangles from a file are followed, and give the same bits however pivots travel") {
  struct Tilings {
    int n, block;
    std::size_t ways;  ///< how many of the communications
    Words units;
    std::vector<Rectangles> all;
  };
  std::vector<Tilings> kinds{
      // In rows that are cut at different places: bands of columns that overlap.
      {69,
       8,
       5,
       {},
       {{{0, 0, 3, 4}, {0, 4, 3, 5}, {3, 0, 1, 9}, {4, 0, 5, 6}, {4, 6, 5, 3}},
        // In columns, by ranks in no order, of which one has nothing.
        {{5, 2, 4, 7}, {}, {0, 0, 9, 2}, {0, 2, 5, 6}, {0, 8, 5, 1}},
        // Somebody inside whose neighbours on each side are others than those beyond.
        {{0, 0, 9, 1}, {0, 1, 1, 8}, {1, 1, 7, 7}, {1, 8, 8, 1}, {8, 1, 1, 7}},
        pinwheel(9, 2, 6)}},
      // 96 KiB and more to each rank, more than MPI sends at once, and owners that send and receive at the same time.
      {256, 64, 5, {"--units", "host"}, {pinwheel(4, 1, 3)}},
      // Each rank has all rows, in several pieces, between which messages move.
      {800, 160, 3, {"--units", "host"}, {Rectangles{{0, 0, 5, 2}, {0, 2, 5, 3}}}}};
  Random random(1);
  while (kinds[0].all.size() < 6) {
    kinds[0].all.push_back(random_rectangles(random, 9, 5));
    for (partition::Rectangle& rectangle : kinds[0].all.back()) {
      rectangle = rectangle.empty() ? partition::Rectangle{} : rectangle;
    }
  }
  for (const auto& [n, block, ways, units, all] : kinds) {
    SummaTest<double> test(n);
    std::vector<AppRun> runs;
    for (const Rectangles& rectangles : all) {
      for (std::size_t way = 0; way < ways; ++way) {
        const std::string name = std::to_string(runs.size());
        const std::string file = write_rectangles(test.folder(), name + ".json", rectangles);
        Words words{"--block", std::to_string(block), "--partition", file, "--result", "result" + name};
        if (block == 8 && rectangles.size() % 2 == 0) words = words + Words{"--device-memory", "50000"};
        runs.push_back({static_cast<int>(rectangles.size()), words + units + communications[way]});
      }
    }
    test.expect_products(runs);
    for (std::size_t i = 0; i < runs.size(); ++i) {
      CAPTURE(n, i);
      const Rectangles& asked = all[i / ways];
      CHECK((test.results()[i] == test.results()[i / ways * ways]));
      CHECK((rectangles_of(read_run(test.folder() / ("result" + std::to_string(i)), "summa")) == asked));
      if (units.empty()) CHECK(share_out(asked, test.parts(i)));
    }
  }
}

TEST_CASE("The same rectangles give the same bits, whichever rank owns them") {
  SummaTest<double> test(70);
  // One core each, or a GPU: its BLAS does the same wherever it runs.
  const Words block{"--block", "8", "--units", "device"};
  const Rectangles parts{{0, 0, 9, 5}, {0, 5, 4, 4}, {4, 5, 5, 4}};
  const std::string file = write_rectangles(test.folder(), "parts.json", parts);
  const std::string turned = write_rectangles(test.folder(), "turned.json", {parts[2], parts[0], parts[1]});
  const std::string more = write_rectangles(test.folder(), "more.json", {{}, parts[1], parts[0], {}, parts[2]});
  test.expect_products({{3, block + Words{"--partition", file}},
                        {3, block + Words{"--partition", turned}},
                        {5, block + Words{"--partition", more, "--communication", "bcast"}}});
  CHECK((test.results()[1] == test.results()[0]));
  CHECK((test.results()[2] == test.results()[0]));
}

TEST_CASE("Columns that the partition tool writes are what summa follows", "[host]") {
  const TemporaryFolder folder;
  Words arguments{"partition", "--columns", "--total", "144", "--format", "json", "--models"};
  for (const double seconds : {1e-6, 2e-6, 5e-6, 3e-6}) {
    arguments.push_back(write_model(folder, std::to_string(arguments.size()) + ".fpm.json", seconds));
  }
  const std::string written = good_run(1, steelyard_tool, arguments, folder.path()).out;
  const std::string file = folder.write("columns.json", written);
  const Words words{"--size", "93", "--block", "8", "--partition", file, "--units", "host"};
  CHECK((parts_in_table(run_summa(4, words, folder).out) == rectangles_of(nlohmann::json::parse(written))));
}

/// A platform of one node that only Hockney's model knows, with messages that take a millisecond whatever they hold.
Words with_hockney(const TemporaryFolder& folder) {
  return {
      "--platform",
      folder.write("hockney.platform.json",
                   R"({"schema": "steelyard.platform/1", "channels": [{"id": 0, "path": [0], "hockney": {"segments": [
    {"up_to_bytes": null, "latency_s": 1e-3, "bandwidth_bytes_per_s": 1e15}]}}]})")};
}

TEST_CASE("Ranks whose messages cost more than their updates gain get no blocks with --avoid-communication") {
  const TemporaryFolder folder;
  const Words any =
      Words{"--size", "64", "--block", "8", "--units", "host", "--avoid-communication"} + with_hockney(folder);
  // 64 blocks an iteration: seconds of updates beside a millisecond of messages, or microseconds.
  const auto outcomes = run_app(
      summa,
      {{3, any + with_models(folder, {0.1}) + Words{"--result", "result"}}, {3, any + with_models(folder, {1e-6})}},
      folder);
  const Rectangles all = parts_in_table(outcomes[0].out), one = parts_in_table(outcomes[1].out);
  CHECK(tile(all, 8));
  CHECK(tile(one, 8));
  const auto is_empty = [](const partition::Rectangle& part) { return part.empty(); };
  CHECK(std::ranges::none_of(all, is_empty));
  CHECK(std::ranges::count_if(one, is_empty) == 2);
  // Other models have no parameters of this platform.
  const auto figures = read_json_file(folder / "result" / "run.json").at("figures");
  CHECK(figures.at("communication_s by Hockney").get<double>() > 0.0);
  CHECK_FALSE(figures.contains("communication_s by tau-Lop"));
}

TEST_CASE(
    "summa prints once, from rank 0, and its result folder says what ran and what came of it; a dry run only plans") {
  const int ranks = GENERATE(1, 3);
  const TemporaryFolder folder;
  const Words how{"--communication", "paper", "--barrier",  "--seed", "7", "--size", "61",
                  "--block",         "8",     "--slowdown", "rank0=2"};
  const auto outcomes = run_summa({{ranks, how + Words{"--result", "result"}},
                                   {ranks, how + Words{"--result", "dry", "--output", "none.npy", "--dry-run"}}},
                                  folder);
  const Outcome& outcome = outcomes[0];
  for (const char* start : {"summa n = 61, double, 8 x 8 blocks of 8, communication paper", "unit ", "time ",
                            "predicted ", "share ", "figure of merit ", "  update ", "check      passed"}) {
    INFO(start << " in\n" << outcome.out);
    CHECK(lines_that_start(outcome.out, start) == 1);
  }
  const auto json = read_run(folder / "result", "summa");
  for (const auto& [name, value] : {std::pair{"n", 61}, {"block", 8}, {"blocks", 8}, {"barrier", 1}}) {
    CHECK(json.at("params").at(name) == value);
  }
  CHECK(json.at("settings").at("partition") == "column");
  CHECK(json.at("settings").at("communication") == "paper");
  CHECK(read_samples(folder / "result").front().at("communication") == "paper");

  const Rectangles parts = parts_in_table(outcome.out), rectangles = rectangles_of(json);
  CHECK(json.at("distribution").get<std::vector<long long>>() == slices_in_table(outcome.out, "blocks"));
  CHECK(tile(parts, 8));
  REQUIRE(rectangles.size() == static_cast<std::size_t>(ranks));
  CHECK(tile(rectangles, 8));
  CHECK(share_out(rectangles, parts));
  const auto dry = read_json_file(folder / "dry" / "run.json");
  CHECK((parts_in_table(outcomes[1].out) == parts));
  CHECK(dry.at("predicted_time_s") == json.at("predicted_time_s"));
  CHECK(dry.at("median_time_s").is_null());
  CHECK_FALSE(std::filesystem::exists(folder / "none.npy"));

  // Phases that take turns add up.
  const nlohmann::json& update = json.at("phases").at(0);
  const nlohmann::json& communication = json.at("phases").at(1);
  CHECK((update.at("name") == "update" && communication.at("name") == "communication"));
  CHECK(update.at("measured_s").get<double>() > 0.0);
  CHECK(update.at("predicted_s").get<double>() > 0.0);
  const double communication_s = communication.at("predicted_s");
  CHECK((communication_s > 0.0) == (ranks > 1));
  CHECK_THAT(update.at("predicted_s").get<double>() + communication_s,
             WithinRel(json.at("predicted_time_s").get<double>(), 1e-9));
  for (const char* model : {"tau-Lop", "tau-Lop event", "HLogGP", "Hockney"}) {
    CHECK(json.at("figures").contains(std::string("communication_s by ") + model) == (ranks > 1));
  }
}

TEST_CASE("What summa measures itself does not change the product, and serves another size of the same blocks",
          "[alone]") {
  const int ranks = GENERATE(1, 2);
  const TemporaryFolder folder;
  const GemmFiles<float> files(90, 90, 90);
  files.write(folder);
  const Words once{"--block", "16", "--repetitions", "1", "--output", "product.npy", "--result", "result"};
  const Outcome outcome = good_run(ranks, summa, once + files.arguments(), folder.path());
  CHECK(lines_that_start(outcome.out, "speed models measured in ") == 1);
  // Where a loaded machine's messages look like nothing that a channel does, it says so. One rank has nobody to
  // exchange pivots with.
  CHECK(lines_that_start(outcome.out, "channels measured in ") +
            lines_that_start(outcome.out, "note: communication is not predicted: ") ==
        ranks - 1);
  CHECK(files.deviation(read_grid<float>(folder / "product.npy"), 1.0, 1.0) <= 1.0);
  CHECK(tile(parts_in_table(outcome.out), 6));
  if (ranks > 1) return;
  const Words models{"--model", folder / "result/models/rank0-host.fpm.json",
                     folder / "result/models/rank0-device.fpm.json"};
  const Outcome second = run_summa(1, models + Words{"--size", "170", "--block", "16", "--type", "float"}, folder);
  CHECK(tile(parts_in_table(second.out), 11));
  expect_refused(summa,
                 {{{"--block", "8", "--type", "float"}, "block"}, {{"--block", "16", "--type", "double"}, "element"}},
                 models + Words{"--size", "64"}, {1});
}

TEST_CASE("What summa cannot do is refused with exit code 2 and one line that says what is wrong", "[host]") {
  const WrongRuns inputs(summa, {"--repetitions", "1", "--output", "product.npy", "--result", "result"});
  const auto matrix = [&](const std::string& name, std::int64_t rows, std::int64_t columns) {
    write_grid(inputs.path(name + ".npy"), random_grid<double>(rows, columns, 1));
    return inputs.path(name + ".npy");
  };
  const std::string bands = inputs.write("bands.json", json_of({{0, 0, 3, 8}, {3, 0, 3, 8}, {6, 0, 2, 8}}));
  const std::string none = inputs.write("none", R"({"schema": "steelyard.platform/1", "channels": []})");
  const std::string a = matrix("a", 6, 6), other = matrix("other", 7, 7);
  write_grid(inputs.path("single.npy"), random_grid<float>(6, 6, 1));

  // On several ranks as on one, by each part that refuses.
  inputs.expect_refused({{{"--sise", "9"}, "--sise"},
                         {{"--communication", "foo"}, "foo"},
                         {{"--partition", "fair"}, "fair"},
                         {{"--size", "0"}, "--size 0"},
                         {{"--size", "2000000000", "--block", "1000000"}, "expected at most"},
                         {{"--platform", inputs.path("missing")}, "missing"},
                         {{"--platform", inputs.write("broken", "{\n\n]")}, "broken: line 3"},
                         {{"--platform", inputs.write("empty", "{}")}, "empty: schema"},
                         {{"--input", a, inputs.path("missing.npy")}, "missing.npy"}},
                        inputs.with_model());
  // A platform without the channel that pivots travel on; rectangles of 3 ranks and 8 x 8 blocks.
  const Words blocks = Words{"--block", "8"} + inputs.with_model();
  inputs.expect_refused(
      {{{"--size", "60", "--platform", none}, "channel"}, {{"--size", "65", "--partition", bands}, bands}}, blocks,
      {3});
  inputs.expect_refused({{{"--size", "64", "--partition", bands}, "bands.json"}}, blocks, {1, 2});

  std::vector<Mistake> mistakes{
      {{"--size", "2147483647", "--block", "2047"}, "1049089 iterations (expected at most 1048576"},
      {{"--barrier"}, "--barrier with --communication pipelined (expected paper or bcast"},
      {{"--partition", "rectangles.txt"}, "*.json"},
      {{"--avoid-communication", "--partition", "even"}, "--avoid-communication with --partition even"},
      {{"--avoid-communication", "--partition", bands}, "(expected rectangles in columns)"},
      // Five buffers for panels of a block's depth.
      {{"--block", "33", "--device-memory", "41727"}, "--device-memory 41727 (expected at least 41728"},
      {{"--type", "float", "--block", "1", "--device-memory", "8575"}, "--device-memory 8575 (expected at least 8576"},
      {{"--input", a}, "--input names 1 file (expected A.npy B.npy"},
      {{"--input", a, a, a, a}, "--input names 4 files"},
      {{"--input", a, other}, "other.npy: shape: is 7 x 7 (expected 6 x 6)"},
      {{"--input", a, a, other}, "other.npy: shape: is 7 x 7 (expected 6 x 6)"},
      {{"--input", a, matrix("wide", 6, 7)}, "wide.npy: shape: is 6 x 7 (expected 6 x 6)"},
      {{"--input", matrix("high", 7, 6), a}, "high.npy: shape: is 7 x 6 (expected 7 x 7)"},
      {{"--input", a, a, "--size", "5"}, "a.npy: shape: is 6 x 6 (expected 5 x 5)"},
      {{"--input", matrix("nothing", 0, 0), a}, "nothing.npy: shape: is 0 x 0 (expected 1 x 1)"},
      // Without columns a file may claim any number of rows.
      {{"--input", matrix("endless", std::int64_t{1} << 31, 0), a}, "endless.npy: shape: is 2147483648 x 0"},
      {{"--input", a, inputs.path("single.npy")}, "single.npy: descr: is '<f4' (expected '<f8')"}};
  for (const char* value : {"-1", "2.5", "2147483648"}) mistakes.push_back({{"--size", value}, "--size"});
  for (const char* value : {"0", "x", "1048577"}) mistakes.push_back({{"--block", value}, "--block"});
  for (const char* option : {"--alpha", "--beta", "--m"}) mistakes.push_back({{option, "3"}, option});
  inputs.expect_refused(mistakes, inputs.with_model(), {1});
}

}  // namespace
}  // namespace steelyard::tests::test_summa
