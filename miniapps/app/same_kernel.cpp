#include "miniapps/app/same_kernel.hpp"

#include <fmt/format.h>

#include "core/base/errors.hpp"

namespace steelyard {

void require_same_kernel(const std::filesystem::path& path, const models::FpmFile& file, const KernelFacts& facts) {
  for (const auto& [name, expected] : facts.parameters) {
    const auto found = file.parameters.find(name);
    if (found == file.parameters.end() || found->second == expected) continue;
    throw FileFormatError(path.string(), "parameters." + name,
                          fmt::format("is {} (expected {})", found->second, expected));
  }
  if (!file.element.empty() && file.element != facts.element) {
    throw FileFormatError(path.string(), "element", fmt::format("is {} (expected {})", file.element, facts.element));
  }
  if (!file.app.empty() && file.app != facts.app) {
    throw FileFormatError(path.string(), "app", fmt::format("is {} (expected {})", file.app, facts.app));
  }
}

void require_same_kind(const std::filesystem::path& path, const models::FpmFile& file, ProcessingUnit::Kind kind) {
  const char* name = kind == ProcessingUnit::Kind::host ? "host" : "device";
  if (file.unit_kind.empty() || file.unit_kind == name) return;
  throw FileFormatError(path.string(), "unit.kind",
                        fmt::format("is {} (expected {}, for --model names files rank by rank, the host's before the "
                                    "device's)",
                                    file.unit_kind, name));
}

}  // namespace steelyard
