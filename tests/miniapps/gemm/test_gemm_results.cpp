// What gemm prints, what it leaves for other programs, and what it refuses.

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>

#include "core/base/json_file.hpp"
#include "models/fpm_file.hpp"
#include "tests/catch.hpp"
#include "tests/miniapps/gemm/gemm_runs.hpp"

namespace steelyard::tests::test_gemm_results {
namespace {

TEST_CASE("A dry run of gemm predicts what a run does, runs nothing and writes nothing but its result") {
  const int ranks = GENERATE(1, 3);
  const TemporaryFolder models, run_folder, dry_folder;
  std::vector<double> seconds;
  for (int i = 0; i < 2 * ranks; ++i) seconds.push_back(1e-6 * (1 + i));
  const Words words = Words{"--m", "220", "--n", "50", "--k", "40", "--block", "7"} + with_models(models, seconds);
  const Words files{"--result", "result", "--output", "a/b/c.npy"};
  const Outcome ran = run_gemm(ranks, words + files, run_folder);
  const Outcome dry = run_gemm(ranks, words + files + Words{"--dry-run"}, dry_folder);
  const std::vector<long long> slices = block_rows_in_table(dry.out);
  CHECK(slices == block_rows_in_table(ran.out));
  CHECK(sum(slices) == 32);
  CHECK(std::is_sorted(slices.rbegin(), slices.rend()));
  for (const char* start : {"time ", "speed ", "check "}) CHECK(lines_that_start(dry.out, start) == 0);
  CHECK(read_grid<double>(run_folder / "a/b/c.npy").rows == 220);
  CHECK(std::distance(std::filesystem::directory_iterator(dry_folder.path()), {}) == 1);
  const auto predicted = read_json_file(dry_folder / "result/run.json");
  CHECK(predicted.at("median_time_s").is_null());
  CHECK(predicted.at("predicted_time_s") == read_run(run_folder / "result", "gemm").at("predicted_time_s"));
}

TEST_CASE("Extents are those of --size, of --m, --n and --k, of the files, or the usual ones") {
  const TemporaryFolder folder;
  write_grid(folder / "a.npy", random_grid<double>(3, 5, 1));
  write_grid(folder / "b.npy", random_grid<double>(5, 7, 1));
  write_grid(folder / "c.npy", random_grid<double>(3, 7, 1));
  write_grid(folder / "none.npy", random_grid<double>(0, 5, 1));
  const Words files{"--input", "a.npy", "b.npy"};
  const std::vector<std::pair<Words, std::string>> cases{
      {{}, "m = 2048, n = 2048, k = 2048, double, alpha = 1, beta = 0,"},
      {{"--size", "12", "--type", "float"}, "m = 12, n = 12, k = 12, float,"},
      {{"--n", "4"}, "m = 2048, n = 4, k = 2048, "},
      {{"--k", "5", "--m", "3", "--n", "4", "--alpha", "-0.5", "--beta", "2e-3", "--block", "77"},
       "m = 3, n = 4, k = 5, double, alpha = -0.5, beta = 0.002, block rows of 77"},
      {files, "m = 3, n = 7, k = 5, "},
      {files + Words{"c.npy", "--beta", "1"}, "m = 3, n = 7, k = 5, "},
      {files + Words{"--m", "3", "--n", "7", "--k", "5"}, "m = 3, n = 7, k = 5, "},
      {{"--input", "none.npy", "b.npy"}, "m = 0, n = 7, k = 5, "}};
  std::vector<AppRun> runs;
  for (const auto& [words, title] : cases) runs.push_back({1, words + Words{"--dry-run"}});
  const std::vector<Outcome> outcomes = run_gemm(runs, folder);
  for (std::size_t i = 0; i < cases.size(); ++i) {
    INFO(outcomes[i].out);
    CHECK(lines_that_start(outcomes[i].out, "gemm " + cases[i].second) == 1);
  }
}

TEST_CASE("gemm prints once, from rank 0, and its result folder says what ran and what came of it") {
  const int ranks = GENERATE(1, 3);
  const TemporaryFolder folder;
  const Outcome outcome =
      run_gemm(ranks, {"--m",       "61", "--n",        "37",      "--k",      "25",         "--alpha",       "-0.5",
                       "--beta",    "2",  "--block",    "4",       "--seed",   "7",          "--repetitions", "4",
                       "--warmups", "1",  "--slowdown", "rank0=2", "--result", "deep/result"},
               folder);
  for (const char* start :
       {"gemm ", "host ", "unit ", "time ", "predicted ", "speed ", "check      passed", "result "}) {
    INFO(start << " in\n" << outcome.out);
    CHECK(lines_that_start(outcome.out, start) == 1);
  }
  const auto json = read_run(folder / "deep" / "result", "gemm");
  const std::map<std::string, double> expected{{"m", 61},     {"n", 37},    {"k", 25},       {"alpha", -0.5},
                                               {"beta", 2.0}, {"block", 4}, {"ranks", ranks}};
  CHECK(json.at("params").get<std::map<std::string, double>>() == expected);
  const auto slices = json.at("distribution").get<std::vector<long long>>();
  CHECK(sum(slices) == 16);
  CHECK(slices == block_rows_in_table(outcome.out));
  for (const auto& unit : json.at("units")) {
    CHECK(unit.at("slowdown").get<double>() == (unit.at("rank") == 0 ? 2.0 : 1.0));
    CHECK(unit.at("emulated") == (unit.at("rank") == 0));
    CHECK(json.at("settings").contains(unit.at("kind").get<std::string>() + "_blas"));
  }
  const auto& figures = json.at("figures");
  const double median_s = json.at("median_time_s");
  CHECK(std::abs(figures.at("flops_per_s").get<double>() * median_s / (2.0 * 61 * 37 * 25) - 1.0) < 1e-9);
  CHECK(figures.at("units_flops_per_s").get<double>() > 0.0);
  CHECK(figures.at("share_of_units").get<double>() > 0.0);
  REQUIRE(json.at("phases").size() == 1);
  CHECK(json.at("phases")[0].at("measured_s") == json.at("median_time_s"));
  CHECK(json.at("phases")[0].at("predicted_s") == json.at("predicted_time_s"));
  CHECK(json.at("predicted_time_s").get<double>() > 0.0);

  std::vector<double> times;
  for (const auto& sample : read_samples(folder / "deep" / "result")) {
    CHECK(sample.at("params").at("repetition").get<std::size_t>() == times.size());
    for (const auto& [name, value] : expected) CHECK(sample.at("params").at(name) == value);
    times.push_back(sample.at("value").get<double>());
    CHECK(times.back() > 0.0);
  }
  REQUIRE(times.size() == 4);
  std::sort(times.begin(), times.end());
  CHECK(median_s >= times[1]);
  CHECK(median_s <= times[2]);
}

TEST_CASE("Runs without anything to multiply have results that can be read") {
  const auto [m, n, k] = GENERATE(std::array{"0", "3", "5"}, std::array{"4", "0", "5"}, std::array{"4", "3", "0"});
  CAPTURE(m, n, k);
  const TemporaryFolder folder;
  const Words often{"--repetitions", "3", "--device-memory", "1MiB", "--result", "result"};
  const Outcome outcome = run_gemm(1, Words{"--m", m, "--n", n, "--k", k} + often, folder);
  CHECK(lines_that_start(outcome.out, "speed ") == 0);
  CHECK_FALSE(contains(outcome.out, "nan"));
  CHECK_FALSE(contains(outcome.out, "inf"));
  const auto json = read_run(folder / "result", "gemm");
  CHECK(sum(json.at("distribution").get<std::vector<long long>>()) == (m == std::string("0") ? 0 : 1));
  CHECK(json.at("check").at("passed") == true);
  CHECK(read_samples(folder / "result").size() == 3);
}

TEST_CASE("What gemm measures itself serves its next run") {
  const TemporaryFolder folder;
  const Words problem{"--m", "120", "--n", "50", "--k", "40", "--block", "4", "--units", "host", "--repetitions", "1"};
  good_run(2, gemm, problem + Words{"--result", "result"}, folder.path());
  const Words models{"--model", folder / "result/models/rank0-host.fpm.json",
                     folder / "result/models/rank1-host.fpm.json"};
  CHECK(models::read_fpm_file(models.back()).flops_per_unit == 2.0 * 4 * 50 * 40);
  const Outcome second = run_gemm(2, problem + models, folder);
  CHECK_FALSE(contains(second.out, "speed models measured"));
  CHECK(sum(block_rows_in_table(second.out)) == 30);
}

/// Three repetitions whatever comes, as in test_steelyard_measure.cpp.
Words measured_with(const std::string& device_memory) {
  const Words sizes{"--n", "64", "--k", "64", "--sizes", "1", "4", "16", "--units", "host+device"};
  const Words repetitions{"--repetitions-min", "3", "--repetitions-max", "3", "--warmups", "0", "--rounds", "1"};
  const Words precision{"--precision", "0.99", "--confidence", "0.2", "--output", "out"};
  return Words{"measure", "gemm", "--device-memory", device_memory} + sizes + repetitions + precision;
}

TEST_CASE("Models of a device of little memory know where it ends, and serve gemm") {
  const int ranks = GENERATE(1, 2);
  const bool is_least = GENERATE(false, true);
  const std::string memory = is_least ? "40KiB" : "200KiB";
  const TemporaryFolder folder;
  good_run(ranks, steelyard_tool, measured_with(memory), folder.path());
  Words models;
  for (int rank = 0; rank < ranks; ++rank) {
    for (const std::string& kind : Words{"host", "device"}) {
      models.push_back(folder / ("out/rank" + std::to_string(rank) + "-" + kind + ".fpm.json"));
      const models::FpmFile file = models::read_fpm_file(models.back());
      CHECK(file.unit_kind == kind);
      CHECK(file.flops_per_unit == 2.0 * 32 * 64 * 64);
      CHECK(file.points.size() == 3);
      // B takes 32 KiB, a block row of A and C as much; in the least memory nothing is in core.
      const bool is_in_core = kind == "device" && !is_least;
      CHECK((file.in_core_units == 5.0) == is_in_core);
      if (kind == "device" && is_least) CHECK(std::isinf(file.in_core_units));
      CHECK(file.max_units > 16.0);
    }
  }
  const Words problem{"--m", "640", "--n", "64", "--k", "64", "--device-memory", memory, "--model"};
  const Outcome multiplied = run_gemm(ranks, problem + models, folder);
  CHECK_FALSE(contains(multiplied.out, "speed models measured"));
  CHECK(sum(block_rows_in_table(multiplied.out)) == 20);
  std::sort(models.begin(), models.end());  // as a shell puts `out/*` in order
  expect_refused(gemm, {{{}, "rank0-device.fpm.json: unit.kind: is device (expected host"}}, problem + models, {ranks});
}

TEST_CASE("A device of little memory gets block rows by its model in core and out of it") {
  const TemporaryFolder folder;
  // In core and out of it block rows take very different times, which no machine measures.
  folder.write("device.fpm.json", R"({"schema": "steelyard.fpm/1", "app": "gemm", "kernel": "gemm", "element": "double",
    "unit": {"kind": "device"}, "parameters": {"n": 64, "k": 64, "block": 32, "reads_c": 0}, "in_core_units": 5,
    "points": [{"units": 1, "time_s": 1}, {"units": 4, "time_s": 4}, {"units": 8, "time_s": 80},
               {"units": 16, "time_s": 160}]})");
  // The host is a fifth as fast as the device in core, and twice as fast out of it.
  const Words models = with_models(folder, {5.0}) + Words{"device.fpm.json"};
  const Words problem{"--m", "320", "--n", "64", "--k", "64", "--dry-run"};
  CHECK(block_rows_in_table(run_gemm(1, problem + models, folder).out) == std::vector<long long>{5, 5});
}

TEST_CASE(
    "What gemm cannot do is refused with exit code 2 and one line that says what is wrong, and what is expected") {
  const WrongRuns inputs(gemm, {"--repetitions", "1", "--output", "product.npy", "--result", "result"});
  const auto file = [&](const std::string& name) { return inputs.path(name + ".npy"); };
  const auto matrix = [&](const std::string& name, std::int64_t rows, std::int64_t columns) {
    write_grid(file(name), random_grid<double>(rows, columns, 1));
    return file(name);
  };
  const auto model = [&](const char* name, const std::string& facts) {
    return inputs.write(name,
                        R"({"schema": "steelyard.fpm/1", )" + facts + R"(, "points": [{"units": 1, "time_s": 1e-6}]})");
  };
  const auto parameter = [&](const std::string& name, const std::string& value) {
    return model((name + value).c_str(), R"("parameters": {")" + name + R"(": )" + value + "}");
  };
  const std::string a = matrix("a", 3, 5), b = matrix("b", 5, 7), c = matrix("c", 3, 7);
  const std::string whole = inputs.read("b.npy");
  write_grid(file("float"), random_grid<float>(5, 7, 1));
  inputs.write("short.npy", whole.substr(0, whole.size() - 1));
  inputs.write("text.npy", "no matrix");

  // On several ranks as on one, by each part that refuses.
  inputs.expect_refused(
      {{{"--sise", "9"}, "--sise"},
       {{"--size", "9", "more"}, "more"},
       {{"--size", "9", "--platform", "here.json"}, "--platform"},
       {{"--size", "9", "--units", "gpu"}, "gpu"},
       {{"--size", "9", "--alpha", "nan"}, "--alpha nan"},
       {{"--size", "9", "--device-memory", "40959"}, "--device-memory 40959 (expected at least 40960"},
       {{"--size", "9", "--slowdown", "device=0.5"}, "0.5"},
       {{"--size", "9", "--slowdown", "rank7=2"}, "rank 7"},
       {{"--size", "9", "--layout", inputs.path("missing")}, "missing"},
       {{"--size", "9", "--layout", inputs.write("away", "elsewhere 0 0 host\n")}, "rank 0 on node"},
       {{"--input", a, file("missing")}, "missing.npy"},
       {{"--input", a, file("short")}, "short.npy: data"}},
      inputs.with_model());
  inputs.expect_refused({{{"--model", parameter("n", "8")}, "n8: parameters.n: is 8 (expected 9)"},
                         {{"--model", parameter("block", "16")}, "block16: parameters.block: is 16 (expected 32)"},
                         {{"--model", model("element", R"("element": "float")")}, "element: element"},
                         {{"--model", model("app", R"("app": "wave2d")")}, "app: app: is wave2d (expected gemm)"},
                         {{"--model", inputs.path("missing")}, "missing"},
                         {Words{"--model"} + Words(7, inputs.model()), "--model"}},
                        {"--size", "9"});
  inputs.expect_refused({{{"--model", parameter("k", "10")}, "k10: parameters.k: is 10 (expected 9)"},
                         {{"--model", parameter("reads_c", "1")}, "reads_c1: parameters.reads_c"},
                         {{"--beta", "1", "--model", parameter("reads_c", "0")}, "reads_c0: parameters.reads_c"}},
                        {"--size", "9"}, {1});
  std::vector<Mistake> mistakes{
      {{"--size", "9", "--m", "9"}, "--size excludes --m"},
      {{"--n", "9", "--size", "9"}, "--size excludes --n"},
      {{"--k", "9", "--size", "9"}, "--size excludes --k"},
      {{"--partition", "bogus"}, "bogus"},
      {{"--check", "sometimes"}, "sometimes"},
      {{"--type", "float", "--device-memory", "20479"}, "--device-memory 20479 (expected at least 20480"},
      {{"--beta", "0.5", "--input", a, b}, "--input names 2 files (expected A.npy B.npy C.npy, for --beta is not 0"},
      {{"--input", a}, "--input names 1 file (expected A.npy B.npy"},
      {{"--input", a, b, a, b}, "--input names 4 files"},
      {{"--input", a, matrix("shallow", 4, 7)}, "shallow.npy: shape: has k = 4 (expected 5 as in " + a},
      {{"--input", a, b, matrix("tall", 4, 7)}, "tall.npy: shape: has m = 4 (expected 3 as in " + a},
      {{"--input", a, b, matrix("wide", 3, 8)}, "wide.npy: shape: has n = 8 (expected 7 as in " + b},
      {{"--m", "4", "--input", a, b}, "a.npy: shape: has m = 3 (expected 4 as in --m)"},
      {{"--k", "6", "--input", a, b}, "a.npy: shape: has k = 5 (expected 6 as in --k)"},
      {{"--n", "6", "--input", a, b}, "b.npy: shape: has n = 7 (expected 6 as in --n)"},
      {{"--size", "5", "--input", a, b}, "a.npy: shape: has m = 3 (expected 5 as in the command line)"},
      {{"--input", b, a}, "a.npy: shape: has k = 3 (expected 7 as in " + b},
      {{"--input", a, file("float")}, "float.npy: descr: is '<f4' (expected '<f8')"},
      {{"--type", "float", "--input", a, b}, "a.npy: descr: is '<f8' (expected '<f4')"},
      {{"--input", a, file("text")}, "text.npy"},
      // Without columns a file may claim any number of rows.
      {{"--input", matrix("endless", std::int64_t{1} << 31, 0), matrix("none", 0, 7)},
       "endless.npy: shape: has m = 2147483648 (expected at most 2147483647"}};
  for (const char* extent : {"--size", "--m", "--n", "--k"}) {
    for (const char* value : {"-1", "2.5", "2147483648"}) mistakes.push_back({{extent, value}, extent});
  }
  for (const char* value : {"0", "x", "1048577"}) mistakes.push_back({{"--block", value}, "--block"});
  for (const char* factor : {"--alpha", "--beta"}) {
    for (const char* value : {"x", "inf"}) mistakes.push_back({{factor, value}, factor});
  }
  for (const char* bytes : {"x", "-64MiB", "64 parsecs", "99999999999GiB", "0"}) {
    mistakes.push_back({{"--device-memory", bytes}, "--device-memory"});
  }
  inputs.expect_refused(mistakes, inputs.with_model(), {1});
  tests::expect_refused(gemm, {{{"--size", "9", "--repetitions", "0"}, "--repetitions"}}, inputs.with_model(), {1});
  tests::expect_refused(steelyard_tool, {{measured_with("39KiB"), "--device-memory 39936 (expected at least 40960"},
                                         {{"measure", "gemm", "--sizes", "4", "--beta", "nan"}, "--beta nan"}});
}

TEST_CASE("A result of gemm that cannot be written ends the run with exit code 3 and one line") {
  const TemporaryFolder models;
  expect_unwritable_refused(
      gemm, {"--size", "9", "--repetitions", "1", "--model", write_model(models, "even.fpm.json", 1e-6)});
}

}  // namespace
}  // namespace steelyard::tests::test_gemm_results
