#include "miniapps/fft2d/plan.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/errors.hpp"
#include "core/base/table.hpp"
#include "miniapps/fft2d/measured_kernel.hpp"

namespace steelyard::fft2d {
namespace {

/// Whether rows and columns are passes of the same kernel.
bool are_alike(const Problem& problem) { return !problem.real && problem.rows == problem.columns; }

/// Speed models of pass 2, where they are not those of pass 1.
std::optional<SpeedModels> column_models(Resources& on, const Options& options, const Problem& problem) {
  if (are_alike(problem) && options.column_models.empty()) return std::nullopt;
  if (options.column_models.empty() && on.has_seconds() && !on.measures()) {
    throw InvalidArgument(
        fmt::format("--column-model is missing (expected models of {} points, for those of --model are of {}{})",
                    problem.rows, problem.columns, problem.real ? " real numbers" : ""));
  }
  const MeasuredKernel kernel(problem.rows, false, options.run.element, options.fft);
  return on.speed_models(kernel, problem.spectrum_columns(), on.partition(), options.column_models);
}

/// Sizes of the messages of a transform that is split evenly.
MessageFacts message_facts(const Problem& problem, int ranks, int parts, double point_bytes) {
  const double matrix = point_bytes * problem.spectrum_points();
  const double block = matrix / (static_cast<double>(ranks) * ranks);
  return {block / (2.0 * parts), block, matrix / ranks};
}

/// Seconds of putting the second exchange into place; 0 where the memory's bandwidth is unknown.
double unpack_seconds_on(Resources& on, const Problem& problem, const RunPlan& planned, double point_bytes) {
  if (planned.passes.columns.messages.empty()) return 0.0;
  std::vector<std::int64_t> slot_bytes;
  for (const std::int64_t rows : planned.assignment.rows.units) {
    slot_bytes.push_back(rows * problem.columns * static_cast<std::int64_t>(point_bytes));
  }
  const double bytes_per_s = on.memory_bytes_per_s(slot_bytes) / static_cast<double>(slot_bytes.size());
  if (!(bytes_per_s > 0.0)) return 0.0;
  return unpack_seconds(planned.passes.columns, point_bytes, on.slowdowns(), bytes_per_s);
}

}  // namespace

RunPlan make_plan(Resources& on, const Options& options, const Problem& problem) {
  // Each rank sends to each.
  constexpr int most_ranks = 4096;
  on.on_all_ranks([&] {
    if (on.ranks() <= most_ranks) return;
    throw InvalidArgument(fmt::format("{} processes, whose messages are as many as their square (expected at most {})",
                                      on.ranks(), most_ranks));
  });
  const std::vector<int> nodes = on.node_of_rank();
  const ExchangeChoice exchange = options.exchange.choice(1 + *std::max_element(nodes.begin(), nodes.end()));
  const std::int64_t point_bytes = options.run.element == ElementType::float64 ? 16 : 8;
  const auto bytes = static_cast<double>(point_bytes);
  const MeasuredKernel row_kernel(problem.columns, problem.real, options.run.element, options.fft);
  const SpeedModels rows = on.speed_models(row_kernel, problem.rows, on.partition());
  const std::optional<SpeedModels> columns = column_models(on, options, problem);
  std::vector<int> rank_of_slot;
  for (const Slot& slot : on.slots()) rank_of_slot.push_back(slot.rank);

  RunPlan planned;
  on.on_all_ranks([&] {
    planned.assignment =
        assign(problem, rows.pointers(), columns ? columns->pointers() : rows.pointers(), on.partition(), point_bytes);
    planned.passes = plan_passes(problem, planned.assignment.shares(), rank_of_slot, exchange);
  });
  const Assignment& assignment = planned.assignment;
  const std::optional<Channels> channels = on.channels(message_facts(problem, on.ranks(), exchange.parts(), bytes));
  std::vector<models::PatternCosts> exchanges;
  if (channels) {
    on.on_all_ranks(
        [&] { exchanges = exchange_costs(planned.passes, bytes, channels->platform, channels->placement); });
  }
  TransformCost kernels;
  kernels.rows.batches = kernels.columns.batches = exchange.parts();
  if (on.has_seconds()) {
    kernels.rows = kernel_cost(rank_of_slot, assignment.rows.predicted_s, exchange);
    kernels.columns = kernel_cost(rank_of_slot, assignment.columns.predicted_s, exchange);
  }
  kernels.unpack_s = unpack_seconds_on(on, problem, planned, bytes);
  kernels.start_s = on.start_s();

  Plan& plan = planned.plan;
  const auto add_model = [&](const std::string& model, const TransformCost& cost) {
    ModelForecast one{
        model,
        {{"rows", cost.rows_s()}, {"first exchange", cost.first_exchange_s()}, {"columns", cost.columns_s()}},
        cost.rows.exchange_s + cost.columns.exchange_s,
        cost.first_exchange_s() + cost.second_exchange_s(),
        cost.total_s()};
    if (!problem.transposed) one.phases.emplace_back("second exchange", cost.second_exchange_s());
    plan.by_model.push_back(one);
  };
  for (const models::PatternCosts& by_model : exchanges) {
    TransformCost cost = kernels;
    add_exchange(cost, by_model, planned.passes, channels->platform, channels->placement);
    add_model(by_model.model, cost);
  }
  if (exchanges.empty()) add_model("no messages", kernels);

  plan.distribution = assignment.rows.units;
  plan.column_distribution = assignment.columns.units;
  plan.headings = {"rows", "", {{"columns", {}}}};
  for (std::size_t i = 0; i < rank_of_slot.size(); ++i) {
    plan.headings.columns.front().cells.push_back(fmt::format("{}", assignment.columns.units[i]));
    plan.unit_s.push_back(assignment.rows.predicted_s[i] + assignment.columns.predicted_s[i]);
  }
  plan.models = {{"", rows.files()}};
  if (columns) plan.models.push_back({"-columns", columns->files()});
  const ModelForecast& first = plan.by_model.front();
  plan.time_s = first.total_s;
  plan.exchange_s = first.exposed_s;
  plan.text = fmt::format("predicted  {}, {} of it exchanging\n", format_seconds(first.total_s),
                          format_seconds(first.exposed_s));
  return planned;
}

}  // namespace steelyard::fft2d
