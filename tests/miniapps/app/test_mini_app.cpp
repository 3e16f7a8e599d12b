// What the frame does for every mini-app before anything is measured.

#include "tests/catch.hpp"
#include "tests/miniapps/app_runs.hpp"

namespace steelyard::tests::test_mini_app {
namespace {

const Words programs{STEELYARD_CAVITY, STEELYARD_FFT2D, STEELYARD_GEMM,
                     STEELYARD_JACOBI, STEELYARD_SUMMA, STEELYARD_WAVE2D};

TEST_CASE("A problem that no memory holds is refused at once, dry or not, with what it takes and what there is") {
  const TemporaryFolder folder;
  const Words one_model{"--model", write_model(folder, "unit.fpm.json", 1e-6)};
  for (const std::string& program : programs) {
    expect_refused(program,
                   {{{}, "TiB (expected at most "},
                    {{"--dry-run"}, "TiB (expected at most "},
                    {one_model, "TiB (expected at most "}},
                   {"--size", "1000000"});
  }
}

TEST_CASE("A dry run with models from files plans for machines with more memory than this one") {
  const TemporaryFolder folder;
  const Words one_model{"--model", write_model(folder, "unit.fpm.json", 1e-6)};
  for (const char* program : {STEELYARD_JACOBI, STEELYARD_SUMMA}) {
    const Outcome outcome = good_run(1, program, Words{"--size", "1000000", "--dry-run"} + one_model, folder.path());
    CHECK(lines_that_start(outcome.out, "predicted ") == 1);
  }
}

}  // namespace
}  // namespace steelyard::tests::test_mini_app
