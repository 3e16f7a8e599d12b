// Spectra by the ranks' units. That they are right: test_fft2d.cpp.

#include <complex>

#include "comm/collective.hpp"
#include "miniapps/fft2d/spectrum_check.hpp"
#include "miniapps/fft2d/transform.hpp"
#include "tests/catch.hpp"
#include "tests/comm/started_session.hpp"

namespace steelyard::test_transform {

using namespace steelyard::fft2d;
using steelyard::tests::session;
using steelyard::tests::started_units;

namespace {

/// Random numbers of all ranks: the same.
using Random = std::mt19937;

const std::vector<Slot>& slots() {
  static const std::vector<Slot> gathered = gather_slots(session(), started_units());
  return gathered;
}

UnitGroup& group() {
  static CoExecution co_execution(session().machine(), started_units());
  // Never destroyed: that would be after MPI has ended.
  static UnitGroup* const made = new UnitGroup(session().comm(), co_execution, started_units(), slots());
  return *made;
}

/// Random shares of all slots, many of them empty.
std::vector<std::int64_t> random_shares(std::int64_t total, Random& random) {
  std::vector<std::int64_t> cuts{0, total};
  while (cuts.size() <= slots().size()) {
    cuts.push_back(static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(total + 1)));
  }
  std::sort(cuts.begin(), cuts.end());
  std::vector<std::int64_t> shares;
  for (std::size_t i = 0; i + 1 < cuts.size(); ++i) shares.push_back(cuts[i + 1] - cuts[i]);
  return shares;
}

}  // namespace

TEMPLATE_TEST_CASE("the check passes right spectra, and fails those of a number that is wrong or none, on any rank", "",
                   double, float) {
  Random random(2);
  const auto fill = [](std::int64_t first_row, std::span<TestType> values, std::int64_t row_numbers) {
    Random numbers;
    for (std::size_t i = 0; i < values.size(); ++i) {
      const auto at = static_cast<std::int64_t>(i);
      if (at % row_numbers == 0) numbers.seed(static_cast<unsigned>(first_row + at / row_numbers));
      values[i] = std::uniform_real_distribution<TestType>(-1, 1)(numbers);
    }
  };
  for (int trial = 0; trial < 12; ++trial) {
    const bool real = trial % 3 == 0, inverse = trial % 3 == 1;
    const Problem problem{40, 30, inverse ? Direction::inverse : Direction::forward, real, trial % 2 == 1};
    const std::int64_t row_numbers = real ? 30 : 60;
    const auto source = [&](std::int64_t first, std::span<TestType> values) { fill(first, values, row_numbers); };
    const std::vector<std::int64_t> rows = random_shares(problem.rows, random);
    Transform<TestType> transform(group(), problem, {rows, random_shares(problem.spectrum_columns(), random)},
                                  trial % 4 < 2 ? Exchange::at_once : Exchange::pipelined, {"", Planner::estimate});
    const SpectrumCheck<TestType> check(session(), transform, source, 7);
    // What the program finds, in multiples of what is tolerated, where a number of the input is more by a value.
    const auto error_with = [&](TestType value, std::int64_t row, std::int64_t number) {
      transform.load([&](std::int64_t first, std::span<TestType> values) {
        source(first, values);
        const std::int64_t at = (row - first) * row_numbers + number;
        if (row >= first && at < static_cast<std::int64_t>(values.size())) {
          values[static_cast<std::size_t>(at)] += value;
        }
      });
      transform.run();
      const FoundError found = check.check();
      CHECK(found.tolerance < (sizeof(TestType) == 8 ? 1e-13 : 1e-4));
      CheckResult result;
      add_check(session(), result, found);
      return result.error / found.tolerance;
    };
    CAPTURE(trial);
    CHECK(error_with(0, 0, 0) <= 1.0);
    CHECK(error_with(sizeof(TestType) == 8 ? TestType(1e-9) : TestType(0.1), 39, row_numbers - 1) > 1.0);
    CHECK(error_with(1, 0, 1) > 1.0);
    for (const TestType wrong :
         {std::numeric_limits<TestType>::quiet_NaN(), std::numeric_limits<TestType>::infinity()}) {
      CHECK(error_with(wrong, 20, 7) > 1.0);
    }
  }
}

TEST_CASE("a library that no unit has is an error on all ranks") {
  const Problem problem{24, 24};
  std::vector<std::int64_t> first(slots().size(), 0);
  first.front() = 24;
  CHECK_THROWS_AS(Transform<double>(group(), problem, {first, first}, Exchange::at_once, {"nothing"}), CollectiveError);
}

TEST_CASE("every point of any range goes once to each rank that is to transform it") {
  const Problem problem{140000, 130000};
  const Shares shares{{70000, 70000}, {70000, 60000}};
  for (const Exchange exchange : {Exchange::at_once, Exchange::pipelined}) {
    std::int64_t points = 0;
    for (const BlockMessage& message : plan_passes(problem, shares, {{0}, {1}}, exchange).rows.messages) {
      points += message.points();
    }
    CHECK(points == shares.rows[0] * shares.columns[1] + shares.rows[1] * shares.columns[0]);
  }
}

}  // namespace steelyard::test_transform
