#include <optional>
#include <thread>

#include "core/memory/unit_memory.hpp"
#include "miniapps/gemm/unit_gemm.hpp"
#include "tests/catch.hpp"
#include "tests/miniapps/gemm/product.hpp"

namespace steelyard::test_unit_gemm {

using namespace steelyard::tests;
using gemm::Blocking;
using gemm::BlockStep;
using gemm::Operands;
using gemm::PanelProblem;
using gemm::UnitGemm;
using Unit = ProcessingUnit::Kind;
using Random = std::mt19937_64;

namespace {

constexpr std::int64_t alignment = 32;

double real(std::int64_t value) { return static_cast<double>(value); }
/// As many rows, columns or products as a buffer for `extent` of them has.
std::int64_t padded(std::int64_t extent) {
  return std::max<std::int64_t>(1, (extent + alignment - 1) / alignment) * alignment;
}

/// Bytes of buffers for C and for A and B, or for a panel of them.
double in_core_bytes(const PanelProblem& problem, double element_bytes) {
  const double rows = real(padded(problem.rows)), columns = real(padded(problem.columns));
  const std::int64_t depth = problem.depth > 0 ? problem.depth : padded(problem.alpha == 0.0 ? 0 : problem.k);
  return element_bytes * (rows * columns + (rows + columns) * real(depth));
}

/// Matrices to be planned for, and the memory.
struct Request {
  PanelProblem problem;
  gemm::BlockingGoal goal;

