// What summa predicts, prints, leaves for other programs and refuses.

#include <nlohmann/json.hpp>

#include "tests/catch.hpp"
#include "tests/miniapps/summa/summa_runs.hpp"

namespace steelyard::tests::test_summa_results {
namespace {

/// A platform of one node that only Hockney's model knows, with messages that take `latency_s` whatever they hold.
Words with_hockney(const TemporaryFolder& folder, double latency_s) {
  const nlohmann::json segment{{"up_to_bytes", nullptr}, {"latency_s", latency_s}, {"bandwidth_bytes_per_s", 1e15}};
  const nlohmann::json channel{{"id", 0}, {"path", {0}}, {"hockney", {{"segments", nlohmann::json::array({segment})}}}};
  const nlohmann::json platform{{"schema", "steelyard.platform/1"}, {"channels", nlohmann::json::array({channel})}};
  return {"--platform", folder.write("hockney.platform.json", platform.dump())};
}

/// A phase in `run.json`.
const nlohmann::json& phase(const nlohmann::json& run, const std::string& name) {
  const auto& phases = run.at("phases");
  const auto found =
      std::find_if(phases.begin(), phases.end(), [&](const auto& one) { return one.at("name") == name; });
  REQUIRE(found != phases.end());
  return *found;
}

TEST_CASE("A prediction is put together from those of its phases, by all models that the platform has parameters for") {
  const TemporaryFolder folder;
  // 12 iterations, in which a rank updates 48 blocks and more, each of which takes 10 us.
  const Words problem = Words{"--size", "96", "--block", "8", "--units", "host"} + with_models(folder, {1e-5});
  std::vector<AppRun> runs;
  for (const Words& communication : communications) {
    const Words result{"--result", "result" + std::to_string(runs.size())};
    runs.push_back({3, problem + communication + result + with_platform(folder)});
  }
  runs.push_back({3, problem + with_hockney(folder, 1e-3) + Words{"--result", "result5"}});
  run_app(summa, runs, folder);
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const auto json = read_run(folder / ("result" + std::to_string(i)), "summa");
    const double whole_s = json.at("predicted_time_s"), update_s = phase(json, "update").at("predicted_s");
    const double communication_s = phase(json, "communication").at("predicted_s");
    CAPTURE(i, whole_s, update_s, communication_s);
    CHECK(communication_s > 0.0);
    CHECK(update_s >= 12 * 48 * 1e-5);
    CHECK(whole_s <= (update_s + communication_s) * (1.0 + 1e-9));
    CHECK(whole_s >= std::max(update_s, communication_s) * (1.0 - 1e-9));
    // Phases that take turns add up.
    if (json.at("settings").at("communication") != "pipelined") {
      CHECK(whole_s >= (update_s + communication_s) * (1.0 - 1e-9));
    }
    for (const char* model : {"tau-Lop", "tau-Lop event", "HLogGP", "Hockney"}) {
      const bool is_known = i < communications.size() || model == std::string("Hockney");
      CHECK(json.at("figures").contains(std::string("communication_s by ") + model) == is_known);
    }
  }
}

TEST_CASE("Ranks whose messages cost more than their updates gain get no blocks with --avoid-communication") {
  const TemporaryFolder folder;
  const Words any =
      Words{"--size", "64", "--block", "8", "--units", "host", "--avoid-communication"} + with_hockney(folder, 1e-3);
  // 64 blocks an iteration: seconds of updates beside a millisecond of messages, or microseconds.
  const auto outcomes = run_app(
      summa, {{3, any + with_models(folder, {0.1}) + Words{"--dry-run"}}, {3, any + with_models(folder, {1e-6})}},
      folder);
  const Rectangles all = parts_in_table(outcomes[0].out), one = parts_in_table(outcomes[1].out);
  CHECK(tile(all, 8));
  CHECK(tile(one, 8));
  const auto is_empty = [](const partition::Rectangle& part) { return part.empty(); };
  CHECK(std::ranges::none_of(all, is_empty));
  CHECK(std::ranges::count_if(one, is_empty) == 2);
}

TEST_CASE("summa prints once, from rank 0, and its result folder says what ran and what came of it") {
  const int ranks = GENERATE(1, 3);
  const TemporaryFolder folder;
  const Words how{"--communication", "paper", "--barrier", "--seed", "7", "--slowdown", "rank0=2"};
  const Outcome outcome = run_summa(ranks, how + Words{"--size", "61", "--block", "8", "--result", "result"}, folder);
  for (const char* start : {"summa n = 61, double, 8 x 8 blocks of 8, communication paper", "host ", "unit ", "time ",
                            "predicted ", "speed ", "  update ", "  communication ", "check      passed"}) {
    INFO(start << " in\n" << outcome.out);
    CHECK(lines_that_start(outcome.out, start) == 1);
  }
  const auto json = read_run(folder / "result", "summa");
  for (const auto& [name, value] : {std::pair{"n", 61}, {"block", 8}, {"blocks", 8}, {"barrier", 1}}) {
    CHECK(json.at("params").at(name) == value);
  }
  CHECK(json.at("settings").at("partition") == "column");
  CHECK(json.at("settings").at("communication") == "paper");

  const Rectangles parts = parts_in_table(outcome.out), rectangles = rectangles_of(json);
  CHECK(json.at("distribution").get<std::vector<long long>>() == slices_in_table(outcome.out, "blocks"));
  CHECK(tile(parts, 8));
  REQUIRE(rectangles.size() == static_cast<std::size_t>(ranks));
  CHECK(tile(rectangles, 8));
  CHECK(share_out(rectangles, parts));

  const double median_s = json.at("median_time_s");
  CHECK(std::abs(json.at("figures").at("flops_per_s").get<double>() * median_s / (2.0 * 61 * 61 * 61) - 1.0) < 1e-9);
  REQUIRE(json.at("phases").size() == 2);
  CHECK(phase(json, "update").at("measured_s").get<double>() > 0.0);
  CHECK(phase(json, "update").at("predicted_s").get<double>() > 0.0);
  CHECK((phase(json, "communication").at("predicted_s").get<double>() > 0.0) == (ranks > 1));
  CHECK(read_samples(folder / "result").front().at("communication") == "paper");
}

TEST_CASE("What summa measures itself does not change the product, and serves another size of the same blocks") {
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

TEST_CASE("What summa cannot do is refused with exit code 2 and one line that says what is wrong") {
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
}  // namespace steelyard::tests::test_summa_results
