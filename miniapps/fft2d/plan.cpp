#include "miniapps/fft2d/plan.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/errors.hpp"
#include "core/base/table.hpp"
#include "partition/algorithms.hpp"

namespace steelyard::fft2d {
namespace {

/// Ranges of these sizes, one behind the other from 0.
std::vector<Range> consecutive(const std::vector<std::int64_t>& counts) {
  std::vector<Range> ranges;
  std::int64_t first = 0;
  for (const std::int64_t count : counts) {
    ranges.push_back({first, count});
    first += count;
  }
  return ranges;
}

/// Batches of many rows begin at multiples of a cache line's points, so that what is stored of them begins with one.
std::vector<Range> cut(const Range& rows, int batches) {
  constexpr std::int64_t line_points = 8;
  const std::int64_t grain = rows.count >= batches * line_points ? line_points : 1;
  std::vector<Range> parts;
  std::int64_t first = 0;
  for (int batch = 1; batch <= batches; ++batch) {
    // Never a product: rows times batches may be more than 2^63.
    const std::int64_t even = rows.count / batches * batch + rows.count % batches * batch / batches;
    const std::int64_t end = batch == batches ? rows.count : even / grain * grain;
    if (end > first) parts.push_back({rows.first + first, end - first});
    first = std::max(first, end);
  }
  return parts;
}

/// Whether a unit is the first of its rank, which drives MPI.
bool is_first_of_rank(const std::vector<Slot>& slots, std::size_t slot) {
  return slot == 0 || slots[slot].rank != slots[slot - 1].rank;
}

/// Ranges of every rank's units together.
std::vector<Range> by_rank(const std::vector<Range>& ranges, const std::vector<Slot>& slots) {
  std::vector<Range> of_ranks;
  for (std::size_t i = 0; i < slots.size(); ++i) {
    if (is_first_of_rank(slots, i)) of_ranks.push_back({ranges[i].first, 0});
    of_ranks.back().count += ranges[i].count;
  }
  return of_ranks;
}

/// Plans a pass over rows, and the exchange behind it for the pass over columns.
PassPlan plan_pass(const std::vector<Range>& rows, const std::vector<Range>& columns, const std::vector<Slot>& slots,
                   int batches) {
  PassPlan plan{rows, by_rank(rows, slots), {}, {}};
  const std::vector<Range> columns_of_rank = by_rank(columns, slots);
  const auto ranks = static_cast<int>(columns_of_rank.size());
  for (std::size_t i = 0; i < slots.size(); ++i) {
    std::vector<int> receivers;
    for (int step = 1; step < ranks; ++step) {
      const int to = (slots[i].rank + step) % ranks;
      if (!columns_of_rank[static_cast<std::size_t>(to)].empty()) receivers.push_back(to);
    }
    plan.batches.push_back(cut(rows[i], receivers.empty() ? 1 : batches));
    int batch = 0;
    for (const Range& batch_rows : plan.batches.back()) {
      for (const int to : receivers) {
        plan.messages.push_back(
            {static_cast<int>(i), slots[i].rank, to, batch, batch_rows, columns_of_rank[static_cast<std::size_t>(to)]});
      }
      ++batch;
    }
  }
  return plan;
}

/// Seconds of a pass's kernels, and what the exchange behind it adds to them; see make_plan().
struct PassCost {
  double kernels_s = 0.0;   ///< of the slowest unit; 0 without speed models
  double driving_s = 0.0;   ///< of the slowest one that drives MPI
  bool by_network = false;  ///< all messages leave their nodes, so that no core of the ranks copies them

