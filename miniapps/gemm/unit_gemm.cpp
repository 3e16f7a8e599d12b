#include "miniapps/gemm/unit_gemm.hpp"

#include <cmath>

#include "core/gemm.hpp"
#include "core/unit_memory.hpp"
#include "miniapps/gemm/out_of_core/device_engines.hpp"

namespace steelyard::gemm {
namespace {

/// The same matrix, for a unit that works in host memory.
template <class Execution, class Element>
Matrix<Execution, Element> seen_by(const Matrix<HostExecution, Element>& matrix) {
  return matrix_at<Execution>(matrix.data(), static_cast<std::int64_t>(matrix.extent(0)),
                              static_cast<std::int64_t>(matrix.extent(1)), static_cast<std::int64_t>(matrix.stride(0)));
}

/// A unit that works in the host's memory: no copies.
template <class Execution, class Scalar>
class SharedMemoryGemm : public SliceGemm<Scalar> {
 public:
  explicit SharedMemoryGemm(const Problem& problem)
      : alpha_(static_cast<Scalar>(problem.alpha)), beta_(static_cast<Scalar>(problem.beta)) {}

  void run(const Operands<Scalar>& operands) override {
    const Execution space;
    blas::gemm(space, alpha_, seen_by<Execution>(operands.a), seen_by<Execution>(operands.b), beta_,
               seen_by<Execution>(operands.c));
    space.fence();
  }

 private:
  Scalar alpha_, beta_;
};

/// A companion with a memory of its own.
template <class Scalar>
class DeviceMemoryGemm : public SliceGemm<Scalar> {
 public:
  DeviceMemoryGemm(const Problem& problem, std::int64_t rows, double device_memory_bytes)
      : alpha_(static_cast<Scalar>(problem.alpha)),
        beta_(static_cast<Scalar>(problem.beta)),
        // As in every BLAS, A and B are not read where alpha is 0.
        depth_(problem.alpha == 0.0 ? 0 : problem.k),
        device_(plan_blocking(rows, problem.n, depth_, problem.reads_c(),
                              blocking_goal(sizeof(Scalar), device_memory_bytes)),
                problem.reads_c()) {}

  void run(const Operands<Scalar>& operands) override {
    const BlockGrid& grid = device_.blocking().grid;
    device_.blocked().run(alpha_, matrix_block(operands.a, 0, grid.m, 0, depth_),
                          matrix_block(operands.b, 0, depth_, 0, grid.n), beta_, operands.c);
  }

  std::optional<Blocking> blocking() const override { return device_.blocking(); }

  std::optional<TransferOverlap> run_timed(const Operands<Scalar>& operands) override {
    device_.engines().start_timeline();
    run(operands);
    return transfer_overlap(device_.engines().take_timeline());
  }

 private:
  Scalar alpha_, beta_;
  std::int64_t depth_;
  DeviceBlockedGemm<Scalar> device_;
};

/// Rows between two calls of `meanwhile`: some milliseconds. A BLAS packs B anew for each of them, which costs as much
/// as some tens of rows. A multiple of the rows that any BLAS multiplies together: a piece's elements come out of the
/// same inner kernels as the whole's, so with the same bits. Cuts between columns would change bits, at least those of
/// OpenBLAS' float kernels for Haswell.
constexpr std::int64_t piece_rows = 384;
/// Multiplications in a piece at least: some tenths of a millisecond. A BLAS may have other kernels for small products,
/// with other bits.
constexpr double least_piece_work = 4e6;

/// A unit that works in the host's memory.
template <class Execution, class Scalar>
class SharedMemoryPanels : public PanelGemm<Scalar> {
 public:
  using Meanwhile = typename PanelGemm<Scalar>::Meanwhile;