  Blocking plan() const { return plan_blocking(problem, goal); }
  double memory_elements() const { return std::floor(goal.memory_bytes / goal.element_bytes); }
  bool fits_at_once() const { return in_core_bytes(problem, 1.0) <= memory_elements(); }
  /// Whether five buffers fit.
  bool fits(std::int64_t height, std::int64_t width, std::int64_t depth) const {
    return real(2 * height * depth + depth * width + 2 * height * width) <= memory_elements();
  }
};

/// Extents around multiples of 32, primes and others; memory from what is needed to more than holds everything.
Request random_request(Random& random, std::int64_t least_extent, std::int64_t most_extent, bool in_panels) {
  Request request;
  PanelProblem& problem = request.problem;
  for (std::int64_t* extent : {&problem.rows, &problem.columns, &problem.k}) {
    *extent = any_of(random, least_extent, most_extent);
    if (any_of(random, 0, 3) == 0) *extent = padded(*extent) + any_of(random, -1, 1);
    if (any_of(random, 0, 9) == 0) *extent = least_extent;
  }
  problem.depth = in_panels ? any_of(random, 1, 120) : 0;
  problem.beta = in_panels ? 1.0 : real(any_of(random, 0, 1));
  request.goal.element_bytes = any_of(random, 0, 1) == 1 ? 8.0 : 4.0;
  request.goal.least_extent = any_of(random, 0, 2) == 0 ? 128 : any_of(random, 1, 5) * alignment;
  request.goal.in_core_blocks = any_of(random, 1, 4);
  const double whole = in_core_bytes(problem, request.goal.element_bytes);
  const double needed = gemm::least_memory_bytes(request.goal.element_bytes, problem.depth);
  const double least = in_panels ? std::min(whole, needed) : needed, most = std::max(2.0 * least, 1.5 * whole);
  const double share = std::uniform_real_distribution<double>(0.0, 1.0)(random);
  request.goal.memory_bytes = std::max(least, least * std::pow(most / least, share));
  return request;
}

/// The fewest elements that any five buffers move; blocks of C have all rows and columns that there are, or
/// `least_extent` where the memory does not force fewer.
double fewest_moved(const Request& request) {
  const auto& [m, n, k, panel, alpha, beta] = request.problem;
  std::int64_t least_height = padded(std::min(m, request.goal.least_extent));
  std::int64_t least_width = padded(std::min(n, request.goal.least_extent));
  const std::int64_t least_depth = panel > 0 ? panel : alignment, most_depth = panel > 0 ? panel : padded(k);
  if (!request.fits(least_height, least_width, least_depth)) least_height = least_width = alignment;
  double fewest = std::numeric_limits<double>::infinity();
  for (std::int64_t height = least_height; height <= padded(m); height += alignment) {
    for (std::int64_t width = least_width; width <= padded(n); width += alignment) {
      for (std::int64_t depth = least_depth; depth <= most_depth; depth += alignment) {
        if (!request.fits(height, width, depth)) break;
        const Blocking plan{m, n, k, height, width, depth, beta != 0.0, false, 2};
        fewest = std::min(fewest, plan.moved_elements());
      }
    }
  }
  return fewest;
}

/// Elements that steps load and store.
double moved_by_steps(const Blocking& blocking) {
  std::int64_t moved = 0;
  for (const BlockStep& step : make_block_steps(blocking)) {
    if (step.load_a) moved += step.c.rows * step.depth;
    if (step.load_b) moved += step.depth * step.c.columns;
    if (step.load_c) moved += step.c.area();
    if (step.store_c) moved += step.c.area();
  }
  return real(moved);
}

/// What every plan is, and what can be said of its steps where they are few.
void check_plan(const Request& request, bool with_steps) {
  const auto& [m, n, k, depth, alpha, beta] = request.problem;
  const gemm::BlockingGoal& goal = request.goal;
  const Blocking plan = request.plan();
  CAPTURE(m, n, k, depth, beta, goal.memory_bytes, goal.element_bytes, goal.least_extent, goal.in_core_blocks);
  CAPTURE(plan.in_core, plan.height, plan.width, plan.depth);
  REQUIRE((plan.m == m && plan.n == n && plan.k == k));
  for (const std::int64_t size : {plan.height, plan.width, depth > 0 ? alignment : plan.depth}) {
    REQUIRE(size >= alignment);
    REQUIRE(size % alignment == 0);
  }
  if (depth > 0) REQUIRE(plan.depth == depth);
  const double rows = real(plan.in_core ? padded(m) : 2 * plan.height);
  REQUIRE(plan.buffer_elements() == rows * real(plan.depth + plan.width) + real(plan.depth * plan.width));
  REQUIRE(plan.buffer_elements() <= request.memory_elements());
  REQUIRE(plan.in_core == request.fits_at_once());
  if (plan.in_core) {
    REQUIRE(plan.buffers >= plan.rows());
    // As many rows of blocks as are wanted, where that leaves them high enough.
    const std::int64_t blocks = goal.in_core_blocks;
    REQUIRE(plan.rows() <= blocks);
    if (m % (blocks * alignment) == 0 && m / blocks >= goal.least_extent) REQUIRE(plan.rows() == blocks);
  } else {
    REQUIRE(plan.buffers == 2);
  }
  const double moved = plan.moved_elements();
  const double each_once = real(m) * real(k) + real(k) * real(n) + real(m) * real(n) * (beta == 0.0 ? 1.0 : 2.0);
  if (m > 0 && n > 0) REQUIRE((plan.in_core ? moved == each_once : moved >= each_once));
  if (with_steps) REQUIRE(moved_by_steps(plan) == moved);
}

/// A unit, and how much memory of its own a companion is given.
struct Where {
  Unit kind = Unit::host;
  double cap_bytes = std::numeric_limits<double>::infinity();
};

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

/// Whole ones of extents around those of blocks, primes and tall ones, and ones in panels: one, one column per panel,
/// depths that divide k or not, or exceed it, that are multiples of 32 or not.
std::vector<PanelProblem> any_problems(Random& random) {
  constexpr std::array<std::int64_t, 16> extents{0, 1, 2, 3, 7, 13, 31, 32, 33, 47, 64, 65, 89, 96, 97, 131};
  constexpr std::array factors{0.0, 1.0, -1.0, 0.5, -2.0};
  const auto any = [&](const auto& of) { return of[random() % of.size()]; };
  std::vector<PanelProblem> all{{513, 37, 20},    {1537, 37, 20},    {4099, 37, 20},   {1, 1, 1, 1},
                                {1, 70, 40, 16},  {70, 1, 40, 16},   {33, 65, 96, 32}, {64, 64, 64, 64},
                                {13, 47, 30, 96}, {96, 33, 128, 31}, {131, 89, 7, 1},  {65, 200, 129, 128}};
  while (all.size() < 72) all.push_back({any(extents), any(extents), any(extents), 0, any(factors), any(factors)});
  while (all.size() < 88) {
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

/// A companion with a memory of its own multiplies in blocks that are planned for it.
void check_planned(const std::optional<Blocking>& blocking, const PanelProblem& problem, const Where& where,
                   double element_bytes) {
  const bool has_memory = companion_is_device || std::isfinite(where.cap_bytes);
  REQUIRE(blocking.has_value() == (where.kind == Unit::companion && has_memory));
  if (!blocking) return;
  const double memory_bytes = device_memory_bytes(where.cap_bytes);
  REQUIRE(element_bytes * blocking->buffer_elements() <= memory_bytes);
  REQUIRE(blocking->in_core == (in_core_bytes(problem, element_bytes) <= memory_bytes));
}

}  // namespace

TEST_CASE(
    "plans keep to the memory, to multiples of 32 or a given depth, and to what the steps move, in core where all "
    "fits at once") {
  const bool in_panels = GENERATE(false, true);
  Random random(1);
  for (int trial = 0; trial < 3000; ++trial) {
    // Huge matrices are planned in no time: the test would not end otherwise.
    const bool is_huge = trial % 30 == 0;
    Request request = random_request(random, in_panels ? 1 : 0, is_huge ? 1000000 : 300, in_panels);
    check_plan(request, !is_huge);
    // The least memory suffices for any matrices, and with less there is no plan for those that do not fit.
    request.goal.memory_bytes = gemm::least_memory_bytes(request.goal.element_bytes, request.problem.depth);
    check_plan(request, false);
    request.goal.memory_bytes -= static_cast<double>(any_of(random, 1, 200));
    if (!request.fits_at_once()) REQUIRE_THROWS_AS(request.plan(), InvalidArgument);
  }
}

TEST_CASE(
    "no block sizes in five buffers move fewer elements than the plan, nor move and expose more where all is hidden") {
  const bool in_panels = GENERATE(false, true);
  Random random(3);
  // The best has one row of blocks less than the tallest.
  const Request uneven{{269, 225, 156, 106, 1.0, 1.0}, {663500.0, 8.0, 96}};
  CHECK(uneven.plan().moved_elements() == fewest_moved(uneven));
  for (int planned = 0; planned < 800;) {
    Request request = random_request(random, 1, 330, in_panels);
    if (request.fits_at_once()) continue;
    ++planned;
    const Blocking hidden = request.plan();
    request.goal.in_core_blocks = 1;
    const PanelProblem& problem = request.problem;
    CAPTURE(problem.rows, problem.columns, problem.k, problem.depth, problem.beta, request.memory_elements());
    const Blocking fewest = request.plan();
    REQUIRE(fewest.moved_elements() == fewest_moved(request));
    const auto cost = [](const Blocking& plan) { return plan.moved_elements() + plan.exposed_elements(); };
    REQUIRE(cost(hidden) <= cost(fewest));
  }
}

TEMPLATE_TEST_CASE(
    "every unit gives the exact product of whole numbers, in the blocks that are planned for its memory, whole or in "
    "panels, for whatever operands of its extents, timed or not",
    "", double, float) {
  Random random(1);
  for (const PanelProblem& problem : any_problems(random)) {
    const int passes = problem.depth == 0 ? 1 : static_cast<int>(any_of(random, 1, 3));
    WholeNumbers<TestType> product(problem, passes, random), other(problem, passes, random);
    for (const Where& where : wheres(problem, sizeof(TestType))) {
      CAPTURE(problem.rows, problem.columns, problem.k, problem.depth, problem.alpha, problem.beta, passes);
      CAPTURE(static_cast<int>(where.kind), where.cap_bytes);
      UnitGemm<TestType> gemm(where.kind, problem, {where.cap_bytes});
      const std::optional<Blocking> blocking =
          gemm.blocking() != nullptr ? std::optional(*gemm.blocking()) : std::nullopt;
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
        UnitGemm<TestType> gemm(where.kind, problem, {where.cap_bytes});
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
