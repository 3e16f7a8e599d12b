// What gemm prints, leaves and refuses, and what it says of a wrong BLAS: a device may have one of its own, which is
// right.

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>

#include "core/base/json_file.hpp"
#include "core/host_blas.hpp"
#include "models/fpm_file.hpp"
#include "tests/catch.hpp"
#include "tests/miniapps/gemm/gemm_files.hpp"
#include "tests/miniapps/wrong_blas.hpp"

namespace steelyard::tests::test_gemm_results {
namespace {

const std::filesystem::path gemm = built("gemm");

Outcome run_gemm(int ranks, const Words& arguments, const TemporaryFolder& folder) {
  return run_app(gemm, {{ranks, arguments}}, folder).front();
}

std::vector<long long> block_rows_in_table(const std::string& out) { return slices_in_table(out, "block rows"); }

TEST_CASE("A dry run of gemm predicts what a run does, runs nothing and writes nothing but its result") {
  const int ranks = GENERATE(1, 3);
  const TemporaryFolder models, run_folder, dry_folder;
  std::vector<double> seconds;
  for (int i = 0; i < 2 * ranks; ++i) seconds.push_back(1e-6 * (1 + i));
  const Words words = Words{"--m", "220", "--n", "50", "--k", "40", "--block", "7"} + with_models(models, seconds) +
                      Words{"--result", "result", "--output", "a/b/c.npy"};
  const Outcome ran = run_gemm(ranks, words, run_folder), dry = run_gemm(ranks, words + Words{"--dry-run"}, dry_folder);
  const std::vector<long long> slices = block_rows_in_table(dry.out);
  CHECK(slices == block_rows_in_table(ran.out));
  CHECK(sum(slices) == 32);
  CHECK(lines_that_start(dry.out, "time ") == 0);
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
  std::vector<std::string> titles;
  std::vector<AppRun> runs;
  for (const auto& [line, title] : {std::pair{"", "m = 2048, n = 2048, k = 2048, double, alpha = 1, beta = 0,"},
                                    {"--size 12 --type float", "m = 12, n = 12, k = 12, float,"},
                                    {"--n 4", "m = 2048, n = 4, k = 2048, "},
                                    {"--k 5 --m 3 --n 4 --alpha -0.5 --beta 2e-3 --block 77",
                                     "m = 3, n = 4, k = 5, double, alpha = -0.5, beta = 0.002, block rows of 77"},
                                    {"--input a.npy b.npy c.npy --beta 1", "m = 3, n = 7, k = 5, "},
                                    {"--input none.npy b.npy", "m = 0, n = 7, k = 5, "}}) {
    titles.emplace_back(title);
    runs.push_back({1, words(line) + Words{"--dry-run"}});
  }
  const std::vector<Outcome> outcomes = run_app(gemm, runs, folder);
  for (std::size_t i = 0; i < runs.size(); ++i) {
    INFO(outcomes[i].out);
    CHECK(lines_that_start(outcomes[i].out, "gemm " + titles[i]) == 1);
  }
}

TEST_CASE("gemm prints once, from rank 0, and its result folder says what ran and what came of it") {
  const int ranks = GENERATE(1, 3);
  const TemporaryFolder folder;
  const std::string line =
      "--m 61 --n 37 --k 25 --alpha -0.5 --beta 2 --block 4 --seed 7 --repetitions 4 --warmups 1 --slowdown rank0=2 "
      "--result deep/result";
  const Outcome outcome = run_gemm(ranks, words(line), folder);
  for (const char* start : {"gemm ", "time ", "check      passed"}) CHECK(lines_that_start(outcome.out, start) == 1);
  const auto json = read_run(folder / "deep" / "result", "gemm");
  const std::map<std::string, double> expected{{"m", 61},     {"n", 37},    {"k", 25},       {"alpha", -0.5},
                                               {"beta", 2.0}, {"block", 4}, {"ranks", ranks}};
  CHECK(json.at("params").get<std::map<std::string, double>>() == expected);
  CHECK(sum(json.at("distribution").get<std::vector<long long>>()) == 16);
  for (const auto& unit : json.at("units")) {
    CHECK(unit.at("slowdown").get<double>() == (unit.at("rank") == 0 ? 2.0 : 1.0));
    CHECK(unit.at("emulated") == (unit.at("rank") == 0));
    CHECK(json.at("settings").contains(unit.at("kind").get<std::string>() + "_blas"));
  }
  const auto& figures = json.at("figures");
  const double median_s = json.at("median_time_s");
  for (const char* name : {"units_flops_per_s", "share_of_units"}) CHECK(figures.at(name).get<double>() > 0.0);

  std::vector<double> times;
  for (const auto& sample : read_samples(folder / "deep" / "result")) {
    CHECK(sample.at("repetition") == std::to_string(times.size()));
    for (const auto& [name, value] : expected) CHECK(sample.at("params").at(name) == value);
    times.push_back(sample.at("value").get<double>());
  }
  REQUIRE(times.size() == 4);
  std::sort(times.begin(), times.end());
  CHECK((times[0] > 0.0 && times[1] <= median_s && median_s <= times[2]));
}

/// Three repetitions whatever comes, as in test_steelyard_measure.cpp.
Words measured_with(const std::string& device_memory) {
  return words(
      "measure gemm --n 64 --k 64 --sizes 1 4 16 --units host+device --repetitions-min 3 --repetitions-max 3 "
      "--warmups 0 --rounds 1 --precision 0.99 --confidence 0.2 --output out --device-memory " +
      device_memory);
}

TEST_CASE("Models of a device of little memory know where it ends, and serve gemm") {
  const int ranks = GENERATE(1, 2);
  const bool is_least = GENERATE(false, true);
  const std::string memory = is_least ? "40KiB" : "200KiB";
  const TemporaryFolder folder;
  good_run(ranks, steelyard_tool, measured_with(memory), folder.path());
  Words models;
  for (int rank = 0; rank < ranks; ++rank) {
    for (const std::string kind : {"host", "device"}) {
      models.push_back(folder / ("out/rank" + std::to_string(rank) + "-" + kind + ".fpm.json"));
      const models::FpmFile file = models::read_fpm_file(models.back());
      CHECK(file.unit_kind == kind);
      CHECK(file.points.size() == 3);
      // B takes 32 KiB, a block row of A and C as much; in the least memory nothing is in core.
      CHECK((file.in_core_units == 5.0) == (kind == "device" && !is_least));
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
  const std::string a = matrix("a", 3, 5), b = matrix("b", 5, 7);
  const std::string whole = inputs.read("b.npy");
  write_grid(file("float"), random_grid<float>(5, 7, 1));
  inputs.write("short.npy", whole.substr(0, whole.size() - 1));
  inputs.write("text.npy", "no matrix");

  // On several ranks as on one, by each part that refuses.
  inputs.expect_refused(
      {{{"--size", "9", "--platform", "here.json"}, "--platform"},
       {{"--size", "9", "--alpha", "nan"}, "--alpha nan"},
       {{"--size", "9", "--device-memory", "40959"}, "--device-memory 40959 (expected at least 40960"},
       {{"--input", a, file("missing")}, "missing.npy"},
       {{"--input", a, file("short")}, "short.npy: data"}},
      inputs.with_model());
  inputs.expect_refused({{{"--model", parameter("n", "8")}, "n8: parameters.n: is 8 (expected 9)"},
                         {{"--model", model("app", R"("app": "wave2d")")}, "app: app: is wave2d (expected gemm)"},
                         {Words{"--model"} + Words(7, inputs.model()), "--model"}},
                        {"--size", "9"});
  inputs.expect_refused({{{"--model", parameter("block", "16")}, "block16: parameters.block: is 16 (expected 32)"},
                         {{"--model", parameter("k", "10")}, "k10: parameters.k: is 10 (expected 9)"},
                         {{"--model", model("element", R"("element": "float")")}, "element: element"},
                         {{"--model", parameter("reads_c", "1")}, "reads_c1: parameters.reads_c"},
                         {{"--beta", "1", "--model", parameter("reads_c", "0")}, "reads_c0: parameters.reads_c"}},
                        {"--size", "9"}, {1});
  std::vector<Mistake> mistakes{
      {{"--partition", "bogus"}, "bogus"},
      {{"--type", "float", "--device-memory", "20479"}, "--device-memory 20479 (expected at least 20480"},
      {{"--beta", "0.5", "--input", a, b}, "--input names 2 files (expected A.npy B.npy C.npy, for --beta is not 0"},
      {{"--input", a}, "--input names 1 file (expected A.npy B.npy"},
      {{"--input", a, matrix("shallow", 4, 7)}, "shallow.npy: shape: has k = 4 (expected 5 as in " + a},
      {{"--input", a, b, matrix("tall", 4, 7)}, "tall.npy: shape: has m = 4 (expected 3 as in " + a},
      {{"--input", a, b, matrix("wide", 3, 8)}, "wide.npy: shape: has n = 8 (expected 7 as in " + b},
      {{"--m", "4", "--input", a, b}, "a.npy: shape: has m = 3 (expected 4 as in --m)"},
      {{"--n", "6", "--input", a, b}, "b.npy: shape: has n = 7 (expected 6 as in --n)"},
      {{"--input", a, file("float")}, "float.npy: descr: is '<f4' (expected '<f8')"},
      {{"--type", "float", "--input", a, b}, "a.npy: descr: is '<f8' (expected '<f4')"},
      {{"--input", a, file("text")}, "text.npy"},
      // Without columns a file may claim any number of rows.
      {{"--input", matrix("endless", std::int64_t{1} << 31, 0), matrix("none", 0, 7)},
       "endless.npy: shape: has m = 2147483648 (expected at most 2147483647"}};
  for (const std::string extent : {"--m", "--n", "--k"}) {
    mistakes.push_back({{"--size", "9", extent, "9"}, "--size excludes " + extent});
  }
  for (const auto& [options, values] : {std::pair{"--size --m --n --k", "-1 2.5 2147483648"},
                                        {"--block", "0 x 1048577"},
                                        {"--alpha --beta", "x inf"},
                                        {"--device-memory", "x -64MiB 99999999999GiB 0"}}) {
    for (const std::string& option : words(options)) {
      for (const std::string& value : words(values)) mistakes.push_back({{option, value}, option});
    }
  }
  inputs.expect_refused(mistakes, inputs.with_model(), {1});
  tests::expect_refused(steelyard_tool, {{measured_with("39KiB"), "--device-memory 39936 (expected at least 40960"},
                                         {{"measure", "gemm", "--sizes", "4", "--beta", "nan"}, "--beta nan"}});
}

TEST_CASE("A result of gemm that cannot be written ends the run with exit code 3 and one line", "[host]") {
  const TemporaryFolder models;
  expect_unwritable_refused(
      gemm, {"--size", "9", "--repetitions", "1", "--model", write_model(models, "even.fpm.json", 1e-6)});
}

const Words once{"--repetitions", "1", "--warmups", "0"}, small = once + Words{"--size", "64", "--block", "4"};

TEMPLATE_TEST_CASE("A wrong element fails the check, and gemm and summa exit 1 with all that they have found", "",
                   double, float) {
  const int ranks = GENERATE(1, 3);
  const std::filesystem::path program = GENERATE(built("gemm"), built("summa"));
  const std::string name = program.filename().string();
  const WrongBlas blas(program);
  const GemmFiles<TestType> files(70, 70, 70);
  files.write(blas.folder());
  const Words platform = name == "summa" ? with_platform(blas.folder()) : Words{};
  const Words words = once + Words{"--block", "8", "--output", "wrong.npy", "--result", "result"} + platform;
  const Outcome outcome = blas.run(ranks, words + files.arguments(), {"STEELYARD_WRONG_BY=0.01"});
  INFO(outcome.out << outcome.err);
  CHECK(outcome.status == 1);
  CHECK(outcome.told_by(name).empty());
  CHECK(lines_that_start(outcome.out, "check      FAILED: ") == 1);
  CHECK(lines_that_start(outcome.out, "time ") == 1);
  const auto check = read_run(blas.folder() / "result", name).at("check");
  CHECK(check.at("passed") == false);
  CHECK(check.at("error").get<double>() > check.at("tolerance").get<double>());
  // The file holds what was computed, wrong as it is.
  const auto found = read_grid<TestType>(blas.folder() / "wrong.npy");
  CHECK(files.deviation(found, 1.0, name == "summa" ? 1.0 : 0.0) > 1.0);
}

TEST_CASE("One rank that is wrong, a NaN and a small error in a large product fail the check, and only those") {
  const WrongBlas blas(gemm);
  const Words large = once + Words{"--size", "600"};
  std::vector<Start> starts{blas.start(3, small, {}), blas.start(1, large, {})};
  for (const std::string rank : {"0", "1", "2"}) {
    starts.push_back(blas.start(3, small, {"STEELYARD_WRONG_BY=0.01", "STEELYARD_WRONG_RANK=" + rank}));
  }
  starts.push_back(blas.start(2, small, {"STEELYARD_WRONG_BY=nan"}));
  starts.push_back(blas.start(2, large, {"STEELYARD_WRONG_BY=1e-6"}));
  const std::vector<Outcome> outcomes = run_all(starts);
  for (std::size_t i = 0; i < starts.size(); ++i) {
    INFO(i << "\n" << outcomes[i].out << outcomes[i].err);
    CHECK(outcomes[i].status == (i < 2 ? 0 : 1));
    CHECK(lines_that_start(outcomes[i].out, i < 2 ? "check      passed: " : "check      FAILED: ") == 1);
  }
}

TEST_CASE("A wrong repetition is found by --check all, by --check last where it is the last, and never by none") {
  const WrongBlas blas(gemm);
  const Words three{"--size", "24", "--units", "host", "--repetitions", "3", "--warmups", "0", "--check"};
  std::vector<Start> starts;
  for (int call = 1; call <= 8; ++call) {
    for (const char* level : {"none", "last", "all"}) {
      // Chosen kernels, or on a processor that OpenBLAS does not know looking for others would make calls, too.
      starts.push_back(blas.start(1, three + Words{level},
                                  {"STEELYARD_WRONG_BY=0.01", "STEELYARD_WRONG_CALL=" + std::to_string(call),
                                   "OPENBLAS_CORETYPE=" + host_blas().kernels}));
    }
  }
  const std::vector<Outcome> outcomes = run_all(starts);
  int found_by_last = 0, found_by_all = 0;
  for (std::size_t i = 0; i < outcomes.size(); i += 3) {
    INFO("call " << i / 3 + 1);
    CHECK(outcomes[i].status == 0);
    CHECK(lines_that_start(outcomes[i].out, "check      not done: --check none") == 1);
    CHECK((outcomes[i + 1].status == 0 || outcomes[i + 2].status == 1));
    found_by_last += outcomes[i + 1].status;
    found_by_all += outcomes[i + 2].status;
  }
  CHECK(found_by_last == 1);
  CHECK(found_by_all == 3);
}

TEST_CASE(
    "Where OpenBLAS does not know the processor gemm takes kernels that fit, if they are right, but the user's first") {
  const std::vector<std::string> fitting =
      wider_blas_kernels("Prescott", processor_vector_bits(), processor_has_bfloat16());
  if (host_blas().kernels.empty() || fitting.empty()) SKIP("this BLAS has no kernels to choose from");
  const WrongBlas blas(gemm);
  const int ranks = GENERATE(1, 2);
  const auto run = [&](const Words& how) {
    // A name alone is removed from the environment.
    const Words unknown{"OPENBLAS_CORETYPE", "STEELYARD_UNKNOWN=1"};
    const Outcome outcome = blas.run(ranks, small + Words{"--result", "result"}, unknown + how);
    INFO(outcome.out << outcome.err);
    CHECK(outcome.status == 0);
    return outcome.err + outcome.blas_note + "\n" +
           read_run(blas.folder() / "result", "gemm").at("blas").get<std::string>();
  };
  const auto note = [&](const std::string& kernels) {
    return host_blas().library + " does not know this processor: " + kernels + " kernels instead of Prescott\n";
  };
  const std::string chosen = run({});
  CHECK(contains(chosen, "steelyard: " + note(fitting[0])));
  CHECK(contains(chosen, ", " + fitting[0] + " kernels)"));
  // Kernels whose products are wrong are not taken.
  const std::string second = run({"STEELYARD_WRONG_BY=1", "STEELYARD_WRONG_CORE=" + fitting[0]});
  CHECK(contains(second, fitting.size() > 1 ? note(fitting[1]) : std::string("Prescott")));
  const std::string users = run({"OPENBLAS_CORETYPE=Haswell"});
  CHECK_FALSE(contains(users, "does not know"));
  CHECK(contains(users, "Haswell kernels)"));
}

}  // namespace
}  // namespace steelyard::tests::test_gemm_results
