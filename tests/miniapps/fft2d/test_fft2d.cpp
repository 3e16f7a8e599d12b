// What fft2d prints, leaves for other programs and refuses; who owns what of a transform, and what its phases are
// predicted to take.

#include <complex>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <numeric>

#include "core/base/json_file.hpp"
#include "tests/catch.hpp"
#include "tests/miniapps/fft2d/fft2d_runs.hpp"
#include "tests/miniapps/grid.hpp"
#include "tests/miniapps/steelyard/predictions.hpp"

namespace steelyard::tests::test_fft2d {
namespace {

using Numbers = std::vector<long long>;
using namespace test_steelyard_predict;

TEST_CASE("What a user can get wrong is refused with its name, value or file") {
  // Each would write a spectrum and results.
  const WrongRuns runs(fft2d_program, {"--repetitions", "1", "--output", "spectrum.npy", "--result", "result"});
  const auto file = [&](const char* name) { return runs.path(name); };
  using Complex = std::complex<double>;
  write_grid(file("complex.npy"), Grid<Complex>(9, 7));
  write_grid(file("float.npy"), Grid<std::complex<float>>(9, 7));
  write_grid(file("real.npy"), Grid<double>(9, 7));
  write_grid(file("empty.npy"), Grid<Complex>(0, 7));
  const std::string good = runs.read("complex.npy");
  runs.write("short.npy", good.substr(0, good.size() - 1));
  runs.expect_refused({{{"--sise", "9"}, "--sise"},
                       {{"--size", "9", "--partition", "fair"}, "fair"},
                       {{"--size", "9", "--fft", "magic"}, "magic"},
                       {{"--size", "9", "--planner", "lazy"}, "lazy"},
                       {{"--size", "9", "--exchange", "slow"}, "slow"},
                       {{"--size", "9", "--type", "half"}, "half"},
                       {{"--size", "9", "--real", "--inverse"}, "--real with --inverse"},
                       {{"--size", "9", "--steps", "3"}, "--steps"},
                       {{"--size", "0"}, "--size"},
                       {{"--rows", "9"}, "--columns"},
                       {{"--size", "3000000000"}, "3000000000 x 3000000000"},
                       {{"--input", file("missing.npy")}, "missing.npy"},
                       {{"--input", file("short.npy")}, "short.npy"},
                       {{"--input", file("float.npy")}, "is '<c8' (expected '<c16')"},
                       {{"--input", file("real.npy")}, "is '<f8' (expected complex numbers, or --real)"},
                       {{"--input", file("complex.npy"), "--real"}, "is '<c16' (expected '<f8')"},
                       {{"--input", file("complex.npy"), "--type", "float"}, "complex.npy"},
                       {{"--input", file("empty.npy")}, "0 x 7"},
                       {{"--size", "9", "--input", file("complex.npy")}, "9 x 7"},
                       {{"--input", file("complex.npy"), file("complex.npy")}, "--input"}},
                      runs.with_model(), {2});
  const std::string start = R"({"schema": "steelyard.fpm/1", )";
  const std::string points = R"("points": [{"units": 1, "time_s": 1e-6}]})";
  const std::string nine = runs.write("nine", start + R"("parameters": {"columns": 9}, )" + points);
  const std::string real = runs.write("real", start + R"("parameters": {"real": 1}, )" + points);
  const std::string not_nine = "nine: parameters.columns: is 9 (expected 8)";
  runs.expect_refused({{{"--rows", "9", "--columns", "8", "--model", nine}, not_nine},
                       {{"--rows", "8", "--columns", "9", "--model", nine, "--column-model", nine}, not_nine},
                       {{"--size", "9", "--model", real}, "real: parameters.real"},
                       {{"--size", "9", "--column-model", runs.model()}, "--column-model without --model"}},
                      {}, {2});
  // What a run would measure.
  expect_refused(
      steelyard_tool,
      {{{"predict", "fft2d", "--rows", "9", "--columns", "8", "--model", runs.model()}, "--column-model is missing"}},
      {}, {1});
}

TEST_CASE("Only rank 0 prints, once, and units get what their speeds deserve") {
  const TemporaryFolder folder;
  const Outcome outcome = run_fft2d(2,
                                    Words{"--rows", "96", "--columns", "72", "--units", "host+device"} +
                                        with_models(folder, {1e-6, 2e-6, 1e-6, 2e-6}),
                                    folder);
  for (const char* start : {"fft2d 96 x 72 complex double", "time ", "predicted ", "  rows ", "  first exchange ",
                            "  columns ", "  second exchange ", "check      passed"}) {
    INFO(start << " in\n" << outcome.out);
    CHECK(lines_that_start(outcome.out, start) == 1);
  }
  CHECK(slices_in_table(outcome.out, "rows") == Numbers{32, 16, 32, 16});
  CHECK(slices_in_table(outcome.out, "columns") == Numbers{24, 12, 24, 12});
}

TEST_CASE("A dry run prints who gets what and writes nothing but its result") {
  const TemporaryFolder models;
  const TemporaryFolder folder;
  const Words arguments = with_column_models(
      with_models(models, {1e-6, 3e-6}) + Words{"--rows", "101", "--columns", "11", "--real", "--dry-run", "--units",
                                                "host+device", "--result", "result", "--output", "spectrum.npy"},
      models);
  const Outcome outcome = run_app(fft2d_program, {{1, arguments}}, folder).front();
  CHECK(sum(slices_in_table(outcome.out, "rows")) == 101);
  CHECK(sum(slices_in_table(outcome.out, "columns")) == 6);
  CHECK(lines_that_start(outcome.out, "time ") == 0);
  // A result of predictions alone.
  CHECK(std::distance(std::filesystem::directory_iterator(folder.path()), {}) == 1);
  CHECK(read_json_file(folder / "result/run.json").at("median_time_s").is_null());
}

TEST_CASE("Rows and columns of the spectrum are shared out whole, each pass by its own models, in whole cache lines") {
  const TemporaryFolder folder;
  const std::string slow = write_model(folder, "slow.fpm.json", 3e-6),
                    fast = write_model(folder, "fast.fpm.json", 1e-6);
  const Words models{"--model", slow, fast, "--column-model", fast, slow, "--platform", write_platform(folder)};
  for (const std::string& partition : Words{"even", "geometric", "numerical", "hpopta", "exact"}) {
    for (const std::string& type : Words{"double", "float"}) {
      for (const auto& [rows, columns] : {std::pair{48, 60}, {126, 40}, {101, 1031}}) {
        const bool real = rows == 48 && type == "float";
        Words words{
            "--rows", std::to_string(rows), "--columns", std::to_string(columns), "--partition", partition, "--type",
            type,     "--processes",        "2"};
        if (real) words.push_back("--real");
        const auto json = predicted(folder, words + models, "fft2d");
        const auto of_rows = json.at("distribution").get<Numbers>();
        const auto of_columns = json.at("column_distribution").get<Numbers>();
        const long long stored = real ? columns / 2 + 1 : columns, line = type == "double" ? 4 : 8;
        CAPTURE(partition, type, rows, columns);
        CHECK(sum(of_rows) == rows);
        CHECK(sum(of_columns) == stored);
        CHECK(of_rows[0] % std::gcd<long long>(rows, line) == 0);
        CHECK(of_columns[0] % std::gcd(stored, line) == 0);
        if (partition == "even") continue;
        CHECK(of_rows[1] > 2 * of_rows[0]);
        CHECK(of_columns[0] > 2 * of_columns[1]);
      }
    }
  }
}

/// Seconds of a pass and the exchange behind it, batch by batch: a batch is sent when it is ready and the one before
/// has left.
double pipelined_s(double kernels_s, double exchange_s, int batches) {
  double ready_s = 0.0, sent_s = 0.0;
  for (int batch = 0; batch < batches; ++batch) {
    ready_s += kernels_s / batches;
    sent_s = std::max(ready_s, sent_s) + exchange_s / batches;
  }
  return sent_s;
}

TEST_CASE("An exchange adds to a pass what its kernels do not hide") {
  const double host_s = GENERATE(1e-7, 1e-6, 1e-5);  // of a row
  const bool network = GENERATE(false, true);
  const std::string exchange = GENERATE("default", "at-once", "pipelined");
  const TemporaryFolder folder;
  // Twice as slow: its kernels take longer than those of the core that drives MPI.
  const Words models{"--model", write_model(folder, "host.fpm.json", host_s),
                     write_model(folder, "device.fpm.json", 2.0 * host_s)};
  const Words words = models + Words{"--size", "96", "--units", "host+device", "--partition", "even"};
  Words two =
      words + Words{"--processes", "2", "--per-node", network ? "1" : "2", "--platform", write_platform(folder)};
  if (exchange != "default") two = two + Words{"--exchange", exchange};
  const auto json = predicted(folder, two, "fft2d");
  const auto phase_s = [&](std::size_t i) { return json.at("phases").at(i).at("time_s").get<double>(); };
  // Both exchanges are alike.
  const double exchange_s = json.at("models").at(json.at("communication_model")).get<double>() / 2.0;
  const double driving_s = 24.0 * host_s, kernels_s = 2.0 * driving_s;
  const int parts = exchange == "pipelined" || (exchange == "default" && network) ? 8 : 1;
  const double pass_s = parts == 1 || network ? pipelined_s(kernels_s, exchange_s, parts)
                                              : std::max(driving_s + exchange_s, kernels_s + exchange_s / parts);
  CAPTURE(host_s, network, exchange);
  CHECK_THAT(phase_s(0), WithinRel(kernels_s, 1e-12));
  CHECK_THAT(phase_s(0) + phase_s(1), WithinRel(pass_s, 1e-12));
  CHECK_THAT(phase_s(2) + phase_s(3), WithinRel(pass_s, 1e-12));
  if (parts == 1) {
    // Each unit of a rank sends half of its rows' points, 24 x 48.
    const double start_s = network ? network_start_s : memory_start_s, byte_s = network ? network_s : memory_s;
    CHECK_THAT(json.at("models").at("Hockney").get<double>(),
               WithinRel(4.0 * (start_s + 24.0 * 48.0 * 16.0 * byte_s), 1e-12));
  }
  const auto transposed = predicted(folder, two + Words{"--transposed"}, "fft2d");
  CHECK(transposed.at("phases").size() == 3);
  CHECK(transposed.at("phases").at(1) == json.at("phases").at(1));
  CHECK_THAT(predicted(folder, words, "fft2d").at("phases").at(1).at("time_s").get<double>(), WithinAbs(0.0, 0.0));
}

TEST_CASE("What a second exchange received is put into place with the units' shares of the memory's bandwidth") {
  const TemporaryFolder folder;
  const std::string model = write_model(folder, "model.fpm.json", 1e-6);
  const auto second_exchange_s = [&](double memory_bytes_per_s) {
    models::Platform platform = made_up_platform();
    platform.nodes = {{"", "", 2, memory_bytes_per_s}};
    const Words words{"--size",  "64",  "--processes", "2",
                      "--model", model, "--platform",  write_platform(folder, platform)};
    return predicted(folder, words, "fft2d").at("phases").back().at("time_s").get<double>();
  };
  // Each of two processes puts 32 x 32 points that it received into place: each is read once and written to a line that
  // is fetched first.
  const double unpack_s = 32.0 * 32.0 * 3.0 * 16.0 / (1e6 / 2.0);
  CHECK_THAT(second_exchange_s(1e6) - second_exchange_s(0.0), WithinRel(unpack_s, 1e-9));
}

TEST_CASE("The result folder says what ran, and phases add up to it") {
  const int ranks = GENERATE(1, 3);
  const TemporaryFolder folder;
  const Words words{"--rows",     "64",        "--columns",     "80", "--seed",   "7",
                    "--exchange", "pipelined", "--repetitions", "3",  "--result", "deep/result"};
  run_fft2d(ranks, words + Words{"--slowdown", "rank0=2"}, folder);
  const auto json = read_run(folder / "deep" / "result", "fft2d");
  CHECK(json.at("seed") == 7);
  CHECK(json.at("params").at("rows") == 64.0);
  CHECK(json.at("settings").at("exchange") == "pipelined");
  CHECK(json.at("settings").at("direction") == "forward");
  CHECK(sum(json.at("distribution").get<Numbers>()) == 64);
  CHECK(sum(json.at("column_distribution").get<Numbers>()) == 80);
  CHECK(json.at("check").at("passed") == true);
  Words names;
  double predicted_s = 0.0;
  for (const auto& phase : json.at("phases")) {
    names.push_back(phase.at("name"));
    predicted_s += phase.at("predicted_s").get<double>();
  }
  CHECK(names == Words{"rows", "first exchange", "columns", "second exchange"});
  CHECK_THAT(predicted_s, WithinRel(json.at("predicted_time_s").get<double>(), 1e-9));
  CHECK(read_samples(folder / "deep" / "result").size() == 3);
  for (const char* figure : {"flops_per_s", "share_of_bound", "bound_bytes_per_s"}) {
    CHECK(json.at("figures").at(figure).get<double>() > 0.0);
  }
}

TEST_CASE("Measured models of both passes are kept, and serve the next run") {
  const TemporaryFolder folder;
  const Words problem{"--rows", "48", "--columns", "40", "--real", "--units", "host", "--planner", "estimate"};
  const Outcome measured =
      good_run(2, fft2d_program, problem + Words{"--repetitions", "1", "--result", "result"}, folder.path());
  CHECK(lines_that_start(measured.out, "speed models measured in ") == 2);
  Words rows{"--model"}, columns{"--column-model"};
  for (const char* rank : {"rank0", "rank1"}) {
    rows.push_back(folder / "result" / "models" / (std::string(rank) + "-host.fpm.json"));
    columns.push_back(folder / "result" / "models" / (std::string(rank) + "-host-columns.fpm.json"));
    const auto of_rows = read_json_file(rows.back()), of_columns = read_json_file(columns.back());
    CHECK(of_rows.at("app") == "fft2d");
    CHECK(of_rows.at("parameters").at("columns") == 40.0);
    CHECK(of_rows.at("parameters").at("real") == 1.0);
    CHECK(of_columns.at("parameters").at("columns") == 48.0);
    CHECK(of_columns.at("parameters").at("real") == 0.0);
  }
  const Outcome again = run_app(fft2d_program, {{2, problem + rows + columns}}, folder).front();
  CHECK(lines_that_start(again.out, "speed models measured") == 0);
  CHECK(sum(slices_in_table(again.out, "columns")) == 21);
}

TEST_CASE("steelyard measures rows for fft2d, and predicts what fft2d predicts") {
  const TemporaryFolder folder;
  good_run(1, steelyard_tool,
           {"measure", "fft2d", "--columns", "64", "--units", "host", "--sizes", "8", "64", "--precision", "0.5",
            "--planner", "estimate", "--output", "models"},
           folder.path());
  const std::string model = folder / "models" / "rank0-host.fpm.json";
  CHECK(read_json_file(model).at("kernel") == "row_fft");
  const Words problem{"--size", "64", "--planner", "estimate", "--model", model};
  for (const Words& words : {Words{}, Words{"--exchange", "pipelined"}, Words{"--transposed"}}) {
    const Words all = problem + with_platform(folder) + words;
    const auto json = predicted(folder, all + Words{"--processes", "2"}, "fft2d");
    CHECK(json.at("app") == "fft2d");
    CHECK(json.at("communication_model") == "tau-Lop");
    run_app(fft2d_program, {{2, all + Words{"--units", "host", "--result", "result"}}}, folder);
    const auto ran = read_run(folder / "result", "fft2d");
    CHECK(ran.at("distribution") == json.at("distribution"));
    CHECK(ran.at("column_distribution") == json.at("column_distribution"));
    double phases_s = 0.0;
    for (std::size_t i = 0; i < json.at("phases").size(); ++i) {
      CHECK(ran.at("phases").at(i).at("predicted_s") == json.at("phases").at(i).at("time_s"));
      phases_s += json.at("phases").at(i).at("time_s").get<double>();
    }
    CHECK_THAT(phases_s, WithinRel(json.at("time_s").get<double>(), 1e-9));
  }
}

}  // namespace
}  // namespace steelyard::tests::test_fft2d
