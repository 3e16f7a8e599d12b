#include "miniapps/summa/problem.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstddef>

#include "core/base/errors.hpp"

namespace steelyard::summa {

const std::vector<std::string>& communication_names() {
  static const std::vector<std::string> names{"paper", "bcast", "pipelined"};
  return names;
}

Communication parse_communication(const std::string& name) {
  const std::vector<std::string>& names = communication_names();
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (names[i] == name) return static_cast<Communication>(i);
  }
  throw InvalidArgument(
      fmt::format("communication \"{}\" is unknown (expected one of {})", name, fmt::join(names, ", ")));
}

const std::string& communication_name(Communication communication) {
  return communication_names().at(static_cast<std::size_t>(communication));
}

}  // namespace steelyard::summa
