#pragma once

#include <Kokkos_Macros.hpp>
#include <cstdint>

namespace steelyard {

/// Number `n` of SplitMix64 from a start: 64 bits that look random, a function of the arguments alone.
/// Source: G. Steele, D. Lea, C. Flood, Fast splittable pseudorandom number generators, 2014.
KOKKOS_INLINE_FUNCTION constexpr std::uint64_t splitmix64(std::uint64_t start, std::uint64_t n = 1) {
  std::uint64_t bits = start + n * 0x9e3779b97f4a7c15ULL;
  bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9ULL;
  bits = (bits ^ (bits >> 27)) * 0x94d049bb133111ebULL;
  return bits ^ (bits >> 31);
}

}  // namespace steelyard
