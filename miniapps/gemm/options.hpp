#pragma once

#include <filesystem>
#include <limits>
#include <optional>
#include <string>

#include "core/base/npy.hpp"
#include "core/options.hpp"
#include "miniapps/gemm/problem.hpp"

namespace steelyard::gemm {

/// A BLAS counts with 32 bits.
inline constexpr std::int64_t largest_extent = std::numeric_limits<std::int32_t>::max();

inline double element_bytes(ElementType element) {
  return element == ElementType::float64 ? sizeof(double) : sizeof(float);
}

/// What the user typed.
struct Options {
  RunOptions run;
  std::optional<std::int64_t> m, n, k;
  Problem problem;  ///< but for the extents
  double device_memory_bytes = std::numeric_limits<double>::infinity();
};

/// Adds the options of gemm alone, to a parser that has the shared ones.
void add_options(CLI::App& parser, Options& options);

/// `--block`, `--beta` and `--device-memory`: what besides extents and element type fixes how fast a block row is.
void add_block_options(CLI::App& parser, Problem& problem, double& device_memory_bytes);

/// `--device-memory` alone.
void add_device_memory_option(CLI::App& parser, double& device_memory_bytes);

/// @param what_for words for what needs it @throws InvalidArgument for a cap below `least_bytes`
void require_device_memory(double device_memory_bytes, double least_bytes, const std::string& what_for);

/// Checks what add_block_options() has been given. @throws InvalidArgument
void require_block_options(const Problem& problem, ElementType element, double device_memory_bytes);

/// The header of a matrix file. @throws FileFormatError, also for elements of another type
NpyHeader read_input_header(const std::filesystem::path& path, ElementType element);

/// Checks what only makes sense together, and takes extents from the input files where there are any.
/// @throws InvalidArgument, FileFormatError
Problem make_problem(const Options& options);

}  // namespace steelyard::gemm
