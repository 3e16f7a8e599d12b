#include <fftw3.h>

#include <algorithm>
#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <complex>
#include <limits>
#include <random>
#include <vector>

#include "comm/collective.hpp"
#include "miniapps/fft2d/spectrum_check.hpp"
#include "miniapps/fft2d/transform.hpp"
#include "tests/comm/started_session.hpp"

namespace steelyard::test_transform {

using namespace steelyard::fft2d;
using steelyard::tests::session;
using steelyard::tests::started_units;

namespace {

/// Random numbers of all ranks: the same.
using Random = std::mt19937;
using Matrix = std::vector<std::complex<double>>;

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

Shares random_shares(const Problem& problem, Random& random) {
  std::vector<std::int64_t> rows = random_shares(problem.rows, random);
  return {rows, random_shares(problem.spectrum_columns(), random)};
}

template <class Scalar>
typename Transform<Scalar>::Source random_source(const Problem& problem) {
  return [numbers = problem.columns * (problem.real ? 1 : 2)](std::int64_t first_row, std::span<Scalar> values) {
    Random random;
    for (std::size_t i = 0; i < values.size(); ++i) {
      const auto row = first_row + static_cast<std::int64_t>(i) / numbers;
      if (static_cast<std::int64_t>(i) % numbers == 0) random.seed(static_cast<unsigned>(row));
      values[i] = std::uniform_real_distribution<Scalar>(-1, 1)(random);
    }
  };
}

/// The whole input on every rank.
template <class Scalar>
Matrix whole_input(const Problem& problem) {
  std::vector<Scalar> numbers(static_cast<std::size_t>(problem.rows * problem.columns * (problem.real ? 1 : 2)));
  random_source<Scalar>(problem)(0, numbers);
  Matrix input;
  for (std::size_t i = 0; i < numbers.size(); i += problem.real ? 1 : 2) {
    input.emplace_back(static_cast<double>(numbers[i]), problem.real ? 0.0 : static_cast<double>(numbers[i + 1]));
  }
  return input;
}

/// What FFTW's own transform in two dimensions makes of it, in the order of the result.
template <class Scalar>
Matrix by_fftw(const Problem& problem) {
  Matrix values = whole_input<Scalar>(problem);
  auto* const data = reinterpret_cast<fftw_complex*>(values.data());
  const bool forward = problem.direction == Direction::forward;
  const fftw_plan plan = fftw_plan_dft_2d(static_cast<int>(problem.rows), static_cast<int>(problem.columns), data, data,
                                          forward ? FFTW_FORWARD : FFTW_BACKWARD, FFTW_ESTIMATE);
  fftw_execute(plan);
  fftw_destroy_plan(plan);
  const std::int64_t kept = problem.spectrum_columns();
  Matrix result;
  for (std::int64_t i = 0; i < (problem.transposed ? kept : problem.rows); ++i) {
    for (std::int64_t j = 0; j < (problem.transposed ? problem.rows : kept); ++j) {
      const std::int64_t at = problem.transposed ? j * problem.columns + i : i * problem.columns + j;
      result.push_back(values[static_cast<std::size_t>(at)] / (forward ? 1.0 : problem.points()));
    }
  }
  return result;
}

/// The result of this rank, where it belongs in the whole one; NaN elsewhere.
template <class Scalar>
std::vector<std::complex<Scalar>> own_part(const Problem& problem, const Transform<Scalar>& transform) {
  const std::int64_t length = problem.transposed ? problem.rows : problem.spectrum_columns();
  const auto size = static_cast<std::size_t>(problem.rows * problem.spectrum_columns());
  std::vector<std::complex<Scalar>> part(size, std::numeric_limits<Scalar>::quiet_NaN());
  transform.store([&](std::int64_t row, std::span<const std::complex<Scalar>> values) {
    std::copy(values.begin(), values.end(), part.begin() + row * length);
  });
  return part;
}

/// The largest distance from `right` of a point of any rank, relative to the root of the mean square; infinite where a
/// point has no owner or several.
template <class Scalar>
double error_of(const Problem& problem, const Transform<Scalar>& transform, const Matrix& right) {
  const std::vector<std::complex<Scalar>> part = own_part(problem, transform);
  double largest = 0.0, owned = 0.0, squares = 0.0;
  for (std::size_t i = 0; i < part.size(); ++i) {
    squares += std::norm(right[i]);
    if (std::isnan(part[i].real())) continue;
    owned += 1.0;
    largest = std::max(largest, std::abs(std::complex<double>(part[i]) - right[i]));
  }
  const auto points = static_cast<double>(part.size());
  if (all_sum(session().comm(), owned) != points) return std::numeric_limits<double>::infinity();
  return all_max(session().comm(), largest) / std::sqrt(squares / points);
}

/// A way to carry out a transform.
TransformChoice random_choice(Random& random) {
  TransformChoice choice;
  choice.exchange = random() % 2 == 0 ? Exchange::at_once : Exchange::pipelined;
  choice.fft.planner = Planner::estimate;
  return choice;
}

/// Checks a spectrum as the program does, against this input.
template <class Scalar>
class Checked {
 public:
  Checked(const Problem& problem, const Shares& shares)
      : check_(session(), problem, own_rows(shares), random_source<Scalar>(problem), 7) {}

