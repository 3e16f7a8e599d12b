#include <Kokkos_Core.hpp>
#include <atomic>
#include <memory>

#include "core/spaces.hpp"
#include "miniapps/cavity/measured_kernel.hpp"
#include "tests/catch.hpp"
#include "tests/miniapps/allocations.hpp"

namespace steelyard::test_step_cost {

using cavity::MeasuredKernel;
using Kind = ProcessingUnit::Kind;

namespace {

std::vector<Kind> kinds() {
  if (has_companion) return {Kind::host, Kind::companion};
  return {Kind::host};
}

/// Counts sweeps of this label while it lives; one at a time.
class Sweeps {
 public:
  explicit Sweeps(std::string label) {
    count_ = 0;
    label_ = std::move(label);
    Kokkos::Tools::Experimental::set_begin_parallel_for_callback(
        [](const char* name, const std::uint32_t, std::uint64_t*) {
          if (label_ == name) ++count_;
        });
  }
  ~Sweeps() { Kokkos::Tools::Experimental::set_begin_parallel_for_callback(nullptr); }
  Sweeps(const Sweeps&) = delete;
  Sweeps& operator=(const Sweeps&) = delete;
  int count() const { return count_; }

 private:
  inline static std::atomic<int> count_{0};
  inline static std::string label_;
};

}  // namespace

TEST_CASE("a unit runs any size, and one worth measuring with all iterations, however well they converge") {
  for (const Kind kind : kinds()) {
    for (const std::int64_t columns : {2, 3, 64, 501}) {
      const MeasuredKernel kernel(cavity::Problem{columns, columns}, {});
      for (const std::int64_t rows : {std::int64_t{1}, std::int64_t{3}, kernel.facts().smallest, std::int64_t{100}}) {
        const std::unique_ptr<KernelRun> run = kernel.allocate(kind, rows);
        CAPTURE(rows, columns, static_cast<int>(kind));
        CHECK_NOTHROW(run->run());
        // Smaller ones may be solved before that.
        if (rows < kernel.facts().smallest || columns < 64) continue;
        for (const auto& [sweep, solves] :
             {std::pair("steelyard::cavity::cg_update", 2), {"steelyard::cavity::bicgstab_update", 1}}) {
          const Sweeps sweeps(sweep);
          run->run();
          CHECK(sweeps.count() == solves * MeasuredKernel::iterations);
        }
        CHECK(run->parts_s().size() == kernel.facts().parts.size());
        for (const double part_s : run->parts_s()) CHECK(part_s > 0.0);
        // Nothing is allocated once Kokkos has what it needs itself.
        const steelyard::tests::Allocations allocations;
        run->run();
        CHECK(allocations.bytes() == 0.0);
      }
    }
  }
}

}  // namespace steelyard::test_step_cost
