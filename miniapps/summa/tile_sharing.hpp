#pragma once

#include <mpi.h>

#include <cstdint>
#include <functional>
#include <vector>

#include "miniapps/gemm/check/freivalds.hpp"
#include "miniapps/summa/problem.hpp"

namespace steelyard::summa {

/// Every rank has the same tile of A, B and C; tiles are disjoint and cover the matrices. Whole rows are sums of n x 8
/// doubles and the like over all ranks.
///
/// A row's products with the vectors are the sums of its pieces' products y_q, its norm the root of their squares' sum,
/// and it is finite where all pieces are. Its partial sums in piece q are those of the piece alone, of norm P_q, added
/// to the sum of the pieces on its left. By the triangle inequality their norm is at most the largest over q of P_q +
/// sum over p != q of |y_p|, in root mean squares over the vectors, which is taken for it. For one piece that is P_q
/// itself.
class TileSharing final : public gemm::Sharing {
 public:
  /// @param comm of all ranks; stays as long as this lives
  TileSharing(MPI_Comm comm, const Problem& problem, const Tile& tile)
      : Sharing(problem.as_gemm()), comm_(comm), n_(problem.n), tile_(tile) {}

  gemm::IndexRange a_columns() const override { return {tile_.column, tile_.columns}; }
  gemm::IndexRange b_rows() const override { return {tile_.row, tile_.rows}; }
  gemm::IndexRange columns() const override { return {tile_.column, tile_.columns}; }
  /// @throws CollectiveError, as all below, which throw MpiError too
  void together(const std::function<void()>& work) const override;
  gemm::RowProducts whole_rows(const RowWork& work) const override;
  gemm::RowProducts whole_b(const RowWork& work) const override;
  std::vector<unsigned char> marked_by_any(const ColumnWork& work) const override;

 private:
  gemm::RowProducts sum(const RowWork& work, const gemm::IndexRange& wanted) const;

  MPI_Comm comm_;
  std::int64_t n_;
  Tile tile_;
};

}  // namespace steelyard::summa
