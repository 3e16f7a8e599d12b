// The field does not depend on who computes which points.

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

#include "tests/miniapps/wave2d/wave2d_runs.hpp"

namespace steelyard::tests::test_wave2d_same_bits {
namespace {

TEMPLATE_TEST_CASE("Any units and any number of ranks compute the same bits", "", double, float) {
  const bool neumann = GENERATE(false, true);
  SplitTest<TestType> test({.neumann = neumann, .order = neumann ? 4 : 2});
  test.expect_same({{1, {"--units", "device"}},
                    {1, {"--units", "host+device"}},
                    {2, {"--units", "host"}},
                    {3, {"--units", "host+device"}},
                    {4, {"--units", "device"}},
                    {6, {"--units", "host+device"}}});
}

TEST_CASE("Slow units compute the same bits") {
  SplitTest<float> test({.rows = 43, .columns = 61});
  test.expect_same({{2, {"--slowdown", "device=3", "rank1=2"}}, {1, {"--slowdown", "host=2.5"}}});
  CHECK(test.table().find("6 (emulated)") != std::string::npos);
}

TEST_CASE("Units without rows leave the field as it is") {
  SplitTest<double> test({.rows = 23, .columns = 17, .neumann = true});
  const std::vector<double> seconds = GENERATE(
      std::vector<double>{1e-6, 1.0, 1e-6, 1e-6, 1.0, 1e-6}, std::vector<double>{1.0, 1.0, 1e-6, 1.0, 1.0, 1e-6},
      std::vector<double>{1.0, 1.0, 1.0, 1e-6, 1.0, 1.0}, std::vector<double>{1e-6, 1.0, 1.0, 1.0, 1.0, 1e-6});
  const Words models = test.models(seconds);
  test.expect_same(
      {{3, models}, {3, models + Words{"--time-tile", "4"}}, {3, models + Words{"--partition", "column"}}});
  const std::vector<long long> rows = rows_in_table(test.table());
  REQUIRE(rows.size() == seconds.size());
  for (std::size_t i = 0; i < rows.size(); ++i) CHECK((rows[i] == 0) == (seconds[i] == 1.0));
}

TEST_CASE("One row for each unit is enough, and the smallest grid is computed like any other") {
  const bool neumann = GENERATE(false, true);
  const int order = GENERATE(2, 4);
  const Words even{"--partition", "even", "--units"};
  SplitTest<double>({.rows = 6, .columns = 3, .neumann = neumann, .order = order})
      .expect_same(
          {{3, even + Words{"host+device"}}, {6, even + Words{"host"}}, {6, even + Words{"host", "--time-tile", "5"}}});
  SplitTest<float>({.rows = 3, .columns = 3, .neumann = neumann, .order = order})
      .expect_same({{3, even + Words{"host"}},
                    {1, even + Words{"host+device", "--time-tile", "4"}},
                    {3, {"--units", "host", "--partition", "column", "--time-tile", "2"}}});
}

TEST_CASE("Speed models and time tiles that the run finds itself change no bits") {
  SplitTest<double> test({.rows = 67, .columns = 31});
  const Outcome outcome =
      run(2, wave2d, test.arguments() + Words{"--repetitions", "1", "--output", "measured.npy"}, test.folder().path());
  REQUIRE(outcome.status == 0);
  CHECK(lines_that_start(outcome.out, "time tile ") == 1);
  CHECK(outcome.out.find("speed models measured in ") != std::string::npos);
  test.expect_same(read_grid<double>(test.folder() / "measured.npy"));
}

TEST_CASE("Each repetition starts anew") {
  SplitTest<double> test({.rows = 19, .columns = 41, .steps = 7});
  const Words again{"--repetitions", "3", "--warmups", "2", "--check", "all"};
  test.expect_same({{2, again}, {2, again + Words{"--time-tile", "4"}}});
}

}  // namespace
}  // namespace steelyard::tests::test_wave2d_same_bits
