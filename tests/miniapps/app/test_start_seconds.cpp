#include <catch2/catch_test_macros.hpp>

#include "miniapps/app/start_seconds.hpp"
#include "tests/comm/same_on_all_ranks.hpp"

namespace steelyard::test_start_seconds {

using namespace steelyard::tests;

TEST_CASE("starting units takes a little time, the same on all ranks") {
  CoExecution co_execution(session().machine(), started_units());
  const double seconds = start_seconds(session(), co_execution);
  CHECK(seconds > 0.0);
  CHECK(seconds < 0.1);
  CHECK(same_on_all_ranks({seconds}));
}

}  // namespace steelyard::test_start_seconds
