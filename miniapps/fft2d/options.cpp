#include "miniapps/fft2d/options.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <complex>

#include "core/base/errors.hpp"
#include "core/base/npy.hpp"
#include "core/typed_options.hpp"
#include "partition/algorithms.hpp"

namespace steelyard::fft2d {
namespace {

constexpr std::int64_t default_extent = 2048;
constexpr std::int64_t largest_extent = std::int64_t{1} << 31;

NpyHeader read_header(const std::filesystem::path& path, const Options& options) {
  if (options.run.element == ElementType::float64) {
    return options.real ? read_npy_matrix_header<double>(path) : read_npy_matrix_header<std::complex<double>>(path);
  }
  return options.real ? read_npy_matrix_header<float>(path) : read_npy_matrix_header<std::complex<float>>(path);
}

void require_words(const Options& options) {
  if (options.real && options.inverse) {
    throw InvalidArgument("--real with --inverse (expected a forward transform of real numbers, or a complex one)");
  }
  if (!options.column_models.empty() && options.run.models.empty()) {
    throw InvalidArgument("--column-model without --model (expected the models of both passes, or none)");
  }
  partition::find_algorithm(options.run.partition);
}

/// `--exchange` and `--batches`.
void add_exchange_options(CLI::App& parser, ExchangeOptions& exchange) {
  add_choice<Exchange>(parser, "--exchange", exchange.exchange, exchange_names,
                       "When ranks send what a pass has made: at its end (default on one node), or batch by batch on "
                       "the way (default on several)");
  add_number(parser, "--batches", exchange.batches, "Batches of a unit's rows, where it is pipelined", 1, 4096)
      ->capture_default_str();
}

/// `--fft LIBRARY` and `--planner EFFORT`.
void add_row_fft_options(CLI::App& parser, RowFftChoice& choice) {
  parser
      .add_option("--fft", choice.library,
                  "Library that transforms rows (default: the fastest that a unit has): fftw on hosts, vendor on "
                  "devices, portable everywhere")
      ->check(CLI::IsMember({"fftw", "vendor", "portable"}))
      ->type_name("LIBRARY");
  add_choice<Planner>(parser, "--planner", choice.planner, planner_names,
                      "How hard FFTW looks for a plan (default measure)");
}

}  // namespace

void add_options(const AppOptions& parsers, Options& options) {
  add_grid_options(parsers, options.grid, 0);
  CLI::App &model = parsers.model(), &plan = parsers.plan(), &run = parsers.run();
  model.get_option("--size")->description(fmt::format("Rows and columns (default {})", default_extent));
  plan.get_option("--rows")->description("Rows of the input");
  model.get_option("--columns")->description("Columns of the input");
  model.get_option("--type")->description("Type of numbers and of the parts of complex ones (default double)");
  plan.get_option("--model")->description(
      "Speed models (*.fpm.json) of pass 1, over rows: one for all units, or one each");
  run.get_option("--input")->description("Matrix of complex numbers, with --real of real ones (NumPy .npy)");
  run.get_option("--output")->description("Where the spectrum goes (NumPy .npy)");
  plan.add_option("--column-model", options.column_models,
                  "The same of pass 2, over columns; without, as --model for square complex input, else measured")
      ->type_name("FILE...");
  run.add_flag("--inverse", options.inverse, "The inverse transform, divided by the number of points");
  model.add_flag("--real", options.real, "Real input; columns 0 to columns / 2 of its spectrum are made");
  plan.add_flag("--transposed", options.transposed, "Leave the spectrum transposed, which saves the second exchange");
  add_exchange_options(plan, options.exchange);
  add_row_fft_options(model, options.fft);
  run.add_option_function<std::string>(
         "--pad", [&options](const std::string& text) { options.padding = parse_padding(text); },
         "Append zeros to the input before it is transformed: to the fastest extents up to an eighth larger, or to "
         "these (default none)")
      ->type_name("none|auto|ROWSxCOLUMNS");
}

Extents input_extents(const Options& options) {
  require_words(options);
  Extents extents{options.grid.rows, options.grid.columns};
  if ((extents.rows == 0) != (extents.columns == 0)) {
    throw InvalidArgument("--rows and --columns go together (or --size N for both)");
  }
  const auto& files = options.run.input;
  if (files.size() > 1) throw InvalidArgument(fmt::format("--input names {} files (expected one)", files.size()));
  if (!files.empty()) {
    const NpyHeader header = read_header(files.front(), options);
    const Extents found{header.shape[0], header.shape[1]};
    const auto require = [&](bool right, const std::string& expected) {
      if (right) return;
      throw FileFormatError(files.front().string(), "shape",
                            fmt::format("is {} x {} (expected {})", found.rows, found.columns, expected));
    };
    require(extents.rows == 0 || found == extents, fmt::format("{} x {}", extents.rows, extents.columns));
    require(found.rows >= 1 && found.columns >= 1, "at least 1 x 1");
    extents = found;
  }
  if (extents.rows == 0) extents = {default_extent, default_extent};
  return extents;
}

Problem make_problem(const Options& options, const Extents& input) {
  Problem problem;
  const bool given = options.padding.kind == Padding::Kind::given;
  problem.rows = given ? options.padding.extents.rows : input.rows;
  problem.columns = given ? options.padding.extents.columns : input.columns;
  problem.direction = options.inverse ? Direction::inverse : Direction::forward;
  problem.real = options.real;
  problem.transposed = options.transposed;
  if (problem.rows < input.rows || problem.columns < input.columns) {
    throw InvalidArgument(fmt::format("--pad {}x{} for an input of {} x {} (expected at least as many)", problem.rows,
                                      problem.columns, input.rows, input.columns));
  }
  if (problem.rows > largest_extent || problem.columns > largest_extent || problem.points() > 9.0e15) {
    throw InvalidArgument(
        fmt::format("transform of {} x {} points is beyond any memory", problem.rows, problem.columns));
  }
  return problem;
}

}  // namespace steelyard::fft2d
