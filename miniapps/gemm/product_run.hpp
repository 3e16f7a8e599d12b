#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/base/npy.hpp"
#include "core/gemm.hpp"
#include "miniapps/app/mini_app.hpp"
#include "miniapps/gemm/freivalds.hpp"
#include "miniapps/gemm/random_matrix.hpp"

/// Parts that gemm and summa share.
namespace steelyard::gemm {

/// @return random matrices of `--seed` or, where there are any, the files of `--input`; zeros for C where they are two.
/// The source throws FileFormatError for a file that has changed since its header was read.
template <class Scalar>
MatrixSource<Scalar> matrix_source(const RunOptions& options) {
  if (options.input.empty()) {
    return [seed = options.seed](MatrixName name, const Tile& tile, std::span<Scalar> elements) {
      fill_random(RandomMatrix(seed, name), tile.row, tile.column, tile.columns, elements);
    };
  }
  return [files = options.input](MatrixName name, const Tile& tile, std::span<Scalar> elements) {
    if (elements.empty()) return;
    const std::size_t file = name == MatrixName::a ? 0 : name == MatrixName::b ? 1 : 2;
    if (file >= files.size()) {
      std::fill(elements.begin(), elements.end(), Scalar{0});
      return;
    }
    read_npy_block(files[file], read_npy_matrix_header<Scalar>(files[file]), tile.row, tile.column, tile.rows,
                   tile.columns, elements);
  };
}

/// Keeps the BLAS of each unit, and the cap of a companion's memory where there is one.
inline void describe_units(RunRecord& record, const RankUnits& units, double device_memory_bytes) {
  if (units.host) record.settings["host_blas"] = blas::gemm_library(HostExecution());
  if (units.companion) record.settings["device_blas"] = blas::gemm_library(CompanionExecution());
  if (std::isfinite(device_memory_bytes)) record.params["device_memory_bytes"] = device_memory_bytes;
}

/// Keeps and prints the speed of a multiplication. @param units_flops_per_s of all units when none of them waits
/// @param share of that which the multiplication reaches
inline void add_speed(Outcome& outcome, double flops_per_s, double units_flops_per_s, double share) {
  outcome.figures["flops_per_s"] = flops_per_s;
  outcome.figures["units_flops_per_s"] = units_flops_per_s;
  outcome.figures["share_of_units"] = share;
  outcome.below += fmt::format("speed      {:.4g} GFLOP/s, {:.0f} % of what all units reach when none of them waits\n",
                               flops_per_s / 1e9, 100.0 * share);
}

/// Error that Freivalds' check of C finds. @see Freivalds::check()
template <class Scalar>
FoundError found_error(const Freivalds<Scalar>& freivalds, const ConstHostMatrix<Scalar>& c) {
  return {freivalds.check(c), 1.0, fmt::format("rounding's bound, by {} random vectors", vectors)};
}

}  // namespace steelyard::gemm
