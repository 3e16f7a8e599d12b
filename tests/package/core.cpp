// A program of somebody else's, which runs a kernel of its own on the host unit.

#include "core/runtime.hpp"
#include "core/spaces.hpp"
#include "core/unit_plan.hpp"

struct Square {
  void operator()(const int i, double& sum) const { sum += static_cast<double>(i) * i; }
};

int main() {
  const steelyard::Machine machine;
  steelyard::PlanRequest request;
  request.units = steelyard::UnitChoice::host;
  const steelyard::Runtime runtime(machine, steelyard::plan_units(machine, request));
  double sum = 0.0;
  Kokkos::parallel_reduce("consumer", Kokkos::RangePolicy<steelyard::HostExecution>(0, 4), Square{}, sum);
  return sum == 14.0 ? 0 : 1;
}
