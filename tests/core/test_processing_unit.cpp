#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <string>

#include "core/base/errors.hpp"
#include "core/processing_unit.hpp"

namespace steelyard::test_processing_unit {

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;

TEST_CASE("each choice of units is written as the user types it and read back") {
  for (const char* word : {"host", "device", "host+device"}) CHECK(format_unit_choice(parse_unit_choice(word)) == word);
  CHECK(parse_unit_choice("host") == UnitChoice::host);
  CHECK(parse_unit_choice("device") == UnitChoice::device);
  CHECK(parse_unit_choice("host+device") == UnitChoice::host_and_device);
}

TEST_CASE("another choice of units is refused with its word and the choices") {
  for (const char* word : {"", "gpu", "Host", "device+host", "host+", "host device", " host"}) {
    CHECK_THROWS_MATCHES(parse_unit_choice(word), InvalidArgument,
                         MessageMatches(ContainsSubstring('"' + std::string(word) + '"') &&
                                        ContainsSubstring("host, device or host+device")));
  }
}

TEST_CASE("a unit is emulated when it is slowed down") {
  ProcessingUnit unit;
  CHECK_FALSE(unit.emulated());
  unit.slowdown = 1.5;
  CHECK(unit.emulated());
}

TEST_CASE("units are called as in --units") {
  ProcessingUnit unit;
  CHECK(unit.name() == "host");
  unit.kind = ProcessingUnit::Kind::companion;
  CHECK(unit.name() == "device");
  CHECK_NOTHROW(parse_unit_choice(unit.name()));
}

TEST_CASE("a rank counts the units it drives") {
  RankUnits units;
  CHECK(units.count() == 0);
  units.companion.emplace();
  CHECK(units.count() == 1);
  units.host.emplace();
  CHECK(units.count() == 2);
}

}  // namespace steelyard::test_processing_unit
