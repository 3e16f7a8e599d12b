#include "miniapps/fft2d/plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "core/base/errors.hpp"
#include "core/base/table.hpp"
#include "miniapps/fft2d/measured_kernel.hpp"
#include "models/communication/cost_models.hpp"
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

/// A pass and the exchange behind it.
PassPlan plan_pass(const std::vector<std::int64_t>& rows, const std::vector<std::int64_t>& columns,
                   const std::vector<int>& rank_of_unit, int batches) {
  PassPlan plan{consecutive(rows), consecutive(columns), rank_of_unit, {}, {}};
  const int ranks = rank_of_unit.empty() ? 0 : rank_of_unit.back() + 1;
  std::vector<Range> columns_of_rank;
  for (int rank = 0; rank < ranks; ++rank) {
    columns_of_rank.push_back(range_of_rank(plan.columns, rank_of_unit, rank));
  }
  for (std::size_t i = 0; i < rows.size(); ++i) {
    std::vector<int> receivers;
    for (int step = 1; step < ranks; ++step) {
      const int to = (rank_of_unit[i] + step) % ranks;
      if (!columns_of_rank[static_cast<std::size_t>(to)].empty()) receivers.push_back(to);
    }
    plan.batches.push_back(cut(plan.rows[i], receivers.empty() ? 1 : batches));
    int batch = 0;
    for (const Range& batch_rows : plan.batches.back()) {
      for (const int to : receivers) {
        plan.messages.push_back(
            {static_cast<int>(i), to, batch, batch_rows, columns_of_rank[static_cast<std::size_t>(to)]});
      }
      ++batch;
    }
  }
  return plan;
}

/// A pass and the exchange behind it; see make_plan().
struct PassCost {
  const PassPlan& plan;
  int batches;
  std::vector<double> unit_s = {};  ///< predicted for the rows of every unit; none without speed models
  bool by_network = false;          ///< all messages leave their nodes, so that no core of the ranks copies them

  double kernels_s() const { return unit_s.empty() ? 0.0 : *std::max_element(unit_s.begin(), unit_s.end()); }
  /// Seconds that an exchange adds to the kernels.
  double exposed_s(double exchange_s) const {
    const double all_s = kernels_s(), last_s = exchange_s / batches;
    if (batches <= 1) return all_s + exchange_s - all_s;
    if (by_network) {
      const double share = static_cast<double>(batches - 1) / batches;
      return all_s / batches + share * std::max(all_s, exchange_s) + last_s - all_s;
    }
    // A rank's first unit drives MPI.
    double driving_s = 0.0;
    for (std::size_t i = 0; i < unit_s.size(); ++i) {
      if (i == 0 || plan.rank_of_unit[i] != plan.rank_of_unit[i - 1]) driving_s = std::max(driving_s, unit_s[i]);
    }
    return std::max(driving_s + exchange_s, all_s + last_s) - all_s;
  }
};

/// Messages of the exchange behind a pass: a phase for each batch, of which every rank starts all at once.
models::MessagePattern exchange_pattern(const PassPlan& plan, int ranks, double point_bytes) {
  models::MessagePattern pattern{"transposition", ranks, {}};
  for (const BlockMessage& message : plan.messages) {
    const auto batch = static_cast<std::size_t>(message.batch);
    while (pattern.phases.size() <= batch) pattern.phases.push_back({{}, models::Phase::Sends::at_once});
    pattern.phases[batch].messages.push_back(
        {plan.from_rank(message), message.to_rank, point_bytes * static_cast<double>(message.points())});
  }
  return pattern;
}

bool all_by_network(const PassPlan& plan, const Channels& channels) {
  return std::all_of(plan.messages.begin(), plan.messages.end(), [&](const BlockMessage& message) {
    const int channel = channels.placement.channel(plan.from_rank(message), message.to_rank).channel;
    return channels.platform.channel(channel).scope == models::Channel::Scope::network;
  });
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
  const MeasuredKernel kernel(problem.rows, false, options.run.element, options.fft);
  return on.speed_models(kernel, problem.spectrum_columns(), on.partition(), options.column_models);
}

/// Seconds until every unit has put what it received in the second exchange into place, all of them at the same time: a
/// point is read once, and written to a line that is fetched first. 0 where the memory's bandwidth is unknown.
/// @param row_bytes of the input, complex
double unpack_seconds(Resources& on, const PassPlan& second, double point_bytes, std::int64_t row_bytes) {
  if (second.messages.empty()) return 0.0;
  std::vector<std::int64_t> slot_bytes;
  for (const Range& rows : second.columns) slot_bytes.push_back(rows.count * row_bytes);
  const double bytes_per_s = on.memory_bytes_per_s(slot_bytes) / static_cast<double>(slot_bytes.size());
  if (!(bytes_per_s > 0.0)) return 0.0;
  std::map<int, std::int64_t> received;  // rows of the pass, by rank
  for (const BlockMessage& message : second.messages) received[message.to_rank] += message.rows.count;
  const std::vector<double>& slowdowns = on.slowdowns();
  double longest_s = 0.0;
  for (std::size_t i = 0; i < slowdowns.size(); ++i) {
    const auto points = static_cast<double>(second.columns[i].count * received[second.rank_of_unit[i]]);
    longest_s = std::max(longest_s, slowdowns[i] * 3.0 * point_bytes * points / bytes_per_s);
  }
  return longest_s;
}

}  // namespace