  void add(std::int64_t /*panel*/, const Operands<Scalar>& operands, const Meanwhile& meanwhile) override {
    const Execution space;
    const auto rows = static_cast<std::int64_t>(operands.a.extent(0));
    const auto depth = static_cast<std::int64_t>(operands.a.extent(1));
    const auto columns = static_cast<std::int64_t>(operands.c.extent(1));
    const double piece_work =
        static_cast<double>(piece_rows) * static_cast<double>(columns) * static_cast<double>(depth);
    bool in_pieces = meanwhile && meanwhile() && piece_work >= least_piece_work;
    std::int64_t row = 0;
    while (row < rows) {
      // The last piece is never a small one.
      const bool is_last = !in_pieces || rows - row < 2 * piece_rows;
      const std::int64_t count = is_last ? rows - row : piece_rows;
      blas::gemm(space, Scalar{1}, seen_by<Execution>(matrix_block(operands.a, row, count, 0, depth)),
                 seen_by<Execution>(operands.b), Scalar{1},
                 seen_by<Execution>(matrix_block(operands.c, row, count, 0, columns)));
      space.fence();
      if (in_pieces) in_pieces = meanwhile();
      row += count;
    }
  }
};

/// A companion with a memory of its own.
template <class Scalar>
class DeviceMemoryPanels : public PanelGemm<Scalar> {
 public:
  using Meanwhile = typename PanelGemm<Scalar>::Meanwhile;

  DeviceMemoryPanels(const PanelProblem& problem, double device_memory_bytes)
      : device_(plan_panel_blocking(problem.rows, problem.columns, problem.k, problem.depth,
                                    blocking_goal(sizeof(Scalar), device_memory_bytes)),
                true) {}

  void add(std::int64_t panel, const Operands<Scalar>& operands, const Meanwhile& meanwhile) override {
    device_.blocked().add_panel(panel, Scalar{1}, operands.a, operands.b, Scalar{1}, operands.c);
    if (meanwhile) meanwhile();
    device_.engines().finish();
  }

  std::optional<Blocking> blocking() const override { return device_.blocking(); }

 private:
  DeviceBlockedGemm<Scalar> device_;
};

}  // namespace

template <class Scalar>
std::unique_ptr<SliceGemm<Scalar>> make_slice_gemm(ProcessingUnit::Kind kind, const Problem& problem, std::int64_t rows,
                                                   double device_memory_bytes) {
  if (kind == ProcessingUnit::Kind::host) return std::make_unique<SharedMemoryGemm<HostExecution, Scalar>>(problem);
  if constexpr (!companion_is_device) {
    if (!has_device_memory(device_memory_bytes)) {
      return std::make_unique<SharedMemoryGemm<CompanionExecution, Scalar>>(problem);
    }
  }
  return std::make_unique<DeviceMemoryGemm<Scalar>>(problem, rows, device_memory_bytes);
}

template std::unique_ptr<SliceGemm<double>> make_slice_gemm(ProcessingUnit::Kind, const Problem&, std::int64_t, double);
template std::unique_ptr<SliceGemm<float>> make_slice_gemm(ProcessingUnit::Kind, const Problem&, std::int64_t, double);

template <class Scalar>
std::unique_ptr<PanelGemm<Scalar>> make_panel_gemm(ProcessingUnit::Kind kind, const PanelProblem& problem,
                                                   double device_memory_bytes) {
  if (kind == ProcessingUnit::Kind::host) return std::make_unique<SharedMemoryPanels<HostExecution, Scalar>>();
  if constexpr (!companion_is_device) {
    if (!has_device_memory(device_memory_bytes)) {
      return std::make_unique<SharedMemoryPanels<CompanionExecution, Scalar>>();
    }
  }
  return std::make_unique<DeviceMemoryPanels<Scalar>>(problem, device_memory_bytes);
}

template std::unique_ptr<PanelGemm<double>> make_panel_gemm(ProcessingUnit::Kind, const PanelProblem&, double);
template std::unique_ptr<PanelGemm<float>> make_panel_gemm(ProcessingUnit::Kind, const PanelProblem&, double);

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
