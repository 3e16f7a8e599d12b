#include "miniapps/app/given_distribution.hpp"

#include <fmt/format.h>

#include "core/base/json_file.hpp"
#include "models/kinds/model_kinds.hpp"

namespace steelyard {

std::string partition_of(const std::string& distribution) {
  if (distribution.find_first_not_of("0123456789.:") == std::string::npos) return "shares:" + distribution;
  const nlohmann::json json = read_json_file(distribution);
  const JsonReader reader(distribution, json);
  const std::string key = reader.has("distribution") ? "distribution" : "units";
  if (!reader.has(key) || !json.at(key).is_array())
    reader.fail(key, "is no array (expected computation units of each)");
  std::string name = "shares";
  for (const nlohmann::json& share : json.at(key)) {
    if (!share.is_number()) reader.fail(key, "holds " + excerpt(share) + " (expected numbers)");
    name += fmt::format(":{}", share.get<double>());
  }
  return name;
}

void resolve_partition(RunOptions& options) {
  if (!options.distribution.empty()) options.partition = partition_of(options.distribution);
  if (!options.kind.empty()) models::find_model_kind(options.kind);
}

}  // namespace steelyard
