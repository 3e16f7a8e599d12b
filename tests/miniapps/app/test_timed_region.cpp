#include <catch2/catch_test_macros.hpp>

#include "core/base/errors.hpp"
#include "miniapps/app/timed_region.hpp"
#include "tests/comm/same_on_all_ranks.hpp"
#include "tests/comm/synthetic_kernel.hpp"

namespace steelyard::test_timed_region {

using namespace steelyard::tests;

TEST_CASE("a region takes as long as its slowest rank, says the same everywhere and does not count who comes late") {
  const double slowest_s = 1e-3 * session().size();
  rest(session().is_root() ? 0.3 : 0.0);
  int runs = 0;
  const double start_s = now_s();
  const double seconds = timed_region(session(), "steelyard::test::region", [&] {
    rest(1e-3 * (session().rank() + 1));
    ++runs;
  });
  CHECK(runs == 1);
  CHECK(seconds >= slowest_s);
  // Rank 0 was the last to come, so nobody's region began before this.
  if (session().is_root()) CHECK(seconds <= now_s() - start_s + 1e-2);
  CHECK(same_on_all_ranks({seconds}));
}

TEST_CASE("an error of all ranks leaves a region that can be timed again") {
  const auto fail = [] { throw RuntimeFailure("no"); };
  CHECK_THROWS_AS(timed_region(session(), "steelyard::test::failing", fail), RuntimeFailure);
  CHECK(timed_region(session(), "steelyard::test::again", [] { rest(1e-3); }) >= 1e-3);
}

}  // namespace steelyard::test_timed_region
