#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "miniapps/app/mini_app.hpp"
#include "miniapps/gemm/check/freivalds.hpp"
#include "miniapps/gemm/random_matrix.hpp"

/// Parts that gemm and summa, the programs that multiply matrices, have in common.
namespace steelyard::gemm {

/// @return random matrices of `--seed` or, where there are any, the files of `--input`; zeros for C where they are two.
/// The source throws FileFormatError for a file that has changed since its header was read.
template <class Scalar>
MatrixSource<Scalar> matrix_source(const RunOptions& options);

/// Keeps the BLAS of each unit, and the cap of a companion's memory where there is one.
void describe_units(RunRecord& record, const RankUnits& units, double device_memory_bytes);

/// Keeps and prints the speed of a multiplication. @param units_flops_per_s of all units when none of them waits
/// @param share of that which the multiplication reaches
void add_speed(Outcome& outcome, double flops_per_s, double units_flops_per_s, double share);

/// Verifies this rank's part of C.
template <class Scalar>
class ResultCheck {
 public:
  /// Freivalds' check of a rank's own rows, and for small problems a comparison of every element.
  /// @param problem all of it, of which this rank has some rows @param c before the multiplication; A and B are
  /// read by check() and must not change
  ResultCheck(const Problem& problem, std::uint64_t seed, const ConstHostMatrix<Scalar>& a,
              const ConstHostMatrix<Scalar>& b, const ConstHostMatrix<Scalar>& c);
  /// Freivalds' check alone, where ranks share rows. The matrices are not needed afterwards. Collective.
  ResultCheck(const Problem& problem, std::uint64_t seed, std::shared_ptr<const Sharing> sharing,
              const ConstHostMatrix<Scalar>& a, const ConstHostMatrix<Scalar>& b, const ConstHostMatrix<Scalar>& c);

  /// Collective where ranks share rows. @param c as the multiplication has left it
  /// @return the largest deviation as a share of what rounding explains @throws InvalidArgument for other extents
  FoundError check(const ConstHostMatrix<Scalar>& c) const;

 private:
  Problem problem_;
  ConstHostMatrix<Scalar> a_, b_;
  Freivalds<Scalar> freivalds_;
  std::optional<std::vector<Scalar>> c_before_;  ///< of a problem that is small enough for the full comparison
};

}  // namespace steelyard::gemm
