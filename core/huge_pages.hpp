#pragma once

#include <cstddef>

namespace steelyard {

/// Asks the system for huge pages in host memory that nobody has written to yet: large arrays then need fewer entries
/// of the TLB, and are as fast in memory that has been used and freed before as in fresh memory. A hint: nothing where
/// the system has none or the memory is small.
void advise_huge_pages(void* data, std::size_t bytes);

}  // namespace steelyard
