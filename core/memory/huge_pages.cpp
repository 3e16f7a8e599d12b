#include "core/memory/huge_pages.hpp"

#include <cstdint>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace steelyard {

void* begin_of_huge_page(void* data) {
  const std::size_t behind_begin = reinterpret_cast<std::uintptr_t>(data) % huge_page_bytes;
  return static_cast<char*>(data) + (behind_begin == 0 ? 0 : huge_page_bytes - behind_begin);
}

void advise_huge_pages([[maybe_unused]] void* data, [[maybe_unused]] std::size_t bytes) {
#if defined(__linux__) && defined(MADV_HUGEPAGE)
  const std::size_t pages = (bytes + huge_page_bytes - 1) / huge_page_bytes;
  if (worth_huge_pages(bytes)) madvise(data, pages * huge_page_bytes, MADV_HUGEPAGE);
#endif
}

}  // namespace steelyard
