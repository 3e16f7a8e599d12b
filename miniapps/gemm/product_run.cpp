#include "miniapps/gemm/product_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/base/npy.hpp"
#include "core/gemm.hpp"
#include "miniapps/gemm/check/full_comparison.hpp"

namespace steelyard::gemm {

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

void describe_units(RunRecord& record, const RankUnits& units, double device_memory_bytes) {
  if (units.host) record.settings["host_blas"] = blas::gemm_library(HostExecution());
  if (units.companion) record.settings["device_blas"] = blas::gemm_library(CompanionExecution());
  if (std::isfinite(device_memory_bytes)) record.params["device_memory_bytes"] = device_memory_bytes;
}

void add_speed(Outcome& outcome, double flops_per_s, double units_flops_per_s, double share) {
  outcome.figures["flops_per_s"] = flops_per_s;
  outcome.figures["units_flops_per_s"] = units_flops_per_s;
  outcome.figures["share_of_units"] = share;
  outcome.below += fmt::format("speed      {:.4g} GFLOP/s, {:.0f} % of what all units reach when none of them waits\n",
                               flops_per_s / 1e9, 100.0 * share);
}

template <class Scalar>
ResultCheck<Scalar>::ResultCheck(const Problem& problem, std::uint64_t seed, const ConstHostMatrix<Scalar>& a,
                                 const ConstHostMatrix<Scalar>& b, const ConstHostMatrix<Scalar>& c)
    : problem_(problem), a_(a), b_(b), freivalds_(problem, seed, std::make_shared<Sharing>(problem), a, b, c) {
  if (worth_full_comparison(problem)) c_before_.emplace(c.data(), c.data() + c.size());
}

template <class Scalar>
ResultCheck<Scalar>::ResultCheck(const Problem& problem, std::uint64_t seed, std::shared_ptr<const Sharing> sharing,
                                 const ConstHostMatrix<Scalar>& a, const ConstHostMatrix<Scalar>& b,
                                 const ConstHostMatrix<Scalar>& c)
    : problem_(problem), freivalds_(problem, seed, std::move(sharing), a, b, c) {}

template <class Scalar>
FoundError ResultCheck<Scalar>::check(const ConstHostMatrix<Scalar>& c) const {
  FoundError found{freivalds_.check(c), 1.0, fmt::format("rounding's bound, by {} random vectors", vectors)};
  if (c_before_) {
    const auto columns = static_cast<std::int64_t>(c.extent(1));
    const auto before = matrix_at<HostExecution, const Scalar>(
        c_before_->data(), static_cast<std::int64_t>(c.extent(0)), columns, columns);
    found.error = std::max(found.error, full_comparison<Scalar>(problem_, a_, b_, before, c));
    found.against += " and element by element";
  }
  return found;
}

template MatrixSource<double> matrix_source(const RunOptions&);
template MatrixSource<float> matrix_source(const RunOptions&);
template class ResultCheck<double>;
template class ResultCheck<float>;

}  // namespace steelyard::gemm
