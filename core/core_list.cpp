#include "core/core_list.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <sstream>

#include "core/base/errors.hpp"

namespace steelyard {

std::string format_cores(const CoreList& cores) {
  if (cores.empty()) return "none";
  std::string text;
  for (std::size_t i = 0; i < cores.size();) {
    std::size_t last = i;
    while (last + 1 < cores.size() && cores[last + 1] == cores[last] + 1) ++last;
    text += text.empty() ? "" : ",";
    text += last > i ? fmt::format("{}-{}", cores[i], cores[last]) : fmt::format("{}", cores[i]);
    i = last + 1;
  }
  return text;
}

CoreList parse_cores(const std::string& text) {
  const auto fail = [&] {
    throw InvalidArgument(fmt::format("core list \"{}\" (expected numbers and ranges such as 0-3,6)", text));
  };
  const auto number = [&](const std::string& digits) {
    int value = -1;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (error != std::errc() || end != digits.data() + digits.size() || value < 0 || value > 1 << 20) fail();
    return value;
  };
  CoreList cores;
  std::istringstream parts(text);
  for (std::string part; std::getline(parts, part, ',');) {
    const std::size_t dash = part.find('-');
    const int first = number(part.substr(0, dash));
    const int last = dash == std::string::npos ? first : number(part.substr(dash + 1));
    if (last < first) fail();
    for (int core = first; core <= last; ++core) cores.push_back(core);
  }
  if (cores.empty()) fail();
  std::sort(cores.begin(), cores.end());
  cores.erase(std::unique(cores.begin(), cores.end()), cores.end());
  return cores;
}

}  // namespace steelyard
