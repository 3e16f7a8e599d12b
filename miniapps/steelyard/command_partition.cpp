#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>

#include "core/base/table.hpp"
#include "miniapps/app/speed_models.hpp"
#include "miniapps/steelyard/command.hpp"
#include "partition/algorithms.hpp"
#include "partition/distribution.hpp"
#include "partition/hierarchical.hpp"
#include "partition/rectangles/column.hpp"

namespace steelyard::tool {
namespace {

using nlohmann::ordered_json;

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
  std::vector<std::filesystem::path> models;
  std::string kind;
  bool json = false;

  std::string model_name(std::size_t i) const { return models[i].filename().string(); }
};

ordered_json as_json(const std::string& algorithm, std::int64_t total, const partition::Distribution& distribution) {
  return {{"algorithm", algorithm},
          {"total", total},
          {"units", distribution.units},
          {"predicted_s", distribution.predicted_s},
          {"makespan_s", distribution.makespan_s()}};
}

/// Distribution that the algorithm finds for the input.
struct Answer {
  partition::Distribution units;
  std::vector<std::int64_t> nodes;                    ///< of each node, where there are two levels
  std::optional<partition::ColumnPartition> columns;  ///< with a rectangle of blocks for each unit
};

std::string answer_json(const PartitionOptions& options, const Answer& answer) {
  ordered_json json = as_json(options.algorithm, options.total, answer.units);
  if (!answer.nodes.empty()) json["nodes"] = answer.nodes;
  if (answer.columns) {
    json["rectangles"] = rectangles_json(answer.columns->rectangles);
    for (const partition::Column& column : answer.columns->columns) {
      json["columns"].push_back({{"first", column.first}, {"count", column.count}, {"units", column.units}});
    }
  }
  return json.dump(2) + "\n";
}

/// A row for each unit, and the makespan.
std::string answer_text(const PartitionOptions& options, const Answer& answer) {
  std::vector<TableRow> rows;
  for (std::size_t i = 0; i < answer.units.units.size(); ++i) {
    const std::int64_t units = answer.units.units[i];
    const double share = options.total > 0 ? static_cast<double>(units) / static_cast<double>(options.total) : 0.0;
    TableRow& row = rows.emplace_back(TableRow{{"model", options.model_name(i)},
                                               {answer.columns ? "blocks" : "units", fmt::format("{}", units)},
                                               {"share", fmt::format("{:.1f} %", 100.0 * share)}});
    if (answer.columns) {
      const partition::Rectangle& part = answer.columns->rectangles[i];
      row.insert(row.end(), {{"row", fmt::format("{}", part.row)},
                             {"column", fmt::format("{}", part.column)},
                             {"rows", fmt::format("{}", part.rows)},
                             {"columns", fmt::format("{}", part.columns)}});
    }
    row.emplace_back("predicted", format_seconds(answer.units.predicted_s[i]));
  }
  std::string text = table_text(rows);
  if (!answer.nodes.empty()) text += fmt::format("nodes      {}\n", fmt::join(answer.nodes, ", "));
  text += fmt::format("{}: {} computation units in {}, imbalance {:.1f} %\n", options.algorithm, options.total,
                      format_seconds(answer.units.makespan_s()), 100.0 * answer.units.imbalance());
  if (answer.columns) {
    const partition::ColumnPartition& columns = *answer.columns;
    text += fmt::format("{} columns over {} x {} blocks, half-perimeters {} blocks\n", columns.columns.size(),
                        columns.extents.rows, columns.extents.columns, columns.half_perimeters());
  }
  return text;
}

/// Model by which `--compare` predicts times, or by which an algorithm splits.
std::string model_text(const PartitionOptions& options, const partition::Algorithm& algorithm) {
  const std::string& kind = options.kind.empty() ? algorithm.model_kind : options.kind;
  if (kind != "piecewise_linear") return kind;
  return kind + (algorithm.shape == models::Shape::as_measured ? ", as_measured" : ", increasing_time");
}

SpeedModels load(const PartitionOptions& options, partition::Algorithm algorithm) {
  if (!options.kind.empty()) algorithm.model_kind = options.kind;
  std::vector<models::FpmFile> files;
  for (const std::filesystem::path& path : options.models) files.push_back(models::read_fpm_file(path));
  return {std::move(files), std::move(algorithm)};
}

/// A row for each algorithm of `--compare`: what it makes of the input, predicted by the same models for all.
std::string compare(const PartitionOptions& options) {
  const partition::Algorithm& judge = partition::find_algorithm("geometric");
  const SpeedModels common = load(options, judge);
  std::vector<partition::Distribution> found;
  for (const std::string& name : options.compare) {
    const partition::Algorithm& algorithm = partition::find_algorithm(name);
    const SpeedModels own = load(options, algorithm);
    partition::Distribution distribution =
        partition::distribute_in_multiples(options.total, own.pointers(), algorithm, options.granularity);
    found.push_back(partition::predict(std::move(distribution.units), common.pointers()));
  }
  const double best_s = std::ranges::min(found, {}, &partition::Distribution::makespan_s).makespan_s();
  std::vector<TableRow> rows;
  ordered_json json{{"total", options.total}, {"judged_by", model_text(options, judge)}};
  for (std::size_t i = 0; i < found.size(); ++i) {
    const std::string& name = options.compare[i];
    json["algorithms"].push_back(as_json(name, options.total, found[i]));
    const double makespan_s = found[i].makespan_s();
    TableRow row{{"algorithm", name},
                 {"splits by", model_text(options, partition::find_algorithm(name))},
                 {"makespan", format_seconds(makespan_s)},
                 {"to best", best_s > 0.0 ? fmt::format("{:.3f}", makespan_s / best_s) : "-"},
                 {"imbalance", fmt::format("{:.1f} %", 100.0 * found[i].imbalance())}};
    for (std::size_t unit = 0; unit < found[i].units.size(); ++unit) {
      row.emplace_back(options.model_name(unit), fmt::format("{}", found[i].units[unit]));
    }
    rows.push_back(std::move(row));
  }
  if (options.json) return json.dump(2) + "\n";
  return table_text(rows) +
         fmt::format("makespans of all by one model: {} (another: --kind)\n", model_text(options, judge));
}

/// Distributes over nodes of `per_node` units first, then within each. Source: 002, section 6.3.
Answer distribute_in_two_levels(const PartitionOptions& options, partition::Models models,
                                const partition::Algorithm& inner) {
  const auto units = static_cast<int>(models.size());
  if (options.per_node < 1 || units % options.per_node != 0) {
    throw InvalidArgument(
        fmt::format("--levels 2 with --per-node {} for {} models (expected a divisor)", options.per_node, units));
  }
  if (options.granularity != 1) throw InvalidArgument("--granularity goes with one level (expected no --levels 2)");
  std::vector<int> node_of_unit;
  for (int unit = 0; unit < units; ++unit) node_of_unit.push_back(unit / options.per_node);
  // No algorithm of the list, for it takes only models that are all the same.
  const partition::Algorithm popta{"popta",
                                   "HPOPTA's forerunner for identical nodes",
                                   partition::popta,
                                   "piecewise_linear",
                                   models::Shape::as_measured,
                                   0.0,
                                   true};
  const std::string& name = options.outer.empty() ? inner.name : options.outer;
  const partition::Algorithm outer = name == popta.name ? popta : partition::find_algorithm(name);
  const partition::HierarchicalDistribution found =
      partition::hierarchical(options.total, models, node_of_unit, outer, inner);
  return {found.units, found.groups, {}};
}

/// Arranges areas as an algorithm has found them in columns of rectangles of a square matrix.
Answer arrange(const PartitionOptions& options, partition::Models models, const partition::Distribution& found) {
  const std::int64_t rows = std::llround(std::sqrt(static_cast<double>(options.total)));
  if (rows < 1 || rows * rows != options.total) {
    throw InvalidArgument(
        fmt::format("--columns with {} computation units (expected the blocks of a square matrix)", options.total));
  }
  const std::vector<double> areas(found.units.begin(), found.units.end());
  const partition::ColumnPartition columns = partition::column(areas, {rows, rows});
  std::vector<std::int64_t> blocks;
  for (const partition::Rectangle& rectangle : columns.rectangles) blocks.push_back(rectangle.area());
  return {partition::predict(std::move(blocks), models), {}, columns};
}

std::string distribute(const PartitionOptions& options) {
  if (options.list) {
    Table table({"name", "what it does"});
    for (const partition::Algorithm& one : partition::algorithms()) table.add_row({one.name, one.description});
    return table.text();
  }
  if (options.total < 0) throw InvalidArgument("--total is missing (expected the number of computation units)");
  if (options.models.empty()) throw InvalidArgument("--models is missing (expected one model file per unit)");
  if (!options.compare.empty()) return compare(options);
  const partition::Algorithm& algorithm = partition::find_algorithm(options.algorithm);
  const SpeedModels loaded = load(options, algorithm);
  const auto models = loaded.pointers();
  Answer answer;
  if (options.levels == 2) {
    answer = distribute_in_two_levels(options, models, algorithm);
  } else {
    answer.units = partition::distribute_in_multiples(options.total, models, algorithm, options.granularity);
    if (options.columns) answer = arrange(options, models, answer.units);
  }
  return options.json ? answer_json(options, answer) : answer_text(options, answer);
}

}  // namespace

