#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <numeric>

#include "core/base/errors.hpp"
#include "partition/proportional.hpp"
#include "tests/models/random_models.hpp"

namespace steelyard::test_even {

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;
using namespace steelyard::partition;
using models::ConstantModel;
using tests::Random;
using tests::whole;

TEST_CASE("even slices sum exactly to the total and differ by at most one") {
  Random random(1);
  for (int trial = 0; trial < 300; ++trial) {
    tests::Units units;
    const int count = whole(random, 1, 20);
    for (int i = 0; i < count; ++i) units.add(random_model(random, tests::Kind::as_measured, 100.0));
    const int total = whole(random, 0, 200);
    const Distribution split = even(total, units.models);
    REQUIRE(split.units.size() == units.models.size());
    REQUIRE(std::accumulate(split.units.begin(), split.units.end(), std::int64_t{0}) == total);
    REQUIRE(split.units.front() - split.units.back() == (total % count == 0 ? 0 : 1));
    REQUIRE(std::is_sorted(split.units.rbegin(), split.units.rend()));
  }
}

TEST_CASE("models change what an even split predicts but not the split") {
  const ConstantModel slow(1.0), fast(10.0);
  const std::vector<const models::SpeedModel*> models = {&slow, &fast};
  const Distribution split = even(7, models);
  CHECK(split.units == std::vector<std::int64_t>{4, 3});
  CHECK(split.predicted_s[0] == slow.time_s(4.0));
  CHECK(split.predicted_s[1] == fast.time_s(3.0));
}

TEST_CASE("an even split of nothing or of less than one each leaves units idle") {
  const ConstantModel model(1.0);
  const std::vector<const models::SpeedModel*> models(3, &model);
  CHECK(even(0, models).units == std::vector<std::int64_t>{0, 0, 0});
  CHECK(even(2, models).units == std::vector<std::int64_t>{1, 1, 0});
}

TEST_CASE("a unit that cannot hold its even share is named even where the others could hold it") {
  const ConstantModel roomy(1.0), tight(1.0, 4.5);
  const std::vector<const models::SpeedModel*> models = {&roomy, &tight};
  CHECK(even(9, models).units == std::vector<std::int64_t>{5, 4});
  CHECK_THROWS_MATCHES(
      even(10, models), InvalidArgument,
      MessageMatches(ContainsSubstring("share of 5") && ContainsSubstring("unit 1") && ContainsSubstring("4.5")));
}

TEST_CASE("an even split of an impossible total or over nobody is refused") {
  const ConstantModel model(1.0, 4.0);
  const std::vector<const models::SpeedModel*> models = {&model, &model};
  CHECK_THROWS_AS(even(9, models), InvalidArgument);
  CHECK_THROWS_AS(even(-1, models), InvalidArgument);
  CHECK_THROWS_AS(even(1, {}), InvalidArgument);
}

}  // namespace steelyard::test_even
