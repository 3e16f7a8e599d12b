#include <array>
#include <catch2/catch_test_macros.hpp>
#include <cstddef>

#include "core/memory/streamed_store.hpp"

namespace steelyard::test_streamed_store {

namespace {

struct alignas(cache_line_bytes) Lines {
  std::array<unsigned char, 4 * cache_line_bytes> bytes{};
};

}  // namespace

TEST_CASE("a streamed store writes one cache line and nothing else") {
  Lines from, to;
  for (std::size_t i = 0; i < from.bytes.size(); ++i) from.bytes[i] = static_cast<unsigned char>(i + 1);
  // What is read need not begin a line.
  for (const std::size_t offset : {std::size_t{0}, std::size_t{16}, std::size_t{112}}) {
    to.bytes.fill(0);
    store_streamed(to.bytes.data() + 2 * cache_line_bytes, from.bytes.data() + offset);
    finish_streamed_stores();
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < to.bytes.size(); ++i) {
      const bool written = i / cache_line_bytes == 2;
      const unsigned char right = written ? from.bytes[i % cache_line_bytes + offset] : 0;
      wrong += to.bytes[i] == right ? 0 : 1;
    }
    CHECK(wrong == 0);
  }
}

TEST_CASE("a place begins a cache line where its address is a multiple of the line's size") {
  const Lines lines;
  for (std::size_t i = 0; i < lines.bytes.size(); ++i) {
    CHECK(begins_cache_line(lines.bytes.data() + i) == (i % cache_line_bytes == 0));
  }
}

TEST_CASE("any place may be prefetched") {
  CHECK_NOTHROW(prefetch_line(nullptr));
  const Lines lines;
  CHECK_NOTHROW(prefetch_line(lines.bytes.data() + 3));
}

}  // namespace steelyard::test_streamed_store
