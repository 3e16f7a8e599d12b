// Matrices from files and their spectra.

#include <fftw3.h>

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <complex>
#include <cstdint>
#include <limits>
#include <vector>

#include "tests/miniapps/fft2d/fft2d_runs.hpp"
#include "tests/miniapps/grid.hpp"

namespace steelyard::tests::test_fft2d_spectra {
namespace {

template <class Scalar>
using ComplexGrid = Grid<std::complex<Scalar>>;

template <class Scalar>
Words type_of() {
  return {"--type", sizeof(Scalar) == 8 ? "double" : "float"};
}

template <class Scalar>
ComplexGrid<Scalar> random_complex_grid(std::int64_t rows, std::int64_t columns, unsigned seed) {
  const auto numbers = random_grid<Scalar>(rows, 2 * columns, seed);
  ComplexGrid<Scalar> grid(rows, columns);
  for (std::size_t i = 0; i < grid.values.size(); ++i) {
    grid.values[i] = {numbers.values[2 * i], numbers.values[2 * i + 1]};
  }
  return grid;
}

/// FFTW's own transform in two dimensions of the grid in the corner of one of zeros, not divided by anything.
template <class Element>
ComplexGrid<double> by_fftw(const Grid<Element>& grid, std::int64_t rows, std::int64_t columns, int sign) {
  ComplexGrid<double> spectrum(rows, columns);
  for (std::int64_t i = 0; i < grid.rows; ++i) {
    for (std::int64_t j = 0; j < grid.columns; ++j) spectrum(i, j) = std::complex<double>(grid(i, j));
  }
  auto* const data = reinterpret_cast<fftw_complex*>(spectrum.values.data());
  const fftw_plan plan =
      fftw_plan_dft_2d(static_cast<int>(rows), static_cast<int>(columns), data, data, sign, FFTW_ESTIMATE);
  fftw_execute(plan);
  fftw_destroy_plan(plan);
  return spectrum;
}

/// The largest distance, relative to the root of the mean square; infinite for other extents.
template <class Scalar>
double distance(const ComplexGrid<Scalar>& found, const ComplexGrid<double>& right) {
  if (found.rows != right.rows || found.columns != right.columns) return std::numeric_limits<double>::infinity();
  double largest = 0.0, squares = 0.0;
  for (std::size_t i = 0; i < right.values.size(); ++i) {
    const double one = std::abs(std::complex<double>(found.values[i]) - right.values[i]);
    if (!(one <= largest)) largest = one;
    squares += std::norm(right.values[i]);
  }
  return largest / std::sqrt(squares / static_cast<double>(right.values.size()));
}

/// The first columns, or the transposed grid's rows.
ComplexGrid<double> part_of(const ComplexGrid<double>& grid, std::int64_t columns, bool transposed) {
  ComplexGrid<double> part(transposed ? columns : grid.rows, transposed ? grid.rows : columns);
  for (std::int64_t i = 0; i < grid.rows; ++i) {
    for (std::int64_t j = 0; j < columns; ++j) (transposed ? part(j, i) : part(i, j)) = grid(i, j);
  }
  return part;
}

template <class Scalar>
double tolerance() {
  return sizeof(Scalar) == 8 ? 1e-12 : 1e-5;
}

TEMPLATE_TEST_CASE("A file's spectrum is FFTW's, on any number of ranks, and the way back gives the file", "", double,
                   float) {
  constexpr std::int64_t rows = 37, columns = 60;
  const TemporaryFolder folder;
  const auto input = random_complex_grid<TestType>(rows, columns, 3);
  write_grid(folder / "input.npy", input);
  const Words uneven = with_models(folder, {1e-6, 3e-6, 2e-6, 1.0, 5e-6, 1e-6});
  const Words from = type_of<TestType>() + Words{"--input", "input.npy", "--output"};
  const std::vector<AppRun> runs{
      {1, from + Words{"0.npy", "--units", "host"}},
      {1, from + Words{"1.npy", "--transposed"}},
      {3, from + Words{"2.npy", "--units", "host+device", "--partition", "exact"} + uneven},
      {3, from + Words{"3.npy", "--exchange", "pipelined", "--transposed"}},
      {2, from + Words{"4.npy", "--exchange", "pipelined", "--slowdown", "rank1=2", "--partition", "even"}},
      {6, from + Words{"5.npy", "--units", "host", "--exchange", "at-once"}}};
  run_fft2d(runs, folder);
  const auto right = by_fftw(input, rows, columns, FFTW_FORWARD);
  const auto first = read_grid<std::complex<TestType>>(folder / "0.npy");
  for (std::size_t i = 0; i < runs.size(); ++i) {
    INFO(i);
    const bool transposed = i == 1 || i == 3;
    const auto spectrum = read_grid<std::complex<TestType>>(folder / (std::to_string(i) + ".npy"));
    CHECK(distance(spectrum, part_of(right, columns, transposed)) <= tolerance<TestType>());
    if (!STEELYARD_HAS_DEVICE && !transposed) CHECK(spectrum == first);
  }
  run_fft2d(2, type_of<TestType>() + Words{"--input", "2.npy", "--inverse", "--output", "back.npy"}, folder);
  ComplexGrid<double> expected(rows, columns);
  for (std::size_t i = 0; i < input.values.size(); ++i) expected.values[i] = std::complex<double>(input.values[i]);
  CHECK(distance(read_grid<std::complex<TestType>>(folder / "back.npy"), expected) <= tolerance<TestType>());
}

TEMPLATE_TEST_CASE("Real input has half a spectrum, that of the same complex input", "", double, float) {
  const TemporaryFolder folder;
  for (const std::int64_t columns : {40, 33, 1}) {
    const auto input = random_grid<TestType>(29, columns, 4);
    write_grid(folder / "input.npy", input);
    const Words from = type_of<TestType>() + Words{"--real", "--input", "input.npy", "--output"};
    run_fft2d({{1, from + Words{"0.npy", "--check", "all"}},
               {3, from + Words{"1.npy", "--exchange", "pipelined"}},
               {2, from + Words{"2.npy", "--transposed"}}},
              folder);
    const auto right = by_fftw(input, 29, columns, FFTW_FORWARD);
    for (const int i : {0, 1, 2}) {
      INFO(columns << " columns, " << i);
      CHECK(distance(read_grid<std::complex<TestType>>(folder / (std::to_string(i) + ".npy")),
                     part_of(right, columns / 2 + 1, i == 2)) <= tolerance<TestType>());
    }
  }
}

}  // namespace
}  // namespace steelyard::tests::test_fft2d_spectra
