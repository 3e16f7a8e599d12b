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

/// Random shares of all slots; many are empty.
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

template <class Scalar>
double tolerance() {
  return sizeof(Scalar) == 8 ? 1e-12 : 1e-5;
}

/// A way to carry out a transform.
TransformChoice random_choice(Random& random) {
  TransformChoice choice;
  choice.exchange = random() % 2 == 0 ? Exchange::at_once : Exchange::pipelined;
  choice.fft.planner = Planner::estimate;
  return choice;
}

}  // namespace

TEMPLATE_TEST_CASE("spectra are those of FFTW's own transform, for every split and exchange", "", double, float) {
  Random random(1);
  for (const auto& [rows, columns] : {std::pair{1, 1},
                                      {1, 64},
                                      {64, 1},
                                      {1, 13},
                                      {17, 1},
                                      {2, 3},
                                      {3, 2},
                                      {5, 7},
                                      {16, 16},
                                      {64, 32},
                                      {13, 37},
                                      {37, 13},
                                      {30, 42},
                                      {105, 21},
                                      {101, 103},
                                      {96, 127}}) {
    for (const Direction direction : {Direction::forward, Direction::inverse}) {
      for (const bool real : {false, true}) {
        if (real && direction == Direction::inverse) continue;
        const bool transposed = random() % 3 == 0;
        const Problem problem{rows, columns, direction, real, transposed};
        const Matrix right = by_fftw<TestType>(problem);
        const TransformChoice choice = random_choice(random);
        Transform<TestType> transform(group(), problem, random_shares(problem, random), choice);
        CAPTURE(rows, columns, direction == Direction::inverse, real, transposed, batches_of(choice.exchange));
        // Each time anew.
        for (int times = 0; times < 2; ++times) {
          transform.load(random_source<TestType>(problem));
          const TransformTimes taken = transform.run();
          CHECK(error_of(problem, transform, right) <= tolerance<TestType>());
          CHECK(0.0 <= taken.rows_s);
          CHECK(taken.rows_s <= taken.first_exchange_s);
          CHECK(taken.first_exchange_s <= taken.columns_s);
          CHECK(taken.columns_s <= taken.second_exchange_s);
        }
      }
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

TEST_CASE("units may be slow; a library that no unit has is an error on all ranks") {
  const Problem problem{24, 24};
  Random random(5);
  RankUnits units = started_units();
  if (units.host) units.host->slowdown = 2.0;
  if (units.companion) units.companion->slowdown = 3.0;
  CoExecution co_execution(session().machine(), units);
  UnitGroup slow(session().comm(), co_execution, units, slots());
  TransformChoice choice = random_choice(random);
  Transform<double> transform(slow, problem, random_shares(problem, random), choice);
  transform.load(random_source<double>(problem));
  transform.run();
  CHECK(error_of(problem, transform, by_fftw<double>(problem)) <= 1e-12);
  choice.fft.library = "nothing";
  Shares shares;
  shares.rows.assign(slots().size(), 0);
  shares.columns = shares.rows;
  shares.rows.front() = shares.columns.front() = 24;
  CHECK_THROWS_AS(Transform<double>(slow, problem, shares, choice), CollectiveError);
}

}  // namespace steelyard::test_transform
