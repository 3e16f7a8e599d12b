#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <vector>

#include "core/memory/matrix.hpp"
#include "miniapps/gemm/out_of_core/engine_timeline.hpp"

namespace steelyard::tests {

/// What a virtual device's engines take.
struct EngineCosts {
  double load_s = 0.0;      ///< per element that is copied to the device
  double multiply_s = 0.0;  ///< per element of A times element of B
  double store_s = 0.0;     ///< per element that is copied back
};

/// Engines that do nothing but say when a device would have done it: an operation starts when its engine has ended the
/// one before and its events have happened. No element is read or written. Where costs are whole numbers so are all
/// times.
class VirtualEngines {
 public:
  using Execution = HostExecution;
  using Scalar = double;
  /// The end of an operation; a new one has happened.
  struct Event {
    double time_s = 0.0;
  };
  using Events = std::vector<Event>;
  using Read = ConstMatrix<HostExecution, double>;
  using Written = Matrix<HostExecution, double>;

  /// @param copy_engines 2, or 1 for a device that copies one thing at a time, as asked for, in whatever direction
  explicit VirtualEngines(const EngineCosts& costs, int copy_engines = 2)
      : costs_(costs), storing_(copy_engines == 1 ? gemm::Engine::loading : gemm::Engine::storing) {}

  Event load(const Written& /*to*/, const Read& from, const Events& after) {
    return on(gemm::Engine::loading, costs_.load_s * real(from.size()), after);
  }
  Event multiply(double /*alpha*/, const Read& a, const Read& /*b*/, double /*beta*/, const Written& c,
                 const Events& after) {
    return on(gemm::Engine::multiplying, costs_.multiply_s * real(a.extent(1)) * real(c.size()), after);
  }
  Event store(const Written& /*to*/, const Read& from, const Events& after) {
    return on(gemm::Engine::storing, costs_.store_s * real(from.size()), after);
  }
  void finish() { free_s_.fill(*std::max_element(free_s_.begin(), free_s_.end())); }

  /// In the order in which they were asked for.
  const std::vector<gemm::EngineOperation>& operations() const { return operations_; }
  /// Those of one engine.
  std::vector<gemm::EngineOperation> operations(gemm::Engine engine) const {
    std::vector<gemm::EngineOperation> found;
    for (const gemm::EngineOperation& operation : operations_) {
      if (operation.engine == engine) found.push_back(operation);
    }
    return found;
  }
  /// Seconds that an engine works.
  double busy_s(gemm::Engine engine) const {
    double sum_s = 0.0;
    for (const gemm::EngineOperation& operation : operations(engine)) sum_s += operation.end_s - operation.start_s;
    return sum_s;
  }

 private:
  static double real(std::size_t value) { return static_cast<double>(value); }

  Event on(gemm::Engine engine, double duration_s, const Events& after) {
    double& free_s = free_s_[static_cast<std::size_t>(engine == gemm::Engine::storing ? storing_ : engine)];
    double start_s = free_s;
    for (const Event& event : after) start_s = std::max(start_s, event.time_s);
    free_s = start_s + duration_s;
    operations_.push_back({engine, start_s, free_s});
    return {free_s};
  }

  EngineCosts costs_;
  gemm::Engine storing_;
  std::array<double, 3> free_s_{};
  std::vector<gemm::EngineOperation> operations_;
};

}  // namespace steelyard::tests
