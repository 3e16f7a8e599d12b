#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "core/measurable_kernel.hpp"
#include "core/options.hpp"
#include "core/spaces.hpp"

namespace steelyard::tests {

/// The units of this build.
inline std::vector<ProcessingUnit::Kind> kinds() {
  if (has_companion) return {ProcessingUnit::Kind::host, ProcessingUnit::Kind::companion};
  return {ProcessingUnit::Kind::host};
}

/// A kernel as `steelyard measure` would have it.
template <class Kernel>
Kernel parsed(const std::vector<std::string>& words) {
  Kernel kernel;
  CLI::App parser("measures", "measure");
  kernel.add_options(parser);
  std::vector<const char*> arguments{"measure"};
  for (const std::string& word : words) arguments.push_back(word.c_str());
  parse_command_line(parser, static_cast<int>(arguments.size()), arguments.data());
  return kernel;
}

}  // namespace steelyard::tests