  double exposed_s(double exchange_s, int batches) const {
    const double last_s = exchange_s / batches;
    if (batches <= 1) return kernels_s + exchange_s - kernels_s;
    if (!by_network) return std::max(driving_s + exchange_s, kernels_s + last_s) - kernels_s;
    const double share = static_cast<double>(batches - 1) / batches;
    return kernels_s / batches + share * std::max(kernels_s, exchange_s) + last_s - kernels_s;
  }
};

PassCost pass_cost(const Resources& on, const PassPlan& plan, const std::vector<double>& unit_s,
                   const std::optional<Channels>& channels) {
  PassCost cost;
  for (std::size_t i = 0; on.has_seconds() && i < unit_s.size(); ++i) {
    cost.kernels_s = std::max(cost.kernels_s, unit_s[i]);
    if (is_first_of_rank(on.slots(), i)) cost.driving_s = std::max(cost.driving_s, unit_s[i]);
  }
  cost.by_network = channels && std::ranges::all_of(plan.messages, [&](const BlockMessage& message) {
                      const int channel = channels->placement.channel(message.from_rank, message.to_rank).channel;
                      return channels->platform.channel(channel).scope == models::Channel::Scope::network;
                    });
  return cost;
}

/// Messages of the exchange behind a pass: a phase for each batch, of which every rank starts all at once.
models::MessagePattern exchange_pattern(const PassPlan& plan, int ranks, double point_bytes) {
  models::MessagePattern pattern{"transposition", ranks, {}};
  for (const BlockMessage& message : plan.messages) {
    const auto batch = static_cast<std::size_t>(message.batch);
    while (pattern.phases.size() <= batch) pattern.phases.push_back({{}, models::Phase::Sends::at_once});
    pattern.phases[batch].messages.push_back(
        {message.from_rank, message.to_rank, point_bytes * static_cast<double>(message.points())});
  }
  return pattern;
}

/// Speed models of pass 2, where they are not those of pass 1.
std::optional<SpeedModels> column_models(Resources& on, const Options& options) {
  const Problem& problem = options.problem;
  const bool alike = !problem.real && problem.rows == problem.columns;
  if (alike && options.column_models.empty()) return std::nullopt;
  if (options.column_models.empty() && on.has_seconds() && !on.measures()) {
    throw InvalidArgument(
        fmt::format("--column-model is missing (expected models of {} points, for those of --model are of {}{})",
                    problem.rows, problem.columns, problem.real ? " real numbers" : ""));
  }
  return on.speed_models(*row_kernel(problem.rows, false, options.run.element, options.fft), problem.spectrum_columns(),
                         on.partition(), options.column_models);
}

/// Seconds until every unit has put what it received in the second exchange into place, all of them at the same time: a
/// point is read once, and written to a line that is fetched first. 0 where the memory's bandwidth is unknown.
/// @param row_bytes of the input, complex
double unpack_seconds(Resources& on, const PassPlans& passes, double point_bytes, std::int64_t row_bytes) {
  if (passes.columns.messages.empty()) return 0.0;
  std::vector<std::int64_t> slot_bytes;
  for (const Range& rows : passes.rows.rows) slot_bytes.push_back(rows.count * row_bytes);
  const double bytes_per_s = on.memory_bytes_per_s(slot_bytes) / static_cast<double>(slot_bytes.size());
  if (!(bytes_per_s > 0.0)) return 0.0;
  double longest_s = 0.0;
  for (std::size_t i = 0; i < slot_bytes.size(); ++i) {
    const Range& own = passes.columns.rows_of_rank[static_cast<std::size_t>(on.slots()[i].rank)];
    const auto points = static_cast<double>(passes.rows.rows[i].count * (passes.columns.rows.back().end() - own.count));
    longest_s = std::max(longest_s, on.slowdowns()[i] * 3.0 * point_bytes * points / bytes_per_s);
  }
  return longest_s;
}

}  // namespace

PassPlans plan_passes(const Problem& problem, const Shares& shares, const std::vector<Slot>& slots, Exchange exchange) {
  const auto negative = [](std::int64_t count) { return count < 0; };
  if (shares.rows.size() != slots.size() || shares.columns.size() != slots.size() ||
      std::ranges::any_of(shares.rows, negative) || std::ranges::any_of(shares.columns, negative)) {
    throw InvalidArgument(
        fmt::format("rows of {} and columns of {} units for {} units (expected one each, none negative)",
                    shares.rows.size(), shares.columns.size(), slots.size()));
  }
  const std::vector<Range> rows = consecutive(shares.rows), columns = consecutive(shares.columns);
  const int batches = batches_of(exchange);
  PassPlans plans{plan_pass(rows, columns, slots, batches), plan_pass(columns, rows, slots, batches)};
  if (problem.transposed) plans.columns.messages.clear();
  return plans;
}

Exchange exchange_of(const Options& options, const Resources& on) {
  const std::vector<int>& nodes = on.node_of_rank();
  const bool is_one_node = std::ranges::max(nodes) == 0;
  return options.exchange.value_or(is_one_node ? Exchange::at_once : Exchange::pipelined);
}

Plan make_plan(Resources& on, const Options& options) {
  const Problem& problem = options.problem;
  // Each rank sends to each.
  constexpr int most_ranks = 4096;
  on.on_all_ranks([&] {
    if (on.ranks() <= most_ranks) return;
    throw InvalidArgument(fmt::format("{} processes, whose messages are as many as their square (expected at most {})",
                                      on.ranks(), most_ranks));
  });
  const Exchange exchange = exchange_of(options, on);
  const int batches = batches_of(exchange);
  const std::int64_t point_bytes = std::int64_t{2} * element_bytes(options.run.element);
  const auto bytes = static_cast<double>(point_bytes);
  const SpeedModels row_models = on.speed_models(
      *row_kernel(problem.columns, problem.real, options.run.element, options.fft), problem.rows, on.partition());
  const std::optional<SpeedModels> own_column_models = column_models(on, options);

  partition::Distribution row_shares, column_shares;
  PassPlans passes;
  on.on_all_ranks([&] {
    const auto distribute = [&](std::int64_t total, const SpeedModels& models) {
      return partition::distribute_in_multiples(total, models.pointers(), models.algorithm(),
                                                slice_granularity(total, point_bytes));
    };
    row_shares = distribute(problem.rows, row_models);
    column_shares = distribute(problem.spectrum_columns(), own_column_models ? *own_column_models : row_models);
    passes = plan_passes(problem, {row_shares.units, column_shares.units}, on.slots(), exchange);
  });
  // Sizes of the messages of a transform that is split evenly.
  const double matrix = bytes * problem.spectrum_points(), ranks = on.ranks(), block = matrix / (ranks * ranks);
  const std::optional<Channels> channels = on.channels({block / (2.0 * batches), block, matrix / ranks});
  const auto patterns = [&] {
    return std::vector{exchange_pattern(passes.rows, on.ranks(), bytes),
                       exchange_pattern(passes.columns, on.ranks(), bytes)};
  };
  const PassCost rows = pass_cost(on, passes.rows, row_shares.predicted_s, channels);
  const PassCost columns = pass_cost(on, passes.columns, column_shares.predicted_s, channels);
  const double unpack_s = unpack_seconds(on, passes, bytes, problem.columns * point_bytes);
  const double start_s = on.start_s();

  Plan plan;
  for (const auto& [model, exchange_s] : on.message_costs(channels, 2, patterns)) {
    const double first_s = rows.exposed_s(exchange_s[0], batches);
    const double second_s = columns.exposed_s(exchange_s[1], batches) + unpack_s;
    const double rows_s = start_s + rows.kernels_s, columns_s = start_s + columns.kernels_s;
    plan.by_model.push_back({model,
                             {{"rows", rows_s}, {"first exchange", first_s}, {"columns", columns_s}},
                             exchange_s[0] + exchange_s[1],
                             first_s + second_s,
                             rows_s + first_s + columns_s + second_s});
    if (!problem.transposed) plan.by_model.back().phases.emplace_back("second exchange", second_s);
  }
  plan.distribution = row_shares.units;
  plan.column_distribution = column_shares.units;
  plan.headings = {"rows", "", {{"columns", {}}}};
  for (std::size_t i = 0; i < column_shares.units.size(); ++i) {
    plan.headings.columns.front().cells.push_back(fmt::format("{}", column_shares.units[i]));
    plan.unit_s.push_back(row_shares.predicted_s[i] + column_shares.predicted_s[i]);
  }
  plan.models = {{"", row_models.files()}};
  if (own_column_models) plan.models.push_back({"-columns", own_column_models->files()});
  const ModelForecast& first = plan.by_model.front();
  plan.time_s = first.total_s;
  plan.text = fmt::format("predicted  {}, {} of it exchanging\n", format_seconds(first.total_s),
                          format_seconds(first.exposed_s));
  return plan;
}

}  // namespace steelyard::fft2d
