#include <algorithm>
#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "miniapps/fft2d/spectrum_check.hpp"
#include "tests/comm/started_session.hpp"

namespace steelyard::test_spectrum_check {

using namespace steelyard::fft2d;
using steelyard::tests::session;
using steelyard::tests::started_units;

namespace {

/// A transform of a random field, split evenly, of which some rows can be loaded wrong.
template <class Scalar>
class Checked {
 public:
  explicit Checked(const Problem& problem)
      : problem_(problem),
        co_execution_(session().machine(), started_units()),
        slots_(gather_slots(session(), started_units())),
        group_(session().comm(), co_execution_, started_units(), slots_),
        input_([numbers = problem.columns * (problem.real ? 1 : 2)](std::int64_t row, std::span<Scalar> values) {
          std::mt19937_64 random;
          for (std::size_t i = 0; i < values.size(); ++i) {
            random.seed(static_cast<std::uint64_t>(row * numbers) + i);
            values[i] = std::uniform_real_distribution<Scalar>(-1, 1)(random);
          }
        }),
        transform_(group_, problem, {even(problem.rows), even(problem.spectrum_columns())}, {}),
        check_(session(), problem, own_rows(), input_, 7) {}

  using Source = typename Transform<Scalar>::Source;
  FoundError check(const Source& source) {
    transform_.load(source);
    transform_.run();
    return check_.check(transform_);
  }
  FoundError check() { return check(input_); }
  const Source& input() const { return input_; }

 private:
  std::vector<std::int64_t> even(std::int64_t total) const {
    const auto count = static_cast<std::int64_t>(slots_.size());
    std::vector<std::int64_t> shares;
    for (std::int64_t i = 0; i < count; ++i) shares.push_back(total * (i + 1) / count - total * i / count);
    return shares;
  }
  Range own_rows() const {
    std::vector<int> ranks;
    for (const Slot& slot : slots_) ranks.push_back(slot.rank);
    return plan_pass(even(problem_.rows), even(problem_.rows), ranks, 1).rows_of_rank(session().rank());
  }

  Problem problem_;
  CoExecution co_execution_;
  std::vector<Slot> slots_;
  UnitGroup group_;
  Source input_;
  Transform<Scalar> transform_;
  SpectrumCheck<Scalar> check_;
};

/// An error is the largest of all ranks'.
double largest(const FoundError& found) {
  CheckResult result;
  add_check(session(), result, found);
  return result.error;
}

}  // namespace

TEMPLATE_TEST_CASE("right spectra pass, of any kind", "", double, float) {
  for (const auto& [rows, columns] : {std::pair{1, 1}, {1, 300}, {300, 1}, {64, 64}, {61, 131}, {30, 2}}) {
    for (const bool transposed : {false, true}) {
      for (const int kind : {0, 1, 2}) {
        CAPTURE(rows, columns, transposed, kind);
        Checked<TestType> checked(
            {rows, columns, kind == 1 ? Direction::inverse : Direction::forward, kind == 2, transposed});
        const FoundError found = checked.check();
        CHECK(largest(found) <= found.tolerance);
        CHECK(found.tolerance < (sizeof(TestType) == 8 ? 1e-13 : 1e-4));
      }
    }
  }
}

TEST_CASE("another input's spectrum does not pass") {
  Checked<float> checked({64, 128});
  const FoundError found =
      checked.check([](std::int64_t, std::span<float> values) { std::fill(values.begin(), values.end(), 3.0F); });
  CHECK(largest(found) > found.tolerance);
}

TEST_CASE("a number that is wrong, missing or not one at all is found") {
  for (const bool transposed : {false, true}) {
    Checked<double> checked({40, 30, Direction::forward, false, transposed});
    const auto spoilt = [&](double value, std::int64_t row, std::int64_t number) {
      return largest(checked.check([&](std::int64_t first, std::span<double> values) {
        checked.input()(first, values);
        const std::int64_t at = (row - first) * 60 + number;
        if (row >= first && at < static_cast<std::int64_t>(values.size())) {
          values[static_cast<std::size_t>(at)] += value;
        }
      }));
    };
    const double tolerance = checked.check().tolerance;
    CHECK(spoilt(0.0, 0, 0) <= tolerance);
    CHECK(spoilt(1e-9, 39, 59) > tolerance);
    CHECK(spoilt(1.0, 0, 1) > tolerance);
    CHECK(spoilt(std::numeric_limits<double>::quiet_NaN(), 20, 7) > tolerance);
    CHECK(spoilt(std::numeric_limits<double>::infinity(), 20, 7) > tolerance);
  }
}

}  // namespace steelyard::test_spectrum_check
