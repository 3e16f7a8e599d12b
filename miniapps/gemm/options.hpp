#pragma once

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <optional>
#include <string>

#include "core/base/npy.hpp"
#include "core/options.hpp"

namespace steelyard::gemm {

/// A BLAS counts with 32 bits.
inline constexpr std::int64_t largest_extent = std::numeric_limits<std::int32_t>::max();

/// C = alpha A B + beta C for A of m x k, B of k x n, C of m x n, distributed in block rows of A and C.
struct Problem {
  std::int64_t m = 0, n = 0, k = 0;
  double alpha = 1.0;
  double beta = 0.0;
  std::int64_t block = 32;  ///< rows of a block row, the computation unit; the last one may have fewer

  bool reads_c() const { return beta != 0.0; }
  std::int64_t block_rows() const { return (m + block - 1) / block; }
  /// First row of a block row; m behind the last one.
  std::int64_t first_row(std::int64_t block_row) const { return std::min(m, block * block_row); }
  double flops() const { return 2.0 * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k); }
};

/// @return bytes of an element
inline double element_bytes(ElementType element) {
  return element == ElementType::float64 ? sizeof(double) : sizeof(float);
}

/// The command line.
struct Options {
  RunOptions run;
  std::optional<std::int64_t> m, n, k;
  Problem problem;  ///< but for the extents
  double device_memory_bytes = std::numeric_limits<double>::infinity();
  bool serialize = false;  ///< a device's copies and products one after the other
};

/// Adds the options of gemm alone; the shared ones are there.
void add_options(const AppOptions& parsers, Options& options);

/// Adds `--device-memory`.
void add_device_memory_option(CLI::App& parser, double& device_memory_bytes);

/// @param what_for the use of these bytes, in words @throws InvalidArgument for a cap below `least_bytes`
void require_device_memory(double device_memory_bytes, double least_bytes, const std::string& what_for);

/// @return the header of a matrix file @throws FileFormatError, also for elements of another type
NpyHeader read_input_header(const std::filesystem::path& path, ElementType element);

/// Checks the options together.
/// @return the problem, with the extents of the input files where there are any
/// @throws InvalidArgument, FileFormatError
Problem make_problem(const Options& options);

}  // namespace steelyard::gemm
