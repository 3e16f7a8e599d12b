#include <Kokkos_Core.hpp>
#include <atomic>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/memory/huge_pages.hpp"
#include "core/spaces.hpp"
#include "miniapps/cavity/measured_kernel.hpp"
#include "miniapps/cavity/solvers/bicgstab.hpp"
#include "miniapps/cavity/solvers/conjugate_gradient.hpp"
#include "tests/miniapps/allocations.hpp"

namespace steelyard::test_measured_kernel {

using Catch::Matchers::ContainsSubstring;
using cavity::MeasuredKernel;
using steelyard::tests::Allocations;
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

/// What a kernel's fields on the host, four of one component and eight of two, may have more where they are large
/// enough for huge pages: two of these each, and a page and a half.
double room_for_huge_pages(std::int64_t rows, std::int64_t columns) {
  using Field = RowField<HostExecution>;
  const std::int64_t elements = (rows + 2 * Field::ghost_rows) * Field::pitch_of(columns);
  const auto of = [](double fields, std::int64_t size) {
    const bool huge = worth_huge_pages(static_cast<std::size_t>(size) * sizeof(double));
    return huge ? fields * (2.0 * static_cast<double>(huge_page_bytes) + 6144.0) : 0.0;
  };
  return of(4.0, elements) + of(8.0, 2 * elements);
}

/// Bytes that an instance of so many rows takes, as the facts say.
double told_bytes(const KernelFacts& facts, std::int64_t rows) {
  return facts.memory_bytes_fixed + facts.memory_bytes_per_unit * static_cast<double>(rows);
}

}  // namespace

TEST_CASE("a row takes the operations and the traffic of its cells in iterations of both solvers") {
  for (const std::int64_t columns : {2, 3, 64, 1000, 65536}) {
    const KernelFacts facts = MeasuredKernel(columns).facts();
    const auto cells = static_cast<double>(columns);
    constexpr double iterations = MeasuredKernel::iterations;
    // CG; two components of BiCGSTAB's vectors, and of the convecting velocity twice.
    const double momentum_bytes = 2.0 * cavity::BiCgStab<HostExecution, 2>::bytes_per_value + 2.0 * 2.0 * 8.0;
    CHECK(facts.bytes_per_unit ==
          iterations * (cavity::ConjugateGradient<HostExecution>::bytes_per_cell + momentum_bytes) * cells);
    // Twice A p, for its curvature and for the residual; a product and a sum each in p = r + beta p, p^T A p, x and r,
    // r^T r and r^T z. By component twice A, seven sums of products, and p, s, x and r with 4, 2, 4 and 2 operations.
    CHECK(facts.flops_per_unit ==
          iterations * (2.0 * 13.0 + 6.0 * 2.0 + 2.0 * (2.0 * 22.0 + 7.0 * 2.0 + 12.0)) * cells);
    CHECK(facts.app == "cavity");
    CHECK(facts.kernel == "linear_solvers");
    CHECK(facts.element == "double");
    CHECK_THAT(facts.computation_unit, ContainsSubstring(std::to_string(MeasuredKernel::iterations) + " iterations"));
    CHECK(facts.parameters.size() == 1);
    CHECK(facts.parameters.at("columns") == cells);
    CHECK_FALSE(facts.runs_out_of_core);
    CHECK(facts.device_memory_bytes == std::numeric_limits<double>::infinity());
  }
  CHECK(MeasuredKernel().facts().app == "cavity");
}

TEST_CASE("sizes worth measuring go from a cache's to far beyond it, for rows of any length") {
  for (const std::int64_t columns : {2, 64, 1024, 65536, 1 << 30}) {
    const KernelFacts facts = MeasuredKernel(columns).facts();
    const double row_bytes = 20.0 * 8.0 * static_cast<double>(columns);
    CAPTURE(columns, facts.smallest, facts.largest);
    CHECK(facts.smallest >= 2);
    CHECK(facts.largest >= 4 * facts.smallest);
    CHECK(static_cast<double>(facts.largest + 1) * row_bytes > 500e6);
    if (facts.largest > 64) CHECK(static_cast<double>(facts.largest) * row_bytes < 600e6);
  }
}

TEST_CASE("a unit runs any size, and one worth measuring with all iterations, however well they converge") {
  for (const Kind kind : kinds()) {
    for (const std::int64_t columns : {2, 3, 64, 501}) {
      const MeasuredKernel kernel(columns);
      for (const std::int64_t rows : {std::int64_t{1}, std::int64_t{3}, kernel.facts().smallest, std::int64_t{100}}) {
        const std::unique_ptr<KernelRun> run = kernel.allocate(kind, rows);
        for (int i = 0; i < 3; ++i) {
          CAPTURE(rows, columns, static_cast<int>(kind));
          CHECK_NOTHROW(run->run());
          // Smaller ones may be solved before that.
          if (rows < kernel.facts().smallest) continue;
          for (const char* sweep : {"steelyard::cavity::cg_update", "steelyard::cavity::bicgstab_update"}) {
            const Sweeps sweeps(sweep);
            run->run();
            CHECK(sweeps.count() == MeasuredKernel::iterations);
          }
        }
      }
    }
  }
}

TEST_CASE("an instance takes no more memory than the facts say") {
  for (const std::int64_t columns : {2, 3, 64, 513, 1024}) {
    const MeasuredKernel kernel(columns);
    for (const Kind kind : kinds()) {
      for (const std::int64_t rows : {1, 2, 16, 1000}) {
        CAPTURE(rows, columns, static_cast<int>(kind));
        const Allocations allocations;
        const std::unique_ptr<KernelRun> run = kernel.allocate(kind, rows);
        run->run();
        // What iterations sweep at least.
        CHECK(allocations.bytes() >= 20.0 * 8.0 * static_cast<double>(rows * columns));
        CHECK(allocations.bytes() <= told_bytes(kernel.facts(), rows) + room_for_huge_pages(rows, columns));
      }
    }
  }
}

TEST_CASE("a run allocates nothing once Kokkos has what it needs itself") {
  for (const Kind kind : kinds()) {
    const std::unique_ptr<KernelRun> run = MeasuredKernel(64).allocate(kind, 20);
    run->run();
    const Allocations allocations;
    for (int i = 0; i < 3; ++i) run->run();
    CHECK(allocations.bytes() == 0.0);
  }
}

}  // namespace steelyard::test_measured_kernel
