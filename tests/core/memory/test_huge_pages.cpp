#include <catch2/catch_test_macros.hpp>
#include <cstdint>
#include <new>
#include <vector>

#include "core/memory/huge_pages.hpp"

namespace steelyard::test_huge_pages {

namespace {

std::uintptr_t address(const void* data) { return reinterpret_cast<std::uintptr_t>(data); }

}  // namespace

TEST_CASE("a huge page begins less than its size behind any place, at a multiple of it") {
  std::vector<char> memory(3 * huge_page_bytes);
  for (const std::size_t offset : {std::size_t{0}, std::size_t{1}, std::size_t{4096}, huge_page_bytes - 1}) {
    char* const from = memory.data() + offset;
    const std::uintptr_t begin = address(begin_of_huge_page(from));
    CHECK(begin % huge_page_bytes == 0);
    CHECK(begin >= address(from));
    CHECK(begin - address(from) < huge_page_bytes);
  }
}

TEST_CASE("memory that has been advised is as good as any") {
  constexpr std::align_val_t alignment{huge_page_bytes};
  for (const std::size_t bytes : {std::size_t{0}, std::size_t{1}, huge_page_bytes, 2 * huge_page_bytes + 1}) {
    auto* const memory = static_cast<unsigned char*>(::operator new[](bytes + huge_page_bytes, alignment));
    advise_huge_pages(memory, bytes);
    for (std::size_t i = 0; i < bytes; ++i) memory[i] = static_cast<unsigned char>(i % 251);
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < bytes; ++i) wrong += memory[i] == i % 251 ? 0 : 1;
    CHECK(wrong == 0);
    ::operator delete[](memory, alignment);
  }
}

}  // namespace steelyard::test_huge_pages
