#pragma once

#include <filesystem>
#include <vector>

#include "core/options.hpp"
#include "miniapps/fft2d/exchange_plan.hpp"
#include "miniapps/fft2d/padding.hpp"
#include "miniapps/fft2d/problem.hpp"
#include "miniapps/fft2d/rows/row_pass.hpp"

namespace steelyard::fft2d {

/// What the user typed.
struct Options {
  RunOptions run;
  GridOptions grid;
  bool inverse = false;
  bool real = false;
  bool transposed = false;
  ExchangeOptions exchange;
  RowFftChoice fft;
  Padding padding;
  std::vector<std::filesystem::path> column_models;  ///< of pass 2, where it is not like pass 1
};

/// Adds the options of fft2d alone; the shared ones are there.
void add_options(const AppOptions& parsers, Options& options);

/// Checks what only makes sense together, and takes the input's extents from its file where there is one.
/// @throws InvalidArgument, FileFormatError
Extents input_extents(const Options& options);

/// The transform of an input of such extents, padded where the user has said by how much.
/// @throws InvalidArgument for extents that are smaller than the input's or beyond any memory
Problem make_problem(const Options& options, const Extents& input);

}  // namespace steelyard::fft2d