Range range_of_rank(std::span<const Range> ranges, std::span<const int> rank_of_unit, int rank) {
  const auto [first, last] = std::equal_range(rank_of_unit.begin(), rank_of_unit.end(), rank);
  if (first == last) return {};
  const auto own =
      ranges.subspan(static_cast<std::size_t>(first - rank_of_unit.begin()), static_cast<std::size_t>(last - first));
  return {own.front().first, own.back().end() - own.front().first};
}

PassPlans plan_passes(const Problem& problem, const Shares& shares, const std::vector<int>& rank_of_unit,
                      Exchange exchange) {
  const std::size_t units = rank_of_unit.size();
  const auto negative = [](std::int64_t count) { return count < 0; };
  if (shares.rows.size() != units || shares.columns.size() != units || std::ranges::any_of(shares.rows, negative) ||
      std::ranges::any_of(shares.columns, negative)) {
    throw InvalidArgument(
        fmt::format("rows of {} and columns of {} units for {} units (expected one each, none negative)",
                    shares.rows.size(), shares.columns.size(), units));
  }
  PassPlans plans{plan_pass(shares.rows, shares.columns, rank_of_unit, batches_of(exchange)),
                  plan_pass(shares.columns, shares.rows, rank_of_unit, batches_of(exchange))};
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
  const std::int64_t point_bytes = options.run.element == ElementType::float64 ? 16 : 8;
  const auto bytes = static_cast<double>(point_bytes);
  const MeasuredKernel row_kernel(problem.columns, problem.real, options.run.element, options.fft);
  const SpeedModels row_models = on.speed_models(row_kernel, problem.rows, on.partition());
  const std::optional<SpeedModels> own_column_models = column_models(on, options);
  std::vector<int> rank_of_slot;
  for (const Slot& slot : on.slots()) rank_of_slot.push_back(slot.rank);

  partition::Distribution row_shares, column_shares;
  PassPlans passes;
  on.on_all_ranks([&] {
    const partition::Algorithm algorithm = partition::find_algorithm(on.partition());
    const auto distribute = [&](std::int64_t total, const SpeedModels& models) {
      return partition::distribute_in_multiples(total, models.pointers(), algorithm,
                                                slice_granularity(total, point_bytes));
    };
    row_shares = distribute(problem.rows, row_models);
    column_shares = distribute(problem.spectrum_columns(), own_column_models ? *own_column_models : row_models);
    passes = plan_passes(problem, {row_shares.units, column_shares.units}, rank_of_slot, exchange);
  });
  PassCost rows{passes.rows, batches}, columns{passes.columns, batches};
  if (on.has_seconds()) {
    rows.unit_s = row_shares.predicted_s;
    columns.unit_s = column_shares.predicted_s;
  }
  // Sizes of the messages of a transform that is split evenly.
  const double matrix = bytes * problem.spectrum_points(), ranks = on.ranks(), block = matrix / (ranks * ranks);
  const std::optional<Channels> channels = on.channels({block / (2.0 * batches), block, matrix / ranks});
  std::vector<models::PatternCosts> exchanges;
  if (channels) {
    on.on_all_ranks([&] {
      const models::MessagePattern patterns[] = {exchange_pattern(rows.plan, on.ranks(), bytes),
                                                 exchange_pattern(columns.plan, on.ranks(), bytes)};
      exchanges = models::pattern_costs(patterns, channels->platform, channels->placement);
    });
    for (PassCost* pass : {&rows, &columns}) pass->by_network = all_by_network(pass->plan, *channels);
  }
  if (exchanges.empty()) exchanges.push_back({"no messages", {0.0, 0.0}});
  const double unpack_s = unpack_seconds(on, passes.columns, bytes, problem.columns * point_bytes);
  const double start_s = on.start_s();

  Plan plan;
  for (const auto& [model, exchange_s] : exchanges) {
    const double first_s = rows.exposed_s(exchange_s[0]), second_s = columns.exposed_s(exchange_s[1]) + unpack_s;
    const double rows_s = start_s + rows.kernels_s(), columns_s = start_s + columns.kernels_s();
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
  for (std::size_t i = 0; i < rank_of_slot.size(); ++i) {
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
