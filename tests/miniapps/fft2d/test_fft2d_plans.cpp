// Who owns what of a transform, and what its phases are predicted to take.

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_floating_point.hpp>
#include <numeric>

#include "tests/miniapps/fft2d/fft2d_runs.hpp"
#include "tests/miniapps/steelyard/predictions.hpp"

namespace steelyard::tests::test_fft2d_plans {
namespace {

using Catch::Matchers::WithinAbs;
using Catch::Matchers::WithinRel;
using Numbers = std::vector<long long>;
using test_steelyard_predict::predicted;

TEST_CASE("Rows and columns of the spectrum are shared out whole, each pass by its own models, in whole cache lines") {
  const TemporaryFolder folder;
  const std::string slow = write_model(folder, "slow.fpm.json", 3e-6),
                    fast = write_model(folder, "fast.fpm.json", 1e-6);
  const Words models{"--model", slow, fast, "--column-model", fast, slow};
  const Words platform{"--platform", test_steelyard_predict::write_platform(folder)};
  for (const std::string& partition : Words{"even", "geometric", "numerical", "hpopta", "exact"}) {
    for (const std::string& type : Words{"double", "float"}) {
      for (const auto& [rows, columns] : {std::pair{48, 60}, {126, 40}, {101, 1031}}) {
        const bool real = rows == 48 && type == "float";
        Words words{
            "--rows", std::to_string(rows), "--columns", std::to_string(columns), "--partition", partition, "--type",
            type,     "--processes",        "2"};
        if (real) words.push_back("--real");
        const auto json = predicted(folder, words + models + platform, "fft2d");
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
  Words words = models + Words{"--size",      "96",
                               "--units",     "host+device",
                               "--partition", "even",
                               "--processes", "2",
                               "--per-node",  network ? "1" : "2",
                               "--platform",  test_steelyard_predict::write_platform(folder)};
  if (exchange != "default") words = words + Words{"--exchange", exchange};
  const auto json = predicted(folder, words, "fft2d");
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
    const double start_s = network ? test_steelyard_predict::network_start_s : test_steelyard_predict::memory_start_s;
    const double byte_s = network ? test_steelyard_predict::network_s : test_steelyard_predict::memory_s;
    CHECK_THAT(json.at("models").at("Hockney").get<double>(),
               WithinRel(4.0 * (start_s + 24.0 * 48.0 * 16.0 * byte_s), 1e-12));
  }
  const auto transposed = predicted(folder, words + Words{"--transposed"}, "fft2d");
  CHECK(transposed.at("phases").size() == 3);
  CHECK(transposed.at("phases").at(1) == json.at("phases").at(1));
  const auto alone = predicted(folder, models + Words{"--size", "96", "--units", "host+device"}, "fft2d");
  CHECK_THAT(alone.at("phases").at(1).at("time_s").get<double>(), WithinAbs(0.0, 0.0));
}

}  // namespace
}  // namespace steelyard::tests::test_fft2d_plans
