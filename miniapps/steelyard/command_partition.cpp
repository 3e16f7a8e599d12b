#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cmath>
#include <memory>

#include "comm/collective.hpp"
#include "core/base/table.hpp"
#include "miniapps/steelyard/command.hpp"
#include "miniapps/steelyard/partition_report.hpp"
#include "models/model_kinds.hpp"
#include "partition/column.hpp"
#include "partition/granularity.hpp"
#include "partition/hierarchical.hpp"
#include "partition/popta.hpp"

namespace steelyard::tool {
namespace {

struct PartitionOptions {
  bool list = false;
  std::string algorithm = "geometric";
  std::vector<std::string> compare;
  std::int64_t total = -1;
  std::int64_t granularity = 1;
  int levels = 1;
  int per_node = 0;
  std::string outer;
  bool columns = false;
  std::int64_t rows = 0;
  std::vector<std::filesystem::path> models;
  std::string kind;
  std::string format = "table";
};

/// Models of the files, and the pointers that algorithms take.
struct LoadedModels {
  std::vector<models::SpeedModelPtr> owned;
  std::vector<const models::SpeedModel*> models;
};

LoadedModels load(const PartitionOptions& options, const partition::Algorithm& algorithm) {
  LoadedModels loaded;
  models::FitOptions fit;
  fit.shape = algorithm.shape;
  for (const std::filesystem::path& path : options.models) {
    const std::string kind = options.kind.empty() ? algorithm.model_kind : options.kind;
    loaded.owned.push_back(models::make_model(models::read_fpm_file(path), kind, fit));
    loaded.models.push_back(loaded.owned.back().get());
  }
  return loaded;
}

std::string list_text() {
  Table table({"name", "what it does"});
  for (const partition::Algorithm& algorithm : partition::algorithms()) {
    table.add_row({algorithm.name, algorithm.description});
  }
  return table.text();
}

PartitionInput input_of(const PartitionOptions& options) {
  PartitionInput input;
  input.total = options.total;
  for (const std::filesystem::path& path : options.models) input.names.push_back(path.filename().string());
  return input;
}

/// The shape of the matrix whose blocks are the computation units: square, unless its rows are given.
partition::Extents extents_of(const PartitionOptions& options) {
  const std::int64_t rows =
      options.rows > 0 ? options.rows : std::llround(std::sqrt(static_cast<double>(options.total)));
  if (rows < 1 || options.total % rows != 0 || (options.rows == 0 && rows * rows != options.total)) {
    throw InvalidArgument(
        options.rows > 0
            ? fmt::format("--rows {} for {} computation units (expected a divisor)", options.rows, options.total)
            : fmt::format("--columns with {} computation units (expected the blocks of a square matrix, or --rows)",
                          options.total));
  }
  return {rows, options.total / rows};
}

std::string compare(const PartitionOptions& options) {
  // What an algorithm makes of its own models is predicted by the same models for all.
  const LoadedModels common = load(options, partition::find_algorithm("geometric"));
  std::vector<ComparedAlgorithm> compared;
  for (const std::string& name : options.compare) {
    const partition::Algorithm& algorithm = partition::find_algorithm(name);
    const LoadedModels own = load(options, algorithm);
    partition::Distribution distribution =
        partition::distribute_in_multiples(options.total, own.models, algorithm, options.granularity);
    compared.push_back({name, partition::predict(std::move(distribution.units), common.models)});
  }
  return options.format == "json" ? compared_json(input_of(options), compared)
                                  : compared_table(input_of(options), compared);
}

/// popta() is no algorithm of the list, for it takes only models that are all the same.
const partition::Algorithm& outer_algorithm(const std::string& name) {
  static const partition::Algorithm popta{
      "popta", "HPOPTA's forerunner for identical nodes",
      static_cast<partition::Distribution (*)(std::int64_t, partition::Models)>(partition::popta)};
  return name == popta.name ? popta : partition::find_algorithm(name);
}

/// Over nodes of so many units first, then within each. Source: 002, section 6.3.
std::string distribute_in_two_levels(const PartitionOptions& options, const LoadedModels& loaded,
                                     const partition::Algorithm& inner) {
  const auto units = static_cast<int>(loaded.models.size());
  if (options.per_node < 1 || units % options.per_node != 0) {
    throw InvalidArgument(
        fmt::format("--levels 2 with --per-node {} for {} models (expected a divisor)", options.per_node, units));
  }
  if (options.granularity != 1) throw InvalidArgument("--granularity goes with one level (expected no --levels 2)");
  std::vector<int> node_of_unit;
  for (int unit = 0; unit < units; ++unit) node_of_unit.push_back(unit / options.per_node);
  const partition::HierarchicalDistribution found =
      partition::hierarchical(options.total, loaded.models, node_of_unit,
                              outer_algorithm(options.outer.empty() ? inner.name : options.outer), inner);
  PartitionInput input = input_of(options);
  input.algorithm = inner.name;
  return options.format == "json" ? distribution_json(input, found.units, found.groups.units)
                                  : distribution_table(input, found.units, found.groups.units);
}

std::string distribute(const PartitionOptions& options) {
  if (options.total < 0) throw InvalidArgument("--total is missing (expected the number of computation units)");
  if (options.models.empty()) throw InvalidArgument("--models is missing (expected one model file per unit)");
  if (!options.compare.empty()) return compare(options);
  const partition::Algorithm& algorithm = partition::find_algorithm(options.algorithm);
  const LoadedModels loaded = load(options, algorithm);
  if (options.levels == 2) return distribute_in_two_levels(options, loaded, algorithm);
  PartitionInput input = input_of(options);
  input.algorithm = options.algorithm;
  const partition::Distribution distribution =
      partition::distribute_in_multiples(options.total, loaded.models, algorithm, options.granularity);
  if (!options.columns) {
    return options.format == "json" ? distribution_json(input, distribution) : distribution_table(input, distribution);
  }
  const std::vector<double> areas(distribution.units.begin(), distribution.units.end());
  const partition::ColumnPartition columns = partition::column(areas, extents_of(options));
  std::vector<std::int64_t> blocks;
  for (const partition::Rectangle& rectangle : columns.rectangles) blocks.push_back(rectangle.area());
  const partition::Distribution rounded = partition::predict(std::move(blocks), loaded.models);
  return options.format == "json" ? columns_json(input, rounded, columns) : columns_table(input, rounded, columns);
}

}  // namespace

void add_partition_command(CLI::App& parser, Action& chosen) {
  auto options = std::make_shared<PartitionOptions>();
  CLI::App* command = parser.add_subcommand("partition", "Distribute computation units over speed models from files");
  command->add_flag("--list", options->list, "Name the algorithms");
  CLI::Option* algorithm =
      command->add_option("--algorithm", options->algorithm, "Algorithm (default geometric)")->type_name("NAME");
  CLI::Option* several = command->add_option("--compare", options->compare, "Put algorithms side by side")
                             ->type_name("NAME...")
                             ->excludes(algorithm);
  command->add_option("--total", options->total, "Computation units to distribute")
      ->check(CLI::Range(std::int64_t{0}, std::int64_t{1} << 50))
      ->type_name("N");
  command->add_option("--models", options->models, "Speed models (*.fpm.json, *.fpm), one per processing unit")
      ->type_name("FILE...");
  std::vector<std::string> kinds;
  for (const models::ModelKind& kind : models::model_kinds()) kinds.push_back(kind.name);
  command->add_option("--kind", options->kind, "What to make of the points (default: what the algorithm asks for)")
      ->check(CLI::IsMember(kinds))
      ->type_name(CLI::detail::join(kinds, "|"));
  command->add_option("--granularity", options->granularity, "Give away only multiples of this (default 1)")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1} << 50))
      ->type_name("N");
  CLI::Option* columns = command
                             ->add_flag("--columns", options->columns,
                                        "The units are the blocks of a square matrix: arrange rectangles in columns")
                             ->excludes(several);
  command->add_option("--rows", options->rows, "With --columns: rows of a matrix that is not square")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1} << 31))
      ->type_name("N")
      ->needs(columns);
  CLI::Option* levels = command->add_option("--levels", options->levels, "2: over nodes first, then within each node")
                            ->check(CLI::Range(1, 2))
                            ->type_name("1|2")
                            ->excludes(several)
                            ->excludes(columns);
  command->add_option("--per-node", options->per_node, "With --levels 2: models of a node, one after the other")
      ->check(CLI::Range(1, 1 << 20))
      ->type_name("K")
      ->needs(levels);
  command
      ->add_option(
          "--outer", options->outer,
          "With --levels 2: algorithm over nodes, also popta for identical ones (default: that of --algorithm)")
      ->type_name("NAME")
      ->needs(levels);
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
