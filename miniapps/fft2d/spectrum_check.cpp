#include "miniapps/fft2d/spectrum_check.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>

#include "comm/collective.hpp"
#include "miniapps/gemm/random_matrix.hpp"

namespace steelyard::fft2d {
namespace {

constexpr std::size_t bin_count = 6;
constexpr std::int64_t staging_numbers = 1 << 20;
/// Sums of so many terms in double precision, each in lanes, are added up with more digits.
constexpr std::int64_t lanes = 8;
constexpr std::int64_t terms_per_sum = 32 * lanes;

using Extended = std::complex<long double>;

/// exp(sign 2 pi i k j / n).
std::complex<double> root(std::int64_t k, std::int64_t j, std::int64_t n, double sign) {
  const auto turned = static_cast<double>(k * j % n) / static_cast<double>(n);
  const double angle = sign * 2.0 * std::numbers::pi * turned;
  return {std::cos(angle), std::sin(angle)};
}

/// The roots of unity that a row's sum needs.
std::vector<std::complex<double>> roots_of_row(std::int64_t k, std::int64_t n, double sign) {
  std::vector<std::complex<double>> roots;
  for (std::int64_t j = 0; j < n; ++j) roots.push_back(root(k, j, n, sign));
  return roots;
}

/// Adds term(j) for j in [0, n), which gives a pair.
template <class Term>
Extended sum_of(std::int64_t n, const Term& term) {
  Extended sum = 0;
  for (std::int64_t begin = 0; begin < n; begin += terms_per_sum) {
    const std::int64_t end = std::min(n, begin + terms_per_sum);
    std::array<double, lanes> re{}, im{};
    for (std::int64_t j = begin; j < end; ++j) {
      const auto [a, b] = term(j);
      const auto lane = static_cast<std::size_t>(j % lanes);
      re[lane] += a;
      im[lane] += b;
    }
    double all_re = 0.0, all_im = 0.0;
    for (std::size_t lane = 0; lane < static_cast<std::size_t>(lanes); ++lane) {
      all_re += re[lane];
      all_im += im[lane];
    }
    sum += Extended(all_re, all_im);
  }
  return sum;
}

struct Pair {
  double first, second;
};

/// The sum of squares of numbers.
template <class Scalar>
long double squares(const Scalar* values, std::int64_t count) {
  return sum_of(count,
                [=](std::int64_t j) {
                  const auto value = static_cast<double>(values[j]);
                  return Pair{value * value, 0.0};
                })
      .real();
}

/// The sum over a row of the input that belongs to a bin.
template <class Scalar>
Extended bin_sum(const Scalar* x, std::int64_t columns, bool real, const std::complex<double>* roots) {
  return sum_of(columns, [=](std::int64_t j) {
    const auto a = static_cast<double>(real ? x[j] : x[2 * j]), b = real ? 0.0 : static_cast<double>(x[2 * j + 1]);
    const double re = roots[j].real(), im = roots[j].imag();
    return Pair{a * re - b * im, a * im + b * re};
  });
}

}  // namespace

template <class Scalar>
SpectrumCheck<Scalar>::SpectrumCheck(const Session& session, const Problem& problem, const Range& rows,
                                     const Source& source, std::uint64_t seed)
    : session_(session), problem_(problem) {
  bins_.push_back({});
  std::uint64_t bits = gemm::mixed_bits(~seed);
  const auto next = [&](std::int64_t extent) {
    bits = gemm::mixed_bits(bits);
    return static_cast<std::int64_t>(bits % static_cast<std::uint64_t>(extent));
  };
  while (bins_.size() < bin_count) {
    const std::int64_t row = next(problem.rows);
    bins_.push_back({row, next(problem.spectrum_columns()), {}});
  }
  collectively(session.comm(), [&] { sum_up(rows, source); });
  for (Bin& bin : bins_) {
    bin.expected = {all_sum(session.comm(), bin.expected.real()), all_sum(session.comm(), bin.expected.imag())};
  }
  energy_ = all_sum(session.comm(), energy_);
}

template <class Scalar>
void SpectrumCheck<Scalar>::sum_up(const Range& rows, const Source& source) {
  const double sign = problem_.direction == Direction::forward ? -1.0 : 1.0;
  std::vector<std::vector<std::complex<double>>> roots;
  for (const Bin& bin : bins_) roots.push_back(roots_of_row(bin.column, problem_.columns, sign));
  const std::int64_t row_numbers = problem_.columns * (problem_.real ? 1 : 2);
  const std::int64_t most = std::max<std::int64_t>(1, staging_numbers / row_numbers);
  std::vector<Scalar> values;
  std::vector<Extended> sums;  // of a row: each bin's, then the squares
  std::vector<Extended> totals(bins_.size() + 1);
  for (std::int64_t row = rows.first; row < rows.end(); row += most) {
    const std::int64_t count = std::min(most, rows.end() - row);
    values.resize(static_cast<std::size_t>(count * row_numbers));
    source(row, values);
    sums.resize(static_cast<std::size_t>(count) * totals.size());
    Kokkos::parallel_for("steelyard::fft2d::check", Kokkos::RangePolicy<HostExecution>(0, count), [&](std::int64_t i) {
      const Scalar* const x = values.data() + i * row_numbers;
      Extended* const of_row = sums.data() + i * static_cast<std::int64_t>(totals.size());
      for (std::size_t b = 0; b < roots.size(); ++b) {
        of_row[b] = bin_sum(x, problem_.columns, problem_.real, roots[b].data());
      }
      of_row[roots.size()] = squares(x, row_numbers);
    });
    HostExecution().fence();
    for (std::int64_t i = 0; i < count; ++i) {
      const Extended* const of_row = sums.data() + i * static_cast<std::int64_t>(totals.size());
      for (std::size_t b = 0; b < bins_.size(); ++b) {
        totals[b] += Extended(root(bins_[b].row, row + i, problem_.rows, sign)) * of_row[b];
      }
      totals.back() += of_row[bins_.size()];
    }
  }
  for (std::size_t b = 0; b < bins_.size(); ++b) bins_[b].expected = std::complex<double>(totals[b]);
  energy_ = static_cast<double>(totals.back().real());
}

template <class Scalar>
FoundError SpectrumCheck<Scalar>::check(const Transform<Scalar>& transform) const {
  const double points = problem_.points();
  const double norm = std::sqrt(energy_);
  const double factor = problem_.direction == Direction::inverse ? points : 1.0;
  const std::int64_t length = problem_.transposed ? problem_.rows : problem_.spectrum_columns();
  // Of real input the columns that are not made mirror those that are, but for the first and of even lengths the last.
  const auto weight = [&](std::int64_t column) {
    const bool alone = !problem_.real || column == 0 || 2 * column == problem_.columns;
    return alone ? 1.0 : 2.0;
  };
  double error = 0.0;
  bool finite = true;
  long double energy = 0.0L;
  transform.store([&](std::int64_t first, std::span<const std::complex<Scalar>> values) {
    const std::int64_t rows = static_cast<std::int64_t>(values.size()) / length;
    const auto* const numbers = reinterpret_cast<const Scalar*>(values.data());
    for (std::int64_t i = 0; i < rows; ++i) {
      const Scalar* const row = numbers + 2 * i * length;
      energy += sum_of(length, [&](std::int64_t j) {
                  const auto a = static_cast<double>(row[2 * j]), b = static_cast<double>(row[2 * j + 1]);
                  return Pair{weight(problem_.transposed ? first + i : j) * (a * a + b * b), 0.0};
                }).real();
    }
    for (const Bin& bin : bins_) {
      const std::int64_t row = (problem_.transposed ? bin.column : bin.row) - first;
      if (row < 0 || row >= rows) continue;
      const std::int64_t column = problem_.transposed ? bin.row : bin.column;
      const std::complex<double> found(values[static_cast<std::size_t>(row * length + column)]);
      const double deviation = std::abs(factor * found - bin.expected);
      const double scale = std::max({norm, std::abs(bin.expected), std::numeric_limits<double>::min()});
      finite = finite && std::isfinite(deviation);
      error = std::max(error, deviation / scale);
    }
  });
  const double own = static_cast<double>(energy) * (factor * factor / points);
  const double found_norm = std::sqrt(all_sum(session_.comm(), own));
  if (norm > 0.0) error = std::max(error, std::abs(found_norm - norm) / norm);
  // A NaN compares as nothing, least of all as large.
  if (!finite || !std::isfinite(found_norm)) error = std::numeric_limits<double>::infinity();
  const double epsilon = 0.5 * static_cast<double>(std::numeric_limits<Scalar>::epsilon());
  return {error, 8.0 * epsilon * (4.0 + std::log2(points)), "bins summed up directly, and the input's energy"};
}

template class SpectrumCheck<double>;
template class SpectrumCheck<float>;

}  // namespace steelyard::fft2d
