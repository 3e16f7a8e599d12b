#include "core/vector_units.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace steelyard {
namespace {

/// Independent sums: more than the latency of an operation times those that start in a cycle.
using Registers = std::make_index_sequence<12>;

/// To be inlined into a function that may use such vectors. @return a number that depends on all operations
template <class Vector, std::size_t... Each>
[[gnu::always_inline]] inline double multiply_and_add(std::int64_t rounds, std::index_sequence<Each...> /*registers*/) {
  Vector sums[] = {Vector{} + static_cast<double>(Each)...};
  const Vector factor = Vector{} + 0.5, term = Vector{} + 1.0;
  for (std::int64_t i = 0; i < rounds; ++i) ((sums[Each] = sums[Each] * factor + term), ...);
  return (sums[Each][0] + ...);
}

using Vector128 = double __attribute__((vector_size(16)));
#if defined(__x86_64__)
using Vector256 = double __attribute__((vector_size(32)));
using Vector512 = double __attribute__((vector_size(64)));
[[gnu::target("avx512f")]] double use_512(std::int64_t rounds) {
  return multiply_and_add<Vector512>(rounds, Registers());
}
[[gnu::target("avx2,fma")]] double use_256(std::int64_t rounds) {
  return multiply_and_add<Vector256>(rounds, Registers());
}
#endif
double use_128(std::int64_t rounds) { return multiply_and_add<Vector128>(rounds, Registers()); }

}  // namespace

int processor_vector_bits() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512cd") &&
      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl")) {
    return 512;
  }
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") ? 256 : 128;
#else
  return 0;
#endif
}

bool processor_has_bfloat16() {
#if defined(__x86_64__)
  return __builtin_cpu_supports("avx512bf16") != 0;
#else
  return false;
#endif
}

double keep_vector_units_busy(std::int64_t rounds) {
#if defined(__x86_64__)
  if (processor_vector_bits() == 512) return use_512(rounds);
  if (processor_vector_bits() == 256) return use_256(rounds);
#endif
  return use_128(rounds);
}

double vector_unit_flops(std::int64_t rounds) {
  const double doubles = std::max(processor_vector_bits(), 128) / 64.0;
  return 2.0 * doubles * static_cast<double>(Registers::size()) * static_cast<double>(rounds);
}

}  // namespace steelyard
