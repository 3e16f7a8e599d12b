#pragma once

#include <cstdint>

namespace steelyard::gemm {

/// The output function of splitmix64: 64 bits that look random, from any 64.
/// Source: G. L. Steele, D. Lea, C. H. Flood, Fast splittable pseudorandom number generators, OOPSLA 2014.
constexpr std::uint64_t splitmix(std::uint64_t state) {
  state += 0x9e3779b97f4a7c15U;
  state = (state ^ (state >> 30U)) * 0xbf58476d1ce4e5b9U;
  state = (state ^ (state >> 27U)) * 0x94d049bb133111ebU;
  return state ^ (state >> 31U);
}

/// Element `column` of random vector `vector`, +1 or -1: the same for every process that asks.
constexpr double random_sign(std::uint64_t seed, std::int64_t column, int vector) {
  const auto word = static_cast<std::uint64_t>(vector) / 64U;
  const std::uint64_t bits = splitmix(splitmix(splitmix(seed) + static_cast<std::uint64_t>(column)) + word);
  return (bits >> (static_cast<std::uint64_t>(vector) % 64U) & 1U) != 0U ? 1.0 : -1.0;
}

}  // namespace steelyard::gemm
