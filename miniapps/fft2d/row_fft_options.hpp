#pragma once

#include "miniapps/fft2d/row_pass.hpp"

namespace CLI {
class App;
}

namespace steelyard::fft2d {

/// Adds `--fft LIBRARY` and `--planner EFFORT`, for the program and for measuring its kernel alike.
void add_row_fft_options(CLI::App& parser, RowFftChoice& choice);

}  // namespace steelyard::fft2d
