#include "miniapps/wave2d/plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "core/base/errors.hpp"
#include "core/base/table.hpp"
#include "core/sweep/time_tiles.hpp"
#include "core/timing.hpp"
#include "partition/algorithms.hpp"
#include "partition/distribution.hpp"
#include "partition/rectangles/column.hpp"

namespace steelyard::wave2d {

using partition::common_part;
using partition::Rectangle;

namespace {

/// The points that a pass reads around a rectangle: one rectangle around it, or one for each arm of the stencil.
std::vector<Rectangle> read_by(const Problem& problem, const Rectangle& rectangle, std::int64_t depth, bool corners) {
  const Rectangle whole = widened(problem, rectangle, depth);
  if (corners) return {whole};
  return {{whole.row, rectangle.column, whole.rows, rectangle.columns},
          {rectangle.row, whole.column, rectangle.rows, whole.columns}};
}

}  // namespace

double Assignment::makespan_s() const { return pass_s.empty() ? 0.0 : std::ranges::max(pass_s); }

bool Assignment::in_slices(const Problem& problem) const {
  return std::ranges::all_of(rectangles,
                             [&](const Rectangle& own) { return own.empty() || own.columns == problem.columns; });
}

std::vector<std::int64_t> Assignment::shares(const Problem& problem) const {
  const bool whole_rows = in_slices(problem);
  std::vector<std::int64_t> shares;
  for (const Rectangle& rectangle : rectangles) shares.push_back(whole_rows ? rectangle.rows : rectangle.area());
  return shares;
}

std::vector<Rectangle> row_slices(const Problem& problem, const std::vector<std::int64_t>& rows) {
  std::vector<Rectangle> slices;
  std::int64_t first = 0;
  for (const std::int64_t count : rows) {
    slices.push_back(count > 0 ? Rectangle{first, 0, count, problem.columns} : Rectangle{});
    first += count;
  }
  return slices;
}

std::string row_algorithm(const std::string& partition) {
  if (partition == "column") return "geometric";
  partition::find_algorithm(partition, ", dynamic, or column");
  return partition;
}

Assignment assign(const Problem& problem, const std::vector<const models::SpeedModel*>& models,
                  const std::string& partition, const partition::Algorithm& algorithm) {
  const std::vector<std::int64_t> rows = algorithm.distribute(problem.rows, models).units;
  Assignment assignment{{}, std::vector<double>(models.size(), 0.0)};
  if (partition == "column") {
    const std::vector<double> areas(rows.begin(), rows.end());
    assignment.rectangles = partition::column(areas, {problem.rows, problem.columns}).rectangles;
  } else {
    assignment.rectangles = row_slices(problem, rows);
  }
  for (std::size_t i = 0; i < models.size(); ++i) {
    const Rectangle& rectangle = assignment.rectangles[i];
    if (rectangle.empty()) continue;
    const double in_rows = static_cast<double>(rectangle.area()) / static_cast<double>(problem.columns);
    // Rectangles of whole points may be larger than the areas that the algorithm gave.
    if (in_rows > models[i]->max_units()) {
      throw InvalidArgument(
          fmt::format("unit {} gets {} x {} points, as many as {:.6g} rows (expected at most {:.6g}, "
                      "which is what it holds)",
                      i, rectangle.rows, rectangle.columns, in_rows, models[i]->max_units()));
    }
    assignment.pass_s[i] = models[i]->time_s(in_rows);
  }
  return assignment;
}

std::int64_t HaloMessage::points() const {
  std::int64_t sum = 0;
  for (const LevelPart& part : parts) sum += part.rectangle.area();
  return sum;
}

Rectangle widened(const Problem& problem, const Rectangle& rectangle, std::int64_t depth) {
  if (rectangle.empty()) return {};
  const Rectangle wide{rectangle.row - depth, rectangle.column - depth, rectangle.rows + 2 * depth,
                       rectangle.columns + 2 * depth};
  return common_part(wide, {0, 0, problem.rows, problem.columns});
}

std::vector<HaloMessage> halo_messages(const Problem& problem, std::span<const Rectangle> rectangles, int steps) {
  std::vector<HaloMessage> messages;
  for (std::size_t to = 0; to < rectangles.size(); ++to) {
    const std::vector<Rectangle> current = read_by(problem, rectangles[to], halo_depth(problem, steps), steps > 1);
    const std::vector<Rectangle> previous = read_by(problem, rectangles[to], halo_depth(problem, steps - 1), true);
    for (std::size_t from = 0; from < rectangles.size(); ++from) {
      if (from == to) continue;
      HaloMessage message{static_cast<int>(from), static_cast<int>(to), {}};
      const auto add = [&](Level level, const std::vector<Rectangle>& areas) {
        for (const Rectangle& area : areas) {
          const Rectangle part = common_part(area, rectangles[from]);
          if (!part.empty()) message.parts.push_back({level, part});
        }
      };
      add(Level::current, current);
      add(Level::previous, previous);
      if (!message.parts.empty()) messages.push_back(std::move(message));
    }
  }
  std::ranges::stable_sort(messages, {}, &HaloMessage::from);
  return messages;
}

BorderAndInterior cut_border(const Problem& problem, const Rectangle& own, int steps) {
  const std::int64_t depth = halo_depth(problem, steps);
  const std::int64_t above = own.row > 0 ? std::min(depth, own.rows) : 0;
  const std::int64_t below = own.end_row() < problem.rows ? std::min(depth, own.rows - above) : 0;
  const std::int64_t left = own.column > 0 ? std::min(depth, own.columns) : 0;
  const std::int64_t right = own.end_column() < problem.columns ? std::min(depth, own.columns - left) : 0;
  const Rectangle rest{own.row + above, own.column + left, own.rows - above - below, own.columns - left - right};
  BorderAndInterior parts;
  for (const Rectangle& border :
       {Rectangle{own.row, own.column, above, own.columns}, Rectangle{rest.end_row(), own.column, below, own.columns},
        Rectangle{rest.row, own.column, rest.rows, left}, Rectangle{rest.row, rest.end_column(), rest.rows, right}}) {
    if (!border.empty()) parts.border.push_back(border);
  }
  if (!rest.empty()) parts.interior = rest;
  return parts;
}

models::MessagePattern exchange_pattern(const std::vector<HaloMessage>& messages, std::span<const int> rank_of_unit,
                                        int ranks, double element_bytes) {
  models::MessagePattern pattern{"halo exchange", ranks, {{{}, models::Phase::Sends::at_once}}};
  for (const HaloMessage& message : messages) {
    const int from = rank_of_unit[static_cast<std::size_t>(message.from)];
    const int to = rank_of_unit[static_cast<std::size_t>(message.to)];
    if (from == to) continue;
    pattern.phases.front().messages.push_back({from, to, element_bytes * static_cast<double>(message.points())});
  }
  return pattern;
}

std::vector<EdgePoints> edge_points(const Problem& problem, std::span<const Rectangle> rectangles, int steps) {
  std::vector<EdgePoints> points(rectangles.size());
  for (std::size_t i = 0; i < rectangles.size(); ++i) {
    points[i].border = rectangles[i].area() - cut_border(problem, rectangles[i], steps).interior.area();
  }
  for (const HaloMessage& message : halo_messages(problem, rectangles, steps)) {
    points[static_cast<std::size_t>(message.from)].leaving += message.points();
    points[static_cast<std::size_t>(message.to)].arriving += message.points();
  }
  return points;
}

MiddleRows middle_rows(Problem problem, std::int64_t rows, int steps) {
  const std::int64_t depth = halo_depth(problem, steps);
  problem.rows = rows + 2 * depth;
  return {problem, row_slices(problem, {depth, rows, depth})};
}

UnitTimes split_pass(double pass_s, std::int64_t owned_points, const EdgePoints& unit, const UnitTimes& sample,
                     const EdgePoints& sample_points) {
  const double squeeze = sample.begin_s() > pass_s ? pass_s / sample.begin_s() : 1.0;
  const auto scaled = [&](double seconds, std::int64_t points, std::int64_t of) {
    return of > 0 ? squeeze * seconds * static_cast<double>(points) / static_cast<double>(of) : 0.0;
  };
  UnitTimes times{scaled(sample.unpacking_s, unit.arriving, sample_points.arriving),
                  scaled(sample.border_s, unit.border, sample_points.border),
                  scaled(sample.packing_s, unit.leaving, sample_points.leaving), 0.0};
  const double interior_s = pass_s - squeeze * sample.begin_s();
  const std::int64_t interior_points = owned_points - sample_points.border;
  times.interior_s = interior_points > 0 ? interior_s * static_cast<double>(owned_points - unit.border) /
                                               static_cast<double>(interior_points)
                                         : interior_s;
  return times;
}

PassCost pass_cost(std::span<const int> rank_of_unit, std::span<const UnitTimes> units) {
  PassCost cost;
  for (std::size_t i = 0; i < units.size(); ++i) {
    cost.phases = slower(cost.phases, units[i]);
    cost.begin_s = std::max(cost.begin_s, units[i].begin_s());
    const bool drives = i == 0 || rank_of_unit[i] != rank_of_unit[i - 1];
    if (drives) cost.driving_s = std::max(cost.driving_s, units[i].interior_s);
  }
  return cost;
}

namespace {

/// Plans a run of the wave equation, see make_plan().
class Planner {
 public:
  Planner(Resources& on, const Options& options) : on_(on), problem_(options.problem), options_(options) {
    for (const Slot& slot : on.slots()) slot_ranks_.push_back(slot.rank);
    find_candidates();
    channels_ = on.channels(message_facts());
  }

