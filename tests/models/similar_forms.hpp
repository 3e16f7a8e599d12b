#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <tuple>
#include <utility>

#include "models/communication/tau_lop/tau_lop.hpp"

namespace steelyard::tests {

/// Equal but for the order of the terms and rounding: terms smaller than `tolerance` of the largest do not count.
inline bool similar(models::ReducedForm a, models::ReducedForm b, double tolerance = 1e-9) {
  double largest = 0.0;
  for (const models::Term& term : a) largest = std::max(largest, term.size);
  const auto negligible = [&](const models::Term& term) { return term.size <= tolerance * largest; };
  const auto before = [](const models::Term& left, const models::Term& right) {
    return std::tie(left.channel, left.multiplicity, left.size) <
           std::tie(right.channel, right.multiplicity, right.size);
  };
  std::erase_if(a, negligible);
  std::erase_if(b, negligible);
  std::ranges::sort(a, before);
  std::ranges::sort(b, before);
  return std::ranges::equal(a, b, [&](const models::Term& left, const models::Term& right) {
    return left.channel == right.channel && left.multiplicity == right.multiplicity &&
           std::abs(left.size - right.size) <= tolerance * std::max(left.size, right.size) + 1e-13 * largest;
  });
}

/// The channel with the highest multiplicity first, then the lower number; inside a channel by falling multiplicity.
inline bool ordered_as_in_the_paper(const models::ReducedForm& form) {
  std::map<models::ChannelInstance, std::int64_t> highest;
  for (const models::Term& term : form) {
    highest[term.channel] = std::max(highest[term.channel], term.multiplicity);
  }
  return std::ranges::is_sorted(form, [&](const models::Term& left, const models::Term& right) {
    return std::tuple(-highest[left.channel], left.channel, -left.multiplicity) <
           std::tuple(-highest[right.channel], right.channel, -right.multiplicity);
  });
}

/// Bytes that a channel carries.
inline std::map<models::ChannelInstance, double> carried(const models::ReducedForm& form) {
  std::map<models::ChannelInstance, double> bytes;
  for (const models::Term& term : form) bytes[term.channel] += static_cast<double>(term.multiplicity) * term.size;
  return bytes;
}

}  // namespace steelyard::tests
