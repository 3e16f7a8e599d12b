// Two kernels of your own at the same time: the host unit's cores sum up one part of a series, the companion (a GPU or,
// in a build without one, a core) the other part. Each round's shares follow the speeds of the round before.

#include <cmath>
#include <cstdint>
#include <cstdio>

#include "steelyard/core/co_execution.hpp"
#include "steelyard/core/runtime.hpp"
#include "steelyard/core/spaces.hpp"
#include "steelyard/core/unit_plan.hpp"

/// pi / 4 = 1 - 1/3 + 1/5 - 1/7 + …
struct Leibniz {
  KOKKOS_FUNCTION void operator()(const std::int64_t i, double& sum) const {
    sum += (i % 2 == 0 ? 1.0 : -1.0) / static_cast<double>(2 * i + 1);
  }
};

/// The sum of terms [begin, end), by the unit of this execution space.
template <class Execution>
double sum_terms(const std::int64_t begin, const std::int64_t end) {
  using Policy = Kokkos::RangePolicy<Execution, Kokkos::IndexType<std::int64_t>>;
  double sum = 0.0;
  Kokkos::parallel_reduce("sum_terms", Policy(Execution(), begin, end), Leibniz{}, sum);
  return sum;
}

int main() {
  const steelyard::Machine machine;
  const steelyard::RankUnits units = steelyard::plan_units(machine, {});
  const steelyard::Runtime runtime(machine, units);
  steelyard::CoExecution co_execution(machine, units);

  const std::int64_t terms = 20'000'000;
  std::int64_t share = units.companion ? terms / 2 : terms;  // of the host unit
  double pi = 0.0;
  for (int round = 0; round < 4; ++round) {
    double host_sum = 0.0, companion_sum = 0.0;
    const steelyard::UnitSeconds seconds =
        co_execution.run([&] { host_sum = sum_terms<steelyard::HostExecution>(0, share); },
                         [&] { companion_sum = sum_terms<steelyard::CompanionExecution>(share, terms); });
    pi = 4.0 * (host_sum + companion_sum);
    std::printf("host %9lld terms in %.4f s, companion %9lld in %.4f s: pi = %.9f\n", static_cast<long long>(share),
                seconds.host_s, static_cast<long long>(terms - share), seconds.companion_s, pi);
    if (!units.companion) continue;
    const double host_speed = static_cast<double>(share) / seconds.host_s;
    const double companion_speed = static_cast<double>(terms - share) / seconds.companion_s;
    share = std::llround(static_cast<double>(terms) * host_speed / (host_speed + companion_speed));
  }
  return std::abs(pi - 3.14159265358979) < 1e-6 ? 0 : 1;
}
