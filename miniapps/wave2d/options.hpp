#pragma once

#include "core/options.hpp"
#include "miniapps/wave2d/problem.hpp"

namespace steelyard::wave2d {

/// What the user typed.
struct Options {
  RunOptions run;
  GridOptions grid;
  double courant = 0.5;
  Boundary boundary = Boundary::dirichlet;
};

void add_options(CLI::App& parser, Options& options);

/// Checks what only makes sense together, and takes the grid's extents from the input file where there is one.
/// @throws InvalidArgument, FileFormatError
Problem make_problem(const Options& options);

}  // namespace steelyard::wave2d
