#pragma once

#include <vector>

#include "core/gemm.hpp"
#include "core/matrix_copy.hpp"
#include "core/queue_event.hpp"

namespace steelyard::gemm {

/// Which of the engines work; with some left out, how long the others take by themselves can be measured.
enum class EngineWork { all, transfers, multiplications };

/// The companion's queues as the engines of a BlockedGemm: one copies to it, one multiplies, one copies back. On a host
/// space each operation ends before the next one starts.
template <class ScalarType>
class DeviceEngines {
 public:
  using Execution = CompanionExecution;
  using Scalar = ScalarType;
  using Event = QueueEvent;
  using Events = std::vector<Event>;
  using DeviceMatrix = Matrix<Execution, Scalar>;
  using ConstDeviceMatrix = ConstMatrix<Execution, Scalar>;
  using HostMatrix = Matrix<HostExecution, Scalar>;
  using ConstHostMatrix = ConstMatrix<HostExecution, Scalar>;

  void choose(EngineWork work) { work_ = work; }

  Event load(const DeviceMatrix& to, const ConstHostMatrix& from, const Events& after) {
    if (work_ == EngineWork::multiplications) return {};
    return on(loading_, after, [&] { copy_matrix_from_host<Execution, Scalar>(loading_, to, from); });
  }

  Event multiply(Scalar alpha, const ConstDeviceMatrix& a, const ConstDeviceMatrix& b, Scalar beta,
                 const DeviceMatrix& c, const Events& after) {
    if (work_ == EngineWork::transfers) return {};
    return on(multiplying_, after, [&] { blas::gemm(multiplying_, alpha, a, b, beta, c); });
  }

  Event store(const HostMatrix& to, const ConstDeviceMatrix& from, const Events& after) {
    if (work_ == EngineWork::multiplications) return {};
    return on(storing_, after, [&] { copy_matrix_to_host<Execution, Scalar>(storing_, to, from); });
  }

  void finish() {
    loading_.fence();
    multiplying_.fence();
    storing_.fence();
  }

 private:
  template <class Operation>
  static Event on(const Execution& queue, const Events& after, const Operation& operation) {
    for (const Event& event : after) event.hold_back(queue);
    operation();
    return Event::record(queue);
  }

  std::vector<Execution> queues_ = make_queues(3);
  Execution loading_ = queues_[0], multiplying_ = queues_[1], storing_ = queues_[2];
  EngineWork work_ = EngineWork::all;
};

}  // namespace steelyard::gemm
