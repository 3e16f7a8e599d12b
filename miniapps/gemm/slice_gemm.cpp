#include "miniapps/gemm/slice_gemm.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/gemm.hpp"
#include "core/unit_memory.hpp"
#include "miniapps/gemm/blocked_gemm.hpp"
#include "miniapps/gemm/device_engines.hpp"

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
        blocking_(plan_blocking(rows, problem.n, depth_, problem.reads_c(),
                                blocking_goal(sizeof(Scalar), device_memory_bytes))),
        memory_(Kokkos::view_alloc(CompanionExecution(), Kokkos::WithoutInitializing, "steelyard::gemm::buffers"),
                static_cast<std::size_t>(blocking_.buffer_elements())),
        blocked_(make_blocked(problem.reads_c())) {
    // The memory may be a queue's own until then.
    CompanionExecution().fence();
  }

  void run(const Operands<Scalar>& operands) override {
    blocked_.run(alpha_, matrix_block(operands.a, 0, blocking_.grid.m, 0, depth_),
                 matrix_block(operands.b, 0, depth_, 0, blocking_.grid.n), beta_, operands.c);
  }

  std::optional<Blocking> blocking() const override { return blocking_; }

  std::optional<TransferOverlap> run_timed(const Operands<Scalar>& operands) override {
    engines_.start_timeline();
    run(operands);
    return transfer_overlap(engines_.take_timeline());
  }

 private:
  using DeviceMatrix = Matrix<CompanionExecution, Scalar>;
  using Memory = Kokkos::View<Scalar*, DeviceOf<CompanionExecution>>;

  /// Cuts the memory into buffers, one after the other.
  BlockedGemm<DeviceEngines<Scalar>> make_blocked(bool reads_c) {
    const BlockGrid& grid = blocking_.grid;
    Scalar* next = memory_.data();
    const auto take = [&next](std::int64_t rows, std::int64_t columns) {
      DeviceMatrix buffer = matrix_at<CompanionExecution>(next, rows, columns, columns);
      next += rows * columns;
      return buffer;
    };
    const auto take_all = [&](std::int64_t count, std::int64_t columns) {
      std::vector<DeviceMatrix> buffers;
      std::int64_t left = blocking_.in_core ? blocking_.in_core_height() : count * grid.height;
      for (std::int64_t i = 0; i < count; ++i) {
        buffers.push_back(take(std::min(grid.height, left), columns));
        left -= grid.height;
      }
      return buffers;
    };
    const std::vector<DeviceMatrix> a = take_all(blocking_.a_buffers, grid.depth);
    const DeviceMatrix b = take(grid.depth, grid.width);
    return {engines_, blocking_, reads_c, a, b, take_all(blocking_.c_buffers, grid.width)};
  }

  Scalar alpha_, beta_;
  std::int64_t depth_;
  Blocking blocking_;
  Memory memory_;
  DeviceEngines<Scalar> engines_;
  BlockedGemm<DeviceEngines<Scalar>> blocked_;
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
