#include <optional>
#include <thread>

#include "core/memory/unit_memory.hpp"
#include "miniapps/gemm/unit_gemm.hpp"
#include "tests/catch.hpp"
#include "tests/miniapps/gemm/product.hpp"

namespace steelyard::test_unit_gemm {

using namespace steelyard::tests;
using gemm::Blocking;
using gemm::Operands;
using gemm::PanelProblem;
using gemm::UnitGemm;
using Unit = ProcessingUnit::Kind;
using Random = std::mt19937_64;

namespace {

/// A unit, and how much memory of its own a companion is given.
struct Where {
  Unit kind = Unit::host;
  double cap_bytes = std::numeric_limits<double>::infinity();
};

double padded(std::int64_t extent) { return 32.0 * static_cast<double>(std::max<std::int64_t>(1, (extent + 31) / 32)); }

/// Bytes in a companion's memory of C and of A and B, or of a panel of them.
double in_core_bytes(const PanelProblem& problem, double element_bytes) {
  const double whole = padded(problem.alpha == 0.0 ? 0 : problem.k), rows = padded(problem.rows);
  const double depth = problem.depth > 0 ? static_cast<double>(problem.depth) : whole;
  return element_bytes * (rows * padded(problem.columns) + (rows + padded(problem.columns)) * depth);
}

/// Both units, the companion with as much memory as it needs at least, up to more than it can use.
std::vector<Where> wheres(const PanelProblem& problem, double element_bytes) {
  const double most = in_core_bytes(problem, element_bytes);
  const double least = std::min(most, gemm::least_memory_bytes(element_bytes, problem.depth));
  std::vector<Where> all{{Unit::host}, {Unit::host, least}, {Unit::companion}};
  for (double cap = least; cap < most; cap *= 1.7) all.push_back({Unit::companion, cap});
  for (const double cap : {most - 1.0, most, 3.0 * most}) {
    if (cap >= least) all.push_back({Unit::companion, cap});
  }
  return all;
}

/// Whole ones of extents around those of blocks, primes and tall ones.
std::vector<PanelProblem> whole_problems(Random& random) {
  constexpr std::array<std::int64_t, 16> extents{0, 1, 2, 3, 7, 13, 31, 32, 33, 47, 64, 65, 89, 96, 97, 131};
  constexpr std::array factors{0.0, 1.0, -1.0, 0.5, -2.0};
  const auto any = [&](const auto& of) { return of[random() % of.size()]; };
  std::vector<PanelProblem> all{{513, 37, 20, 0}, {1000, 37, 20, 0}, {1537, 37, 20, 0}, {4099, 37, 20, 0}};
  while (all.size() < 64) all.push_back({any(extents), any(extents), any(extents), 0, any(factors), any(factors)});
  return all;
}

/// One panel, one column per panel, depths that divide k or not, or exceed it, that are multiples of 32 or not.
std::vector<PanelProblem> panel_problems(Random& random) {
  std::vector<PanelProblem> all{{1, 1, 1, 1},     {1, 70, 40, 16},   {70, 1, 40, 16},    {33, 65, 96, 32},
                                {64, 64, 64, 64}, {97, 131, 50, 50}, {40, 45, 100, 33},  {131, 89, 7, 1},
                                {13, 47, 30, 96}, {96, 33, 128, 31}, {200, 150, 90, 40}, {65, 200, 129, 128}};
  for (int i = 0; i < 12; ++i) {
    all.push_back({any_of(random, 1, 140), any_of(random, 1, 140), any_of(random, 1, 120), any_of(random, 1, 70)});
  }
  return all;
}

std::int64_t panels(const PanelProblem& problem) { return (problem.k + problem.depth - 1) / problem.depth; }

/// Operands of whole numbers, to be multiplied `passes` times in all panels, and what C is then.
template <class Scalar>
class WholeNumbers {
 public:
  WholeNumbers(const PanelProblem& problem, int passes, Random& random)
      : problem_(problem),
        passes_(passes),
        product_({problem.rows, problem.columns, problem.k, passes * problem.alpha, problem.beta},
                 any_of(random, 0, 2)) {
    for (PinnedMatrix<Scalar>* matrix : {&product_.a, &product_.b, &product_.before}) {
      matrix->fill(whole_numbers(random));
    }
    product_.spoil_what_is_not_read();
    expected_ = product_.expected();
  }

