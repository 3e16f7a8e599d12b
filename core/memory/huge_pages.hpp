#pragma once

#include <cstddef>

namespace steelyard {

/// Bytes of a huge page on most systems.
inline constexpr std::size_t huge_page_bytes = std::size_t{1} << 21;

/// Whether an array is large enough for huge pages to be worth asking for.
constexpr bool worth_huge_pages(std::size_t bytes) { return bytes >= huge_page_bytes / 2; }

/// The first place from `data` on where a huge page may begin; less than huge_page_bytes away.
void* begin_of_huge_page(void* data);

/// Asks the system for huge pages in host memory that nobody has written to yet, up to the end of the last one that it
/// reaches into: large arrays then need fewer entries of the TLB, and the speed of copying
/// them depends less on where the memory lies. A hint: nothing where the system has none, or for arrays that are not
/// worth_huge_pages().
/// @param data begin_of_huge_page(); up to huge_page_bytes behind the end must be the caller's
void advise_huge_pages(void* data, std::size_t bytes);

}  // namespace steelyard
