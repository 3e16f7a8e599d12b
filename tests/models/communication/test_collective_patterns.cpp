#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_floating_point.hpp>
#include <limits>
#include <map>
#include <set>

#include "core/base/errors.hpp"
#include "models/communication/message_pattern.hpp"
#include "models/communication/tau_lop/aligned_evaluation.hpp"
#include "models/communication/tau_lop/event_evaluation.hpp"
#include "tests/models/tau_lop_platforms.hpp"

namespace steelyard::test_collective_patterns {

using namespace steelyard::models;
using namespace steelyard::tests;
using Catch::Matchers::WithinRel;

namespace {

constexpr int most_processes = 17;
constexpr double bytes = 48.0;
constexpr double infinity = std::numeric_limits<double>::infinity();

std::size_t at(int process) { return static_cast<std::size_t>(process); }

void for_each_number(int at_least, const std::function<void(int)>& visit) {
  for (int processes = at_least; processes <= most_processes; ++processes) {
    INFO(processes << " processes");
    visit(processes);
  }
}

/// The largest q with 2^q <= P.
int whole_logarithm(int processes) {
  int q = 0;
  while ((2 << q) <= processes) ++q;
  return q;
}

/// ceil(log2 P).
std::size_t stages(int processes) {
  const int q = whole_logarithm(processes);
  return at((1 << q) == processes ? q : q + 1);
}

void require_of_one_size(const MessagePattern& pattern, int processes) {
  REQUIRE(pattern.processes == processes);
  for (const Phase& phase : pattern.phases) {
    REQUIRE(!phase.messages.empty());
    for (const Message& message : phase.messages) REQUIRE(message.bytes == bytes);
  }
}

/// Everybody has what process 0 had, received once, from someone who had it before the phase.
void require_broadcast(const MessagePattern& pattern, int processes) {
  require_of_one_size(pattern, processes);
  std::set<int> have = {0};
  for (const Phase& phase : pattern.phases) {
    const std::set<int> had = have;
    for (const Message& message : phase.messages) {
      REQUIRE(had.contains(message.from));
      REQUIRE(have.insert(message.to).second);
    }
  }
  REQUIRE(have.size() == at(processes));
}

/// Every process sends one message and receives one.
void require_permutation(const Phase& phase, int processes) {
  std::set<int> senders, receivers;
  for (const Message& message : phase.messages) {
    REQUIRE(senders.insert(message.from).second);
    REQUIRE(receivers.insert(message.to).second);
  }
  REQUIRE(senders.size() == at(processes));
  REQUIRE(receivers.size() == at(processes));
}

/// How often the vector of each process is in a sum.
using Sum = std::map<int, int>;

void add(Sum& to, const Sum& sum) {
  for (const auto& [process, count] : sum) to[process] += count;
}

/// The sum of every process after the phases. Whoever sends without receiving before the first exchange gives its
/// vector away.
std::vector<Sum> reduced(const MessagePattern& pattern) {
  std::vector<Sum> sums(at(pattern.processes));
  for (int process = 0; process < pattern.processes; ++process) sums[at(process)] = {{process, 1}};
  bool has_exchanged = false;
  for (const Phase& phase : pattern.phases) {
    const std::vector<Sum> before = sums;
    std::set<int> receivers;
    for (const Message& message : phase.messages) receivers.insert(message.to);
    for (const Message& message : phase.messages) {
      add(sums[at(message.to)], before[at(message.from)]);
      if (receivers.contains(message.from)) {
        has_exchanged = true;
      } else if (!has_exchanged) {
        sums[at(message.from)].clear();
      }
    }
  }
  return sums;
}

double serial_s(const MessagePattern& pattern) {
  return serial_cost_s(pattern, [](const Message& message) { return message.bytes; });
}

}  // namespace

TEST_CASE("a flat broadcast gives everybody the root's data, one after the other") {
  for_each_number(1, [](int processes) {
    const MessagePattern pattern = flat_broadcast(processes, bytes);
    REQUIRE(pattern.phases.size() == 1);
    if (processes > 1) require_broadcast(pattern, processes);
    REQUIRE(pattern.phases[0].sends == Phase::Sends::in_order);
    REQUIRE(serial_s(pattern) == (processes - 1) * bytes);
  });
}

TEST_CASE("a binomial broadcast gives everybody the root's data in ceil(log2 P) phases") {
  for_each_number(1, [](int processes) {
    const MessagePattern pattern = binomial_broadcast(processes, bytes);
    require_broadcast(pattern, processes);
    REQUIRE(pattern.phases.size() == stages(processes));
    for (std::size_t i = 0; i + 1 < pattern.phases.size(); ++i) {
      REQUIRE(pattern.phases[i].messages.size() == std::size_t{1} << i);
    }
    REQUIRE(serial_s(pattern) == static_cast<double>(stages(processes)) * bytes);
  });
}

TEST_CASE("a binomial broadcast through one channel costs what the paper says (001, equation 4)") {
  Random random(1);
  const Evaluation no_merging{infinity};
  for_each_number(1, [&](int processes) {
    Platform platform = measured_platform(random, 1);
    const TauLop model(platform);
    const double m = uniform(random, 1.0, 500.0);
    const Placement placement(platform, std::vector<int>(at(processes), 0));
    const Expression broadcast = expression(binomial_broadcast(processes, m), placement);
    double equation_4_s = 0.0, last_stage_s = 0.0;
    for (std::size_t i = 0; i < stages(processes); ++i) {
      last_stage_s = model.transmission_s(0, m, std::int64_t{1} << i);
      equation_4_s += last_stage_s;
    }
    const double aligned_s = cost_s(aligned_form(broadcast, model, no_merging), model);
    REQUIRE_THAT(cost_s(event_form(broadcast, model, no_merging), model), WithinRel(aligned_s, 1e-9));
    if ((1 << whole_logarithm(processes)) == processes) {
      REQUIRE_THAT(aligned_s, WithinRel(equation_4_s, 1e-12));
    } else {
      // Of the last stage only the messages that remain.
      const int remaining = processes - (1 << whole_logarithm(processes));
      const double remaining_s = model.transmission_s(0, m, remaining);
      REQUIRE_THAT(aligned_s, WithinRel(equation_4_s - last_stage_s + remaining_s, 1e-12));
      REQUIRE(aligned_s <= equation_4_s * (1.0 + 1e-12));
    }
  });
}

TEST_CASE("in a ring every process sends to the next and receives from the one before, all at once") {
  Random random(2);
  for_each_number(2, [&](int processes) {
    const MessagePattern pattern = ring(processes, bytes);
    require_of_one_size(pattern, processes);
    REQUIRE(pattern.phases.size() == 1);
    require_permutation(pattern.phases[0], processes);
    for (const Message& message : pattern.phases[0].messages) REQUIRE(message.to == (message.from + 1) % processes);
    // On one channel that is what its transfer times are measured with: P || T(m).
    Platform platform = measured_platform(random, 1);
    const TauLop model(platform);
    const Placement placement(platform, std::vector<int>(at(processes), 0));
    REQUIRE_THAT(cost_s(aligned_form(expression(pattern, placement), model), model),
                 WithinRel(model.transmission_s(0, bytes, processes), 1e-12));
  });
}

TEST_CASE("an allgather gives everybody all blocks, none twice, in P - 1 phases") {
  for_each_number(1, [](int processes) {
    const MessagePattern pattern = ring_allgather(processes, bytes);
    require_of_one_size(pattern, processes);
    REQUIRE(pattern.phases.size() == at(processes - 1));
    // Each passes on what it received last, at first its own block.
    std::vector<int> last(at(processes));
    std::vector<std::set<int>> have(at(processes));
    for (int process = 0; process < processes; ++process) {
      last[at(process)] = process;
      have[at(process)] = {process};
    }
    for (const Phase& phase : pattern.phases) {
      require_permutation(phase, processes);
      const std::vector<int> sent = last;
      for (const Message& message : phase.messages) {
        last[at(message.to)] = sent[at(message.from)];
        REQUIRE(have[at(message.to)].insert(last[at(message.to)]).second);
      }
    }
    for (const std::set<int>& blocks : have) REQUIRE(blocks.size() == at(processes));
  });
}

TEST_CASE("an allreduce gives everybody the sum of all vectors, each counted once") {
  for_each_number(1, [](int processes) {
    const MessagePattern pattern = recursive_doubling_allreduce(processes, bytes);
    require_of_one_size(pattern, processes);
    Sum all;
    for (int process = 0; process < processes; ++process) all[process] = 1;
    for (const Sum& sum : reduced(pattern)) REQUIRE(sum == all);
  });
}

TEST_CASE("an allreduce has log2 P phases of exchanges in pairs, and two more where P is no power of two") {
  for_each_number(1, [](int processes) {
    const MessagePattern pattern = recursive_doubling_allreduce(processes, bytes);
    const int q = whole_logarithm(processes), folded = processes - (1 << q);
    REQUIRE(pattern.phases.size() == at(folded > 0 ? q + 2 : q));
    REQUIRE(serial_s(pattern) == static_cast<double>(pattern.phases.size()) * bytes);
    for (std::size_t i = 0; i < pattern.phases.size(); ++i) {
      const bool folds = folded > 0 && (i == 0 || i + 1 == pattern.phases.size());
      const std::vector<Message>& messages = pattern.phases[i].messages;
      REQUIRE(messages.size() == at(folds ? folded : 1 << q));
      for (const Message& message : messages) {
        const Message answer{message.to, message.from, message.bytes};
        REQUIRE((std::ranges::count(messages, answer) == 1) == !folds);
      }
    }
  });
}

TEST_CASE("in a 1D halo exchange neighbours exchange, and nobody else") {
  for_each_number(1, [](int processes) {
    const MessagePattern pattern = halo_1d(processes, bytes);
    REQUIRE(pattern.phases.size() == 1);
    if (processes > 1) require_of_one_size(pattern, processes);
    std::set<std::pair<int, int>> pairs;
    for (const Message& message : pattern.phases[0].messages) {
      REQUIRE(std::abs(message.from - message.to) == 1);
      REQUIRE(pairs.emplace(message.from, message.to).second);
    }
    REQUIRE(pairs.size() == at(2 * (processes - 1)));
    REQUIRE(pattern.phases[0].sends == Phase::Sends::at_once);
    REQUIRE(serial_s(pattern) == std::min(processes - 1, 2) * bytes);
  });
}

TEST_CASE("too few processes and impossible sizes are refused by every pattern, with messages or without") {
  using Pattern = MessagePattern (*)(int, double);
  for (const Pattern pattern :
       {&flat_broadcast, &binomial_broadcast, &ring, &ring_allgather, &recursive_doubling_allreduce, &halo_1d}) {
    const int least = pattern == &ring ? 2 : 1;
    for (const int processes : {-3, 0, least - 1}) CHECK_THROWS_AS(pattern(processes, bytes), InvalidArgument);
    for (const double size : {-1.0, infinity, std::numeric_limits<double>::quiet_NaN()}) {
      for (const int processes : {least, 2, 5}) CHECK_THROWS_AS(pattern(processes, size), InvalidArgument);
    }
    CHECK_NOTHROW(require_pattern(pattern(least, 0.0)));
  }
}

}  // namespace steelyard::test_collective_patterns
