#pragma once

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <limits>
#include <numbers>
#include <random>
#include <span>
#include <vector>

#include "comm/collective.hpp"
#include "comm/session.hpp"
#include "miniapps/app/verification.hpp"
#include "miniapps/fft2d/transform.hpp"

namespace steelyard::fft2d {

/// Check of a spectrum that is spread over the ranks: a few bins against the sum that defines them, and its energy
/// against the input's (Parseval). No rank needs more than its own rows.
///
/// With e = 2^-53 or 2^-24, N points and the input's norm |x|, an FFT's errors in a bin are about e log2(N) |x|, and in
/// a bin that stands out the same share of it. So a bin X_k may be off by 8 e (4 + log2 N) max(|x|, |X_k|), and the
/// spectrum's norm by that share of itself.
/// Source: N. Higham, Accuracy and Stability of Numerical Algorithms, 2002, section 24.1 (error analysis of the FFT).
template <class Scalar>
class SpectrumCheck {
 public:
  using Source = typename Transform<Scalar>::Source;

  /// Sums up the bins and the energy of the input; O(N) for each bin, with the host unit's threads. Collective.
  /// @param rows of the input that this rank's units own @param seed chooses bins
  /// @throws CollectiveError where the source throws
  SpectrumCheck(const Session& session, const Problem& problem, const Range& rows, const Source& source,
                std::uint64_t seed)
      : session_(session), problem_(problem) {
    std::mt19937_64 random(seed);
    const auto below = [&](std::int64_t end) {
      return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(end));
    };
    for (Bin& bin : bins_) bin = {below(problem.rows), below(problem.spectrum_columns()), {}};
    bins_[0] = {};
    collectively(session.comm(), [&] { sum_up(rows, source); });
    for (Bin& bin : bins_) {
      bin.sum = Number(all_sum(session.comm(), bin.sum.real()), all_sum(session.comm(), bin.sum.imag()));
    }
    energy_ = all_sum(session.comm(), energy_);
  }

  /// Largest error, as a share of what is compared. Collective.
  FoundError check(const Transform<Scalar>& transform) const {
    const double norm = std::sqrt(energy_), factor = problem_.direction == Direction::inverse ? problem_.points() : 1.0;
    const std::int64_t length = problem_.transposed ? problem_.rows : problem_.spectrum_columns();
    double error = 0.0, energy = 0.0;
    const auto compare = [&](double distance, double whole) {
      constexpr double least = std::numeric_limits<double>::min();
      const double share = distance / std::max(whole, least);
      error = std::max(error, std::isfinite(share) ? share : HUGE_VAL);
    };
    transform.store([&](std::int64_t first, std::span<const std::complex<Scalar>> values) {
      const std::int64_t end = first + static_cast<std::int64_t>(values.size()) / length;
      for (std::int64_t i = first; i < end; ++i) {
        const std::complex<Scalar>* const row = values.data() + (i - first) * length;
        energy += sum_of(0, length, [&](std::int64_t j) {
                    const double re = row[j].real(), im = row[j].imag();
                    return Number(weight(problem_.transposed ? i : j) * (re * re + im * im));
                  }).real();
      }
      for (const Bin& bin : bins_) {
        const std::int64_t i = problem_.transposed ? bin.column : bin.row;
        if (i < first || i >= end) continue;
        const std::int64_t j = problem_.transposed ? bin.row : bin.column;
        const std::complex<Scalar> found = values[static_cast<std::size_t>((i - first) * length + j)];
        compare(Kokkos::abs(factor * Number(found.real(), found.imag()) - bin.sum),
                std::max(norm, Kokkos::abs(bin.sum)));
      }
    });
    energy = all_sum(session_.comm(), energy) * (factor * factor / problem_.points());
    compare(std::abs(std::sqrt(energy) - norm), norm);
    const double epsilon = 0.5 * static_cast<double>(std::numeric_limits<Scalar>::epsilon());
    return {error, 8.0 * epsilon * (4.0 + std::log2(problem_.points())),
            "bins summed up directly, and the input's energy"};
  }

