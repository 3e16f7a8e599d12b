// What happens when the BLAS that gemm runs on is wrong.

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <nlohmann/json.hpp>

#include "core/base/json_file.hpp"
#include "core/host_blas.hpp"
#include "core/unit_rates.hpp"
#include "tests/miniapps/gemm/gemm_runs.hpp"
#include "tests/miniapps/wrong_blas.hpp"

namespace steelyard::tests::test_gemm_wrong_results {
namespace {

/// gemm on files in a folder.
struct WrongGemm : WrongBlas {
  WrongGemm() : WrongBlas(gemm) {}
};

const Words once{"--repetitions", "1", "--warmups", "0"};

TEMPLATE_TEST_CASE("A wrong element fails the check, and gemm exits 1 with all that it has found", "", double, float) {
  const int ranks = GENERATE(1, 3);
  const WrongGemm blas;
  const GemmFiles<TestType> files(70, 50, 60);
  files.write(blas.folder());
  const Outcome outcome =
      blas.run(ranks, once + Words{"--block", "8", "--output", "wrong.npy", "--result", "result"} + files.arguments(),
               {"STEELYARD_WRONG_BY=0.01"});
  INFO(outcome.out << outcome.err);
  CHECK(outcome.status == 1);
  CHECK(outcome.told_by("gemm").empty());
  CHECK(lines_that_start(outcome.out, "check      FAILED: ") == 1);
  CHECK(lines_that_start(outcome.out, "time ") == 1);
  const auto check = read_run(blas.folder() / "result", "gemm").at("check");
  CHECK(check.at("performed") == true);
  CHECK(check.at("passed") == false);
  CHECK(check.at("error").get<double>() > check.at("tolerance").get<double>());
  // The file holds what was computed, wrong as it is.
  const auto found = read_grid<TestType>(blas.folder() / "wrong.npy");
  CHECK(files.deviation(found, 1.0, 0.0) > 1.0);
  GemmFiles<TestType> but_one = files;
  but_one.b(0, 0) = 0;
  CHECK(but_one.deviation(found, 1.0, 0.0) > files.deviation(found, 1.0, 0.0));
}

TEST_CASE("Without the error the same library passes") {
  const WrongGemm blas;
  const Outcome outcome = blas.run(3, once + Words{"--size", "64", "--block", "4"}, {});
  INFO(outcome.out << outcome.err);
  CHECK(outcome.status == 0);
  CHECK(lines_that_start(outcome.out, "check      passed") == 1);
}

TEST_CASE(
    "Where OpenBLAS does not know the processor gemm takes kernels that fit, if they are right, but the user's first") {
  const std::vector<std::string> fitting =
      wider_blas_kernels("Prescott", processor_vector_bits(), processor_has_bfloat16());
  if (host_blas().kernels.empty() || fitting.empty()) SKIP("this BLAS has no kernels to choose from");
  const WrongGemm blas;
  const int ranks = GENERATE(1, 2);
  const auto run = [&](Words how) {
    const Outcome outcome = blas.run(ranks, once + Words{"--size", "64", "--block", "4", "--result", "result"},
                                     how + Words{"STEELYARD_UNKNOWN=1"});
    INFO(outcome.out << outcome.err);
    CHECK(outcome.status == 0);
    return outcome.err + "\n" + read_run(blas.folder() / "result", "gemm").at("blas").get<std::string>();
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

TEST_CASE("One rank that is wrong fails the run") {
  const WrongGemm blas;
  std::vector<Start> starts;
  for (const char* rank : {"0", "1", "2"}) {
    starts.push_back(blas.start(3, once + Words{"--size", "64", "--block", "4"},
                                {"STEELYARD_WRONG_BY=0.01", std::string("STEELYARD_WRONG_RANK=") + rank}));
  }
  for (const Outcome& outcome : run_all(starts)) {
    INFO(outcome.out << outcome.err);
    CHECK(outcome.status == 1);
    CHECK(lines_that_start(outcome.out, "check      FAILED: ") == 1);
  }
}

TEST_CASE("A NaN where there should be none fails the check") {
  const WrongGemm blas;
  const Outcome outcome =
      blas.run(2, once + Words{"--size", "64", "--block", "4", "--result", "result"}, {"STEELYARD_WRONG_BY=nan"});
  INFO(outcome.out << outcome.err);
  CHECK(outcome.status == 1);
  CHECK(lines_that_start(outcome.out, "check      FAILED: ") == 1);
  CHECK(read_run(blas.folder() / "result", "gemm").at("check").at("passed") == false);
}

TEST_CASE("A small error in a large product fails the check") {
  const WrongGemm blas;
  const Words large = once + Words{"--size", "600"};
  const std::vector<Outcome> outcomes =
      run_all({blas.start(2, large, {"STEELYARD_WRONG_BY=1e-6"}), blas.start(1, large, {})});
  CHECK(outcomes[0].status == 1);
  CHECK(outcomes[1].status == 0);
}

TEST_CASE("An error in one block out of core fails the check") {
  if (STEELYARD_HAS_DEVICE) SKIP("a GPU has a BLAS of its own");
  const WrongGemm blas;
  // 16 blocks of C and 4 panels; the first multiplication of all is not verified, the one after two of them is.
  std::vector<Start> starts;
  for (const int call : {1, 2 * 64 + 1, 2 * 64 + 30, 3 * 64}) {
    starts.push_back(blas.start(1, once + Words{"--size", "128", "--units", "device", "--device-memory", "40KiB"},
                                {"STEELYARD_WRONG_BY=0.01", "STEELYARD_WRONG_CALL=" + std::to_string(call)}));
  }
  const std::vector<Outcome> outcomes = run_all(starts);
  CHECK(outcomes[0].status == 0);
  CHECK(outcomes[1].status == 1);
  CHECK(outcomes[2].status == 1);
  CHECK(outcomes[3].status == 1);
}

TEST_CASE("A wrong repetition is found by --check all, by --check last where it is the last, and never by none") {
  const WrongGemm blas;
  std::vector<Start> starts;
  for (int call = 1; call <= 8; ++call) {
    for (const char* level : {"none", "last", "all"}) {
      starts.push_back(
          blas.start(1, {"--size", "24", "--units", "host", "--repetitions", "3", "--warmups", "0", "--check", level},
                     {"STEELYARD_WRONG_BY=0.01", "STEELYARD_WRONG_CALL=" + std::to_string(call)}));
    }
  }
  const std::vector<Outcome> outcomes = run_all(starts);
  int found_by_last = 0, found_by_all = 0;
  for (std::size_t i = 0; i < outcomes.size(); i += 3) {
    INFO("call " << i / 3 + 1);
    CHECK(outcomes[i].status == 0);
    CHECK((outcomes[i + 1].status == 0 || outcomes[i + 2].status == 1));
    found_by_last += outcomes[i + 1].status;
    found_by_all += outcomes[i + 2].status;
  }
  CHECK(found_by_last == 1);
  CHECK(found_by_all == 3);
}

}  // namespace
}  // namespace steelyard::tests::test_gemm_wrong_results
