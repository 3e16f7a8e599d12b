// What happens when the BLAS that gemm and summa run on is wrong. A device may have one of its own, which is right.

#include <nlohmann/json.hpp>

#include "core/host_blas.hpp"
#include "core/unit_rates.hpp"
#include "tests/catch.hpp"
#include "tests/miniapps/gemm/gemm_runs.hpp"
#include "tests/miniapps/wrong_blas.hpp"

namespace steelyard::tests::test_wrong_results {
namespace {

const Words once{"--repetitions", "1", "--warmups", "0"}, small = once + Words{"--size", "64", "--block", "4"};

TEMPLATE_TEST_CASE("A wrong element fails the check, and gemm and summa exit 1 with all that they have found", "",
                   double, float) {
  const int ranks = GENERATE(1, 3);
  const std::filesystem::path program = GENERATE(STEELYARD_GEMM, STEELYARD_SUMMA);
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
  CHECK(check.at("performed") == true);
  CHECK(check.at("passed") == false);
  CHECK(check.at("error").get<double>() > check.at("tolerance").get<double>());
  // The file holds what was computed, wrong as it is.
  const auto found = read_grid<TestType>(blas.folder() / "wrong.npy");
  const double beta = name == "summa" ? 1.0 : 0.0, deviation = files.deviation(found, 1.0, beta);
  CHECK(deviation > 1.0);
  GemmFiles<TestType> but_one = files;
  but_one.b(0, 0) = 0;
  CHECK(but_one.deviation(found, 1.0, beta) > deviation);
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
      starts.push_back(blas.start(1, three + Words{level},
                                  {"STEELYARD_WRONG_BY=0.01", "STEELYARD_WRONG_CALL=" + std::to_string(call)}));
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
    const Outcome outcome = blas.run(ranks, small + Words{"--result", "result"}, how + Words{"STEELYARD_UNKNOWN=1"});
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

}  // namespace
}  // namespace steelyard::tests::test_wrong_results