 private:
  using Number = Kokkos::complex<double>;
  struct Bin {
    std::int64_t row = 0;
    std::int64_t column = 0;
    Number sum;  ///< without an inverse transform's factor
  };
  static constexpr int bin_count = 6;

  /// The sum of term(i) for first <= i < end, in halves: its error grows as the logarithm of the number of terms.
  template <class Term>
  static Number sum_of(std::int64_t first, std::int64_t end, const Term& term) {
    if (end - first > 128) {
      const std::int64_t middle = first + (end - first) / 2;
      return sum_of(first, middle, term) + sum_of(middle, end, term);
    }
    Number sum;
    for (std::int64_t i = first; i < end; ++i) sum += term(i);
    return sum;
  }

  /// Times that a column of the spectrum counts: of real input the columns that are not made mirror those that are, but
  /// for the first and of even lengths the last.
  double weight(std::int64_t column) const {
    return !problem_.real || column == 0 || 2 * column == problem_.columns ? 1.0 : 2.0;
  }

  /// exp(sign 2 pi i k j / n).
  Number root(std::int64_t k, std::int64_t j, std::int64_t n) const {
    const double turn = 2.0 * std::numbers::pi * (static_cast<double>(k * j % n) / static_cast<double>(n));
    return {std::cos(turn), problem_.direction == Direction::forward ? -std::sin(turn) : std::sin(turn)};
  }

  void sum_up(const Range& rows, const Source& source) {
    constexpr std::int64_t staging_numbers = 1 << 20;
    const std::int64_t columns = problem_.columns, row_numbers = columns * (problem_.real ? 1 : 2);
    std::vector<Number> roots;  // of each bin's column
    for (const Bin& bin : bins_) {
      for (std::int64_t j = 0; j < columns; ++j) roots.push_back(root(bin.column, j, columns));
    }
    const std::int64_t most = std::max<std::int64_t>(1, staging_numbers / row_numbers);
    std::vector<Scalar> values;
    std::vector<Number> sums(static_cast<std::size_t>(most * (bin_count + 1)));  // of a row: each bin's, and the energy
    for (std::int64_t row = rows.first; row < rows.end(); row += most) {
      const std::int64_t count = std::min(most, rows.end() - row);
      values.resize(static_cast<std::size_t>(count * row_numbers));
      source(row, values);
      Kokkos::parallel_for(
          "steelyard::fft2d::check", Kokkos::RangePolicy<HostExecution>(0, count), [&](std::int64_t i) {
            const Scalar* const x = values.data() + i * row_numbers;
            const auto point = [&](std::int64_t j) {
              return problem_.real ? Number(x[j]) : Number(x[2 * j], x[2 * j + 1]);
            };
            Number* const sum = sums.data() + i * (bin_count + 1);
            for (int b = 0; b < bin_count; ++b) {
              sum[b] = sum_of(0, columns, [&](std::int64_t j) { return point(j) * roots[b * columns + j]; });
            }
            sum[bin_count] = sum_of(0, columns, [&](std::int64_t j) { return point(j) * Kokkos::conj(point(j)); });
          });
      HostExecution().fence();
      for (int b = 0; b < bin_count; ++b) {
        bins_[b].sum += sum_of(0, count, [&](std::int64_t i) {
          return root(bins_[b].row, row + i, problem_.rows) * sums[i * (bin_count + 1) + b];
        });
      }
      energy_ += sum_of(0, count, [&](std::int64_t i) { return sums[i * (bin_count + 1) + bin_count]; }).real();
    }
  }

  const Session& session_;
  Problem problem_;
  Bin bins_[bin_count];
  double energy_ = 0.0;  ///< sum of |x|^2
};

}  // namespace steelyard::fft2d
