#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace steelyard::partition {

/// One choice of a processing unit: a number of computation units and its cost. Costs are whole numbers, so that no
/// result depends on the order of additions or on how a compiler rounds.
struct Choice {
  std::int64_t units = 0;
  std::int64_t cost = 0;
};

/// The choices of every processing unit, by increasing size, at least one each.
using Choices = std::vector<std::vector<Choice>>;

/// Whether some choices within a cost, one per processing unit, sum to `total`. Sizes need not begin with 0.
/// Necessary conditions come first (smallest and largest sums, greatest common divisor). Then sums are collected from
/// the nearer end, with the units first that decide on residues, until `total` is among them; until no sum has its
/// residue by what all other units have in common; or until a run of sums is long enough to grow without holes up to
/// `total`. Worst case O(sum_i m_i total / 64) word operations; next to nothing where sums fill up, as they do on
/// measured tables.
bool is_reachable(std::int64_t total, const Choices& choices, std::int64_t most_cost);

/// The least cost c for which choices within c sum to `total`; nothing where there is none. Begins where the largest
/// sizes within c suffice; near there few choices matter most often, which NearLargest finds it by. Else bisects over
/// the costs that occur from there on.
std::optional<std::int64_t> least_bottleneck(std::int64_t total, const Choices& choices);

/// Which of several choices that all lead to `total` a processing unit gets.
enum class Prefer {
  more_units,  ///< the lexicographically greatest distribution
  less_cost,   ///< the cheapest, unit by unit from the first; among those the largest
};

/// A distribution of choices within a cost that sums to `total`; nothing where there is none.
/// Memory O(sqrt(p) total / 8) bytes at worst: sets of sums are kept at every sqrt(p)-th unit and rebuilt in between.
std::optional<std::vector<std::int64_t>> find_split(std::int64_t total, const Choices& choices, std::int64_t most_cost,
                                                    Prefer prefer);

}  // namespace steelyard::partition
