#pragma once

#include <string>
#include <vector>

namespace steelyard {

/// Cores of a machine by hwloc's logical core number, increasing.
using CoreList = std::vector<int>;

/// `0-3,6` for {0, 1, 2, 3, 6}; `none` for an empty list.
std::string format_cores(const CoreList& cores);

/// The reverse of format_cores(). @throws InvalidArgument naming `text` and what is expected
CoreList parse_cores(const std::string& text);

}  // namespace steelyard
