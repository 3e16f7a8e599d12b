#pragma once

#include <limits>
#include <optional>

#include "core/options.hpp"
#include "miniapps/summa/problem.hpp"

namespace steelyard::summa {

/// The command line.
struct Options {
  Options() { run.partition = "column"; }

  RunOptions run;
  std::optional<std::int64_t> n;
  Problem problem;  ///< but for n
  Communication communication = Communication::pipelined;
  bool barrier = false;
  bool node_order = false;
  double device_memory_bytes = std::numeric_limits<double>::infinity();
};

/// Adds the options of summa alone, to a parser that has the shared ones.
void add_options(CLI::App& parser, Options& options);

/// `--node-order`.
void add_node_order_option(CLI::App& parser, bool& node_order);

/// `--block` and `--device-memory`: beside the element type they fix the speed of a block's update.
void add_block_options(CLI::App& parser, Problem& problem, double& device_memory_bytes);

/// `--communication`.
void add_communication_option(CLI::App& parser, Communication& communication);

/// Checks the values of add_block_options(). @throws InvalidArgument
void require_block_options(const Problem& problem, ElementType element, double device_memory_bytes);

/// Checks the options together, and takes n from the input files where there are any.
/// @throws InvalidArgument, FileFormatError
Problem make_problem(const Options& options);

}  // namespace steelyard::summa
