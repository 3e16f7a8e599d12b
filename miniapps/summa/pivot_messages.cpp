#include "miniapps/summa/pivot_messages.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <map>
#include <utility>

#include "core/base/errors.hpp"
#include "models/communication/collective_patterns.hpp"
#include "partition/partition_patterns.hpp"

namespace steelyard::summa {
namespace {

using models::Expression;
using models::MessagePattern;
using partition::Rectangle;

Expression joined(Expression (*join)(std::vector<Expression>), std::vector<Expression> parts) {
  return parts.size() == 1 ? std::move(parts.front()) : join(std::move(parts));
}

bool in_columns(const Rectangle& tile, std::int64_t column) {
  return !tile.empty() && tile.column <= column && column < tile.end_column();
}

bool in_rows(const Rectangle& tile, std::int64_t row) {
  return !tile.empty() && tile.row <= row && row < tile.end_row();
}

/// A binomial tree over the units of a band, counted from the root on as MPI does.
MessagePattern broadcast(const std::vector<int>& units, std::size_t root, int processes, double bytes) {
  MessagePattern pattern = models::binomial_broadcast(static_cast<int>(units.size()), bytes);
  const auto unit = [&](int from_root) { return units[(root + static_cast<std::size_t>(from_root)) % units.size()]; };
  for (models::Phase& phase : pattern.phases) {
    for (models::Message& message : phase.messages) {
      message.from = unit(message.from);
      message.to = unit(message.to);
    }
  }
  pattern.processes = processes;
  return pattern;
}

}  // namespace

Expression expression(const PivotMessages& messages, const models::Placement& placement) {
  std::vector<Expression> stages;
  for (const std::vector<PatternChain>& chains : messages) {
    std::vector<Expression> at_once;
    for (const PatternChain& chain : chains) {
      std::vector<Expression> patterns;
      patterns.reserve(chain.size());
      for (const MessagePattern& pattern : chain) patterns.push_back(models::expression(pattern, placement));
      at_once.push_back(joined(models::in_sequence, std::move(patterns)));
    }
    stages.push_back(joined(models::concurrently, std::move(at_once)));
  }
  return joined(models::in_sequence, std::move(stages));
}

double serial_cost_s(const PivotMessages& messages, const std::function<double(const models::Message&)>& message_s) {
  double seconds = 0.0;
  for (const std::vector<PatternChain>& chains : messages) {
    double dearest_s = 0.0;
    for (const PatternChain& chain : chains) {
      double sum_s = 0.0;
      for (const MessagePattern& pattern : chain) sum_s += models::serial_cost_s(pattern, message_s);
      dearest_s = std::max(dearest_s, sum_s);
    }
    seconds += dearest_s;
  }
  return seconds;
}

PivotSenders::PivotSenders(const Problem& problem, std::span<const Rectangle> rectangles, double element_bytes,
                           Communication communication)
    : problem_(problem), element_bytes_(element_bytes), communication_(communication) {
  if (rectangles.empty()) throw InvalidArgument("communication of no rectangles (expected at least one)");
  if (!(element_bytes > 0.0 && std::isfinite(element_bytes))) {
    throw InvalidArgument(fmt::format("elements of {} bytes (expected a finite number > 0)", element_bytes));
  }
  for (const Rectangle& rectangle : rectangles) {
    const Tile tile = problem.tile(rectangle);
    tiles_.push_back({tile.row, tile.column, tile.rows, tile.columns});
  }
  if (communication == Communication::bcast) {
    row_bands_ = partition::row_bands(tiles_);
    column_bands_ = partition::column_bands(tiles_);
  }
}

std::vector<std::int64_t> PivotSenders::key(std::int64_t k) const {
  const std::int64_t first = problem_.first_row(k);
  std::vector<std::int64_t> key;
  for (const auto& owns : {in_columns, in_rows}) {
    for (std::size_t i = 0; i < tiles_.size(); ++i) {
      if (owns(tiles_[i], first)) key.push_back(static_cast<std::int64_t>(i));
    }
    key.push_back(-1);
  }
  key.push_back(problem_.depth(k));
  return key;
}

std::vector<PatternChain> PivotSenders::broadcasts(const std::vector<partition::Band>& bands, std::int64_t k,
                                                   bool along_rows) const {
  const std::int64_t first = problem_.first_row(k);
  std::map<int, PatternChain> by_owner;
  for (const partition::Band& band : bands) {
    const auto owner = std::find_if(band.units.begin(), band.units.end(), [&](int unit) {
      const Rectangle& tile = tiles_[static_cast<std::size_t>(unit)];
      return along_rows ? in_columns(tile, first) : in_rows(tile, first);
    });
    if (owner == band.units.end() || band.units.size() == 1) continue;
    const double bytes = element_bytes_ * static_cast<double>(band.count * problem_.depth(k));
    by_owner[*owner].push_back(broadcast(band.units, static_cast<std::size_t>(owner - band.units.begin()),
                                         static_cast<int>(tiles_.size()), bytes));
  }
  std::vector<PatternChain> chains;
  chains.reserve(by_owner.size());
  for (auto& [owner, chain] : by_owner) chains.push_back(std::move(chain));
  return chains;
}

PivotMessages PivotSenders::messages(std::int64_t k) const {
  if (communication_ == Communication::bcast) {
    return {broadcasts(row_bands_, k, true), broadcasts(column_bands_, k, false)};
  }
  MessagePattern pattern = partition::summa_pattern(tiles_, problem_.first_row(k), problem_.depth(k), element_bytes_);
  if (communication_ == Communication::pipelined) {
    models::Phase& all = pattern.phases.front();
    std::ranges::copy(pattern.phases.back().messages, std::back_inserter(all.messages));
    all.sends = models::Phase::Sends::at_once;
    pattern.phases.pop_back();
  }
  return {{{std::move(pattern)}}};
}

}  // namespace steelyard::summa
