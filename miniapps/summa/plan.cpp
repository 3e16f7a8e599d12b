#include "miniapps/summa/plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <deque>
#include <filesystem>
#include <functional>
#include <map>
#include <numeric>
#include <utility>

#include "core/base/errors.hpp"
#include "core/base/json_file.hpp"
#include "models/communication/message_pattern.hpp"
#include "partition/hierarchical.hpp"
#include "partition/rectangles/column.hpp"
#include "partition/rectangles/rectangle.hpp"

namespace steelyard::summa {
namespace {

using models::MessagePattern;
using partition::Rectangle;

std::size_t rank_of(const Slot& slot) { return static_cast<std::size_t>(slot.rank); }

bool is_file(const std::string& partition) { return std::filesystem::path(partition).extension() == ".json"; }

bool is_in_columns(const std::string& partition) { return partition != "even" && !is_file(partition); }

std::vector<Rectangle> even_grid(const partition::Extents& all, std::size_t count) {
  const auto ranks = static_cast<std::int64_t>(count);
  std::int64_t rows = 1;
  for (std::int64_t i = 1; i * i <= ranks; ++i) rows = ranks % i == 0 ? i : rows;
  const std::int64_t columns = ranks / rows;
  std::vector<Rectangle> rectangles;
  for (std::int64_t cell = 0; cell < ranks; ++cell) {
    const std::int64_t i = cell / columns, j = cell % columns;
    const std::int64_t row = i * all.rows / rows, column = j * all.columns / columns;
    rectangles.push_back({row, column, (i + 1) * all.rows / rows - row, (j + 1) * all.columns / columns - column});
  }
  return rectangles;
}

/// A rank's area is the sum of its units' shares of all blocks; where communication counts, a rank is as fast as its
/// units together.
std::vector<Rectangle> in_columns(const partition::Extents& extents, const std::vector<Slot>& slots,
                                  partition::Models models, const partition::Algorithm& algorithm,
                                  const partition::RectangleCost& communication_s) {
  const std::int64_t total = extents.rows * extents.columns;
  const std::size_t ranks = rank_of(slots.back()) + 1;
  if (communication_s) {
    std::vector<std::vector<const models::SpeedModel*>> units(ranks);
    for (std::size_t i = 0; i < slots.size(); ++i) units[rank_of(slots[i])].push_back(models[i]);
    std::deque<partition::GroupModel> groups;
    std::vector<const models::SpeedModel*> together;
    for (const auto& of_rank : units) together.push_back(&groups.emplace_back(of_rank, algorithm, total));
    return partition::communication_aware(extents, together, algorithm, communication_s).partition.rectangles;
  }
  const partition::Distribution shares = algorithm.distribute(total, models);
  std::vector<double> areas(ranks, 0.0);
  for (std::size_t i = 0; i < slots.size(); ++i) areas[rank_of(slots[i])] += static_cast<double>(shares.units[i]);
  return partition::column(areas, extents).rectangles;
}

/// The rectangles of all ranks, which cover every block exactly once. @throws FileFormatError where they do not
std::vector<Rectangle> read_rectangles(const std::filesystem::path& path, const partition::Extents& extents,
                                       std::size_t ranks) {
  const nlohmann::json json = read_json_file(path);
  const JsonReader top(path.string(), json);
  const std::vector<JsonReader> readers = top.array("rectangles");
  if (readers.size() != ranks) {
    top.fail("rectangles", fmt::format("holds {} (expected one for each of {} processes)", readers.size(), ranks));
  }
  std::vector<Rectangle> rectangles;
  std::int64_t covered = 0;
  for (const JsonReader& reader : readers) {
    const auto blocks = [&](const std::string& key) {
      const double value = reader.number(key), most = static_cast<double>(extents.rows);  // of a square
      if (value >= 0.0 && value <= most && std::floor(value) == value) return static_cast<std::int64_t>(value);
      reader.fail(key, fmt::format("is {} (expected a whole number of blocks, at most {})", value, most));
    };
    const Rectangle read{blocks("row"), blocks("column"), blocks("rows"), blocks("columns")};
    if (read.end_row() > extents.rows || read.end_column() > extents.columns) {
      reader.fail("", fmt::format("ends at block row {}, column {} (expected at most {}, {})", read.end_row(),
                                  read.end_column(), extents.rows, extents.columns));
    }
    for (std::size_t i = 0; i < rectangles.size(); ++i) {
      if (partition::common_part(read, rectangles[i]).empty()) continue;
      reader.fail("", fmt::format("has blocks in common with rectangles[{}]", i));
    }
    rectangles.push_back(read);
    covered += read.area();
  }
  if (covered != extents.rows * extents.columns) {
    top.fail("rectangles",
             fmt::format("cover {} blocks (expected all {} x {})", covered, extents.rows, extents.columns));
  }
  return rectangles;
}

double time_s(const models::SpeedModel& model, const Rectangle& part) {
  return part.empty() ? 0.0 : model.time_s(static_cast<double>(part.area()));
}

/// The first of two units' rows of a rectangle, of all splits: least time of the slower one; of equal ones the most
/// even. Speeds may have any shape, so all are tried.
std::int64_t earliest_end(const Rectangle& rectangle, const models::SpeedModel& first,
                          const models::SpeedModel& second) {
  const auto badness = [&](std::int64_t rows) {
    const Rectangle top{0, 0, rows, rectangle.columns}, rest{0, 0, rectangle.rows - rows, rectangle.columns};
    return std::pair(std::max(time_s(first, top), time_s(second, rest)), std::abs(top.rows - rest.rows));
  };
  std::int64_t best = rectangle.rows - rectangle.rows / 2;
  for (std::int64_t rows = 0; rows <= rectangle.rows; ++rows) best = badness(rows) < badness(best) ? rows : best;
  return best;
}

/// Adds the broadcasts of a pivot's parts, `row_bytes` for every row (or column) of a band: of an owner one after the
/// other, and owners level by level at the same time. @param owns whether a process has a part of the pivot
void add_broadcasts(MessagePattern& pattern, const std::vector<partition::Band>& bands, double row_bytes,
                    const std::function<bool(int)>& owns) {
  const std::size_t first = pattern.phases.size();
  std::map<int, std::size_t> done;  // phases of each owner
  for (const partition::Band& band : bands) {
    // Counted from the root on, as MPI does.
    std::vector<int> units = band.units;
    std::rotate(units.begin(), std::find_if(units.begin(), units.end(), owns), units.end());
    const double bytes = row_bytes * static_cast<double>(band.count);
    for (const models::Phase& phase : models::binomial_broadcast(static_cast<int>(units.size()), bytes).phases) {
      const std::size_t at = first + done[units.front()]++;
      pattern.phases.resize(std::max(pattern.phases.size(), at + 1));
      for (const auto& [from, to, size] : phase.messages) {
        pattern.phases[at].messages.push_back(
            {units[static_cast<std::size_t>(from)], units[static_cast<std::size_t>(to)], size});
      }
    }
  }
}

}  // namespace

partition::Algorithm area_algorithm(const std::string& partition) {
  const bool is_own = partition == "column" || is_file(partition);
  return partition::find_algorithm(is_own ? "geometric" : partition, ", column, or a file *.json");
}

void require_partition(const std::string& partition, bool avoid_communication) {
  area_algorithm(partition);
  if (is_in_columns(partition) || !avoid_communication) return;
  throw InvalidArgument(
      fmt::format("--avoid-communication with --partition {} (expected rectangles in columns)", partition));
}

Assignment assign(const Problem& problem, const std::vector<Slot>& slots, partition::Models models,
                  const std::string& partition, const partition::Algorithm& algorithm,
                  const partition::RectangleCost& communication_s) {
  const partition::Extents extents = problem.extents();
  partition::require_extents(extents);
  Assignment assignment;
  std::vector<Rectangle>& rectangles = assignment.rectangles;
  if (is_in_columns(partition)) {
    rectangles = in_columns(extents, slots, models, algorithm, communication_s);
  } else {
    const std::size_t ranks = rank_of(slots.back()) + 1;
    rectangles = is_file(partition) ? read_rectangles(partition, extents, ranks) : even_grid(extents, ranks);
  }
  for (Rectangle& rectangle : rectangles) rectangle = rectangle.empty() ? Rectangle{} : rectangle;
  for (std::size_t i = 0; i < slots.size(); ++i) {
    Rectangle part = rectangles[rank_of(slots[i])];
    if (i > 0 && slots[i - 1].rank == slots[i].rank) {
      part.row += assignment.parts.back().rows;
      part.rows -= assignment.parts.back().rows;
    } else if (i + 1 < slots.size() && slots[i + 1].rank == slots[i].rank) {
      part.rows = partition == "even" ? part.rows - part.rows / 2 : earliest_end(part, *models[i], *models[i + 1]);
    }
    assignment.parts.push_back(part);
    assignment.unit_s.push_back(time_s(*models[i], part));
    if (std::isfinite(assignment.unit_s.back())) continue;
    throw InvalidArgument(
        fmt::format("process {} cannot compute {} x {} blocks on its {}, which are more than it holds", slots[i].rank,
                    part.rows, part.columns, slots[i].kind == ProcessingUnit::Kind::host ? "host" : "companion"));
  }
  return assignment;
}

std::vector<models::PatternCosts> communication_costs(const Problem& problem, std::span<const Rectangle> rectangles,
                                                      double element_bytes, Communication communication,
                                                      const models::Platform& platform,
                                                      const models::Placement& placement) {
  std::vector<Rectangle> tiles;
  for (const Rectangle& rectangle : rectangles) tiles.push_back(problem.tile(rectangle));
  std::array<std::vector<partition::Band>, 2> bands;  // of each pivot
  if (communication == Communication::bcast) bands = {partition::row_bands(tiles), partition::column_bands(tiles)};
  const auto messages_of = [&](std::int64_t k) {
    const std::int64_t depth = problem.depth(k);
    MessagePattern pattern = partition::summa_pattern(tiles, problem.first_row(k), depth, element_bytes);
    if (communication == Communication::pipelined) {
      std::vector<models::Message>& all = pattern.phases[0].messages;
      all.insert(all.end(), pattern.phases[1].messages.begin(), pattern.phases[1].messages.end());
      pattern.phases = {{std::move(all), models::Phase::Sends::at_once}};
    } else if (communication == Communication::bcast) {
      pattern.phases.clear();
      for (const Pivot pivot : both_pivots) {
        add_broadcasts(pattern, bands[static_cast<std::size_t>(pivot)], element_bytes * static_cast<double>(depth),
                       [&](int unit) { return owns(rectangles[static_cast<std::size_t>(unit)], pivot, k); });
      }
    }
    return pattern;
  };
  const auto repeats = [&](std::int64_t k) {
    return k > 0 && problem.depth(k) == problem.depth(k - 1) && std::ranges::none_of(rectangles, [&](const auto& r) {
             return r.row == k || r.end_row() == k || r.column == k || r.end_column() == k;
           });
  };
  std::vector<MessagePattern> distinct;
  std::vector<std::size_t> of_iteration;  // index into `distinct`
  for (std::int64_t k = 0; k < problem.blocks(); ++k) {
    if (!repeats(k)) distinct.push_back(messages_of(k));
    of_iteration.push_back(distinct.size() - 1);
  }
  std::vector<models::PatternCosts> costs = models::pattern_costs(distinct, platform, placement);
  for (models::PatternCosts& cost : costs) {
    std::vector<double> iteration_s;
    for (const std::size_t index : of_iteration) iteration_s.push_back(cost.time_s[index]);
    cost.time_s = std::move(iteration_s);
  }
  return costs;
}

ModelForecast total_cost(const Problem& problem, const models::PatternCosts& cost, Communication communication,
                         std::optional<double> update_s, double start_s) {
  const bool overlaps = communication == Communication::pipelined;
  const std::vector<double>& messages_s = cost.time_s;
  ModelForecast forecast{cost.model, {}, std::accumulate(messages_s.begin(), messages_s.end(), 0.0), 0.0, start_s};
  double computation_s = start_s;
  for (std::size_t k = 0; k < messages_s.size(); ++k) {
    const auto depth = static_cast<double>(problem.depth(static_cast<std::int64_t>(k)));
    const double one_s = update_s.value_or(0.0) * (depth / static_cast<double>(problem.depth(0)));
    const bool is_hiding = overlaps && k + 1 < messages_s.size();
    computation_s += one_s;
    if (!overlaps || k == 0) forecast.total_s += messages_s[k];
    forecast.total_s += is_hiding ? std::max(one_s, messages_s[k + 1]) : one_s;
  }
  forecast.exposed_s = forecast.total_s - computation_s;
  if (update_s) forecast.phases.emplace_back("update", computation_s);
  forecast.phases.emplace_back("communication", forecast.exposed_s);
  return forecast;
}

}  // namespace steelyard::summa
