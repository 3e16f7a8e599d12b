#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <functional>
#include <limits>
#include <vector>

#include "comm/measurement/pattern_run.hpp"
#include "core/base/errors.hpp"
#include "models/communication/message_pattern.hpp"
#include "tests/comm/same_on_all_ranks.hpp"
#include "tests/comm/started_session.hpp"

namespace steelyard::test_pattern_run {

using namespace steelyard::models;
using namespace steelyard::tests;

namespace {

constexpr double mebibyte = 1 << 20;

std::vector<MessagePattern> patterns(int processes, double bytes) {
  std::vector<MessagePattern> patterns{flat_broadcast(processes, bytes), binomial_broadcast(processes, bytes),
                                       ring_allgather(processes, bytes), recursive_doubling_allreduce(processes, bytes),
                                       halo_1d(processes, bytes)};
  if (processes >= 2) patterns.push_back(ring(processes, bytes));
  return patterns;
}

/// Everybody sends to everybody, one message after the other, of sizes that `bytes` gives them.
MessagePattern everybody_in_order(int processes, const std::function<double(int from, int to)>& bytes) {
  Phase phase;
  phase.sends = Phase::Sends::in_order;
  for (int from = 0; from < processes; ++from) {
    for (int to = 0; to < processes; ++to) {
      if (from != to) phase.messages.push_back({from, to, bytes(from, to)});
    }
  }
  return {"everybody in order", processes, {phase}};
}

void check_runs(const MessagePattern& pattern, int repetitions = 2) {
  INFO(pattern.name);
  PatternRun run(session().comm(), pattern);
  run.run();
  const std::vector<double> times = run.times_s(repetitions);
  CHECK(static_cast<int>(times.size()) == repetitions);
  CHECK(std::all_of(times.begin(), times.end(), [](double time_s) { return time_s > 0.0; }));
  CHECK(same_on_all_ranks(times));
}

}  // namespace

TEST_CASE("all collective patterns come to their end, with messages of any protocol") {
  for (const double bytes : {0.0, 1.0, 4096.0, 100000.0, mebibyte}) {
    CAPTURE(bytes);
    for (const MessagePattern& pattern : patterns(session().size(), bytes)) check_runs(pattern);
  }
}

TEST_CASE("everybody may send to everybody in order, also what waits for its receiver") {
  const int processes = session().size();
  check_runs(everybody_in_order(processes, [](int, int) { return mebibyte; }));
  check_runs(everybody_in_order(processes, [](int from, int to) { return (from + to) % 2 == 0 ? 8.0 : mebibyte; }));
  MessagePattern phases = everybody_in_order(processes, [](int from, int to) { return 1000.0 * from + to; });
  phases.phases.resize(20, phases.phases.front());
  check_runs(phases);
}

TEST_CASE("several messages of two processes keep their order, in a phase and from one to the next") {
  if (session().size() < 2) return;
  // One that were received in the place of a shorter one would be an error of MPI.
  const std::vector<double> sizes{10.0, mebibyte, 0.0, 5000.0, 1.0, 65536.0};
  for (const Phase::Sends sends : {Phase::Sends::in_order, Phase::Sends::at_once}) {
    MessagePattern pattern{"mixed sizes", session().size(), {}};
    for (std::size_t shift = 0; shift < sizes.size(); ++shift) {
      Phase phase;
      phase.sends = sends;
      for (std::size_t i = 0; i < sizes.size(); ++i) {
        phase.messages.push_back({0, 1, sizes[i]});
        phase.messages.push_back({1, 0, sizes[(i + shift) % sizes.size()]});
      }
      pattern.phases.push_back(phase);
    }
    check_runs(pattern);
  }
}

TEST_CASE("a pattern without messages takes some time, no repetitions none") {
  check_runs({"nothing", session().size(), {}});
  check_runs({"empty phases", session().size(), {{}, {}}});
  check_runs({"nothing", session().size(), {}}, 0);
}

TEST_CASE("patterns of other numbers of processes and messages that cannot be sent are refused on all ranks") {
  const int processes = session().size();
  for (const int other : {1, processes - 1, processes + 1, 2 * processes}) {
    if (other < 1 || other == processes) continue;
    CHECK_THROWS_AS(PatternRun(session().comm(), halo_1d(other, 8.0)), InvalidArgument);
  }
  const double infinity = std::numeric_limits<double>::infinity();
  for (const Message& wrong : {Message{0, 0, 8.0}, Message{0, processes, 8.0}, Message{-1, 0, 8.0}}) {
    const MessagePattern pattern{"wrong", processes, {Phase{{wrong}, Phase::Sends::in_order}}};
    CHECK_THROWS_AS(PatternRun(session().comm(), pattern), InvalidArgument);
  }
  if (processes < 2) return;
  for (const double bytes : {-1.0, infinity, 2147483648.0, 1e12}) {
    const MessagePattern pattern{"wrong", processes, {Phase{{{1, 0, bytes}}, Phase::Sends::in_order}}};
    CHECK_THROWS_AS(PatternRun(session().comm(), pattern), InvalidArgument);
  }
}

}  // namespace steelyard::test_pattern_run
