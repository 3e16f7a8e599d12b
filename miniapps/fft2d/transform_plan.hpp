#pragma once

#include <complex>
#include <cstdint>
#include <vector>

namespace steelyard::fft2d {

/// How Steelyard's own kernel transforms rows of one length: the steps, and the numbers that it multiplies with.
/// A length whose prime factors are all at most largest_radix is transformed step by step (Stockham). Others become a
/// convolution of a longer one that is (Bluestein): x_j c_j is transformed, multiplied with `filter`, transformed back,
/// and multiplied with c_k, where c_j = exp(-pi i j^2 / n).
struct TransformPlan {
  std::int64_t points = 1;                   ///< of a row
  std::int64_t transform_length = 1;         ///< what is transformed step by step
  std::vector<int> radices;                  ///< their product is the transform's length
  std::vector<std::complex<double>> roots;   ///< exp(-2 pi i k / length)
  std::vector<std::complex<double>> chirp;   ///< c_j; empty where there is no convolution
  std::vector<std::complex<double>> filter;  ///< spectrum of conj(c), divided by the length

  bool convolves() const { return !chirp.empty(); }
};

TransformPlan plan_transform(std::int64_t points);

}  // namespace steelyard::fft2d
