#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "core/options.hpp"
#include "miniapps/wave2d/problem.hpp"

namespace steelyard::wave2d {

/// How the rows are balanced.
enum class Balancing {
  model,    ///< by the speed models, with an algorithm of `--partition`; nothing is tried out
  binary,   ///< as 003 does it: in a rank by binary search until the units' kernels take equally long, between ranks
            ///< once by their throughput (sections 4.1.1 and 4.1.2)
  ternary,  ///< as 003 proposes: in a rank by ternary search for the shortest pass, between ranks by throughput again
            ///< and again (section 8.2)
  dynamic,  ///< from the even distribution on, by the times of the run's own passes, moving rows between units and
            ///< ranks when that pays (000, section 6.1.5)
};
/// Between what binary and ternary balance. Source: 003, section 4.1.
enum class BalanceLevel {
  both,
  internal,  ///< between the units of each rank; ranks get as many rows each
  external,  ///< between ranks; the units of a rank get as many rows each
};

/// `model`, `binary`, `ternary` or `dynamic`.
const std::string& balancing_name(Balancing balancing);

/// The program's options.
struct Options {
  RunOptions run;
  GridOptions grid;
  double courant = 0.5;
  std::string boundary = "dirichlet";  ///< or `neumann`
  int order = 2;
  int time_tile = 0;  ///< steps per pass; 0: the models choose, and a speed model is of single steps
  Balancing balancing = Balancing::model;
  BalanceLevel level = BalanceLevel::both;
  bool serialize = false;
  int frames = 0;  ///< pictures of the field; 0: none
  std::filesystem::path frame_folder = "frames";

  Overlap overlap() const { return serialize ? Overlap::none : Overlap::full; }
  /// Algorithm of `--partition`; a run that balances itself goes by the geometric one.
  std::string algorithm() const { return run.partition == "dynamic" ? "geometric" : run.partition; }
};

/// Adds the options that the frame does not add.
void add_options(const AppOptions& parsers, Options& options);

/// Checks the options that depend on each other, and takes the grid's extents from the input file where there is one.
/// `--partition dynamic` sets `balancing` as `--balance dynamic` does. @throws InvalidArgument, FileFormatError
Problem make_problem(Options& options);

}  // namespace steelyard::wave2d
