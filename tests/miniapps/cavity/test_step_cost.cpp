#include <Kokkos_Core.hpp>
#include <atomic>
#include <memory>

#include "core/spaces.hpp"
#include "miniapps/cavity/cost.hpp"
#include "tests/catch.hpp"
#include "tests/miniapps/allocations.hpp"

namespace steelyard::test_step_cost {

using cavity::MeasuredKernel;
using Kind = ProcessingUnit::Kind;

namespace {

std::atomic<int> pressure_sweeps{0}, momentum_sweeps{0};

void count_sweep(const char* name, const std::uint32_t, std::uint64_t*) {
  if (name == std::string("steelyard::cavity::cg_update")) ++pressure_sweeps;
  if (name == std::string("steelyard::cavity::bicgstab_update")) ++momentum_sweeps;
}

}  // namespace

TEST_CASE("a unit runs any size, and one worth measuring with all iterations, however well they converge") {
  for (const Kind kind : {Kind::host, has_companion ? Kind::companion : Kind::host}) {
    for (const std::int64_t columns : {2, 3, 64, 501}) {
      const MeasuredKernel kernel(cavity::Problem{columns, columns}, {});
      for (const std::int64_t rows : {std::int64_t{1}, std::int64_t{3}, kernel.facts().smallest, std::int64_t{100}}) {
        const std::unique_ptr<KernelRun> run = kernel.allocate(kind, rows);
        CAPTURE(rows, columns, static_cast<int>(kind));
        CHECK_NOTHROW(run->run());
        // Smaller ones may be solved before that.
        if (rows < kernel.facts().smallest || columns < 64) continue;
        // Nothing is allocated once Kokkos has what it needs itself.
        const steelyard::tests::Allocations allocations;
        pressure_sweeps = momentum_sweeps = 0;
        Kokkos::Tools::Experimental::set_begin_parallel_for_callback(count_sweep);
        run->run();
        Kokkos::Tools::Experimental::set_begin_parallel_for_callback(nullptr);
        CHECK(allocations.bytes() == 0.0);
        CHECK(pressure_sweeps.load() == 2 * MeasuredKernel::iterations);
        CHECK(momentum_sweeps.load() == MeasuredKernel::iterations);
        CHECK(run->parts_s().size() == kernel.facts().parts.size());
        for (const double part_s : run->parts_s()) CHECK(part_s > 0.0);
      }
    }
  }
}

}  // namespace steelyard::test_step_cost
