#include "miniapps/wave2d/options.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <charconv>
#include <cmath>

#include "core/base/errors.hpp"
#include "core/base/npy.hpp"
#include "core/typed_options.hpp"
#include "miniapps/wave2d/assignment.hpp"

namespace steelyard::wave2d {
namespace {

constexpr std::int64_t default_extent = 2048;

/// In the order of Balancing.
const std::vector<std::string> balancing_names{"model", "binary", "ternary", "dynamic"};

int parse_time_tile(const std::string& word) {
  if (word == "auto") return 0;
  int steps = 0;
  const char* const end = word.data() + word.size();
  const auto [read, error] = std::from_chars(word.data(), end, steps);
  if (error != std::errc() || read != end || steps < 1 || steps > most_steps_per_pass) {
    throw CLI::ValidationError("--time-tile", fmt::format("{} (expected auto, or 1 to {})", word, most_steps_per_pass));
  }
  return steps;
}

/// Extents of the input fields, which must agree with each other and with the command line.
void take_extents(const Options& options, bool extents_given, Problem& problem) {
  const auto& files = options.run.input;
  if (files.size() > 2) {
    throw InvalidArgument(fmt::format(
        "--input names {} files (expected the current field, or the previous and the current one)", files.size()));
  }
  for (const auto& file : files) {
    const NpyHeader header = options.run.element == ElementType::float64 ? read_npy_matrix_header<double>(file)
                                                                         : read_npy_matrix_header<float>(file);
    if (&file == &files.front() && !extents_given) {
      problem.rows = header.shape[0];
      problem.columns = header.shape[1];
    }
    if (header.shape[0] != problem.rows || header.shape[1] != problem.columns) {
      throw FileFormatError(file.string(), "shape",
                            fmt::format("is {} x {} (expected {} x {})", header.shape[0], header.shape[1], problem.rows,
                                        problem.columns));
    }
  }
}

}  // namespace

const std::string& balancing_name(Balancing balancing) { return balancing_names[static_cast<std::size_t>(balancing)]; }

void add_options(const AppOptions& parsers, Options& options) {
  add_grid_options(parsers, options.grid, 0);
  CLI::App& model = parsers.model();
  model.get_option("--size")->description(fmt::format("Rows and columns of the grid (default {})", default_extent));
  model.add_option("--order", options.order, "Order in space: 2 (5 points) or 4 (9 points) (default 2)")
      ->check(CLI::IsMember({2, 4}))
      ->type_name("2|4");
  model
      .add_option_function<std::string>(
          "--time-tile", [&options](const std::string& word) { options.time_tile = parse_time_tile(word); },
          "Steps per pass over memory and per exchange of halos (default auto: what the models find fastest)")
      ->type_name("K|auto");
  CLI::App& parser = parsers.run();
  parser.add_option("--courant", options.courant, "c dt / dx, at most 0.7071, with --order 4 0.6123 (default 0.5)")
      ->type_name("C");
  parser.add_option("--boundary", options.boundary, "What happens at the edge (default dirichlet)")
      ->check(CLI::IsMember({"dirichlet", "neumann"}))
      ->type_name("dirichlet|neumann");
  add_choice<Balancing>(parser, "--balance", options.balancing, balancing_names,
                        "How rows are balanced: by models and --partition (default), by trying out with binary or "
                        "ternary search, or while running");
  add_choice<BalanceLevel>(
      parser, "--balance-level", options.level, {"both", "internal", "external"},
      "With --balance binary or ternary: between the units of each rank, between ranks, or both (default)");
  CLI::Option* frames = add_number(parser, "--frames", options.frames,
                                   "Pictures of the field, evenly from start to end, as PNG and VTK files", 0, 10000);
  parser.add_option("--frame-dir", options.frame_folder, "Where they go (default frames)")
      ->type_name("DIR")
      ->needs(frames);
  parser.add_flag("--serialize", options.serialize,
                  "Run the phases of a pass one after the other, to time them apart (slower)");
}

Problem make_problem(Options& options) {
  if (options.run.partition == "dynamic") {
    if (options.balancing == Balancing::binary || options.balancing == Balancing::ternary) {
      throw InvalidArgument("--partition dynamic balances while running (expected no other --balance beside it)");
    }
    options.balancing = Balancing::dynamic;
  }
  const Boundary boundary = options.boundary == "neumann" ? Boundary::neumann : Boundary::dirichlet;
  Problem problem{options.grid.rows, options.grid.columns, options.courant, boundary, options.order};
  if ((problem.rows == 0) != (problem.columns == 0)) {
    throw InvalidArgument("--rows and --columns go together (or --size N for both)");
  }
  const bool extents_given = problem.rows != 0;
  if (!extents_given) problem.rows = problem.columns = default_extent;
  take_extents(options, extents_given, problem);
  if (problem.rows < smallest_extent || problem.columns < smallest_extent) {
    throw InvalidArgument(fmt::format("grid of {} x {} points (expected at least {} x {}: one point inside the halo)",
                                      problem.rows, problem.columns, smallest_extent, smallest_extent));
  }
  if (problem.rows > std::int64_t{1} << 31 || problem.columns > std::int64_t{1} << 31 || problem.points() > 9.0e15) {
    throw InvalidArgument(fmt::format("grid of {} x {} points is beyond any memory", problem.rows, problem.columns));
  }
  const double most = largest_courant(problem.order);
  if (!(problem.courant > 0.0 && problem.courant <= most * (1.0 + 1e-12))) {
    // Rounded down, so that the number named is one that is taken.
    throw InvalidArgument(fmt::format("--courant {} (expected 0 < C <= {:.4f}, beyond which the scheme is unstable)",
                                      problem.courant, std::floor(most * 1e4) / 1e4));
  }
  row_algorithm(options.algorithm());
  if (options.balancing != Balancing::model && options.run.partition == "column") {
    throw InvalidArgument("--partition column goes by models (expected --balance model, or slices of rows)");
  }
  if (options.balancing != Balancing::model && !options.run.models.empty()) {
    throw InvalidArgument("--model has no effect where rows are balanced by trying out (expected --balance model)");
  }
  const bool tries_out = options.balancing == Balancing::binary || options.balancing == Balancing::ternary;
  if (options.level != BalanceLevel::both && !tries_out) {
    throw InvalidArgument("--balance-level goes with --balance binary or ternary");
  }
  return problem;
}

}  // namespace steelyard::wave2d
