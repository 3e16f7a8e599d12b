#pragma once

#include <filesystem>

#include "core/options.hpp"
#include "miniapps/wave2d/calibration.hpp"
#include "miniapps/wave2d/problem.hpp"

namespace steelyard::wave2d {

/// What the user typed.
struct Options {
  RunOptions run;
  GridOptions grid;
  double courant = 0.5;
  Boundary boundary = Boundary::dirichlet;
  int order = 2;
  int time_tile = 0;  ///< steps per pass; 0: the models choose
  Balancing balancing = Balancing::model;
  bool serialize = false;
  int frames = 0;  ///< pictures of the field; 0: none
  std::filesystem::path frame_folder = "frames";
};

void add_options(CLI::App& parser, Options& options);

/// Checks what only makes sense together, and takes the grid's extents from the input file where there is one.
/// @throws InvalidArgument, FileFormatError
Problem make_problem(const Options& options);

}  // namespace steelyard::wave2d
