#include "models/communication/collective_patterns.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/base/errors.hpp"

namespace steelyard::models {
namespace {

MessagePattern pattern(const char* name, int processes, int at_least, double bytes, std::vector<Phase> phases) {
  if (processes < at_least) {
    throw InvalidArgument(fmt::format("{} of {} processes (expected at least {})", name, processes, at_least));
  }
  if (!(std::isfinite(bytes) && bytes >= 0.0)) {
    throw InvalidArgument(fmt::format("{} of {} bytes (expected a finite number >= 0)", name, bytes));
  }
  return {name, processes, std::move(phases)};
}

/// From every process to the next one, around.
Phase shift(int processes, double bytes) {
  Phase phase;
  phase.sends = Phase::Sends::at_once;
  for (int from = 0; from < processes; ++from) phase.messages.push_back({from, (from + 1) % processes, bytes});
  return phase;
}

}  // namespace

MessagePattern flat_broadcast(int processes, double bytes) {
  Phase phase;
  for (int to = 1; to < processes; ++to) phase.messages.push_back({0, to, bytes});
  return pattern("flat broadcast", processes, 1, bytes, {phase});
}

MessagePattern binomial_broadcast(int processes, double bytes) {
  std::vector<Phase> phases;
  for (int have = 1; have < processes; have *= 2) {
    Phase& phase = phases.emplace_back();
    for (int from = 0; from < std::min(have, processes - have); ++from) {
      phase.messages.push_back({from, from + have, bytes});
    }
  }
  return pattern("binomial broadcast", processes, 1, bytes, std::move(phases));
}

MessagePattern ring(int processes, double bytes) {
  return pattern("ring", processes, 2, bytes, {shift(processes, bytes)});
}

MessagePattern ring_allgather(int processes, double bytes) {
  std::vector<Phase> phases;
  if (processes > 1) phases.assign(static_cast<std::size_t>(processes) - 1, shift(processes, bytes));
  return pattern("ring allgather", processes, 1, bytes, std::move(phases));
}

MessagePattern recursive_doubling_allreduce(int processes, double bytes) {
  int power = 1;
  while (power <= processes / 2) power *= 2;
  const int folded = processes - power;
  // Of the first 2 `folded` processes the odd ones give their vectors away beforehand and get the sum afterwards.
  const auto process = [folded](int rank) { return rank < folded ? 2 * rank : rank + folded; };
  std::vector<Phase> phases;
  Phase before;
  Phase after;
  for (int rank = 0; rank < folded; ++rank) {
    before.messages.push_back({2 * rank + 1, 2 * rank, bytes});
    after.messages.push_back({2 * rank, 2 * rank + 1, bytes});
  }
  if (folded > 0) phases.push_back(before);
  for (int bit = 1; bit < power; bit *= 2) {
    Phase& phase = phases.emplace_back();
    phase.sends = Phase::Sends::at_once;
    for (int rank = 0; rank < power; ++rank) phase.messages.push_back({process(rank), process(rank ^ bit), bytes});
  }
  if (folded > 0) phases.push_back(after);
  return pattern("recursive doubling allreduce", processes, 1, bytes, std::move(phases));
}

MessagePattern halo_1d(int processes, double bytes) {
  Phase phase;
  phase.sends = Phase::Sends::at_once;
  for (int process = 0; process < processes; ++process) {
    if (process > 0) phase.messages.push_back({process, process - 1, bytes});
    if (process + 1 < processes) phase.messages.push_back({process, process + 1, bytes});
  }
  return pattern("1D halo exchange", processes, 1, bytes, {phase});
}

}  // namespace steelyard::models