  Plan plan(const Balance& balance) const {
    Plan plan;
    const int time_tile = candidates_.size() == 1 ? candidates_.front() : fastest_time_tile(plan);
    plan.params["time_tile"] = time_tile;
    Assignment assignment;
    if (balance) {
      assignment = balance(time_tile, plan);
    } else {
      const SpeedModels models = on_.speed_models(*kernel(time_tile), problem_.rows, row_algorithm(on_.partition()));
      plan.models = {{"", models.files()}};
      on_.on_all_ranks([&] { assignment = assign(problem_, models.pointers(), on_.partition(), models.algorithm()); });
    }
    describe(assignment, time_tile, plan);
    if (assignment.makespan_s() > 0.0) predict(assignment, time_tile, plan);
    return plan;
  }

 private:
  std::shared_ptr<MeasurableKernel> kernel(int time_tile) const {
    return pass_kernel(problem_, options_.run.element, time_tile);
  }
  double element_bytes() const { return steelyard::element_bytes(options_.run.element); }

  /// Steps per pass that are considered: 1, 2, 4, … as long as halos stay a small part of a unit's rows and a run has
  /// several passes, for the last one may be shorter.
  void find_candidates() {
    const double given = options_.time_tile;
    const double fixed = given > 0.0 ? given : on_.model_parameter("time_tile").value_or(0.0);
    on_.on_all_ranks([&] {
      if (fixed >= 0.0 && fixed <= most_steps_per_pass && fixed == std::floor(fixed)) return;
      throw FileFormatError(options_.run.models.front().string(), "parameters.time_tile",
                            fmt::format("is {} (expected 1 to {})", fixed, most_steps_per_pass));
    });
    candidates_ = {std::max(1, static_cast<int>(fixed))};
    if (fixed > 0.0 || !on_.measures()) return;
    const auto is_companion = [](const Slot& slot) { return slot.kind == ProcessingUnit::Kind::companion; };
    int most = most_steps_per_pass;
    if (std::ranges::any_of(on_.slots(), is_companion)) {
      most =
          TimeTiles<CompanionExecution>::most_steps(most, problem_.radius(), static_cast<std::size_t>(element_bytes()));
    }
    const std::int64_t share = std::max<std::int64_t>(1, problem_.rows / std::ssize(on_.slots()));
    for (int k = 2; k <= most; k *= 2) {
      const bool small_halo = 4 * halo_depth(problem_, k) <= share;
      if (std::int64_t{4} * k <= options_.run.steps && small_halo) candidates_.push_back(k);
    }
  }

