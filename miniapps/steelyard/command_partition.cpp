#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>

#include "comm/collective.hpp"
#include "core/base/table.hpp"
#include "miniapps/steelyard/command.hpp"
#include "models/fpm_file.hpp"
#include "models/model_kinds.hpp"
#include "partition/algorithms.hpp"

namespace steelyard::tool {
namespace {

struct PartitionOptions {
  bool list = false;
  std::string algorithm = "geometric";
  std::int64_t total = -1;
  std::vector<std::filesystem::path> models;
  std::string format = "table";
};

std::string list_text() {
  Table table({"name", "what it does"});
  for (const partition::Algorithm& algorithm : partition::algorithms()) {
    table.add_row({algorithm.name, algorithm.description});
  }
  return table.text();
}

std::string as_json(const PartitionOptions& options, const partition::Distribution& distribution) {
  nlohmann::ordered_json json;
  json["algorithm"] = options.algorithm;
  json["total"] = options.total;
  json["units"] = distribution.units;
  json["predicted_s"] = distribution.predicted_s;
  json["makespan_s"] = distribution.makespan_s();
  return json.dump(2) + "\n";
}

std::string as_table(const PartitionOptions& options, const partition::Distribution& distribution) {
  Table table({"model", "units", "share", "predicted"});
  for (std::size_t i = 0; i < distribution.units.size(); ++i) {
    const double share =
        options.total > 0 ? static_cast<double>(distribution.units[i]) / static_cast<double>(options.total) : 0.0;
    table.add_row({options.models[i].filename().string(), fmt::format("{}", distribution.units[i]),
                   fmt::format("{:.1f} %", 100.0 * share), format_seconds(distribution.predicted_s[i])});
  }
  return table.text() + fmt::format("{}: {} computation units in {}, imbalance {:.1f} %\n", options.algorithm,
                                    options.total, format_seconds(distribution.makespan_s()),
                                    100.0 * distribution.imbalance());
}

std::string distribute(const PartitionOptions& options) {
  if (options.total < 0) throw InvalidArgument("--total is missing (expected the number of computation units)");
  if (options.models.empty()) throw InvalidArgument("--models is missing (expected one *.fpm.json per unit)");
  const partition::Algorithm& algorithm = partition::find_algorithm(options.algorithm);
  std::vector<models::SpeedModelPtr> models;
  std::vector<const models::SpeedModel*> pointers;
  for (const std::filesystem::path& path : options.models) {
    const models::FpmFile file = models::read_fpm_file(path);
    models.push_back(models::make_model(file));
    pointers.push_back(models.back().get());
  }
  const partition::Distribution distribution = algorithm.distribute(options.total, pointers);
  return options.format == "json" ? as_json(options, distribution) : as_table(options, distribution);
}

}  // namespace

void add_partition_command(CLI::App& parser, Action& chosen) {
  auto options = std::make_shared<PartitionOptions>();
  CLI::App* command = parser.add_subcommand("partition", "Distribute computation units over speed models from files");
  command->add_flag("--list", options->list, "Name the algorithms");
  command->add_option("--algorithm", options->algorithm, "Algorithm (default geometric)")->type_name("NAME");
  command->add_option("--total", options->total, "Computation units to distribute")
      ->check(CLI::Range(std::int64_t{0}, std::int64_t{1} << 50))
      ->type_name("N");
  command->add_option("--models", options->models, "Speed models, one per processing unit")->type_name("FILE...");
  command->add_option("--format", options->format, "table or json")
      ->check(CLI::IsMember({"table", "json"}))
      ->type_name("table|json");
  command->callback([options, &chosen] {
    chosen = [options](Session& session) {
      std::string text;
      on_root(session.comm(), [&] { text = options->list ? list_text() : distribute(*options); });
      session.print(text);
      return ExitCode::good;
    };
  });
}

}  // namespace steelyard::tool
