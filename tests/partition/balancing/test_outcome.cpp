#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <set>

#include "core/base/errors.hpp"
#include "partition/balancing/outcome.hpp"

namespace steelyard::test_outcome {

using namespace steelyard::partition;
using Slices = std::vector<std::int64_t>;

TEST_CASE("the moved share counts every computation unit that changes hands once") {
  CHECK(moved_share(Slices{50, 50}, Slices{50, 50}) == 0.0);
  CHECK(moved_share(Slices{50, 50}, Slices{40, 60}) == 0.1);
  CHECK(moved_share(Slices{10, 0}, Slices{0, 10}) == 1.0);
  CHECK(moved_share(Slices{25, 25, 25, 25}, Slices{20, 30, 20, 30}) == 0.1);
  CHECK(moved_share(Slices{0, 0}, Slices{0, 0}) == 0.0);
  CHECK_THROWS_AS(moved_share(Slices{1}, Slices{1, 0}), InvalidArgument);
}

TEST_CASE("balancing starts even as far as memory allows, or where it is told to") {
  CHECK(start_or_even(10, 3, {}, {}) == Slices{4, 3, 3});
  CHECK(start_or_even(10, 3, {}, std::vector<double>{1.5, 100.0, 100.0}) == Slices{1, 5, 4});
  CHECK(start_or_even(10, 3, Slices{10, 0, 0}, {}) == Slices{10, 0, 0});
  CHECK_THROWS_AS(start_or_even(10, 2, {}, std::vector<double>{4.0, 5.0}), InvalidArgument);
  CHECK_THROWS_AS(start_or_even(10, 2, {}, std::vector<double>{40.0}), InvalidArgument);
  CHECK_THROWS_AS(start_or_even(10, 2, Slices{10}, {}), InvalidArgument);
  CHECK_THROWS_AS(start_or_even(10, 2, Slices{11, -1}, {}), InvalidArgument);
  CHECK_THROWS_AS(start_or_even(10, 2, Slices{5, 4}, {}), InvalidArgument);
  CHECK_THROWS_AS(start_or_even(10, 2, Slices{6, 4}, std::vector<double>{5.0, 9.0}), InvalidArgument);
}

TEST_CASE("every reason to stop has its own words") {
  std::set<std::string> words;
  for (int reason = 0; reason <= static_cast<int>(StopReason::measurement_limit); ++reason) {
    words.insert(to_string(static_cast<StopReason>(reason)));
  }
  CHECK(words.size() == static_cast<std::size_t>(StopReason::measurement_limit) + 1);
}

}  // namespace steelyard::test_outcome
