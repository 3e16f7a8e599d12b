#include "miniapps/fft2d/exchange_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "core/base/errors.hpp"

namespace steelyard::fft2d {
namespace {

/// Batches of many rows begin at multiples of this, so that what is stored of them begins with a cache line.
constexpr std::int64_t line_points = 8;

void require_plan(std::span<const std::int64_t> rows, std::span<const std::int64_t> columns,
                  std::span<const int> rank_of_unit, int batches) {
  const auto negative = [](std::int64_t count) { return count < 0; };
  const bool same = rows.size() == columns.size() && rows.size() == rank_of_unit.size();
  if (!same || batches < 1 || std::any_of(rows.begin(), rows.end(), negative) ||
      std::any_of(columns.begin(), columns.end(), negative) ||
      !std::is_sorted(rank_of_unit.begin(), rank_of_unit.end())) {
    throw InvalidArgument(
        fmt::format("rows of {}, columns of {} and ranks of {} units in {} batches (expected one each, none negative, "
                    "ranks in ascending order, at least one batch)",
                    rows.size(), columns.size(), rank_of_unit.size(), batches));
  }
}

/// Ranges of these sizes, one behind the other from 0.
std::vector<Range> consecutive(std::span<const std::int64_t> counts) {
  std::vector<Range> ranges;
  std::int64_t first = 0;
  for (const std::int64_t count : counts) {
    ranges.push_back({first, count});
    first += count;
  }
  return ranges;
}

std::vector<Range> cut(const Range& rows, std::int64_t batches) {
  const std::int64_t grain = rows.count >= batches * line_points ? line_points : 1;
  std::vector<Range> parts;
  std::int64_t first = 0;
  for (std::int64_t batch = 1; batch <= batches; ++batch) {
    // Never a product: rows times batches may be more than 2^63.
    const std::int64_t even = rows.count / batches * batch + rows.count % batches * batch / batches;
    const std::int64_t end = batch == batches ? rows.count : even / grain * grain;
    if (end > first) parts.push_back({rows.first + first, end - first});
    first = std::max(first, end);
  }
  return parts;
}

}  // namespace

Range PassPlan::of_rank(const std::vector<Range>& ranges, int rank) const {
  Range all;
  bool found = false;
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    if (rank_of_unit[i] != rank) continue;
    if (!found) all.first = ranges[i].first;
    found = true;
    all.count += ranges[i].count;
  }
  return all;
}

PassPlan plan_pass(std::span<const std::int64_t> rows, std::span<const std::int64_t> columns,
                   std::span<const int> rank_of_unit, int batches) {
  require_plan(rows, columns, rank_of_unit, batches);
  PassPlan plan{consecutive(rows), consecutive(columns), {rank_of_unit.begin(), rank_of_unit.end()}, {}, {}};
  std::vector<std::pair<int, Range>> columns_of_ranks;
  for (std::size_t i = 0; i < rank_of_unit.size(); ++i) {
    if (columns_of_ranks.empty() || columns_of_ranks.back().first != rank_of_unit[i]) {
      columns_of_ranks.emplace_back(rank_of_unit[i], plan.columns_of_rank(rank_of_unit[i]));
    }
  }
  std::size_t own = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const int rank = rank_of_unit[i];
    while (columns_of_ranks[own].first != rank) ++own;
    std::int64_t longest = 0;
    for (std::size_t other = 0; other < columns_of_ranks.size(); ++other) {
      if (other != own) longest = std::max(longest, columns_of_ranks[other].second.count);
    }
    const std::int64_t most_rows =
        longest > 0 ? std::max<std::int64_t>(1, std::numeric_limits<int>::max() / longest) : 0;
    const std::int64_t parts =
        longest > 0 ? std::max<std::int64_t>(batches, rows[i] / most_rows + (rows[i] % most_rows != 0 ? 1 : 0)) : 1;
    // Boundaries at cache lines make batches that are a little longer than even ones.
    const bool tight = longest > 0 && parts > batches;
    plan.batches.push_back(cut(plan.rows[i], std::max<std::int64_t>(1, tight ? 2 * parts : parts)));
    for (std::size_t batch = 0; batch < plan.batches.back().size(); ++batch) {
      for (std::size_t step = 1; step < columns_of_ranks.size(); ++step) {
        const auto& [to, its_columns] = columns_of_ranks[(own + step) % columns_of_ranks.size()];
        if (its_columns.empty()) continue;
        plan.messages.push_back(
            {static_cast<int>(i), to, static_cast<int>(batch), plan.batches.back()[batch], its_columns});
      }
    }
  }
  return plan;
}

PassPlans plan_passes(const Problem& problem, const Shares& shares, const std::vector<int>& rank_of_unit,
                      Exchange exchange) {
  PassPlans plans{plan_pass(shares.rows, shares.columns, rank_of_unit, batches_of(exchange)),
                  plan_pass(shares.columns, shares.rows, rank_of_unit, batches_of(exchange))};
  if (problem.transposed) plans.columns.messages.clear();
  return plans;
}

}  // namespace steelyard::fft2d
