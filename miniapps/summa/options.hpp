#pragma once

#include <limits>
#include <optional>

#include "core/options.hpp"
#include "miniapps/summa/problem.hpp"

namespace steelyard::summa {

/// How rectangles and messages are chosen, of a run and of a prediction.
struct Choices {
  Communication communication = Communication::pipelined;
  bool node_order = false;
  bool avoid_communication = false;
};

/// The command line.
struct Options {
  Options() { run.partition = "column"; }

  RunOptions run;
  std::optional<std::int64_t> n;
  Problem problem;  ///< but for n
  Choices choices;
  double device_memory_bytes = std::numeric_limits<double>::infinity();
};

/// Adds the options of summa alone; the shared ones are there.
void add_options(const AppOptions& parsers, Options& options);

/// @throws InvalidArgument for a partition that does not exist, or whose rectangles cannot be chosen so
void require_choices(const Choices& choices, const std::string& partition);

/// Checks `--device-memory`. @throws InvalidArgument
void require_block_options(const Problem& problem, ElementType element, double device_memory_bytes);

/// Checks the options together, and takes n from the input files where there are any.
/// @throws InvalidArgument, FileFormatError
Problem make_problem(const Options& options);

}  // namespace steelyard::summa
