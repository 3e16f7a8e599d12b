#include "miniapps/cavity/options.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/errors.hpp"
#include "miniapps/cavity/numerics_options.hpp"
#include "partition/algorithms.hpp"

namespace steelyard::cavity {
namespace {

constexpr std::int64_t default_extent = 128;
constexpr std::int64_t default_steps = 100;
/// Of a run that is to become steady, which it may never do.
constexpr std::int64_t most_steps = 1000000;
constexpr std::int64_t no_limit = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t largest_extent = std::int64_t{1} << 31;
constexpr double most_cells = 9.0e15;

}  // namespace

void add_options(CLI::App& parser, Options& options) {
  add_grid_options(parser, options.grid, 0);
  for (const char* without_effect : {"--input", "--seed", "--type"}) {
    parser.remove_option(parser.get_option(without_effect));
  }
  parser.get_option("--size")->description(fmt::format("Rows and columns of cells (default {})", default_extent));
  parser.get_option("--rows")->description("Rows of cells");
  parser.get_option("--columns")->description("Columns of cells");
  parser.get_option("--steps")->description(
      fmt::format("Time steps of a repetition, at most (default {}; no limit with --end-time, {} with --steady)",
                  default_steps, most_steps));
  parser.get_option("--output")->description("Where the flow goes (VTK image data, .vti)");
  const auto positive = [](const std::string& text) {
    double value = 0.0;
    const bool read = CLI::detail::lexical_cast(text, value);
    return read && value > 0.0 && std::isfinite(value)
               ? std::string()
               : fmt::format("Value {} (expected a number greater than 0)", text);
  };
  const auto add_positive = [&](const std::string& name, double& value, const std::string& type,
                                const std::string& description) {
    return parser.add_option(name, value, description)->check(positive)->type_name(type);
  };
  add_positive("--reynolds", options.reynolds, "RE", "Lid speed * width / kinematic viscosity (default 100)");
  add_positive("--height", options.height, "H", "Height of the cavity in widths (default 1)");
  CLI::Option* const time_step =
      add_positive("--time-step", options.time_step, "DT", "Time step, in widths / lid speed");
  add_positive("--cfl", options.cfl, "C", "The same as lid speed * time step / cell's shorter edge (default 1)")
      ->excludes(time_step);
  add_positive("--end-time", options.end_time, "T", "Time to step to");
  add_positive("--steady", options.steady, "TOL",
               "Step until no velocity changes faster than this, in lid speeds / time");
  parser
      .add_option_function<std::string>(
          "--scheme",
          [&options](const std::string& word) {
            options.scheme = word == "euler" ? TimeScheme::euler : TimeScheme::crank_nicolson;
          },
          "Time scheme (default euler)")
      ->check(CLI::IsMember({"euler", "crank-nicolson"}))
      ->type_name("euler|crank-nicolson");
  parser.add_option("--correctors", options.correctors, "Pressure corrections of a time step (PISO)")
      ->check(CLI::Range(1, 100))
      ->type_name("N")
      ->capture_default_str();
  add_numerics_options(parser, options.numerics);
  parser.add_flag("--compare-even", options.compare_even,
                  "Run an even split in turns too; print the speedup over it and its upper bound");
  parser.add_option("--profiles", options.profiles, "Where velocities on the centre lines go, beside Ghia's (CSV)")
      ->type_name("FILE");
  parser.add_option("--picture", options.picture, "Where a picture of speed and streamlines goes (PNG)")
      ->type_name("FILE");
  parser.add_option("--checkpoint", options.checkpoint, "Where the flow goes, for --restart")->type_name("FILE");
  parser.add_option("--restart", options.restart, "Checkpoint to go on from (default: from rest)")->type_name("FILE");
}

Problem make_problem(const Options& options) {
  partition::find_algorithm(options.run.partition);
  Problem problem;
  problem.rows = options.grid.rows;
  problem.columns = options.grid.columns;
  if ((problem.rows == 0) != (problem.columns == 0)) {
    throw InvalidArgument("--rows and --columns go together (or --size N for both)");
  }
  if (problem.rows == 0) problem.rows = problem.columns = default_extent;
  if (problem.rows < 2 || problem.columns < 2) {
    throw InvalidArgument(
        fmt::format("grid of {} x {} cells (expected at least 2 x 2)", problem.rows, problem.columns));
  }
  if (problem.rows > largest_extent || problem.columns > largest_extent ||
      static_cast<double>(problem.rows) * static_cast<double>(problem.columns) > most_cells) {
    throw InvalidArgument(fmt::format("grid of {} x {} cells is beyond any memory", problem.rows, problem.columns));
  }
  problem.height = options.height;
  problem.reynolds = options.reynolds;
  problem.scheme = options.scheme;
  problem.correctors = options.correctors;
  problem.time_step = options.time_step > 0.0 ? options.time_step : options.cfl * std::min(problem.dx(), problem.dy());
  return problem;
}

RunEnd make_end(const Options& options, const Problem& problem, double start_time) {
  RunEnd end;
  end.steady = options.steady;
  end.steps = options.run.steps >= 0   ? options.run.steps
              : options.end_time > 0.0 ? no_limit
              : options.steady > 0.0   ? most_steps
                                       : default_steps;
  if (options.end_time > 0.0) {
    if (options.end_time < start_time) {
      throw InvalidArgument(
          fmt::format("--end-time {} before the run's first step at {}", options.end_time, start_time));
    }
    // What rounding makes of a whole number of steps is that number.
    const double steps = std::ceil((options.end_time - start_time) / problem.time_step - 1e-6);
    if (steps < static_cast<double>(end.steps)) end.steps = static_cast<std::int64_t>(steps);
  }
  return end;
}

}  // namespace steelyard::cavity
