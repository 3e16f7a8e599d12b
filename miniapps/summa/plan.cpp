#include "miniapps/summa/plan.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/errors.hpp"
#include "core/base/table.hpp"
#include "miniapps/gemm/options.hpp"
#include "miniapps/summa/measured_kernel.hpp"

namespace steelyard::summa {
namespace {

constexpr std::int64_t most_iterations = std::int64_t{1} << 20;

/// Messages as long as the shortest and the longest side of a rectangle.
MessageFacts message_facts(const Problem& problem, const Assignment& assignment, double element_bytes) {
  std::int64_t shortest = problem.n, longest = 0, largest_tile = 0;
  for (const partition::Rectangle& rectangle : assignment.rectangles) {
    const Tile tile = problem.tile(rectangle);
    if (tile.empty()) continue;
    shortest = std::min({shortest, tile.rows, tile.columns});
    longest = std::max({longest, tile.rows, tile.columns});
    largest_tile = std::max(largest_tile, tile.rows * tile.columns);
  }
  const double row_bytes = element_bytes * static_cast<double>(problem.depth(0));
  // Between two messages a rank goes through all of its C.
  return {row_bytes * static_cast<double>(shortest), row_bytes * static_cast<double>(longest),
          element_bytes * static_cast<double>(largest_tile)};
}

/// A row for every rank.
std::string details(const Resources& on, const Assignment& assignment) {
  Table table(
      {"process", "node", "row", "column", "rows", "columns", "host rows", "companion rows", "host", "companion"});
  for (std::size_t i = 0; i < assignment.rectangles.size(); ++i) {
    const partition::Rectangle& r = assignment.rectangles[i];
    std::vector<std::string> row{fmt::format("{}", i), on.node_name(static_cast<int>(i))};
    for (const std::int64_t number :
         {r.row, r.column, r.rows, r.columns, assignment.rows[i].host, assignment.rows[i].companion}) {
      row.push_back(fmt::format("{}", number));
    }
    for (const double time_s : {assignment.unit_s[i].host, assignment.unit_s[i].companion}) {
      row.push_back(on.has_seconds() && time_s > 0.0 ? format_seconds(time_s) : "-");
    }
    table.add_row(std::move(row));
  }
  return table.text();
}

/// Who gets which blocks, and how long an iteration's update takes each unit.
void add_shares(Plan& plan, const Resources& on, const Problem& problem, const Assignment& assignment) {
  for (const partition::Rectangle& rectangle : assignment.rectangles) {
    plan.rectangles.push_back({rectangle.row, rectangle.column, rectangle.rows, rectangle.columns});
  }
  plan.headings = {"blocks", "/iteration", {{"row", {}}, {"column", {}}, {"rows", {}}, {"columns", {}}}};
  // The last iteration may be less deep than the others; seconds are the mean over all.
  const double depth_share = static_cast<double>(problem.n) / static_cast<double>(problem.blocks() * problem.block);
  for (const Slot& slot : on.slots()) {
    const partition::Rectangle part = part_of(assignment, slot);
    plan.distribution.push_back(part.area());
    std::size_t column = 0;
    for (const std::int64_t number : {part.row, part.column, part.rows, part.columns}) {
      plan.headings.columns[column++].cells.push_back(part.empty() ? "-" : fmt::format("{}", number));
    }
    plan.unit_s.push_back(depth_share * assignment.unit_s[static_cast<std::size_t>(slot.rank)][slot.kind]);
  }
  plan.details = details(on, assignment);
}

}  // namespace

partition::Rectangle part_of(const Assignment& assignment, const Slot& slot) {
  const auto rank = static_cast<std::size_t>(slot.rank);
  partition::Rectangle part = assignment.rectangles[rank];
  const UnitRows& rows = assignment.rows[rank];
  if (slot.kind == ProcessingUnit::Kind::companion) part.row += rows.host;
  part.rows = rows[slot.kind];
  return part;
}

RunPlan make_plan(Resources& on, const Options& options, const Problem& problem) {
  const Choices& choices = options.choices;
  const std::string partition = on.partition();
  on.on_all_ranks([&] {
    if (problem.blocks() > most_iterations) {
      throw InvalidArgument(
          fmt::format("--size {} in blocks of --block {} comes to {} iterations (expected at most {})", problem.n,
                      problem.block, problem.blocks(), most_iterations));
    }
    if (choices.avoid_communication && !on.has_seconds()) {
      throw InvalidArgument("--avoid-communication without --model (expected seconds to compare communication with)");
    }
    require_choices(choices, partition);
  });
  const double element_bytes = gemm::element_bytes(options.run.element);
  const SpeedModels models = on.speed_models(MeasuredKernel(problem, options.run.element, options.device_memory_bytes),
                                             problem.blocks() * problem.blocks(), area_algorithm(partition));
  std::vector<ProcessModels> of_rank(static_cast<std::size_t>(on.ranks()));
  const std::vector<const models::SpeedModel*> of_slot = models.pointers();
  for (std::size_t i = 0; i < of_slot.size(); ++i) {
    of_rank[static_cast<std::size_t>(on.slots()[i].rank)][on.slots()[i].kind] = of_slot[i];
  }
  const std::vector<int> nodes = choices.node_order ? on.node_of_rank() : std::vector<int>();
  RunPlan planned;
  const auto assign_rectangles = [&](const partition::RectangleCost& communication_s) {
    on.on_all_ranks([&] { planned.assignment = assign(problem, of_rank, partition, nodes, communication_s); });
  };
  assign_rectangles({});
  const std::optional<Channels> channels = on.channels(message_facts(problem, planned.assignment, element_bytes));
  if (choices.avoid_communication && channels) {
    assign_rectangles(
        rectangle_cost(problem, element_bytes, choices.communication, channels->platform, channels->placement));
  }
  if (channels) {
    on.on_all_ranks([&] {
      planned.communication = communication_costs(problem, planned.assignment.rectangles, element_bytes,
                                                  choices.communication, channels->platform, channels->placement);
    });
  }
  const double start_s = on.start_s(), update_s = on.has_seconds() ? planned.assignment.update_s() : 0.0;
  const auto cost_of = [&](const std::vector<double>& iteration_s) {
    return total_cost(problem, iteration_s, choices.communication, update_s, start_s);
  };
  Plan& plan = planned.plan;
  const auto add_model = [&](const std::string& model, const Cost& cost) {
    const double exposed_s = cost.total_s - cost.computation_s;
    ModelForecast one{model, {}, cost.communication_s, exposed_s, cost.total_s};
    if (on.has_seconds()) one.phases.emplace_back("update", cost.computation_s);
    one.phases.emplace_back("communication", exposed_s);
    plan.by_model.push_back(one);
  };
  for (const CommunicationCost& one : planned.communication) add_model(one.model, cost_of(one.iteration_s));
  if (!channels) {
    add_model("no messages", cost_of(std::vector<double>(static_cast<std::size_t>(problem.blocks()), 0.0)));
  }
  add_shares(plan, on, problem, planned.assignment);
  plan.time_s = plan.by_model.front().total_s;
  plan.exchange_s = plan.by_model.front().exposed_s;
  plan.models = {{"", models.files()}};
  return planned;
}

}  // namespace steelyard::summa
