// The flow does not depend on who computes which cells, nor on whether the run was interrupted.

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

#include "tests/miniapps/cavity/cavity_runs.hpp"

namespace steelyard::tests::test_cavity_same_bits {
namespace {

/// Runs each and compares their checkpoints with that of the host unit of one rank alone, bit by bit.
void expect_same(const Words& problem, const std::vector<AppRun>& runs, const TemporaryFolder& folder) {
  std::vector<AppRun> all{{1, problem + Words{"--units", "host", "--checkpoint", "alone"}}};
  for (std::size_t i = 0; i < runs.size(); ++i) {
    all.push_back({runs[i].ranks, problem + runs[i].arguments + Words{"--checkpoint", "run" + std::to_string(i)}});
  }
  run_cavity(all, folder);
  const std::string alone = folder.read("alone");
  REQUIRE(alone.size() > 1000);
  for (std::size_t i = 0; i < runs.size(); ++i) {
    INFO("run " << i << " of " << runs[i].ranks << " ranks");
    CHECK((folder.read("run" + std::to_string(i)) == alone));
  }
}

TEST_CASE("Any units, ranks and ways to solve compute the same flow, bit by bit") {
  const Words numerics = GENERATE(Words{}, Words{"--pressure-preconditioner", "none", "--scheme", "crank-nicolson"},
                                  Words{"--pressure-preconditioner", "none", "--reductions", "merged"},
                                  Words{"--reductions", "merged", "--correctors", "3"});
  const TemporaryFolder folder;
  expect_same(Words{"--rows", "29", "--columns", "34", "--reynolds", "400", "--steps", "4"} + numerics,
              {{1, {"--units", "device"}},
               {1, {"--units", "host+device"}},
               {2, {"--units", "host"}},
               {3, {"--units", "host+device"}},
               {4, {"--units", "device"}},
               {6, {"--units", "host+device"}}},
              folder);
}

TEST_CASE("Every partition computes the same flow") {
  const TemporaryFolder folder;
  std::vector<AppRun> runs;
  for (const std::string& name : partition_names()) {
    runs.push_back({3, Words{"--partition", name} + with_models(folder, {1e-6, 3e-6, 2e-6, 7e-6, 5e-7, 4e-6})});
    runs.push_back({1, Words{"--partition", name} + with_models(folder, {5e-6, 1e-6})});
  }
  expect_same({"--size", "31", "--height", "1.5", "--steps", "3"}, runs, folder);
}

TEST_CASE("Slow units and units without rows compute the same flow") {
  const TemporaryFolder folder;
  expect_same({"--size", "24", "--steps", "3"},
              {{2, {"--slowdown", "device=3", "rank1=2"}},
               {3, with_models(folder, {1e-6, 1.0, 1.0, 1e-6, 1.0, 1e-6})},
               {3, with_models(folder, {1.0, 1.0, 1e-6, 1.0, 1.0, 1.0})}},
              folder);
}

TEST_CASE("A run that goes on from a checkpoint does what one run would have done") {
  const Words scheme = GENERATE(Words{}, Words{"--scheme", "crank-nicolson"});
  const TemporaryFolder folder;
  const Words problem = Words{"--size", "20", "--reynolds", "1000", "--cfl", "0.5"} + scheme;
  run_cavity({{1, problem + Words{"--steps", "9", "--checkpoint", "whole"}},
              {2, problem + Words{"--steps", "4", "--checkpoint", "first"}}},
             folder);
  const Outcome rest =
      run_cavity(3, problem + Words{"--steps", "5", "--restart", "first", "--checkpoint", "second"}, folder);
  CHECK(lines_that_start(rest.out, "restart    from step 4") == 1);
  CHECK((folder.read("second") == folder.read("whole")));
  // As little as that may be.
  const double time = 4.0 * 0.5 / 20.0;
  for (const Words& end : {Words{"--steps", "0"}, Words{"--end-time", std::to_string(time)}}) {
    const Outcome none = run_cavity(2, problem + Words{"--restart", "first", "--checkpoint", "again"} + end, folder);
    CHECK(none.out.find("check      passed") != std::string::npos);
    CHECK((folder.read("again") == folder.read("first")));
  }
}

}  // namespace
}  // namespace steelyard::tests::test_cavity_same_bits
