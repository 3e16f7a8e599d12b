#pragma once

#include <complex>
#include <cstdint>
#include <vector>

#include "comm/session.hpp"
#include "miniapps/app/verification.hpp"
#include "miniapps/fft2d/exchange_plan.hpp"
#include "miniapps/fft2d/problem.hpp"
#include "miniapps/fft2d/transform.hpp"

namespace steelyard::fft2d {

/// Whether a spectrum is right that is spread over the ranks: a few bins against the sum that defines them, and its
/// energy against the input's (Parseval). No rank needs more than its own rows.
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
                std::uint64_t seed);

  /// Largest error, as a share of what is compared. Collective.
  FoundError check(const Transform<Scalar>& transform) const;

 private:
  struct Bin {
    std::int64_t row = 0;
    std::int64_t column = 0;
    std::complex<double> expected;  ///< without an inverse transform's factor
  };
  void sum_up(const Range& rows, const Source& source);

  const Session& session_;
  Problem problem_;
  std::vector<Bin> bins_;
  double energy_ = 0.0;  ///< sum of |x|^2
};

}  // namespace steelyard::fft2d