  /// The messages of passes from the shortest to the longest one.
  MessageFacts message_facts() const {
    const auto bytes = [&](int steps) {
      const std::int64_t rows = halo_depth(problem_, steps) + halo_depth(problem_, steps - 1);
      return element_bytes() * static_cast<double>(rows * problem_.columns);
    };
    return {bytes(candidates_.front()), bytes(candidates_.back()),
            levels_held(candidates_.back()) * element_bytes() * problem_.points() / on_.ranks()};
  }

  /// The exchange of a pass by each model of communication; one of no messages where channels are unknown.
  std::vector<models::PatternCosts> exchange_costs(const std::vector<Rectangle>& rectangles, int steps) const {
    return on_.message_costs(channels_, 1, [&] {
      const std::vector<HaloMessage> messages = halo_messages(problem_, rectangles, steps);
      return std::vector{exchange_pattern(messages, slot_ranks_, on_.ranks(), element_bytes())};
    });
  }

  int fastest_time_tile(Plan& plan) const {
    const double start_s = now_s();
    const std::vector<std::int64_t> shares = partition::even_slices(problem_.rows, on_.slots().size());
    int chosen = 1;
    double best_s = std::numeric_limits<double>::infinity();
    for (const int steps : candidates_) {
      // More than caches hold, and borders that are a small part of it.
      constexpr double most_bytes = 256.0 * 1024.0 * 1024.0;
      const std::shared_ptr<MeasurableKernel> tried = kernel(steps);
      const std::int64_t most_rows =
          std::max(static_cast<std::int64_t>(most_bytes / tried->facts().memory_bytes_per_unit) + 1,
                   16 * halo_depth(problem_, steps));
      std::vector<std::int64_t> rows = shares;
      for (std::int64_t& count : rows) count = std::min(count, most_rows);
      const double scale = static_cast<double>(shares.front()) / static_cast<double>(rows.front());
      const double step_s = (scale * on_.trial_s(*tried, rows) +
                             exchange_costs(row_slices(problem_, shares), steps).front().time_s.front()) /
                            steps;
      // Longer passes cost memory and cannot end in between: a small gain is not worth that.
      if (step_s < 0.98 * best_s) {
        best_s = step_s;
        chosen = steps;
      } else if (steps > 8 && step_s > 1.1 * best_s) {
        break;  // still longer passes only have larger borders
      }
    }
    plan.figures["time_tile_time_s"] = now_s() - start_s;
    on_.note(fmt::format("time tile  {} step{} per pass, chosen in {}\n", chosen, chosen == 1 ? "" : "s",
                         format_seconds(plan.figures["time_tile_time_s"])));
    return chosen;
  }