  /// The largest error of all ranks, in multiples of what is tolerated.
  double error_of(const Transform<Scalar>& transform) {
    const FoundError found = check_.check(transform);
    CHECK(found.tolerance < (sizeof(Scalar) == 8 ? 1e-13 : 1e-4));
    CheckResult result;
    add_check(session(), result, found);
    return result.error / found.tolerance;
  }

 private:
  static Range own_rows(const Shares& shares) {
    std::vector<int> ranks;
    for (const Slot& slot : slots()) ranks.push_back(slot.rank);
    return plan_pass(shares.rows, shares.columns, ranks, 1).rows_of_rank(session().rank());
  }

  SpectrumCheck<Scalar> check_;
};

}  // namespace

TEMPLATE_TEST_CASE("spectra are those of FFTW's own transform, for every split and exchange, and pass the check", "",
                   double, float) {
  Random random(1);
  constexpr std::int64_t extents[2][16] = {{1, 1, 64, 1, 17, 2, 3, 5, 16, 64, 13, 37, 30, 105, 101, 96},
                                           {1, 300, 1, 13, 1, 3, 2, 7, 16, 32, 37, 13, 42, 21, 103, 127}};
  for (std::size_t i = 0; i < 16; ++i) {
    const std::int64_t rows = extents[0][i], columns = extents[1][i];
    for (const int kind : {0, 1, 2}) {
      const Problem problem{rows, columns, kind == 1 ? Direction::inverse : Direction::forward, kind == 2,
                            random() % 3 == 0};
      const Matrix right = by_fftw<TestType>(problem);
      const TransformChoice choice = random_choice(random);
      const Shares shares = random_shares(problem, random);
      Transform<TestType> transform(group(), problem, shares, choice);
      Checked<TestType> checked(problem, shares);
      CAPTURE(rows, columns, kind, problem.transposed, batches_of(choice.exchange));
      // Each time anew.
      for (int times = 0; times < 2; ++times) {
        transform.load(random_source<TestType>(problem));
        const TransformTimes taken = transform.run();
        CHECK(error_of(problem, transform, right) <= (sizeof(TestType) == 8 ? 1e-12 : 1e-5));
        CHECK(checked.error_of(transform) <= 1.0);
        const double order[] = {0.0, taken.rows_s, taken.first_exchange_s, taken.columns_s, taken.second_exchange_s};
        CHECK(std::is_sorted(std::begin(order), std::end(order)));
      }
    }
  }
}

TEMPLATE_TEST_CASE("a number that is wrong, missing or not one at all, on whatever rank, fails the check", "", double,
                   float) {
  Random random(2);
  for (const bool transposed : {false, true}) {
    const Problem problem{40, 30, Direction::forward, false, transposed};
    const Shares shares = random_shares(problem, random);
    Transform<TestType> transform(group(), problem, shares, random_choice(random));
    Checked<TestType> checked(problem, shares);
    const auto error_with = [&](TestType value, std::int64_t row, std::int64_t number) {
      transform.load([&](std::int64_t first, std::span<TestType> values) {
        random_source<TestType>(problem)(first, values);
        const std::int64_t at = (row - first) * 60 + number;
        if (row >= first && at < static_cast<std::int64_t>(values.size())) {
          values[static_cast<std::size_t>(at)] += value;
        }
      });
      transform.run();
      return checked.error_of(transform);
    };
    CHECK(error_with(0, 0, 0) <= 1.0);
    CHECK(error_with(sizeof(TestType) == 8 ? TestType(1e-9) : TestType(0.1), 39, 59) > 1.0);
    CHECK(error_with(1, 0, 1) > 1.0);
    for (const TestType wrong :
         {std::numeric_limits<TestType>::quiet_NaN(), std::numeric_limits<TestType>::infinity()}) {
      CHECK(error_with(wrong, 20, 7) > 1.0);
    }
  }
}

TEMPLATE_TEST_CASE("bits are the same for every split and exchange", "", double, float) {
  if (companion_is_device) SKIP("two libraries round differently");
  // Plans that were measured differ from rank to rank, and later ones of the same length are made of what is known.
  fftw_forget_wisdom();
  fftwf_forget_wisdom();
  Random random(3);
  for (const auto& [rows, columns] : {std::pair{101, 103}, {96, 40}, {33, 1}}) {
    const Problem problem{rows, columns};
    // Of all on the first slot.
    std::vector<std::complex<TestType>> first;
    for (int round = 0; round < 6; ++round) {
      Shares shares = random_shares(problem, random);
      if (round == 0) {
        for (std::vector<std::int64_t>* all : {&shares.rows, &shares.columns}) {
          std::fill(all->begin(), all->end(), 0);
          all->front() = all == &shares.rows ? rows : columns;
        }
      }
      Transform<TestType> transform(group(), problem, shares, random_choice(random));
      transform.load(random_source<TestType>(problem));
      transform.run();
      // Zeros where a rank owns nothing, so that ranks add up; one owner each, so that nothing is rounded.
      std::vector<std::complex<TestType>> whole = own_part(problem, transform);
      for (std::complex<TestType>& value : whole) value = std::isnan(value.real()) ? std::complex<TestType>() : value;
      MPI_Allreduce(MPI_IN_PLACE, whole.data(), static_cast<int>(2 * whole.size()),
                    sizeof(TestType) == 8 ? MPI_DOUBLE : MPI_FLOAT, MPI_SUM, session().comm());
      if (round == 0) first = whole;
      const bool same = whole == first;
      CHECK(same);
    }
  }
}

TEST_CASE("a library that no unit has is an error on all ranks") {
  const Problem problem{24, 24};
  Random random(5);
  TransformChoice choice = random_choice(random);
  choice.fft.library = "nothing";
  std::vector<std::int64_t> first(slots().size(), 0);
  first.front() = 24;
  CHECK_THROWS_AS(Transform<double>(group(), problem, {first, first}, choice), CollectiveError);
}

TEST_CASE("no message is longer than MPI can count, and every point of any range goes once") {
  const std::vector<std::int64_t> rows{70000, 70000}, columns{70000, 60000};
  std::int64_t points = 0;
  for (const BlockMessage& message : plan_pass(rows, columns, std::vector<int>{0, 1}, 1).messages) {
    CHECK(message.points() <= std::numeric_limits<int>::max());
    points += message.points();
  }
  CHECK(points == rows[0] * columns[1] + rows[1] * columns[0]);
}

}  // namespace steelyard::test_transform
