#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>

#include "tests/miniapps/fft2d/row_pass_run.hpp"

namespace steelyard::fft2d::test_row_pass_laws {
namespace {

using tests::Array;
using tests::Numbers;
using tests::Units;

/// Too long for a direct transform in a test of seconds: a power, a mix, squares of primes, primes.
constexpr std::int64_t long_lengths[] = {1, 2, 4096, 5040, 2187, 3000, 1369, 6241, 4099, 7919, 7694};

long double energy(const Numbers& x) {
  long double sum = 0.0L;
  for (const auto& element : x) sum += std::norm(element);
  return sum;
}

TEMPLATE_LIST_TEST_CASE("The inverse transform, divided by the length, undoes the forward one", "", Units) {
  using Scalar = typename TestType::Scalar;
  for (const std::string& library : row_fft_libraries<typename TestType::Execution>()) {
    for (const std::int64_t n : long_lengths) {
      const auto rows = tests::random_rows<Scalar>(3 * n, 5);
      // Rows to rows, and back.
      const auto spectra = tests::run_pass<TestType>({n, Direction::forward, false, 1.0, false}, library, rows);
      const auto back = tests::run_pass<TestType>({n, Direction::inverse, false, 1.0 / static_cast<double>(n), false},
                                                  library, spectra);
      CAPTURE(library, n);
      CHECK(tests::relative_distance(tests::numbers(back, 0, 3 * n), tests::numbers(rows, 0, 3 * n)) <=
            TestType::tolerance);
    }
  }
}

TEMPLATE_LIST_TEST_CASE("A row and its spectrum have the same energy", "", Units) {
  using Scalar = typename TestType::Scalar;
  for (const std::string& library : row_fft_libraries<typename TestType::Execution>()) {
    for (const std::int64_t n : long_lengths) {
      const auto row = tests::random_rows<Scalar>(n, 6);
      const auto spectrum = tests::run_pass<TestType>({n}, library, row);
      const long double before = energy(tests::numbers(row, 0, n));
      const long double after = energy(tests::numbers(spectrum, 0, n)) / static_cast<long double>(n);
      CAPTURE(library, n);
      CHECK(std::abs(after - before) <= TestType::tolerance * before);
    }
  }
}

TEMPLATE_LIST_TEST_CASE("The transform is linear", "", Units) {
  using Scalar = typename TestType::Scalar;
  const Kokkos::complex<Scalar> a(Scalar(0.5), Scalar(-2)), b(Scalar(-1.25), Scalar(0.75));
  for (const std::string& library : row_fft_libraries<typename TestType::Execution>()) {
    for (const std::int64_t n : long_lengths) {
      const auto x = tests::random_rows<Scalar>(n, 7), y = tests::random_rows<Scalar>(n, 8);
      Array<Kokkos::complex<Scalar>> sum(n), expected(n);
      for (std::int64_t i = 0; i < n; ++i) sum[i] = a * x[i] + b * y[i];
      const auto of_x = tests::run_pass<TestType>({n}, library, x);
      const auto of_y = tests::run_pass<TestType>({n}, library, y);
      for (std::int64_t i = 0; i < n; ++i) expected[i] = a * of_x[i] + b * of_y[i];
      const auto of_sum = tests::run_pass<TestType>({n}, library, sum);
      CAPTURE(library, n);
      CHECK(tests::relative_distance(tests::numbers(of_sum, 0, n), tests::numbers(expected, 0, n)) <=
            TestType::tolerance);
    }
  }
}

TEMPLATE_LIST_TEST_CASE("A shifted row has the spectrum with its phases turned", "", Units) {
  using Scalar = typename TestType::Scalar;
  for (const std::string& library : row_fft_libraries<typename TestType::Execution>()) {
    for (const std::int64_t n : long_lengths) {
      const std::int64_t shift = n / 3 + 1;
      const auto row = tests::random_rows<Scalar>(n, 9);
      Array<Kokkos::complex<Scalar>> shifted(n);
      for (std::int64_t i = 0; i < n; ++i) shifted[i] = row[(i + shift) % n];
      Numbers expected = tests::numbers(tests::run_pass<TestType>({n}, library, row), 0, n);
      for (std::int64_t k = 0; k < n; ++k) {
        const auto turn = static_cast<long double>(k * shift % n) / static_cast<long double>(n);
        expected[static_cast<std::size_t>(k)] *= std::polar(1.0L, 2.0L * std::numbers::pi_v<long double> * turn);
      }
      const auto spectrum = tests::run_pass<TestType>({n}, library, shifted);
      CAPTURE(library, n);
      CHECK(tests::relative_distance(tests::numbers(spectrum, 0, n), expected) <= TestType::tolerance);
    }
  }
}

}  // namespace
}  // namespace steelyard::fft2d::test_row_pass_laws
