// Fields from files and back.

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

#include "tests/miniapps/wave2d/wave2d_runs.hpp"

namespace steelyard::tests::test_wave2d_fields {
namespace {

constexpr int rows = 23;
constexpr int columns = 37;

template <class Scalar>
Words type_of() {
  return {"--type", sizeof(Scalar) == 8 ? "double" : "float"};
}

template <class Scalar>
void expect_near(const Grid<Scalar>& field, const Grid<Scalar>& expected, int steps) {
  // Random fields grow up to a few times their start.
  CHECK(largest_difference(field, expected) <= 4.0 * rounding<Scalar>(steps));
}

TEMPLATE_TEST_CASE("A field at rest from one file, and a moving one from two, move as on paper", "", double, float) {
  const bool neumann = GENERATE(false, true);
  const bool at_rest = GENERATE(false, true);
  const int order = GENERATE(2, 4);
  const TemporaryFolder folder;
  const auto current = random_grid<TestType>(rows, columns, 5);
  auto previous = at_rest ? current : random_grid<TestType>(rows, columns, 6);
  for (std::int64_t i = 0; i < rows && !neumann; ++i) {
    for (std::int64_t j = 0; j < columns; ++j) {
      if (current.is_edge(i, j)) previous(i, j) = current(i, j);
    }
  }
  write_grid(folder / "previous.npy", previous);
  write_grid(folder / "current.npy", current);
  const auto paper = advanced(previous, current, 9, 0.5, neumann, order);
  const Words input = at_rest ? Words{"--input", "current.npy"} : Words{"--input", "previous.npy", "current.npy"};
  const Words arguments =
      type_of<TestType>() + input +
      Words{"--steps", "9", "--order", std::to_string(order), "--boundary", neumann ? "neumann" : "dirichlet"};
  const std::vector<AppRun> splits{{1, {"--time-tile", "1"}},
                                   {1, {"--time-tile", "4", "--partition", "column"}},
                                   {3, {"--time-tile", "1", "--partition", "column"}},
                                   {3, {"--time-tile", "2"}},
                                   {3, {"--time-tile", "7", "--partition", "column"}}};
  std::vector<AppRun> runs;
  for (const AppRun& split : splits) {
    const Words output{"--output", "end" + std::to_string(runs.size()) + ".npy"};
    runs.push_back({split.ranks, arguments + split.arguments + output});
  }
  run_wave2d(runs, folder);
  const auto first = read_grid<TestType>(folder / "end0.npy");
  for (std::size_t i = 0; i < runs.size(); ++i) {
    INFO(i);
    const auto end = read_grid<TestType>(folder / ("end" + std::to_string(i) + ".npy"));
    expect_near(end, paper, 9);
    CHECK(end == first);
  }
}

TEST_CASE("Edges that a Dirichlet boundary holds keep the values of the current field") {
  const int steps = GENERATE(3, 4);
  const TemporaryFolder folder;
  const auto current = random_grid<double>(rows, columns, 5);
  write_grid(folder / "previous.npy", random_grid<double>(rows, columns, 6));
  write_grid(folder / "current.npy", current);
  const Words arguments{"--input", "previous.npy", "current.npy", "--steps", std::to_string(steps), "--output"};
  run_wave2d({{2, arguments + Words{"0.npy"}},
              {2, arguments + Words{"1.npy", "--order", "4"}},
              {2, arguments + Words{"2.npy", "--order", "4", "--time-tile", "3", "--partition", "column"}},
              {1, arguments + Words{"3.npy", "--time-tile", "2"}}},
             folder);
  for (const char* name : {"0.npy", "1.npy", "2.npy", "3.npy"}) {
    INFO(name);
    const auto end = read_grid<double>(folder / name);
    for (std::int64_t i = 0; i < rows; ++i) {
      for (std::int64_t j = 0; j < columns; ++j) {
        if (end.is_edge(i, j)) REQUIRE(end(i, j) == current(i, j));
      }
    }
  }
}

TEMPLATE_TEST_CASE("After no steps the output is the current input bit for bit", "", double, float) {
  const TemporaryFolder folder;
  auto current = random_grid<TestType>(rows, columns, 3);
  current(4, 5) = -TestType(0);
  current(6, 7) = std::numeric_limits<TestType>::denorm_min();
  write_grid(folder / "current.npy", current);
  auto edges = current;
  edges(4, 4) = TestType(0.25);
  write_grid(folder / "previous.npy", edges);
  const int ranks = GENERATE(1, 3);
  for (const Words& input : {Words{"current.npy"}, Words{"previous.npy", "current.npy"}}) {
    for (const Words& split : {Words{"--time-tile", "1"}, Words{"--time-tile", "5", "--partition", "column"}}) {
      const Words arguments = type_of<TestType>() + split + Words{"--steps", "0", "--output", "end.npy", "--input"};
      run_wave2d(ranks, arguments + input, folder);
      CHECK(folder.read("end.npy") == folder.read("current.npy"));
    }
  }
}

TEST_CASE("A run that goes on from files equals the run in one piece") {
  const std::string boundary = GENERATE("dirichlet", "neumann");
  const std::string order = GENERATE("2", "4");
  const Words problem{"--size", "29", "--boundary", boundary, "--order", order, "--steps"};
  const TemporaryFolder folder;
  run_wave2d({{1, problem + Words{"12", "--output", "whole.npy", "--time-tile", "1"}},
              {2, problem + Words{"6", "--output", "six.npy", "--time-tile", "4"}},
              {3, problem + Words{"7", "--output", "seven.npy", "--time-tile", "3", "--partition", "column"}}},
             folder);
  run_wave2d(2, problem + Words{"5", "--output", "end.npy", "--time-tile", "2", "--input", "six.npy", "seven.npy"},
             folder);
  CHECK(folder.read("end.npy") == folder.read("whole.npy"));
}

TEST_CASE("The output may take the place of the input") {
  const TemporaryFolder folder;
  const auto start = random_grid<double>(rows, columns, 8);
  write_grid(folder / "field.npy", start);
  run_wave2d(2, {"--input", "field.npy", "--output", "field.npy", "--steps", "3", "--repetitions", "2"}, folder);
  expect_near(read_grid<double>(folder / "field.npy"), advanced(start, start, 3, 0.5, false), 3);
}

}  // namespace
}  // namespace steelyard::tests::test_wave2d_fields
