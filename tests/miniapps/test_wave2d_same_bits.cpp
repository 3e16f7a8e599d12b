// The field does not depend on who computes which rows.

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

#include "tests/miniapps/grid.hpp"
#include "tests/miniapps/leap_frog_on_paper.hpp"
#include "tests/miniapps/wave2d_runs.hpp"

namespace steelyard::tests {
namespace {

/// A problem, and its field as one host unit computes it.
template <class Scalar>
class SplitTest {
 public:
  SplitTest(int rows, int columns, bool neumann, int steps = 15)
      : steps_(steps),
        problem_{"--rows",     std::to_string(rows),
                 "--columns",  std::to_string(columns),
                 "--steps",    std::to_string(steps),
                 "--courant",  "0.7",
                 "--type",     sizeof(Scalar) == 8 ? "double" : "float",
                 "--boundary", neumann ? "neumann" : "dirichlet"},
        whole_(fields_of({{1, {"--units", "host"}}}).front()) {
    const auto paper = advanced(standing_wave_at<Scalar>(rows, columns, -1, 0.7, neumann),
                                standing_wave_at<Scalar>(rows, columns, 0, 0.7, neumann), steps, 0.7, neumann);
    REQUIRE(largest_difference(whole_, paper) <= rounding<Scalar>(steps));
  }

  void expect_same(const std::vector<AppRun>& splits) {
    for (const Grid<Scalar>& field : fields_of(splits)) {
      if (STEELYARD_UNITS_ROUND_ALIKE) {
        CHECK(field == whole_);
      } else {
        CHECK(largest_difference(field, whole_) <= rounding<Scalar>(steps_));
      }
    }
  }

  Words models(const std::vector<double>& seconds_per_row) { return with_models(folder_, seconds_per_row); }
  const Grid<Scalar>& whole() const { return whole_; }
  /// What the first of the last runs printed.
  const std::string& table() const { return table_; }

 private:
  std::vector<Grid<Scalar>> fields_of(std::vector<AppRun> runs) {
    std::vector<std::filesystem::path> files;
    for (AppRun& run : runs) {
      files.push_back(folder_ / ("field" + std::to_string(files.size()) + ".npy"));
      std::filesystem::remove(files.back());
      run.arguments = run.arguments + problem_ + Words{"--output", files.back()};
    }
    table_ = run_wave2d(runs, folder_).front().out;
    std::vector<Grid<Scalar>> fields;
    for (const std::filesystem::path& file : files) fields.push_back(read_grid<Scalar>(file));
    return fields;
  }

  TemporaryFolder folder_;
  int steps_;
  Words problem_;
  std::string table_;
  Grid<Scalar> whole_;
};

TEMPLATE_TEST_CASE("Any units and any number of ranks compute the same bits", "", double, float) {
  const bool neumann = GENERATE(false, true);
  SplitTest<TestType> test(37, 53, neumann);
  test.expect_same({{1, {"--units", "device"}},
                    {1, {"--units", "host+device"}},
                    {2, {"--units", "host"}},
                    {3, {"--units", "host+device"}},
                    {4, {"--units", "device"}},
                    {6, {"--units", "host+device"}}});
}

TEST_CASE("Every partition computes the same bits") {
  SplitTest<double> test(101, 29, true);
  std::vector<AppRun> runs;
  for (const std::string& name : partition_names()) {
    runs.push_back({3, Words{"--partition", name} + test.models({1e-6, 3e-6, 2e-6, 7e-6, 5e-7, 4e-6})});
    runs.push_back({1, Words{"--partition", name} + test.models({5e-6, 1e-6})});
  }
  test.expect_same(runs);
}

TEST_CASE("Slow units compute the same bits") {
  SplitTest<float> test(43, 61, false);
  test.expect_same({{2, {"--slowdown", "device=3", "rank1=2"}}, {1, {"--slowdown", "host=2.5"}}});
  CHECK(test.table().find("6 (emulated)") != std::string::npos);
}

TEST_CASE("Units without rows leave the field as it is") {
  SplitTest<double> test(23, 17, true);
  const std::vector<double> seconds = GENERATE(
      std::vector<double>{1e-6, 1.0, 1e-6, 1e-6, 1.0, 1e-6}, std::vector<double>{1.0, 1.0, 1e-6, 1.0, 1.0, 1e-6},
      std::vector<double>{1.0, 1.0, 1.0, 1e-6, 1.0, 1.0}, std::vector<double>{1e-6, 1.0, 1.0, 1.0, 1.0, 1e-6});
  test.expect_same({{3, test.models(seconds)}});
  const std::vector<long long> rows = rows_in_table(test.table());
  REQUIRE(rows.size() == seconds.size());
  for (std::size_t i = 0; i < rows.size(); ++i) CHECK((rows[i] == 0) == (seconds[i] == 1.0));
}

TEST_CASE("One row for each unit is enough") {
  SplitTest<double> test(6, 3, true);
  test.expect_same(
      {{3, {"--partition", "even", "--units", "host+device"}}, {6, {"--partition", "even", "--units", "host"}}});
}

TEST_CASE("The smallest grid is computed like any other") {
  SplitTest<float> test(3, 3, GENERATE(false, true));
  test.expect_same({{3, {"--units", "host", "--partition", "even"}}});
}

TEST_CASE("Speed models that the run measures itself change no bits") {
  SplitTest<double> test(67, 31, false);
  const TemporaryFolder folder;
  const Outcome outcome = run(2, wave2d,
                              {"--rows", "67", "--columns", "31", "--steps", "15", "--courant", "0.7", "--repetitions",
                               "1", "--output", "field.npy"},
                              folder.path());
  REQUIRE(outcome.status == 0);
  CHECK(outcome.out.find("speed models measured in ") != std::string::npos);
  CHECK(largest_difference(read_grid<double>(folder / "field.npy"), test.whole()) <=
        (STEELYARD_UNITS_ROUND_ALIKE ? 0.0 : rounding<double>(15)));
}

TEST_CASE("Each repetition starts anew") {
  SplitTest<double> test(19, 41, false, 7);
  test.expect_same({{2, {"--repetitions", "3", "--warmups", "2", "--check", "all"}}});
}

}  // namespace
}  // namespace steelyard::tests
