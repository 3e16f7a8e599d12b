// Spectra of files, what fft2d prints, leaves for other programs and refuses; who owns what of a transform, and what
// its phases are predicted to take.

#include <fftw3.h>

#include <complex>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <numeric>

#include "core/base/json_file.hpp"
#include "tests/catch.hpp"
#include "tests/miniapps/app_runs.hpp"
#include "tests/miniapps/grid.hpp"
#include "tests/miniapps/steelyard/predictions.hpp"

namespace steelyard::tests::test_fft2d {
namespace {

using Numbers = std::vector<long long>;
using namespace test_steelyard_predict;

const std::filesystem::path fft2d_program = built("fft2d");

/// Models of both passes: those that the words name, or some of which all units get the same.
Words with_column_models(Words words, const TemporaryFolder& folder) {
  const auto model = std::find(words.begin(), words.end(), "--model");
  Words files;
  for (auto word = model; word != words.end(); ++word) {
    if (word != model && word->rfind("--", 0) == 0) break;
    if (word != model) files.push_back(*word);
  }
  if (files.empty()) {
    const std::string even = folder / "even.fpm.json";
    if (!std::filesystem::exists(even)) write_model(folder, "even.fpm.json", 1e-6);
    words.insert(words.end(), {"--model", even});
    files.push_back(even);
  }
  words.push_back("--column-model");
  words.insert(words.end(), files.begin(), files.end());
  return words;
}

/// run_app() with fft2d; nothing is measured before.
std::vector<Outcome> run_fft2d(std::vector<AppRun> runs, const TemporaryFolder& folder) {
  const TemporaryFolder platform;
  for (AppRun& run : runs) {
    run.arguments = with_column_models(run.arguments, folder) + with_platform(platform);
    run.arguments.insert(run.arguments.end(), {"--planner", "estimate"});
  }
  return run_app(fft2d_program, runs, folder);
}
Outcome run_fft2d(int ranks, const Words& arguments, const TemporaryFolder& folder) {
  return run_fft2d({{ranks, arguments}}, folder).front();
}

/// FFTW's own transform in two dimensions, not divided by anything: its first columns.
Grid<std::complex<double>> by_fftw(const Grid<std::complex<double>>& grid, std::int64_t columns) {
  std::vector<std::complex<double>> values = grid.values;
  auto* const data = reinterpret_cast<fftw_complex*>(values.data());
  const fftw_plan plan = fftw_plan_dft_2d(static_cast<int>(grid.rows), static_cast<int>(grid.columns), data, data,
                                          FFTW_FORWARD, FFTW_ESTIMATE);
  fftw_execute(plan);
  fftw_destroy_plan(plan);
  Grid<std::complex<double>> part(grid.rows, columns);
  for (std::int64_t i = 0; i < grid.rows; ++i) {
    for (std::int64_t j = 0; j < columns; ++j) part(i, j) = values[static_cast<std::size_t>(i * grid.columns + j)];
  }
  return part;
}

/// A spectrum from a file, which may hold it transposed.
template <class Scalar>
Grid<std::complex<Scalar>> read_spectrum(const std::filesystem::path& path, bool transposed) {
  const auto found = read_grid<std::complex<Scalar>>(path);
  if (!transposed) return found;
  Grid<std::complex<Scalar>> turned(found.columns, found.rows);
  for (std::int64_t i = 0; i < turned.rows; ++i) {
    for (std::int64_t j = 0; j < turned.columns; ++j) turned(i, j) = found(j, i);
  }
  return turned;
}

/// Whether a grid is another one but for rounding, relative to the root of the mean square.
template <class Scalar>
void expect_near(const Grid<std::complex<Scalar>>& found, const Grid<std::complex<double>>& right) {
  REQUIRE((found.rows == right.rows && found.columns == right.columns));
  double largest = 0.0, squares = 0.0;
  for (std::size_t i = 0; i < right.values.size(); ++i) {
    const double one = std::abs(std::complex<double>(found.values[i]) - right.values[i]);
    if (!(one <= largest)) largest = one;
    squares += std::norm(right.values[i]);
  }
  CHECK(largest / std::sqrt(squares / static_cast<double>(right.values.size())) <=
        (sizeof(Scalar) == 8 ? 1e-12 : 1e-5));
}

TEMPLATE_TEST_CASE(
    "A file's spectrum is FFTW's, of real numbers half of it, with the same bits on any ranks, units and shares, and "
    "the way back gives the file",
    "", double, float) {
  const unsigned seed = sizeof(TestType);
  CAPTURE(seed);
  std::mt19937 random(seed);
  const auto any = [&](const auto& choices) { return choices[random() % choices.size()]; };
  bool real = sizeof(TestType) == 8;  // of each extents in one type, complex in the other
  for (const auto& [rows, columns] :
       {std::pair{1, 1}, {1, 300}, {64, 1}, {2, 3}, {17, 13}, {37, 60}, {29, 33}, {30, 42}, {101, 103}, {96, 128}}) {
    real = !real;
    CAPTURE(rows, columns, real);
    const TemporaryFolder folder;
    const auto numbers = random_grid<TestType>(rows, real ? columns : 2 * columns, static_cast<unsigned>(random()));
    Grid<std::complex<TestType>> input(rows, columns);
    Grid<std::complex<double>> same(rows, columns);
    for (std::size_t i = 0; i < input.values.size(); ++i) {
      input.values[i] = real ? numbers.values[i] : std::complex(numbers.values[2 * i], numbers.values[2 * i + 1]);
      same.values[i] = input.values[i];
    }
    real ? write_grid(folder / "input.npy", numbers) : write_grid(folder / "input.npy", input);
    const Words type{"--type", sizeof(TestType) == 8 ? "double" : "float"};
    std::vector<AppRun> runs{{1, {"--units", "host"}}};
    while (runs.size() < 4) {
      const int ranks = any(std::array{1, 2, 3, 4, 6});
      std::vector<double> seconds(2 * static_cast<std::size_t>(ranks));
      for (double& of_unit : seconds) of_unit = any(std::array{1e-6, 3e-6, 2e-6, 1.0});
      Words words = Words{"--units",     "host+device",
                          "--partition", any(Words{"even", "geometric", "exact"}),
                          "--exchange",  any(Words{"at-once", "pipelined"})} +
                    with_models(folder, seconds);
      if (runs.size() == 2) words = words + Words{"--transposed"};
      // Each repetition anew.
      if (random() % 3 == 0) words = words + Words{"--repetitions", "2", "--check", "all"};
      runs.push_back({ranks, words});
    }
    for (std::size_t i = 0; i < runs.size(); ++i) {
      const Words files{"--input", "input.npy", "--output", std::to_string(i) + ".npy"};
      runs[i].arguments = runs[i].arguments + type + files;
      if (real) runs[i].arguments.push_back("--real");
    }
    run_fft2d(runs, folder);
    const auto right = by_fftw(same, real ? columns / 2 + 1 : columns);
    const auto first = read_spectrum<TestType>(folder / "0.npy", false);
    for (std::size_t i = 0; i < runs.size(); ++i) {
      INFO(joined("fft2d", runs[i].arguments) << " on " << runs[i].ranks << " ranks");
      const auto found = read_spectrum<TestType>(folder / (std::to_string(i) + ".npy"), i == 2);
      expect_near(found, right);
      // Two libraries round differently.
      if (!STEELYARD_HAS_DEVICE) CHECK(found == first);
    }
    if (real) continue;
    const Words back{"--inverse", "--exchange", any(Words{"at-once", "pipelined"}), "--input", "0.npy",
                     "--output",  "back.npy"};
    run_fft2d(any(std::array{1, 2, 3}), type + back, folder);
    expect_near(read_grid<std::complex<TestType>>(folder / "back.npy"), same);
  }
}

TEST_CASE("The check holds for the largest and the smallest numbers, and for NaN and Inf") {
  const TemporaryFolder folder;
  const Words files{"--real", "--input", "input.npy", "--output"};
  constexpr double infinity = std::numeric_limits<double>::infinity();
  for (const double factor : {1e-300, 1e290, infinity, std::numeric_limits<double>::quiet_NaN()}) {
    auto input = random_grid<double>(20, 30, 7);
    if (std::isfinite(factor)) {
      for (double& value : input.values) value *= factor;
    } else {
      input(11, 7) = factor;
    }
    write_grid(folder / "input.npy", input);
    run_fft2d({{1, files + Words{"0.npy"}}, {3, files + Words{"1.npy", "--fft", "portable"}}}, folder);
  }
}

TEST_CASE("What a user can get wrong is refused with its name, value or file", "[host]") {
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
                       {{"--size", "9", "--exchange", "slow"}, "slow"},
                       {{"--size", "9", "--real", "--inverse"}, "--real with --inverse"},
                       {{"--size", "0"}, "--size"},
                       {{"--rows", "9"}, "--columns"},
                       {{"--size", "3000000000"}, "3000000000 x 3000000000"},
                       {{"--input", file("missing.npy")}, "missing.npy"},
                       {{"--input", file("short.npy")}, "short.npy"},
                       {{"--input", file("float.npy")}, "is '<c8' (expected '<c16')"},
                       {{"--input", file("real.npy")}, "is '<f8' (expected complex numbers, or --real)"},
                       {{"--input", file("complex.npy"), "--real"}, "is '<c16' (expected '<f8')"},
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

TEST_CASE("Rank 0 prints and keeps what ran, with phases that add up; a dry run only plans") {
  const TemporaryFolder folder;
  const Words words =
      Words{"--rows", "96", "--columns", "72", "--seed", "7", "--exchange", "pipelined", "--units", "host+device"} +
      with_models(folder, {1e-6, 2e-6, 1e-6, 2e-6});
  const auto outcomes = run_fft2d({{2, words + Words{"--repetitions", "3", "--result", "deep/result"}},
                                   {2, words + Words{"--dry-run", "--result", "dry", "--output", "spectrum.npy"}}},
                                  folder);
  const Numbers rows{32, 16, 32, 16}, columns{24, 12, 24, 12};
  for (const Outcome& outcome : outcomes) {
    CHECK(slices_in_table(outcome.out, "rows") == rows);
    CHECK(slices_in_table(outcome.out, "columns") == columns);
  }
  for (const char* start : {"fft2d 96 x 72 complex double", "time ", "predicted ", "  rows ", "check      passed"}) {
    INFO(start << " in\n" << outcomes[0].out);
    CHECK(lines_that_start(outcomes[0].out, start) == 1);
  }
  CHECK(lines_that_start(outcomes[1].out, "time ") == 0);
  CHECK(read_json_file(folder / "dry/run.json").at("median_time_s").is_null());
  CHECK_FALSE(std::filesystem::exists(folder / "spectrum.npy"));

  const auto json = read_run(folder / "deep" / "result", "fft2d");
  CHECK(json.at("seed") == 7);
  CHECK(json.at("params").at("rows") == 96.0);
  CHECK(json.at("settings").at("exchange") == "pipelined");
  CHECK(json.at("distribution").get<Numbers>() == rows);
  CHECK(json.at("column_distribution").get<Numbers>() == columns);
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
  for (const char* figure : {"share_of_bound", "bound_bytes_per_s"}) {
    CHECK(json.at("figures").at(figure).get<double>() > 0.0);
  }
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

TEST_CASE("Measured models of both passes are kept, and serve the next run", "[alone]") {
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
    CHECK(of_rows.at("parameters").at("columns") == 40.0);
    CHECK(of_rows.at("parameters").at("real") == 1.0);
    CHECK(of_columns.at("parameters").at("columns") == 48.0);
    CHECK(of_columns.at("parameters").at("real") == 0.0);
  }
  const Outcome again = run_app(fft2d_program, {{2, problem + rows + columns}}, folder).front();
  CHECK(lines_that_start(again.out, "speed models measured") == 0);
  CHECK(sum(slices_in_table(again.out, "columns")) == 21);
}

}  // namespace
}  // namespace steelyard::tests::test_fft2d
