#pragma once

#include <complex>
#include <cstdint>
#include <vector>

namespace steelyard::fft2d {

/// exp(-2 pi i k / n), to the last bit or the one before: sine and cosine are taken of angles up to pi / 4 only.
/// @param k 0 to n - 1
std::complex<double> root_of_unity(std::int64_t k, std::int64_t n);

/// All n of them.
std::vector<std::complex<double>> roots_of_unity(std::int64_t n);

}  // namespace steelyard::fft2d
