#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <numeric>

#include "core/base/errors.hpp"
#include "miniapps/fft2d/rows/row_pass.hpp"
#include "tests/miniapps/fft2d/row_pass_run.hpp"

namespace steelyard::fft2d::test_row_pass {
namespace {

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;
using tests::Array;
using tests::Numbers;
using tests::Units;

/// All short lengths, then primes, powers and mixes.
std::vector<std::int64_t> lengths() {
  std::vector<std::int64_t> all(64);
  std::iota(all.begin(), all.end(), 1);
  for (const std::int64_t n : {67,  81,  97,  100, 105, 121, 125, 127, 128, 143, 169, 210, 221, 243, 251, 256, 257,
                               289, 315, 323, 343, 360, 361, 420, 500, 509, 512, 521, 529, 541, 576, 599, 600, 601}) {
    all.push_back(n);
  }
  return all;
}

TEMPLATE_LIST_TEST_CASE("Every library transforms rows of any length as the definition does", "", Units) {
  using Scalar = typename TestType::Scalar;
  for (const std::string& library : row_fft_libraries<typename TestType::Execution>()) {
    for (const Direction direction : {Direction::forward, Direction::inverse}) {
      for (const std::int64_t n : lengths()) {
        constexpr std::int64_t count = 3;
        const auto rows = tests::random_rows<Kokkos::complex<Scalar>>(count * n, static_cast<unsigned>(n));
        for (const bool transpose : {true, false}) {
          const RowTransformation transformation{n, direction, 0.5, transpose};
          const auto stored = tests::run_pass<TestType>(transformation, library, rows);
          for (std::int64_t i = 0; i < count; i += 2) {
            Numbers right = tests::direct_dft(tests::numbers(rows, i * n, n), direction);
            for (auto& x : right) x *= 0.5L;
            const Numbers made = transpose ? tests::numbers(stored, i, n, count) : tests::numbers(stored, i * n, n);
            CAPTURE(library, n, i, transpose, direction == Direction::forward);
            CHECK(tests::relative_distance(made, right) <= TestType::tolerance);
          }
        }
      }
    }
  }
}

TEMPLATE_LIST_TEST_CASE("Spectra of real rows are the first half of those of complex ones", "", Units) {
  using Scalar = typename TestType::Scalar;
  for (const std::string& library : row_fft_libraries<typename TestType::Execution>()) {
    for (const std::int64_t n : lengths()) {
      constexpr std::int64_t count = 5;
      const auto rows = tests::random_rows<Scalar>(count * n, static_cast<unsigned>(n));
      Array<Kokkos::complex<Scalar>> complex_rows(count * n);
      for (std::int64_t i = 0; i < count * n; ++i) complex_rows[i] = rows[i];
      const auto whole = tests::run_pass<TestType>({n}, library, complex_rows);
      const auto half = tests::run_pass<TestType>({n}, library, rows);
      const std::int64_t points = n / 2 + 1;
      REQUIRE(half.size() == points * count);
      CAPTURE(library, n);
      CHECK(tests::relative_distance(tests::numbers(half, 0, points * count),
                                     tests::numbers(whole, 0, points * count)) <= TestType::tolerance);
    }
  }
}

/// Too long for a direct transform in a test of seconds: a power, a mix, squares of primes, primes.
constexpr std::int64_t long_lengths[] = {1, 2, 4096, 5040, 2187, 3000, 1369, 6241, 4099, 7919, 7694};

long double energy(const Numbers& x) {
  long double sum = 0.0L;
  for (const auto& element : x) sum += std::norm(element);
  return sum;
}

TEMPLATE_LIST_TEST_CASE(
    "Long rows keep their energy, are undone by the inverse, and transform linearly; shifts turn phases", "", Units) {
  using Scalar = typename TestType::Scalar;
  const Kokkos::complex<Scalar> a(Scalar(0.5), Scalar(-2)), b(Scalar(-1.25), Scalar(0.75));
  for (const std::string& library : row_fft_libraries<typename TestType::Execution>()) {
    for (const std::int64_t n : long_lengths) {
      CAPTURE(library, n);
      const auto x = tests::random_rows<Kokkos::complex<Scalar>>(n, 7),
                 y = tests::random_rows<Kokkos::complex<Scalar>>(n, 8);
      const auto of_x = tests::run_pass<TestType>({n}, library, x);
      const auto of_y = tests::run_pass<TestType>({n}, library, y);
      const long double before = energy(tests::numbers(x, 0, n));
      const long double after = energy(tests::numbers(of_x, 0, n)) / static_cast<long double>(n);
      CHECK(std::abs(after - before) <= TestType::tolerance * before);

      const auto back = tests::run_pass<TestType>({n, Direction::inverse, 1.0 / static_cast<double>(n)}, library, of_x);
      CHECK(tests::relative_distance(tests::numbers(back, 0, n), tests::numbers(x, 0, n)) <= TestType::tolerance);

      Array<Kokkos::complex<Scalar>> sum(n), expected(n);
      for (std::int64_t i = 0; i < n; ++i) sum[i] = a * x[i] + b * y[i], expected[i] = a * of_x[i] + b * of_y[i];
      const auto of_sum = tests::run_pass<TestType>({n}, library, sum);
      CHECK(tests::relative_distance(tests::numbers(of_sum, 0, n), tests::numbers(expected, 0, n)) <=
            TestType::tolerance);

      const std::int64_t shift = n / 3 + 1;
      Array<Kokkos::complex<Scalar>> shifted(n);
      Numbers turned = tests::numbers(of_x, 0, n);
      for (std::int64_t k = 0; k < n; ++k) {
        shifted[k] = x[(k + shift) % n];
        const auto turn = static_cast<long double>(k * shift % n) / static_cast<long double>(n);
        turned[static_cast<std::size_t>(k)] *= std::polar(1.0L, 2.0L * std::numbers::pi_v<long double> * turn);
      }
      const auto of_shifted = tests::run_pass<TestType>({n}, library, shifted);
      CHECK(tests::relative_distance(tests::numbers(of_shifted, 0, n), turned) <= TestType::tolerance);
    }
  }
}

TEMPLATE_LIST_TEST_CASE("Planning effort changes no result by more than rounding", "", Units) {
  const auto rows = tests::random_rows<typename TestType::Complex>(60, 1);
  const Numbers right = tests::direct_dft(tests::numbers(rows, 0, 60), Direction::forward);
  for (const Planner planner : {Planner::estimate, Planner::measure, Planner::patient}) {
    const auto stored = tests::run_pass<TestType>({60}, "", rows, planner);
    CHECK(tests::relative_distance(tests::numbers(stored, 0, 60), right) <= TestType::tolerance);
  }
}

TEMPLATE_LIST_TEST_CASE("What no library can transform is refused", "", Units) {
  using Execution = typename TestType::Execution;
  const auto make = [](const RowTransformation& transformation, std::int64_t rows, const std::string& library) {
    return make_row_pass<typename TestType::Scalar>(TestType::kind, transformation, rows, {library, Planner::estimate});
  };
  CHECK_THROWS_MATCHES(make({8}, 1, "abacus"), InvalidArgument, MessageMatches(ContainsSubstring("'abacus'")));
  for (const std::string& library : row_fft_libraries<Execution>()) {
    CHECK_THROWS_MATCHES(make({0}, 1, library), InvalidArgument, MessageMatches(ContainsSubstring("0 points")));
    CHECK_THROWS_AS(make({8}, -1, library), InvalidArgument);
    CHECK_THROWS_MATCHES(make({8, Direction::inverse}, 1, library), InvalidArgument,
                         MessageMatches(ContainsSubstring("forward only")));
  }
}

}  // namespace
}  // namespace steelyard::fft2d::test_row_pass
