#include "miniapps/gemm/unit_gemm.hpp"

#include <cmath>

#include "core/gemm.hpp"
#include "core/memory/unit_memory.hpp"

namespace steelyard::gemm {
namespace {

using Kind = ProcessingUnit::Kind;

/// A matrix in host memory for a unit that works there.
template <class Execution, class Element>
Matrix<Execution, Element> seen_by(const Matrix<HostExecution, Element>& matrix) {
  return matrix_at<Execution>(matrix.data(), static_cast<std::int64_t>(matrix.extent(0)),
                              static_cast<std::int64_t>(matrix.extent(1)), static_cast<std::int64_t>(matrix.stride(0)));
}

template <class Execution, class Scalar>
void multiply_by(Scalar alpha, const Operands<Scalar>& operands, Scalar beta) {
  const Execution space;
  blas::gemm(space, alpha, seen_by<Execution>(operands.a), seen_by<Execution>(operands.b), beta,
             seen_by<Execution>(operands.c));
  space.fence();
}

/// C = alpha A B + beta C by a unit that works in host memory.
template <class Scalar>
void multiply_in_host_memory(Kind kind, Scalar alpha, const Operands<Scalar>& operands, Scalar beta) {
  if (kind == Kind::host) {
    multiply_by<HostExecution>(alpha, operands, beta);
  } else if constexpr (!companion_is_device) {
    multiply_by<CompanionExecution>(alpha, operands, beta);
  }
}

bool copies_operands(Kind kind, double device_memory_bytes) {
  return kind == Kind::companion && has_device_memory(device_memory_bytes);
}

/// Rows between two calls of `meanwhile`: some milliseconds. A BLAS packs B anew for each of them, which costs as much
/// as some tens of rows. A multiple of the rows that any BLAS multiplies together, for a piece's elements to come out
/// of the same inner kernels as the whole's: with the same bits, unless the BLAS' threads share rows out otherwise.
constexpr std::int64_t piece_rows = 384;
/// Multiplications in a piece at least: some tenths of a millisecond. A BLAS may have other kernels for small products,
/// with other bits.
constexpr double least_piece_work = 4e6;

}  // namespace

template <class Scalar>
UnitGemm<Scalar>::UnitGemm(Kind kind, const Problem& problem, std::int64_t rows, double device_memory_bytes,
                           bool overlaps)
    : kind_(kind), alpha_(static_cast<Scalar>(problem.alpha)), beta_(static_cast<Scalar>(problem.beta)) {
  if (!copies_operands(kind, device_memory_bytes)) return;
  // As in every BLAS, A and B are not read where alpha is 0.
  const std::int64_t depth = problem.alpha == 0.0 ? 0 : problem.k;
  const BlockingGoal goal = blocking_goal(sizeof(Scalar), device_memory_bytes);
  device_.emplace(plan_blocking(rows, problem.n, depth, problem.reads_c(), goal), problem.reads_c(), overlaps);
}

template <class Scalar>
UnitGemm<Scalar>::UnitGemm(Kind kind, const PanelProblem& problem, double device_memory_bytes)
    : kind_(kind), alpha_(1), beta_(1) {
  if (!copies_operands(kind, device_memory_bytes)) return;
  const BlockingGoal goal = blocking_goal(sizeof(Scalar), device_memory_bytes);
  device_.emplace(plan_panel_blocking(problem.rows, problem.columns, problem.k, problem.depth, goal), true);
}

template <class Scalar>
void UnitGemm<Scalar>::run(const Operands<Scalar>& operands) {
  if (!device_) return multiply_in_host_memory(kind_, alpha_, operands, beta_);
  const BlockGrid& grid = device_->blocking().grid;
  device_->blocked().run(alpha_, matrix_block(operands.a, 0, grid.m, 0, grid.k),
                         matrix_block(operands.b, 0, grid.k, 0, grid.n), beta_, operands.c);
}

template <class Scalar>
std::vector<EngineOperation> UnitGemm<Scalar>::run_timed(const Operands<Scalar>& operands) {
  if (device_) device_->engines().start_timeline();
  run(operands);
  return device_ ? device_->engines().take_timeline() : std::vector<EngineOperation>();
}

template <class Scalar>
void UnitGemm<Scalar>::add(std::int64_t panel, const Operands<Scalar>& operands, const Meanwhile& meanwhile) {
  if (device_) {
    device_->blocked().add_panel(panel, alpha_, operands.a, operands.b, beta_, operands.c);
    if (meanwhile) meanwhile();
    device_->engines().finish();
    return;
  }
  const auto rows = static_cast<std::int64_t>(operands.a.extent(0));
  const auto depth = static_cast<std::int64_t>(operands.a.extent(1));
  const auto columns = static_cast<std::int64_t>(operands.c.extent(1));
  const double piece_work = static_cast<double>(piece_rows) * static_cast<double>(columns) * static_cast<double>(depth);
  bool in_pieces = meanwhile && meanwhile() && piece_work >= least_piece_work;
  std::int64_t row = 0;
  while (row < rows) {
    // The last piece is never a small one.
    const bool is_last = !in_pieces || rows - row < 2 * piece_rows;
    const std::int64_t count = is_last ? rows - row : piece_rows;
    const Operands<Scalar> piece{matrix_block(operands.a, row, count, 0, depth), operands.b,
                                 matrix_block(operands.c, row, count, 0, columns)};
    multiply_in_host_memory(kind_, alpha_, piece, beta_);
    if (in_pieces) in_pieces = meanwhile();
    row += count;
  }
}

template class UnitGemm<double>;
template class UnitGemm<float>;

BlockingGoal blocking_goal(double element_bytes, double device_memory_bytes) {
  BlockingGoal goal;
  goal.memory_bytes = steelyard::device_memory_bytes(device_memory_bytes);
  goal.element_bytes = element_bytes;
  // A GPU's many cores need large blocks, and several of them to copy some while multiplying others.
  goal.least_extent = companion_is_device ? 512 : 128;
  goal.in_core_blocks = companion_is_device ? 8 : 1;
  return goal;
}

bool has_device_memory(double device_memory_bytes) { return companion_is_device || std::isfinite(device_memory_bytes); }

}  // namespace steelyard::gemm
