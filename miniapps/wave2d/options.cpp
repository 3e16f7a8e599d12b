#include "miniapps/wave2d/options.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cmath>

#include "core/base/errors.hpp"
#include "core/base/npy.hpp"
#include "partition/algorithms.hpp"

namespace steelyard::wave2d {
namespace {

constexpr std::int64_t smallest_extent = 3;

NpyHeader read_header(const std::filesystem::path& path, ElementType element) {
  return element == ElementType::float64 ? read_npy_matrix_header<double>(path) : read_npy_matrix_header<float>(path);
}

/// Extents of the input fields, which must agree with each other and with the command line.
void take_extents(const Options& options, bool extents_given, Problem& problem) {
  const auto& files = options.run.input;
  if (files.size() > 2) {
    throw InvalidArgument(
        fmt::format("--input names {} files (expected the current field, or the previous and the "
                    "current one)",
                    files.size()));
  }
  for (const auto& file : files) {
    const NpyHeader header = read_header(file, options.run.element);
    const bool first = &file == &files.front() && !extents_given;
    if (first) {
      problem.rows = header.shape[0];
      problem.columns = header.shape[1];
    } else if (header.shape[0] != problem.rows || header.shape[1] != problem.columns) {
      throw FileFormatError(file.string(), "shape",
                            fmt::format("is {} x {} (expected {} x {})", header.shape[0], header.shape[1], problem.rows,
                                        problem.columns));
    }
  }
}

}  // namespace

void add_options(CLI::App& parser, Options& options) {
  add_standard_options(parser);
  add_steps_option(parser, options.run);
  add_run_options(parser, options.run);
  add_platform_option(parser, options.run);
  add_grid_options(parser, options.grid, 0);
  parser.add_option("--courant", options.courant, "c dt / dx, at most 1/sqrt(2) (default 0.5)")->type_name("C");
  parser
      .add_option_function<std::string>(
          "--boundary",
          [&options](const std::string& word) {
            options.boundary = word == "neumann" ? Boundary::neumann : Boundary::dirichlet;
          },
          "What happens at the edge (default dirichlet)")
      ->check(CLI::IsMember({"dirichlet", "neumann"}))
      ->type_name("dirichlet|neumann");
}

Problem make_problem(const Options& options) {
  Problem problem{options.grid.rows, options.grid.columns, options.courant, options.boundary};
  if ((problem.rows == 0) != (problem.columns == 0)) {
    throw InvalidArgument("--rows and --columns go together (or --size N for both)");
  }
  const bool extents_given = problem.rows != 0;
  if (!extents_given) problem.rows = problem.columns = 2048;
  take_extents(options, extents_given, problem);
  if (problem.rows < smallest_extent || problem.columns < smallest_extent) {
    throw InvalidArgument(fmt::format("grid of {} x {} points (expected at least {} x {}: one point inside the halo)",
                                      problem.rows, problem.columns, smallest_extent, smallest_extent));
  }
  if (problem.rows > std::int64_t{1} << 31 || problem.columns > std::int64_t{1} << 31 || problem.points() > 9.0e15) {
    throw InvalidArgument(fmt::format("grid of {} x {} points is beyond any memory", problem.rows, problem.columns));
  }
  if (!(options.courant > 0.0 && options.courant <= std::sqrt(0.5) * (1.0 + 1e-12))) {
    throw InvalidArgument(
        fmt::format("--courant {} (expected 0 < C <= 0.7071, beyond which the scheme is unstable)", options.courant));
  }
  partition::find_algorithm(options.run.partition);
  return problem;
}

}  // namespace steelyard::wave2d
