// What happens when the BLAS that summa runs on is wrong.

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <nlohmann/json.hpp>

#include "tests/miniapps/summa/summa_runs.hpp"
#include "tests/miniapps/wrong_blas.hpp"

namespace steelyard::tests::test_summa_wrong_results {
namespace {

/// summa on files in a folder. A device may have a BLAS of its own, which is right.
class WrongSumma : public WrongBlas {
 public:
  WrongSumma() : WrongBlas(summa) {}

  Start start(int ranks, const Words& arguments, const Words& how) const {
    return WrongBlas::start(ranks, once_ + with_platform(folder()) + arguments, how);
  }
  Outcome run(int ranks, const Words& arguments, const Words& how) const {
    return run_all({start(ranks, arguments, how)}).front();
  }

 private:
  Words once_{"--repetitions", "1", "--warmups", "0"};
};

TEMPLATE_TEST_CASE("A wrong element fails summa's check, and it exits 1 with all that it has found", "", double,
                   float) {
  const int ranks = GENERATE(1, 3);
  const WrongSumma blas;
  const GemmFiles<TestType> files(70, 70, 70);
  files.write(blas.folder());
  const Outcome outcome =
      blas.run(ranks, Words{"--block", "8", "--output", "wrong.npy", "--result", "result"} + files.arguments(),
               {"STEELYARD_WRONG_BY=0.01"});
  INFO(outcome.out << outcome.err);
  CHECK(outcome.status == 1);
  CHECK(outcome.told_by("summa").empty());
  CHECK(lines_that_start(outcome.out, "check      FAILED: ") == 1);
  CHECK(lines_that_start(outcome.out, "time ") == 1);
  const auto check = read_run(blas.folder() / "result", "summa").at("check");
  CHECK(check.at("performed") == true);
  CHECK(check.at("passed") == false);
  CHECK(check.at("error").get<double>() > check.at("tolerance").get<double>());
  // The file holds what was computed, wrong as it is.
  CHECK(files.deviation(read_grid<TestType>(blas.folder() / "wrong.npy"), 1.0, 1.0) > 1.0);
}

TEST_CASE("An error in a single iteration's update fails the check, and none is looked for with --check none") {
  const WrongSumma blas;
  std::vector<Start> starts;
  for (int call = 1; call <= 10; ++call) {
    for (const char* level : {"none", "last"}) {
      starts.push_back(blas.start(1, {"--size", "40", "--block", "8", "--units", "host", "--check", level},
                                  {"STEELYARD_WRONG_BY=1e-6", "STEELYARD_WRONG_CALL=" + std::to_string(call)}));
    }
  }
  const std::vector<Outcome> outcomes = run_all(starts);
  int found = 0;
  for (std::size_t i = 0; i < outcomes.size(); i += 2) {
    INFO("call " << i / 2 + 1);
    CHECK(outcomes[i].status == 0);
    CHECK((outcomes[i + 1].status == 0 || outcomes[i + 1].status == 1));
    found += outcomes[i + 1].status;
  }
  // 5 iterations; what comes before them is not verified, and nothing comes after.
  CHECK(found == 5);
}

}  // namespace
}  // namespace steelyard::tests::test_summa_wrong_results
