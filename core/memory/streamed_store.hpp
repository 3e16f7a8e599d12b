#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace steelyard {

inline constexpr std::size_t cache_line_bytes = 64;

inline bool begins_cache_line(const void* place) {
  return reinterpret_cast<std::uintptr_t>(place) % cache_line_bytes == 0;
}

/// Writes a whole cache line to memory without reading it first and without keeping it in a cache, where the processor
/// can do that: for large arrays that nobody reads soon. Other threads see it after finish_streamed_stores().
/// @param line the beginning of a cache line @param from 64 bytes, aligned to 16
inline void store_streamed(void* line, const void* from) {
#if defined(__SSE2__)
  auto* const to = static_cast<__m128i*>(line);
  const auto* const bytes = static_cast<const __m128i*>(from);
  for (int i = 0; i < 4; ++i) _mm_stream_si128(to + i, _mm_load_si128(bytes + i));
#else
  std::memcpy(line, from, cache_line_bytes);
#endif
}

/// Asks for the cache line at a place that is read soon; it may be anywhere.
inline void prefetch_line([[maybe_unused]] const void* place) {
#if defined(__GNUC__)
  __builtin_prefetch(place, 0, 2);
  // GCC takes a function that does nothing else for one without effects, and removes calls of it.
  asm volatile("");
#endif
}

/// Puts streamed stores of the calling thread before all its later ones.
inline void finish_streamed_stores() {
#if defined(__SSE2__)
  _mm_sfence();
#endif
}

}  // namespace steelyard
