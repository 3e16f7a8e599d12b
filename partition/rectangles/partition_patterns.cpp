#include "partition/rectangles/partition_patterns.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/base/errors.hpp"
#include "partition/rectangles/rectangle.hpp"

namespace steelyard::partition {
namespace {

void require(std::span<const Rectangle> rectangles, double bytes) {
  if (rectangles.empty()) throw InvalidArgument("communication of no rectangles (expected at least one)");
  if (!(std::isfinite(bytes) && bytes >= 0.0)) {
    throw InvalidArgument(fmt::format("{} bytes (expected a finite number >= 0)", bytes));
  }
}

models::MessagePattern pattern(const char* name, std::span<const Rectangle> rectangles,
                               std::vector<models::Phase> phases) {
  return {name, static_cast<int>(rectangles.size()), std::move(phases)};
}

std::int64_t common(std::int64_t first, std::int64_t end, std::int64_t other_first, std::int64_t other_end) {
  return std::max<std::int64_t>(0, std::min(end, other_end) - std::max(first, other_first));
}

}  // namespace

models::MessagePattern halo_pattern(std::span<const Rectangle> rectangles, double bytes_per_point) {
  require(rectangles, bytes_per_point);
  models::Phase phase;
  phase.sends = models::Phase::Sends::at_once;
  const std::vector<Contacts> contacts = edge_contacts(rectangles);
  for (std::size_t i = 0; i < contacts.size(); ++i) {
    for (const std::vector<Overlap>* edge :
         {&contacts[i].above, &contacts[i].right, &contacts[i].below, &contacts[i].left}) {
      for (const Overlap& overlap : *edge) {
        phase.messages.push_back(
            {static_cast<int>(i), overlap.unit, bytes_per_point * static_cast<double>(overlap.count)});
      }
    }
  }
  return pattern("2D halo exchange", rectangles, {std::move(phase)});
}

models::MessagePattern summa_pattern(std::span<const Rectangle> rectangles, std::int64_t k, double block_bytes) {
  return summa_pattern(rectangles, k, 1, block_bytes);
}

models::MessagePattern summa_pattern(std::span<const Rectangle> rectangles, std::int64_t first, std::int64_t depth,
                                     double element_bytes) {
  require(rectangles, element_bytes);
  if (depth < 0) throw InvalidArgument(fmt::format("pivots of depth {} (expected >= 0)", depth));
  models::Phase pivot_column;
  models::Phase pivot_row;
  for (std::size_t i = 0; i < rectangles.size(); ++i) {
    const Rectangle& owner = rectangles[i];
    const bool has_column = !owner.empty() && owner.column <= first && first < owner.end_column();
    const bool has_row = !owner.empty() && owner.row <= first && first < owner.end_row();
    if (!has_column && !has_row) continue;
    for (std::size_t j = 0; j < rectangles.size(); ++j) {
      const Rectangle& other = rectangles[j];
      if (i == j || other.empty()) continue;
      const std::int64_t rows = common(owner.row, owner.end_row(), other.row, other.end_row());
      const std::int64_t columns = common(owner.column, owner.end_column(), other.column, other.end_column());
      const auto add = [&](models::Phase& phase, std::int64_t length) {
        phase.messages.push_back(
            {static_cast<int>(i), static_cast<int>(j), element_bytes * static_cast<double>(length * depth)});
      };
      if (has_column && rows > 0) add(pivot_column, rows);
      if (has_row && columns > 0) add(pivot_row, columns);
    }
  }
  return pattern("SUMMA iteration", rectangles, {std::move(pivot_column), std::move(pivot_row)});
}

}  // namespace steelyard::partition
