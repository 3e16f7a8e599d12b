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
#include "miniapps/app/outputs.hpp"
#include "miniapps/fft2d/transform.hpp"

namespace steelyard::fft2d {

/// Check of a spectrum that is spread over the ranks: a few bins against the sum that defines them, and its energy
/// against the input's (Parseval). No rank needs more than its own rows.
///
/// With e = 2^-53 or 2^-24, N points and the input's norm |x|, an FFT's errors in a bin are about e log2(N) |x|, and in
/// a bin that stands out the same share of it. So a bin X_k may be off by 8 e (4 + log2 N) max(|x|, |X_k|), and the
/// spectrum's norm by that share of itself. No bin is finite where the input has NaN or Inf.
/// Source: N. Higham, Accuracy and Stability of Numerical Algorithms, 2002, section 24.1 (error analysis of the FFT).
template <class Scalar>
class SpectrumCheck {
 public:
  using Source = typename Transform<Scalar>::Source;

  /// Sums up the bins and the energy of the input; O(N) for each bin, with the host unit's threads. Collective.
  /// @param session, transform outlive this @param seed chooses bins @throws CollectiveError where the source throws
  SpectrumCheck(const Session& session, const Transform<Scalar>& transform, const Source& source, std::uint64_t seed)
      : session_(session), transform_(transform), problem_(transform.problem()) {
    std::mt19937_64 random(seed);
    const auto below = [&](std::int64_t end) {
      return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(end));
    };
    for (Bin& bin : bins_) bin = {below(problem_.rows), below(problem_.spectrum_columns()), {}};
    bins_[0] = {};
    collectively(session.comm(), [&] { sum_up(transform.rows(), source); });
    for (Bin& bin : bins_) {
      bin.sum = Number(all_sum(session.comm(), bin.sum.real()), all_sum(session.comm(), bin.sum.imag()));
    }
    // In double, sums of squares leave the range of numbers long before these do.
    norm_ = std::sqrt(sum_of_ranks(energy_));
  }

  /// Largest error, as a share of what is compared. Collective.
  FoundError check() const {
    const double factor = problem_.direction == Direction::inverse ? problem_.points() : 1.0;
    const std::int64_t length = transform_.result_length();
    double error = 0.0, finite_bins = 0.0;
    long double energy = 0.0L;
    const auto compare = [&](long double distance, long double whole) {
      constexpr long double least = std::numeric_limits<double>::min();
      const auto share = static_cast<double>(distance / std::max(whole, least));
      error = std::max(error, std::isfinite(share) ? share : HUGE_VAL);
    };
    transform_.store([&](std::int64_t first, std::span<const std::complex<Scalar>> values) {
      const std::int64_t end = first + static_cast<std::int64_t>(values.size()) / length;
      for (std::int64_t i = first; i < end; ++i) {
        const std::complex<Scalar>* const row = values.data() + (i - first) * length;
        energy += sum_of<long double>(0, length, [&](std::int64_t j) {
          return weight(problem_.transposed ? i : j) * square(row[j].real(), row[j].imag());
        });
        finite_bins += static_cast<double>(std::count_if(row, row + length, [](const std::complex<Scalar>& bin) {
          return std::isfinite(bin.real()) && std::isfinite(bin.imag());
        }));
      }
      for (const Bin& bin : bins_) {
        const std::int64_t i = problem_.transposed ? bin.column : bin.row;
        if (i < first || i >= end) continue;
        const std::int64_t j = problem_.transposed ? bin.row : bin.column;
        const std::complex<Scalar> found = values[static_cast<std::size_t>((i - first) * length + j)];
        compare(Kokkos::abs(factor * Number(found.real(), found.imag()) - bin.sum),
                std::max<long double>(norm_, Kokkos::abs(bin.sum)));
      }
    });
    const double epsilon = 0.5 * static_cast<double>(std::numeric_limits<Scalar>::epsilon());
    const double tolerance = 8.0 * epsilon * (4.0 + std::log2(problem_.points()));
    if (!std::isfinite(norm_)) {
      return {all_sum(session_.comm(), finite_bins) > 0.0 ? HUGE_VAL : 0.0, tolerance,
              "the input's NaN or Inf, after which no bin is finite"};
    }
    const long double norm = std::sqrt(sum_of_ranks(energy) * factor * factor / problem_.points());
    compare(std::abs(norm - norm_), norm_);
    return {error, tolerance, "bins summed up directly, and the input's energy"};
  }

 private:
  using Number = Kokkos::complex<double>;
  struct Bin {
    std::int64_t row = 0;
    std::int64_t column = 0;
    Number sum;  ///< without an inverse transform's factor
  };
  static constexpr int bin_count = 6;

  static long double square(long double re, long double im) { return re * re + im * im; }

  /// Adds up what the ranks have, as mantissas of the largest one's power of two, which doubles hold.
  long double sum_of_ranks(long double own) const {
    if (all_max(session_.comm(), std::isfinite(own) ? 0.0 : 1.0) > 0.0) return HUGE_VAL;
    int exponent = 0;
    std::frexp(own, &exponent);
    const int largest = own > 0.0L ? exponent : std::numeric_limits<int>::min() / 2;
    const auto shared = static_cast<int>(all_max(session_.comm(), static_cast<double>(largest)));
    return std::ldexp(static_cast<long double>(all_sum(session_.comm(), static_cast<double>(std::ldexp(own, -shared)))),
                      shared);
  }

  /// The sum of term(i) for first <= i < end, in halves: its error grows as the logarithm of the number of terms.
  template <class Sum = Number, class Term>
  static Sum sum_of(std::int64_t first, std::int64_t end, const Term& term) {
    if (end - first > 128) {
      const std::int64_t middle = first + (end - first) / 2;
      return sum_of<Sum>(first, middle, term) + sum_of<Sum>(middle, end, term);
    }
    Sum sum{};
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
    std::vector<Number> sums(static_cast<std::size_t>(most * bin_count));  // of a row: each bin's
    std::vector<long double> energies(static_cast<std::size_t>(most));
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
            Number* const sum = sums.data() + i * bin_count;
            for (int b = 0; b < bin_count; ++b) {
              sum[b] = sum_of(0, columns, [&](std::int64_t j) { return point(j) * roots[b * columns + j]; });
            }
            energies[static_cast<std::size_t>(i)] = sum_of<long double>(
                0, columns, [&](std::int64_t j) { return square(point(j).real(), point(j).imag()); });
          });
      HostExecution().fence();
      for (int b = 0; b < bin_count; ++b) {
        bins_[b].sum += sum_of(0, count, [&](std::int64_t i) {
          return root(bins_[b].row, row + i, problem_.rows) * sums[i * bin_count + b];
        });
      }
      energy_ += sum_of<long double>(0, count, [&](std::int64_t i) { return energies[static_cast<std::size_t>(i)]; });
    }
  }

  const Session& session_;
  const Transform<Scalar>& transform_;
  const Problem& problem_;
  Bin bins_[bin_count];
  long double energy_ = 0.0L;  ///< sum of |x|^2 over this rank's rows
  long double norm_ = 0.0L;    ///< of the whole input; not finite where some of it is not
};

}  // namespace steelyard::fft2d
