#include "miniapps/fft2d/row_fft_options.hpp"

#include <CLI/CLI.hpp>
#include <map>

namespace steelyard::fft2d {

void add_row_fft_options(CLI::App& parser, RowFftChoice& choice) {
  parser
      .add_option("--fft", choice.library,
                  "Library that transforms rows (default: the fastest that a unit has): fftw on hosts, vendor on "
                  "devices, portable everywhere")
      ->check(CLI::IsMember({"fftw", "vendor", "portable"}))
      ->type_name("LIBRARY");
  const std::map<std::string, Planner> planners{
      {"estimate", Planner::estimate}, {"measure", Planner::measure}, {"patient", Planner::patient}};
  parser
      .add_option("--planner", choice.planner,
                  "How hard FFTW looks for a plan: estimate, measure or patient (default measure)")
      ->transform(CLI::CheckedTransformer(planners).description(""))
      ->type_name("EFFORT");
}

}  // namespace steelyard::fft2d