  void reset() { product_.c = product_.before; }
  Operands<Scalar> operands() { return product_.operands(); }
  void multiply(UnitGemm<Scalar>& gemm, const typename UnitGemm<Scalar>::Meanwhile& meanwhile = {}) {
    const Operands<Scalar> all = operands();
    if (problem_.depth == 0) return gemm.run(all);
    for (std::int64_t i = 0; i < passes_ * panels(problem_); ++i) {
      const std::int64_t panel = i % panels(problem_), first = panel * problem_.depth;
      const std::int64_t depth = std::min(problem_.depth, problem_.k - first);
      gemm.add(panel,
               {matrix_block(all.a, 0, problem_.rows, first, depth),
                matrix_block(all.b, first, depth, 0, problem_.columns), all.c},
               meanwhile);
    }
  }
  void require_product() const {
    REQUIRE(product_.inexact_elements(expected_) == 0);
    REQUIRE(product_.c.untouched_between_rows());
  }

 private:
  PanelProblem problem_;
  int passes_;
  Product<Scalar> product_;
  std::vector<NaiveElement> expected_;
};

void check_planned(const std::optional<Blocking>& blocking, const PanelProblem& problem, const Where& where,
                   double element_bytes) {
  const bool has_memory = companion_is_device || std::isfinite(where.cap_bytes);
  REQUIRE(blocking.has_value() == (where.kind == Unit::companion && has_memory));
  if (!blocking) return;
  const double memory_bytes = device_memory_bytes(where.cap_bytes);
  REQUIRE(element_bytes * blocking->buffer_elements() <= memory_bytes);
  REQUIRE(blocking->in_core == (in_core_bytes(problem, element_bytes) <= memory_bytes));
  REQUIRE(blocking->k == (problem.alpha == 0.0 ? 0 : problem.k));
  if (problem.depth > 0) REQUIRE(blocking->panels() == panels(problem));
}

}  // namespace

TEMPLATE_TEST_CASE(
    "every unit gives the exact product of whole numbers, in the blocks that are planned for its memory, whole or in "
    "panels, for whatever operands of its extents, timed or not",
    "", double, float) {
  Random random(1);
  std::vector<PanelProblem> problems = whole_problems(random);
  for (const PanelProblem& in_panels : panel_problems(random)) problems.push_back(in_panels);
  for (const PanelProblem& problem : problems) {
    const int passes = problem.depth == 0 ? 1 : static_cast<int>(any_of(random, 1, 3));
    WholeNumbers<TestType> product(problem, passes, random), other(problem, passes, random);
    for (const Where& where : wheres(problem, sizeof(TestType))) {
      CAPTURE(problem.rows, problem.columns, problem.k, problem.depth, problem.alpha, problem.beta, passes);
      CAPTURE(static_cast<int>(where.kind), where.cap_bytes);
      UnitGemm<TestType> gemm(where.kind, problem, where.cap_bytes);
      const std::optional<Blocking> blocking = gemm.blocking();
      check_planned(blocking, problem, where, sizeof(TestType));
      for (auto* operands : {&product, &other, &product}) {
        operands->reset();
        if (operands == &other && problem.depth == 0) {
          const bool copies = blocking && blocking->moved_elements() > 0.0;
          REQUIRE(gemm.run_timed(operands->operands()).empty() == !copies);
        } else {
          operands->multiply(gemm);
        }
        operands->require_product();
      }
    }
  }
}

TEMPLATE_TEST_CASE(
    "meanwhile is called on the calling thread in every panel, between pieces of large ones as long as it "
    "returns true, and leaves the product exact",
    "", double, float) {
  Random random(4);
  // Higher than the pieces between two calls, with much to do in each and with little.
  for (const PanelProblem& problem : std::vector<PanelProblem>{
           {70, 1, 40, 16}, {97, 131, 50, 50}, {1537, 37, 50, 20}, {1537, 301, 60, 20}, {1600, 700, 64, 32}}) {
    WholeNumbers<TestType> product(problem, 1, random);
    for (const Where& where : wheres(problem, sizeof(TestType))) {
      CAPTURE(problem.rows, problem.columns, problem.k, problem.depth, static_cast<int>(where.kind), where.cap_bytes);
      // As often as there is a piece; once; three times.
      for (const std::int64_t wanted : {1000000, 0, 3}) {
        std::int64_t calls = 0, elsewhere = 0;
        UnitGemm<TestType> gemm(where.kind, problem, where.cap_bytes);
        product.reset();
        product.multiply(gemm, [&, calling = std::this_thread::get_id()] {
          ++calls;
          elsewhere += std::this_thread::get_id() == calling ? 0 : 1;
          return calls < wanted;
        });
        product.require_product();
        REQUIRE(elsewhere == 0);
        REQUIRE(calls >= panels(problem));
        if (wanted == 0) REQUIRE(calls == panels(problem));
        if (where.kind == Unit::host && problem.columns == 700 && wanted > 3) REQUIRE(calls >= 4 * panels(problem));
      }
    }
  }
}

}  // namespace steelyard::test_unit_gemm
