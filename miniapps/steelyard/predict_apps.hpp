#pragma once

#include "miniapps/steelyard/command.hpp"

namespace steelyard::tool {

/// Each adds its app's subcommand to `steelyard predict`: to add one, write its own and call it in
/// add_predict_command().
void add_predict_summa(CLI::App& parser, Action& chosen);
void add_predict_wave2d(CLI::App& parser, Action& chosen);
void add_predict_fft2d(CLI::App& parser, Action& chosen);

}  // namespace steelyard::tool
