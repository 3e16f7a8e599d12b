#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <vector>

#include "core/base/errors.hpp"
#include "partition/balancing/slice_search.hpp"

namespace steelyard::test_search_range {

using namespace steelyard::partition;

namespace {

constexpr double no_limit = std::numeric_limits<double>::infinity();

SearchOptions limited(double first, double second) {
  SearchOptions options;
  options.max_units = {first, second};
  return options;
}

}  // namespace

TEST_CASE("a search's range is all that the first unit can get such that both slices fit") {
  const std::vector<double> limits{0.5, 1.0, 3.0, 7.9, 20.0, no_limit};
  for (std::int64_t total = 0; total <= 20; ++total) {
    for (const double first : limits) {
      for (const double second : limits) {
        CAPTURE(total, first, second);
        std::vector<std::int64_t> fitting;
        for (std::int64_t units = 0; units <= total; ++units) {
          if (static_cast<double>(units) <= first && static_cast<double>(total - units) <= second) {
            fitting.push_back(units);
          }
        }
        if (fitting.empty()) {
          CHECK_THROWS_AS(search_range(total, limited(first, second)), InvalidArgument);
          continue;
        }
        const SearchRange range = search_range(total, limited(first, second));
        CHECK(range.least == fitting.front());
        CHECK(range.most == fitting.back());
        REQUIRE(std::ranges::count(fitting, range.even) == 1);
        const auto apart = [&](std::int64_t units) { return std::abs(2 * units - total); };
        for (const std::int64_t units : fitting) CHECK(apart(range.even) <= apart(units));
      }
    }
  }
}

TEST_CASE("searches that cannot be made are refused") {
  SearchOptions options;
  options.resolution = 0;
  CHECK_THROWS_AS(search_range(10, options), InvalidArgument);
  options = {};
  options.repetition.least_rounds = 6;
  CHECK_THROWS_AS(search_range(10, options), InvalidArgument);
  CHECK_THROWS_AS(search_range(-1, {}), InvalidArgument);
}

}  // namespace steelyard::test_search_range
