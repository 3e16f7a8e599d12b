#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include "core/base/errors.hpp"
#include "core/layout_slowdown.hpp"

namespace steelyard::test_layout_slowdown {

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;

namespace {

UnitSlowdowns of(const std::string& suboptions) {
  return unit_slowdowns(parse_layout("a 0 all host+device " + suboptions, "test.layout").entries.front());
}

}  // namespace

TEST_CASE("slowdowns of a layout's line multiply, each for the units that it names") {
  CHECK(of("").host == 1.0);
  CHECK(of("device=1,threads=3").companion == 1.0);
  const UnitSlowdowns all = of("slowdown=2,host_slowdown=3,device_slowdown=1.5");
  CHECK(all.host == 6.0);
  CHECK(all.companion == 3.0);
}

TEST_CASE("factors below 1 and unknown suboptions are refused by name") {
  for (const char* factor : {"0.5", "nan", "inf", "2x", "-3", ""}) {
    CHECK_THROWS_MATCHES(of(std::string("host_slowdown=") + factor), InvalidArgument,
                         MessageMatches(ContainsSubstring("host_slowdown is \"" + std::string(factor))));
  }
  CHECK_THROWS_MATCHES(of("slowness=2"), InvalidArgument, MessageMatches(ContainsSubstring("slowness")));
}

}  // namespace steelyard::test_layout_slowdown
