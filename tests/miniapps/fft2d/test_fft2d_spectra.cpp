// Matrices from files and their spectra.

#include <fftw3.h>

#include <complex>

#include "tests/catch.hpp"
#include "tests/miniapps/fft2d/fft2d_runs.hpp"
#include "tests/miniapps/grid.hpp"

namespace steelyard::tests::test_fft2d_spectra {
namespace {

template <class Scalar>
using ComplexGrid = Grid<std::complex<Scalar>>;

/// Writes an input. Returns the words of a run that reads it.
template <class Element>
Words from_file(const TemporaryFolder& folder, const Grid<Element>& input, bool is_double) {
  write_grid(folder / "input.npy", input);
  return {"--type", is_double ? "double" : "float", "--input", "input.npy", "--output"};
}

/// FFTW's own transform in two dimensions, not divided by anything: its first columns, or the transposed grid's rows.
template <class Element>
ComplexGrid<double> by_fftw(const Grid<Element>& grid, std::int64_t columns, bool transposed) {
  std::vector<std::complex<double>> values(grid.values.begin(), grid.values.end());
  auto* const data = reinterpret_cast<fftw_complex*>(values.data());
  const fftw_plan plan = fftw_plan_dft_2d(static_cast<int>(grid.rows), static_cast<int>(grid.columns), data, data,
                                          FFTW_FORWARD, FFTW_ESTIMATE);
  fftw_execute(plan);
  fftw_destroy_plan(plan);
  ComplexGrid<double> part(transposed ? columns : grid.rows, transposed ? grid.rows : columns);
  for (std::int64_t i = 0; i < grid.rows; ++i) {
    for (std::int64_t j = 0; j < columns; ++j) {
      (transposed ? part(j, i) : part(i, j)) = values[static_cast<std::size_t>(i * grid.columns + j)];
    }
  }
  return part;
}

/// Whether a file holds a grid but for rounding, relative to the root of the mean square.
template <class Scalar>
void check_file(const std::filesystem::path& path, const ComplexGrid<double>& right) {
  const auto found = read_grid<std::complex<Scalar>>(path);
  INFO(path);
  REQUIRE((found.rows == right.rows && found.columns == right.columns));
  double largest = 0.0, squares = 0.0;
  for (std::size_t i = 0; i < right.values.size(); ++i) {
    const double one = std::abs(std::complex<double>(found.values[i]) - right.values[i]);
    if (!(one <= largest)) largest = one;
    squares += std::norm(right.values[i]);
  }
  CHECK(largest / std::sqrt(squares / static_cast<double>(right.values.size())) <=
        (sizeof(Scalar) == 8 ? 1e-12 : 1e-5));
}

TEMPLATE_TEST_CASE("A file's spectrum is FFTW's, on any number of ranks, and the way back gives the file", "", double,
                   float) {
  using Complex = std::complex<TestType>;
  constexpr std::int64_t rows = 37, columns = 60;
  const TemporaryFolder folder;
  const auto numbers = random_grid<TestType>(rows, 2 * columns, 3);
  ComplexGrid<TestType> input(rows, columns);
  ComplexGrid<double> same(rows, columns);
  for (std::size_t i = 0; i < input.values.size(); ++i) {
    same.values[i] = input.values[i] = Complex(numbers.values[2 * i], numbers.values[2 * i + 1]);
  }
  const Words from = from_file(folder, input, sizeof(TestType) == 8);
  const Words uneven = with_models(folder, {1e-6, 3e-6, 2e-6, 1.0, 5e-6, 1e-6});
  const std::vector<AppRun> runs{
      {1, from + Words{"0.npy", "--units", "host"}},
      {1, from + Words{"1.npy", "--transposed"}},
      {3, from + Words{"2.npy", "--units", "host+device", "--partition", "exact"} + uneven},
      {3, from + Words{"3.npy", "--exchange", "pipelined", "--transposed"}},
      {2, from + Words{"4.npy", "--exchange", "pipelined", "--slowdown", "rank1=2", "--partition", "even"}},
      {6, from + Words{"5.npy", "--units", "host", "--exchange", "at-once"}}};
  run_fft2d(runs, folder);
  const auto first = read_grid<Complex>(folder / "0.npy");
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const bool transposed = i == 1 || i == 3;
    const auto file = folder / (std::to_string(i) + ".npy");
    check_file<TestType>(file, by_fftw(input, columns, transposed));
    if (!STEELYARD_HAS_DEVICE && !transposed) CHECK(read_grid<Complex>(file) == first);
  }
  run_fft2d(2, Words{from[0], from[1], "--input", "2.npy", "--inverse", "--output", "back.npy"}, folder);
  check_file<TestType>(folder / "back.npy", same);
}

TEST_CASE("The check holds for the largest and the smallest numbers, and for NaN and Inf") {
  const TemporaryFolder folder;
  constexpr double infinity = std::numeric_limits<double>::infinity();
  for (const double factor : {1e-300, 1e290, infinity, std::numeric_limits<double>::quiet_NaN()}) {
    auto input = random_grid<double>(20, 30, 7);
    if (std::isfinite(factor)) {
      for (double& value : input.values) value *= factor;
    } else {
      input(11, 7) = factor;
    }
    run_fft2d({{1, Words{"--real"} + from_file(folder, input, true) + Words{"0.npy"}},
               {3, Words{"--real", "--fft", "portable"} + from_file(folder, input, true) + Words{"1.npy"}}},
              folder);
  }
}

TEMPLATE_TEST_CASE("Real input has half a spectrum, that of the same complex input", "", double, float) {
  const TemporaryFolder folder;
  for (const std::int64_t columns : {40, 33, 1}) {
    const auto input = random_grid<TestType>(29, columns, 4);
    const Words from = Words{"--real"} + from_file(folder, input, sizeof(TestType) == 8);
    run_fft2d({{1, from + Words{"0.npy", "--check", "all"}},
               {3, from + Words{"1.npy", "--exchange", "pipelined"}},
               {2, from + Words{"2.npy", "--transposed"}}},
              folder);
    for (const int i : {0, 1, 2}) {
      check_file<TestType>(folder / (std::to_string(i) + ".npy"), by_fftw(input, columns / 2 + 1, i == 2));
    }
  }
}

}  // namespace
}  // namespace steelyard::tests::test_fft2d_spectra
