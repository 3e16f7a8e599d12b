#include <memory>

#include "core/spaces.hpp"
#include "miniapps/wave2d/measured_kernel.hpp"
#include "miniapps/wave2d/plan.hpp"
#include "tests/catch.hpp"
#include "tests/miniapps/allocations.hpp"
#include "tests/miniapps/wave2d/grid_cuts.hpp"

namespace steelyard::test_cost {

using namespace steelyard::wave2d;
using tests::Allocations;
using tests::Random;
using tests::uniform;
using tests::whole;
using Kind = ProcessingUnit::Kind;

namespace {

/// The rank of every unit: each rank has one or two.
std::vector<int> random_ranks(Random& random, std::size_t units) {
  std::vector<int> ranks;
  for (int rank = 0; ranks.size() < units; ++rank) ranks.insert(ranks.end(), whole(random, 1, 2), rank);
  ranks.resize(units);
  return ranks;
}

}  // namespace

TEST_CASE("every rank sends what units of others need, all messages at once, each with all its bytes") {
  Random random(4);
  for (int trial = 0; trial < 100; ++trial) {
    const Problem problem{whole(random, 3, 20), whole(random, 3, 20)};
    const auto rectangles = tests::random_cut(random, problem);
    const std::vector<int> ranks = random_ranks(random, rectangles.size());
    const double element_bytes = trial % 2 == 0 ? 8.0 : 4.0;
    const auto messages = halo_messages(problem, rectangles, whole(random, 1, 3));
    const models::MessagePattern pattern = exchange_pattern(messages, ranks, ranks.back() + 1, element_bytes);
    std::vector<models::Message> expected;
    for (const HaloMessage& message : messages) {
      const int from = ranks[static_cast<std::size_t>(message.from)], to = ranks[static_cast<std::size_t>(message.to)];
      if (from != to) expected.push_back({from, to, element_bytes * static_cast<double>(message.points())});
    }
    CHECK(pattern.processes == ranks.back() + 1);
    REQUIRE(pattern.phases.size() == 1);
    CHECK(pattern.phases[0].sends == models::Phase::Sends::at_once);
    CHECK(pattern.phases[0].messages == expected);
  }
}

TEST_CASE(
    "a pass waits for the slowest border, then units that drive messages take turns with these beside the others") {
  Random random(5);
  for (int trial = 0; trial < 200; ++trial) {
    std::vector<UnitTimes> units(static_cast<std::size_t>(whole(random, 1, 6)));
    for (UnitTimes& unit : units) {
      for (const auto phase : unit_phases) unit.*phase = whole(random, 0, 3) == 0 ? 0.0 : uniform(random, 0.0, 9.0);
    }
    const std::vector<int> ranks = random_ranks(random, units.size());
    PassCost pass = pass_cost(ranks, units);
    pass.exchange_s = uniform(random, 0.0, 9.0);
    // 003, equations 5.5 to 5.10.
    double begin_s = 0.0, driving_s = 0.0, interior_s = 0.0;
    for (std::size_t i = 0; i < units.size(); ++i) {
      begin_s = std::max(begin_s, units[i].unpacking_s + units[i].border_s + units[i].packing_s);
      interior_s = std::max(interior_s, units[i].interior_s);
      if (std::ranges::find(ranks, ranks[i]) - ranks.begin() == static_cast<std::ptrdiff_t>(i)) {
        driving_s = std::max(driving_s, units[i].interior_s);
      }
    }
    CHECK(pass.total_s() == begin_s + std::max(driving_s + pass.exchange_s, interior_s));
    CHECK(pass.kernels_s() == begin_s + interior_s);
    for (const auto phase : unit_phases) {
      const auto longer = [&](const UnitTimes& a, const UnitTimes& b) { return a.*phase < b.*phase; };
      CHECK(pass.phases.*phase == (*std::ranges::max_element(units, longer)).*phase);
    }
  }
  CHECK(pass_cost({}, {}).total_s() == 0.0);
}

TEST_CASE("the phases of a unit grow with the points they work on, and add up to the pass of a unit like the sample") {
  const UnitTimes sample{1.0, 6.0, 2.0, 100.0};
  const EdgePoints points{60, 20, 10};
  const UnitTimes same = split_pass(50.0, 470, points, sample, points);
  CHECK(same.begin_s() == 9.0);
  CHECK(same.interior_s == 41.0);
  // Fewer neighbours: the points that are not at a border cost what the interior's cost.
  const UnitTimes half = split_pass(50.0, 470, {30, 10, 0}, sample, points);
  CHECK(half.unpacking_s == 0.0);
  CHECK(half.border_s == 3.0);
  CHECK(half.packing_s == 1.0);
  CHECK_THAT(half.interior_s, WithinRel(44.0));
  // A sample whose phases alone are longer than the pass.
  const UnitTimes squeezed = split_pass(3.0, 470, points, sample, points);
  CHECK_THAT(squeezed.border_s, WithinRel(2.0));
  CHECK_THAT(squeezed.begin_s(), WithinRel(3.0));
  CHECK(squeezed.interior_s == 0.0);
  // A unit that is all border, and one that was not sampled.
  CHECK(split_pass(12.0, 60, points, sample, points).interior_s == 3.0);
  CHECK(split_pass(5.0, 100, {}, {}, {}).interior_s == 5.0);
}

TEST_CASE(
    "an instance takes no more memory than the kernel says, not much less where it is large, and none when it runs") {
  const int order = GENERATE(2, 4), steps = GENERATE(1, 2, 8);
  const ElementType element = GENERATE(ElementType::float64, ElementType::float32);
  for (const std::int64_t columns : {3, 64, 513, 2048}) {
    const MeasuredKernel kernel({0, columns, 0.5, Boundary::dirichlet, order}, element, steps);
    const KernelFacts facts = kernel.facts();
    const double row_bytes = (element == ElementType::float64 ? 8.0 : 4.0) * static_cast<double>(columns);
    // One step is made in place; several read two levels and write two, which are fetched first.
    CHECK(facts.bytes_per_unit == (steps == 1 ? 3.0 : 6.0) * row_bytes);
    // Two products that are added and three sums, with two sums, a product and a sum more for points farther away.
    CHECK(facts.flops_per_unit == (order == 2 ? 7.0 : 12.0) * static_cast<double>(columns * steps));
    CHECK(facts.parameters.at("columns") == static_cast<double>(columns));
    CHECK(facts.parameters.at("time_tile") == steps);
    CHECK(facts.parameters.at("order") == order);
    for (const Kind kind : {Kind::host, Kind::companion}) {
      if (kind == Kind::companion && !has_companion) continue;
      for (const std::int64_t rows : {1, 2, 1000}) {
        CAPTURE(columns, rows, kind);
        std::unique_ptr<KernelRun> run;
        {
          const Allocations allocations;
          run = kernel.allocate(kind, rows);
          const double told = facts.memory_bytes_fixed + facts.memory_bytes_per_unit * static_cast<double>(rows);
          CHECK(allocations.bytes() > 0.0);
          CHECK(allocations.bytes() <= told);
          // A device has no use for what hosts leave free in huge pages.
          const bool tight = kind == Kind::host || !companion_is_device;
          if (tight && rows == 1000 && columns >= 512) CHECK(allocations.bytes() >= 0.75 * told);
        }
        if (rows == 1000) continue;
        // Kokkos takes what it needs itself in the first run.
        run->run();
        const Allocations later;
        for (int i = 0; i < 2; ++i) run->run();
        CHECK(later.bytes() == 0.0);
      }
    }
  }
}

}  // namespace steelyard::test_cost
