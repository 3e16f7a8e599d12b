#pragma once

#include <filesystem>

#include "tests/catch.hpp"
#include "tests/miniapps/app_runs.hpp"
#include "tests/miniapps/grid.hpp"
#include "tests/miniapps/wave2d/leap_frog_on_paper.hpp"

namespace steelyard::tests {

inline const std::filesystem::path wave2d = built("wave2d");

/// run_app() with wave2d; channels are not measured before.
inline std::vector<Outcome> run_wave2d(std::vector<AppRun> runs, const TemporaryFolder& folder) {
  const TemporaryFolder platform;
  for (AppRun& run : runs) run.arguments = run.arguments + with_platform(platform);
  return run_app(wave2d, runs, folder);
}
inline Outcome run_wave2d(int ranks, const Words& arguments, const TemporaryFolder& folder) {
  return run_wave2d({{ranks, arguments}}, folder).front();
}

/// A run whose result does not depend on the units that compute it.
struct SplitProblem {
  int rows = 37;
  int columns = 53;
  bool neumann = false;
  int order = 2;
  int steps = 15;

  /// Close to the largest.
  double courant() const { return order == 2 ? 0.7 : 0.61; }
};

/// A problem, and its field as one host unit computes it, step by step: that of the scheme on paper.
template <class Scalar>
class SplitTest {
 public:
  explicit SplitTest(const SplitProblem& problem)
      : arguments_{"--rows",     std::to_string(problem.rows),
                   "--columns",  std::to_string(problem.columns),
                   "--steps",    std::to_string(problem.steps),
                   "--order",    std::to_string(problem.order),
                   "--courant",  std::to_string(problem.courant()),
                   "--type",     sizeof(Scalar) == 8 ? "double" : "float",
                   "--boundary", problem.neumann ? "neumann" : "dirichlet"},
        whole_(fields_of({{1, {"--units", "host", "--time-tile", "1"}}}).front()) {
    const auto start = [&](int step) {
      return standing_wave_at<Scalar>(problem.rows, problem.columns, step, problem.courant(), problem.neumann);
    };
    const auto paper = advanced(start(-1), start(0), problem.steps, problem.courant(), problem.neumann, problem.order);
    REQUIRE(largest_difference(whole_, paper) <= rounding<Scalar>(problem.steps));
  }

  void expect_same(const std::vector<AppRun>& splits) {
    const std::vector<Grid<Scalar>> fields = fields_of(splits);
    for (std::size_t i = 0; i < fields.size(); ++i) {
      INFO(joined("wave2d", splits[i].arguments) << " on " << splits[i].ranks << " ranks");
      expect_same(fields[i]);
    }
  }
  void expect_same(const Grid<Scalar>& field) const { CHECK(field == whole_); }

  const TemporaryFolder& folder() const { return folder_; }
  /// The problem in the words of the command line.
  const Words& arguments() const { return arguments_; }

 private:
  std::vector<Grid<Scalar>> fields_of(std::vector<AppRun> runs) {
    std::vector<std::filesystem::path> files;
    for (AppRun& run : runs) {
      files.push_back(folder_ / ("field" + std::to_string(files.size()) + ".npy"));
      std::filesystem::remove(files.back());
      run.arguments = run.arguments + arguments_ + Words{"--output", files.back()};
    }
    run_wave2d(runs, folder_);
    std::vector<Grid<Scalar>> fields;
    for (const std::filesystem::path& file : files) fields.push_back(read_grid<Scalar>(file));
    return fields;
  }

  TemporaryFolder folder_;
  Words arguments_;
  Grid<Scalar> whole_;
};

}  // namespace steelyard::tests
