#include "miniapps/gemm/slice_gemm.hpp"

#include <cmath>

#include "core/gemm.hpp"
#include "core/unit_memory.hpp"
#include "miniapps/gemm/device_blocked_gemm.hpp"
#include "miniapps/gemm/shared_memory.hpp"

namespace steelyard::gemm {
namespace {

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