  void describe(const Assignment& assignment, int time_tile, Plan& plan) const {
    plan.distribution = assignment.shares(problem_);
    plan.headings = {"rows", "/step"};
    for (const double pass_s : assignment.pass_s) plan.unit_s.push_back(pass_s / time_tile);
    if (assignment.in_slices(problem_)) return;
    plan.headings = {"points", "/step", rectangle_columns(assignment.rectangles)};
    for (const Rectangle& r : assignment.rectangles) plan.rectangles.push_back({r.row, r.column, r.rows, r.columns});
  }

  /// A unit's pass by its speed model, split as the model's points say; without parts all of it is interior.
  UnitTimes unit_times(const Assignment& assignment, const EdgePoints& points, std::size_t slot, int time_tile,
                       const Plan& plan) const {
    const double pass_s = assignment.pass_s[slot];
    const std::int64_t owned = assignment.rectangles[slot].area();
    const UnitTimes whole{0.0, 0.0, 0.0, pass_s};
    if (plan.models.empty() || owned == 0) return whole;
    const models::FpmFile& model = plan.models.front().files[slot];
    if (model.parts.empty()) return whole;
    const std::int64_t rows = (owned + problem_.columns - 1) / problem_.columns;
    const auto parts_s = model.parts_s(static_cast<double>(rows));
    const auto [sample, slices] = middle_rows(problem_, rows, time_tile);
    return split_pass(pass_s, owned, points, {parts_s[0], parts_s[1], parts_s[2], 0.0},
                      edge_points(sample, slices, time_tile)[1]);
  }

  void predict(const Assignment& assignment, int time_tile, Plan& plan) const {
    const std::vector<EdgePoints> points = edge_points(problem_, assignment.rectangles, time_tile);
    std::vector<UnitTimes> units(points.size());
    for (std::size_t i = 0; on_.has_seconds() && i < units.size(); ++i) {
      units[i] = unit_times(assignment, points[i], i, time_tile, plan);
    }
    PassCost pass = pass_cost(slot_ranks_, units);
    const double passes = static_cast<double>(options_.run.steps) / time_tile, start_s = on_.start_s();
    for (const models::PatternCosts& cost : exchange_costs(assignment.rectangles, time_tile)) {
      pass.exchange_s = cost.time_s.front();
      const double exposed_s = passes * std::max(0.0, pass.total_s() - pass.kernels_s());
      ModelForecast one{cost.model, {}, passes * pass.exchange_s, exposed_s, start_s + passes * pass.total_s()};
      const std::array seconds = phase_seconds(pass.kernels_s(), pass.exchange_s, pass.phases);
      for (std::size_t i = 0; i < seconds.size(); ++i) {
        const bool is_exchange = i == 1;
        if (on_.has_seconds() || is_exchange) one.phases.emplace_back(phase_names[i], passes * seconds[i]);
      }
      plan.by_model.push_back(one);
    }
    plan.time_s = plan.by_model.front().total_s;
  }

  Resources& on_;
  const Problem& problem_;
  const Options& options_;
  std::vector<int> slot_ranks_;
  std::vector<int> candidates_;  ///< steps per pass
  std::optional<Channels> channels_;
};

}  // namespace

Plan make_plan(Resources& on, const Options& options, const Balance& balance) {
  return Planner(on, options).plan(balance);
}

}  // namespace steelyard::wave2d