void add_partition_command(CLI::App& parser, Action& chosen) {
  const auto [command, options] = add_command<PartitionOptions>(
      parser, "partition", "Distribute computation units over speed models from files", chosen, distribute);
  command->add_flag("--list", options->list, "Name the algorithms");
  CLI::Option* algorithm =
      add_value(*command, "--algorithm", options->algorithm, "Algorithm (default geometric)", "NAME");
  CLI::Option* several = add_value(*command, "--compare", options->compare, "Put algorithms side by side", "NAME...");
  several->excludes(algorithm);
  constexpr std::int64_t most = std::int64_t{1} << 50;
  add_number(*command, "--total", options->total, "Computation units to distribute", 0, most);
  add_value(*command, "--models", options->models, "Speed models (*.fpm.json, *.fpm), one per processing unit",
            "FILE...");
  add_choice(*command, "--kind", options->kind, "What to make of the points (default: what the algorithm asks for)",
             model_kind_names());
  add_number(*command, "--granularity", options->granularity, "Give away only multiples of this (default 1)", 1, most);
  CLI::Option* columns = command
                             ->add_flag("--columns", options->columns,
                                        "The units are the blocks of a square matrix: arrange rectangles in columns")
                             ->excludes(several);
  CLI::Option* levels = add_levels_option(*command, options->levels)->excludes(several)->excludes(columns);
  add_number(*command, "--per-node", options->per_node, "With --levels 2: models of a node, one after the other", 1,
             1 << 20, "K")
      ->needs(levels);
  add_value(*command, "--outer", options->outer,
            "With --levels 2: algorithm over nodes, also popta for identical ones (default: that of --algorithm)",
            "NAME")
      ->needs(levels);
  add_format_option(*command, options->json);
}

}  // namespace steelyard::tool
