#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <csignal>
#include <vector>

#include "tests/core/ended_program.hpp"
#include "tests/device/emulated/team.hpp"

namespace steelyard::test_team {

using Catch::Matchers::ContainsSubstring;
using emulated::Team;
using emulated::team_of_this_thread;

namespace {

/// Every lane writes its number, and then adds up what all have written.
std::vector<int> sums_of_all(int threads, int lanes, std::uint64_t order, bool with_barrier) {
  const int count = threads * lanes;
  std::vector<int> written(static_cast<std::size_t>(count), 0), sums(static_cast<std::size_t>(count), 0);
  Team& team = team_of_this_thread();
  team.run(threads, lanes, order, [&](int thread, int lane) {
    const auto own = static_cast<std::size_t>(thread * lanes + lane);
    written[own] = thread * lanes + lane;
    if (with_barrier) team.team_barrier();
    for (const int number : written) sums[own] += number;
  });
  return sums;
}

}  // namespace

TEST_CASE("behind a team's barrier every lane sees what all others have written, in whatever order they run") {
  for (std::uint64_t order = 0; order < 50; ++order) {
    for (const int threads : {1, 3, 16}) {
      for (const int lanes : {1, 4, 32}) {
        const int count = threads * lanes;
        for (const int sum : sums_of_all(threads, lanes, order, true)) REQUIRE(sum == count * (count - 1) / 2);
      }
    }
  }
}

TEST_CASE("a barrier that is missing shows in every order") {
  for (std::uint64_t order = 0; order < 50; ++order) {
    const std::vector<int> sums = sums_of_all(16, 1, order, false);
    CHECK(std::count(sums.begin(), sums.end(), 16 * 15 / 2) < 16);
  }
}

TEST_CASE("lanes of a thread go on together behind their barrier, while other threads are elsewhere") {
  Team& team = team_of_this_thread();
  for (std::uint64_t order = 0; order < 20; ++order) {
    std::vector<int> count(4, 0);
    int wrong = 0;
    team.run(4, 8, order, [&](int thread, int /*lane*/) {
      int& own = count[static_cast<std::size_t>(thread)];
      for (int round = 1; round <= thread + 1; ++round) {
        ++own;
        team.lane_barrier();
        wrong += own == 8 * round ? 0 : 1;
        team.lane_barrier();
      }
      team.team_barrier();
    });
    CHECK(wrong == 0);
    CHECK(count == std::vector{8, 16, 24, 32});
  }
}

TEST_CASE("barriers that some do not reach end the program") {
  Team& team = team_of_this_thread();
  const auto threads = tests::ended_program([&] {
    team.run(4, 2, 1, [&](int thread, int /*lane*/) {
      if (thread > 0) team.team_barrier();
    });
  });
  CHECK(threads.signal == SIGABRT);
  CHECK_THAT(threads.text, ContainsSubstring("a team's barrier that some of its threads do not reach"));
  const auto lanes = tests::ended_program([&] {
    team.run(4, 2, 1, [&](int /*thread*/, int lane) {
      if (lane > 0) team.lane_barrier();
    });
  });
  CHECK(lanes.signal == SIGABRT);
  CHECK_THAT(lanes.text, ContainsSubstring("vector loop"));
}

}  // namespace steelyard::test_team
