#pragma once

#include <cstdint>

#include "miniapps/gemm/random_matrix.hpp"

namespace steelyard::gemm {

/// Element `column` of random vector `vector`, +1 or -1: the same for every process that asks.
constexpr double random_sign(std::uint64_t seed, std::int64_t column, int vector) {
  const auto word = static_cast<std::uint64_t>(vector) / 64U;
  // Not what the matrices of the same seed start from, or elements would know their signs.
  const std::uint64_t start = mixed_bits(~seed);
  const std::uint64_t bits = mixed_bits(mixed_bits(start + static_cast<std::uint64_t>(column)) + word);
  return (bits >> (static_cast<std::uint64_t>(vector) % 64U) & 1U) != 0U ? 1.0 : -1.0;
}

}  // namespace steelyard::gemm
