#include <fftw3.h>

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

Exchange random_exchange(Random& random) { return random() % 2 == 0 ? Exchange::at_once : Exchange::pipelined; }

/// The library that a unit has, with plans that are the same everywhere.
const RowFftChoice estimated{"", Planner::estimate};

/// Checks a spectrum as the program does. @return the largest error of all ranks, in multiples of what is tolerated
template <class Scalar>
double checked_error(const SpectrumCheck<Scalar>& check) {
  const FoundError found = check.check();
  CHECK(found.tolerance < (sizeof(Scalar) == 8 ? 1e-13 : 1e-4));
  CheckResult result;
  add_check(session(), result, found);
  return result.error / found.tolerance;
}

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
      const Exchange exchange = random_exchange(random);
      Transform<TestType> transform(group(), problem, random_shares(problem, random), exchange, estimated);
      const SpectrumCheck<TestType> check(session(), transform, random_source<TestType>(problem), 7);
      CAPTURE(rows, columns, kind, problem.transposed, batches_of(exchange));
      // Each time anew.
      for (int times = 0; times < 2; ++times) {
        transform.load(random_source<TestType>(problem));
        const TransformTimes taken = transform.run();
        CHECK(error_of(problem, transform, right) <= (sizeof(TestType) == 8 ? 1e-12 : 1e-5));
        CHECK(checked_error(check) <= 1.0);
        CHECK(taken.ends_s.front() >= 0.0);
        CHECK(std::ranges::is_sorted(taken.ends_s));
      }
    }
  }
}

TEMPLATE_TEST_CASE("a number that is wrong, missing or not one at all, on whatever rank, fails the check", "", double,
                   float) {
  Random random(2);
  for (const bool transposed : {false, true}) {
    const Problem problem{40, 30, Direction::forward, false, transposed};
    Transform<TestType> transform(group(), problem, random_shares(problem, random), random_exchange(random), estimated);
    const SpectrumCheck<TestType> check(session(), transform, random_source<TestType>(problem), 7);
    const auto error_with = [&](TestType value, std::int64_t row, std::int64_t number) {
      transform.load([&](std::int64_t first, std::span<TestType> values) {
        random_source<TestType>(problem)(first, values);
        const std::int64_t at = (row - first) * 60 + number;
        if (row >= first && at < static_cast<std::int64_t>(values.size())) {
          values[static_cast<std::size_t>(at)] += value;
        }
      });
      transform.run();
      return checked_error(check);
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
      Transform<TestType> transform(group(), problem, shares, random_exchange(random), estimated);
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
  std::vector<std::int64_t> first(slots().size(), 0);
  first.front() = 24;
  CHECK_THROWS_AS(Transform<double>(group(), problem, {first, first}, Exchange::at_once, {"nothing"}), CollectiveError);
}

TEST_CASE(
    "every point of any range goes once to each rank that is to transform it, and plans without sense are refused") {
  const Problem problem{140000, 130000};
  const Shares shares{{70000, 70000}, {70000, 60000}};
  for (const Exchange exchange : {Exchange::at_once, Exchange::pipelined}) {
    std::int64_t points = 0;
    for (const BlockMessage& message : plan_passes(problem, shares, {0, 1}, exchange).rows.messages) {
      points += message.points();
    }
    CHECK(points == shares.rows[0] * shares.columns[1] + shares.rows[1] * shares.columns[0]);
  }
  CHECK_THROWS_AS(plan_passes(problem, {{140000}, {70000, 60000}}, {0, 1}, Exchange::at_once), InvalidArgument);
  CHECK_THROWS_AS(plan_passes(problem, {{-1, 140001}, {70000, 60000}}, {0, 1}, Exchange::at_once), InvalidArgument);
}

}  // namespace steelyard::test_transform
