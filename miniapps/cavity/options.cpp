#include "miniapps/cavity/options.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/errors.hpp"
#include "core/base/json_file.hpp"
#include "core/typed_options.hpp"
#include "partition/algorithms.hpp"

namespace steelyard::cavity {
namespace {

constexpr std::int64_t default_extent = 128;
constexpr std::int64_t default_steps = 100;
/// Most steps of a run that is to become steady, which it may never do.
constexpr std::int64_t most_steps = 1000000;
constexpr std::int64_t no_limit = std::numeric_limits<std::int64_t>::max();

/// An option that takes a number of a range. CLI::Range lets NaN through, and writes 1e-15 as 0.000000.
CLI::Option* add_real(CLI::App& parser, const std::string& name, double& value, double least, double most,
                      const std::string& range, const std::string& description) {
  const auto check = [=](const std::string& text) {
    double number = 0.0;
    const bool good = CLI::detail::lexical_cast(text, number) && number >= least && number <= most;
    return good ? std::string() : fmt::format("Value {} (expected a number {})", text, range);
  };
  return parser.add_option(name, value, description)->check(check);
}

CLI::Option* add_positive(CLI::App& parser, const std::string& name, double& value, const std::string& type,
                          const std::string& description) {
  using Limits = std::numeric_limits<double>;
  return add_real(parser, name, value, Limits::denorm_min(), Limits::max(), "greater than 0", description)
      ->type_name(type);
}

void add_tolerance(CLI::App& parser, const std::string& name, SolveSettings& settings, const std::string& description) {
  constexpr double least = 1e-15, most = 0.9;
  settings.relative = 1e-6;
  add_real(parser, name, settings.relative, least, most, fmt::format("from {} to {}", least, most), description)
      ->type_name(fmt::format("TOL:FLOAT in [{} - {}]", least, most))
      ->capture_default_str();
}

/// Describes the shared options as cavity uses them.
void adapt_shared_options(const AppOptions& parsers) {
  const std::string by_default = fmt::format(" (default {})", default_extent);
  parsers.model().get_option("--size")->description("Rows and columns of cells" + by_default);
  parsers.plan().get_option("--rows")->description("Rows of cells");
  parsers.model().get_option("--columns")->description("Columns of cells");
  const std::string steps =
      fmt::format("Time steps of a repetition, at most (default {}; no limit with --end-time, {} with --steady)",
                  default_steps, most_steps);
  parsers.plan().get_option("--steps")->description(steps)->default_str("");
  parsers.run().get_option("--output")->description("Where the flow goes (VTK image data, .vti)");
}

/// Options that determine the parts of a time step.
void add_solver_options(CLI::App& parser, Options& options) {
  add_number(parser, "--correctors", options.problem.correctors, "Pressure corrections of a time step (PISO)", 1, 100)
      ->capture_default_str();
  Numerics& numerics = options.numerics;
  add_choice<Preconditioner>(parser, "--pressure-preconditioner", numerics.preconditioner, preconditioner_names,
                             "Preconditioner of CG for the pressure (default multigrid)");
  add_choice<Reductions>(parser, "--reductions", numerics.reductions, reduction_names,
                         "Gather an iteration's sums one by one, as they come up, or at once (default separate)");
}

/// The cavity's height, and the iterations of a step for a prediction.
void add_prediction_options(CLI::App& parser, Options& options) {
  add_positive(parser, "--height", options.problem.height, "H", "Height of the cavity in widths (default 1)");
  parser
      .add_option("--iterations", options.iterations,
                  "Iterations of a time step: of BiCGSTAB for momentum, and of CG in all pressure solves")
      ->check(CLI::Range(0.0, 1e9))
      ->type_name("N N");
  parser
      .add_option(
          "--sample", options.sample,
          "Result folder of a run with the same solvers, such as one with few steps or on a coarser grid, which "
          "says how many iterations a step has")
      ->type_name("DIR");
}

/// The flow, when its steps and solves end, and files.
void add_flow_options(CLI::App& parser, Options& options) {
  add_positive(parser, "--reynolds", options.problem.reynolds, "RE",
               "Lid speed * width / kinematic viscosity (default 100)");
  CLI::Option* const time_step =
      add_positive(parser, "--time-step", options.problem.time_step, "DT", "Time step, in widths / lid speed");
  add_positive(parser, "--cfl", options.cfl, "C", "The same as lid speed * time step / cell's shorter edge (default 1)")
      ->excludes(time_step);
  add_positive(parser, "--end-time", options.end_time, "T", "Time to step to");
  add_positive(parser, "--steady", options.steady, "TOL",
               "Step until no velocity changes faster than this, in lid speeds / time");
  add_choice<TimeScheme>(parser, "--scheme", options.problem.scheme, scheme_names, "Time scheme (default euler)");
  Numerics& numerics = options.numerics;
  add_tolerance(parser, "--pressure-tolerance", numerics.pressure,
                "Residual of the pressure equation over its right-hand side (2-norms)");
  add_tolerance(parser, "--momentum-tolerance", numerics.momentum, "The same of the momentum equations");
  const auto set_most = [&numerics](int most) {
    numerics.pressure.most_iterations = numerics.momentum.most_iterations = most;
  };
  parser
      .add_option_function<int>("--most-iterations", set_most,
                                "Iterations of a linear solver after which the run gives up (default 1000)")
      ->check(CLI::Range(1, 1000000))
      ->type_name("N");
  parser.add_flag("--compare-even", options.compare_even,
                  "Run an even split in turns too; print the speedup over it and its upper bound");
  const auto add_file = [&](const char* name, std::filesystem::path& path, const char* description) {
    parser.add_option(name, path, description)->type_name("FILE");
  };
  add_file("--profiles", options.profiles, "Where velocities on the centre lines go, beside Ghia's (CSV)");
  add_file("--picture", options.picture, "Where a picture of speed and streamlines goes (PNG)");
}

}  // namespace

void add_options(const AppOptions& parsers, Options& options) {
  add_grid_options(parsers, options.grid, 0);
  adapt_shared_options(parsers);
  add_solver_options(parsers.model(), options);
  add_prediction_options(parsers.plan(), options);
  add_flow_options(parsers.run(), options);
}

Problem make_problem(const Options& options) {
  partition::find_algorithm(options.run.partition);
  if (const auto& output = options.run.output; output.has_extension() && output.extension() != ".vti") {
    throw InvalidArgument(fmt::format("--output {} (expected a name that ends in .vti)", output.string()));
  }
  Problem problem = options.problem;
  problem.rows = problem.columns = default_extent;
  options.grid.set(problem.rows, problem.columns);
  require_extents("grid", "cells", problem.rows, problem.columns, {2, ""});
  if (problem.time_step == 0.0) problem.time_step = options.cfl * std::min(problem.dx(), problem.dy());
  return problem;
}

RunEnd make_end(const Options& options, const Problem& problem, double start_time) {
  RunEnd end{options.run.steps, options.steady};
  if (end.steps < 0) {
    end.steps = options.end_time > 0.0 ? no_limit : options.steady > 0.0 ? most_steps : default_steps;
  }
  if (options.end_time > 0.0) {
    if (options.end_time < start_time) {
      throw InvalidArgument(
          fmt::format("--end-time {} (expected at least {}, where the run starts)", options.end_time, start_time));
    }
    // What rounding makes of a whole number of steps is that number.
    const double steps = std::ceil((options.end_time - start_time) / problem.time_step - 1e-6);
    if (steps < static_cast<double>(end.steps)) end.steps = static_cast<std::int64_t>(steps);
  }
  return end;
}

std::optional<Iterations> given_iterations(const Options& options, const Problem& problem) {
  if (options.iterations) return Iterations{options.iterations->first, options.iterations->second};
  if (options.sample.empty()) return std::nullopt;
  const std::filesystem::path path = options.sample / "run.json";
  const nlohmann::json json = read_json_file(path);
  const JsonReader run(path.string(), json);
  run.require_schema("steelyard.run/1");
  const auto require = [](const JsonReader& of, const std::string& key, const std::string& expected) {
    const std::string found = of.text(key);
    if (found != expected) of.fail(key, fmt::format("is {} (expected {})", found, expected));
  };
  require(run, "app", "cavity");
  const JsonReader settings = run.object("settings"), params = run.object("params"), figures = run.object("figures");
  require(settings, "pressure_preconditioner", word_of(preconditioner_names, options.numerics.preconditioner));
  require(settings, "reductions", word_of(reduction_names, options.numerics.reductions));
  const double steps = params.number("steps");
  if (!(steps > 0.0)) params.fail("steps", fmt::format("is {} (expected a run of one step at least)", steps));
  if (params.number("correctors") != problem.correctors) {
    params.fail("correctors", fmt::format("is {} (expected {})", params.number("correctors"), problem.correctors));
  }
  return Iterations{figures.number("momentum_iterations") / steps, figures.number("pressure_iterations") / steps};
}

}  // namespace steelyard::cavity
