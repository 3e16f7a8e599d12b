#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/options.hpp"
#include "miniapps/cavity/problem.hpp"

namespace steelyard::cavity {

// Words of options, in the order of their values.
inline const std::vector<std::string> scheme_names{"euler", "crank-nicolson"};
inline const std::vector<std::string> preconditioner_names{"none", "multigrid"};
inline const std::vector<std::string> reduction_names{"separate", "merged"};

/// Options as the user typed them.
struct Options {
  Options() {
    run.steps = -1;  // What ends a run depends on other options, see make_end().
    run.repetitions = 1;
    run.warmups = 0;
  }

  RunOptions run;
  GridOptions grid;
  Problem problem;  ///< its time step is 0 for the Courant number's, and its grid is above
  double cfl = 1.0;
  double end_time = 0.0;  ///< 0 for none
  double steady = 0.0;    ///< 0 for none
  Numerics numerics;
  bool compare_even = false;
  std::filesystem::path profiles;
  std::filesystem::path picture;
  std::optional<std::pair<double, double>> iterations;  ///< of a step: for momentum, for pressure
  std::filesystem::path sample;                         ///< result folder of a run with such steps
};

/// Adds cavity's own options; the shared ones are there.
void add_options(const AppOptions& parsers, Options& options);

/// @throws InvalidArgument for what makes no sense, alone or together
Problem make_problem(const Options& options);

/// @param start_time of the run's first step @throws InvalidArgument for an end before it
RunEnd make_end(const Options& options, const Problem& problem, double start_time);

/// Iterations of a step as `--iterations` or `--sample` say; nothing without these.
/// @throws FileFormatError for a run with other solvers, or without steps
std::optional<Iterations> given_iterations(const Options& options, const Problem& problem);

}  // namespace steelyard::cavity
