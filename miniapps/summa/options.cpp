#include "miniapps/summa/options.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <utility>

#include "core/base/errors.hpp"
#include "core/typed_options.hpp"
#include "miniapps/gemm/blocking.hpp"
#include "miniapps/gemm/options.hpp"
#include "miniapps/summa/assignment.hpp"

namespace steelyard::summa {
namespace {

constexpr std::int64_t default_size = 2048;

/// Rows and columns of the input, all of which must be square and alike; nothing without files.
std::optional<std::int64_t> size_of_input(const Options& options) {
  const auto& files = options.run.input;
  if (files.empty()) return options.n;
  if (files.size() < 2 || files.size() > 3) {
    throw InvalidArgument(fmt::format("--input names {} file{} (expected A.npy B.npy and, if C is not 0, C.npy)",
                                      files.size(), files.size() == 1 ? "" : "s"));
  }
  std::optional<std::int64_t> n = options.n;
  for (const auto& file : files) {
    const NpyHeader header = gemm::read_input_header(file, options.run.element);
    const std::int64_t expected = n.value_or(header.shape[0]);
    if (header.shape[0] != expected || header.shape[1] != expected) {
      throw FileFormatError(
          file.string(), "shape",
          fmt::format("is {} x {} (expected {} x {})", header.shape[0], header.shape[1], expected, expected));
    }
    n = expected;
  }
  return n;
}

}  // namespace

void require_block_options(const Problem& problem, ElementType element, double device_memory_bytes) {
  gemm::require_device_memory(device_memory_bytes,
                              gemm::least_memory_bytes(gemm::element_bytes(element), problem.block),
                              fmt::format("buffers for blocks of {}", problem.block));
}

namespace {

/// `--communication`, `--node-order` and `--avoid-communication`.
void add_choices(CLI::App& parser, Choices& choices) {
  add_choice<Communication>(
      parser, "--communication", choices.communication, communication_names,
      fmt::format("How pivots travel: messages one iteration at a time, MPI_Bcast, or the next iteration's messages "
                  "while this one multiplies (default {})",
                  communication_name(choices.communication)));
  parser.add_flag("--node-order", choices.node_order,
                  "Order columns and the rectangles in them such that few messages cross nodes (001, section 4.1)");
  parser.add_flag("--avoid-communication", choices.avoid_communication,
                  "Choose areas and columns by the seconds of updates and messages together, and give no blocks to a "
                  "rank whose messages cost more than its updates gain");
}

}  // namespace

void require_choices(const Choices& choices, const std::string& partition) {
  if (!is_partition_file(partition)) area_algorithm(partition);
  if (is_in_columns(partition)) return;
  for (const auto& [option, is_set] :
       {std::pair{"--node-order", choices.node_order}, {"--avoid-communication", choices.avoid_communication}}) {
    if (!is_set) continue;
    throw InvalidArgument(fmt::format("{} with --partition {} (expected rectangles in columns)", option, partition));
  }
}

void add_options(const AppOptions& parsers, Options& options) {
  CLI::App& model = parsers.model();
  add_number(model, "--size", options.n, fmt::format("Rows and columns of all matrices (default {})", default_size), 1,
             gemm::largest_extent);
  add_number(model, "--block", options.problem.block, "Rows and columns of a block, the computation unit", 1, 1 << 20,
             "ROWS")
      ->capture_default_str();
  gemm::add_device_memory_option(model, options.device_memory_bytes);
  add_choices(parsers.plan(), options.choices);
  CLI::App& parser = parsers.run();
  parsers.plan()
      .get_option("--partition")
      ->description("column, even (a grid), a name of steelyard partition --list for areas, or a file of rectangles")
      ->type_name("NAME|FILE");
  parser.get_option("--input")->description("A.npy B.npy and, where C is not 0, C.npy");
  parser.get_option("--output")->description("Where C goes (NumPy .npy)");
}

Problem make_problem(const Options& options) {
  Problem problem = options.problem;
  problem.n = size_of_input(options).value_or(default_size);
  if (problem.n < 1 || problem.n > gemm::largest_extent) {
    throw FileFormatError(options.run.input.front().string(), "shape",
                          fmt::format("has {} rows (expected 1 to {})", problem.n, gemm::largest_extent));
  }
  require_block_options(problem, options.run.element, options.device_memory_bytes);
  if (options.run.barrier && options.choices.communication == Communication::pipelined) {
    throw InvalidArgument(
        "--barrier with --communication pipelined, which has no communication by itself (expected "
        "paper or bcast)");
  }
  require_choices(options.choices, options.run.partition);
  return problem;
}

}  // namespace steelyard::summa
