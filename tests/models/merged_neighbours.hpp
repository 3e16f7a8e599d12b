#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "models/communication/tau_lop/transmission_expression.hpp"

namespace steelyard::tests {

inline bool identical(const models::Expression& a, const models::Expression& b) {
  return a.kind == b.kind && a.multiplicity == b.multiplicity && a.channel == b.channel && a.size == b.size &&
         std::ranges::equal(a.parts, b.parts, identical);
}

/// The same expression with neighbours of a sequence that go through one channel merged by A1, where both are of at
/// least the size `merge_from`. What stands between them in writing only is left out: parentheses, empty messages, n
/// times the same instead of n ||.
inline models::Expression merged_neighbours(models::Expression expression, double merge_from = 0.0) {
  using enum models::Expression::Kind;
  if (expression.kind == transmission) return expression.size > 0.0 ? expression : models::Expression{};
  std::vector<models::Expression> parts;
  const auto add = [&](models::Expression part) {
    if (expression.kind == sequence && !parts.empty() && part.kind == transmission &&
        parts.back().kind == transmission && part.channel == parts.back().channel &&
        part.multiplicity == parts.back().multiplicity && part.size >= merge_from && parts.back().size >= merge_from) {
      parts.back().size += part.size;
      return;
    }
    for (models::Expression& known : parts) {
      if (expression.kind != concurrent) break;
      const auto copies = std::exchange(part.multiplicity, known.multiplicity);
      if (identical(part, known)) {
        known.multiplicity += copies;
        return;
      }
      part.multiplicity = copies;
    }
    parts.push_back(std::move(part));
  };
  for (models::Expression& part : expression.parts) {
    models::Expression merged = merged_neighbours(std::move(part), merge_from);
    const bool one_by_one = merged.kind == expression.kind && (merged.kind == concurrent || merged.multiplicity == 1);
    if (merged.kind != transmission && merged.parts.empty()) continue;
    if (!one_by_one) {
      add(std::move(merged));
      continue;
    }
    for (models::Expression& inner : merged.parts) {
      inner.multiplicity *= merged.multiplicity;
      add(std::move(inner));
    }
  }
  if (parts.size() == 1) {
    parts.front().multiplicity *= expression.multiplicity;
    return std::move(parts.front());
  }
  expression.parts = std::move(parts);
  return expression;
}

}  // namespace steelyard::tests
