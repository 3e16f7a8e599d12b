#include <catch2/catch_test_macros.hpp>

#include "core/base/errors.hpp"
#include "core/machine.hpp"

namespace steelyard::test_core_list {

TEST_CASE("parsing a formatted core list gives the list back") {
  for (const CoreList& cores :
       {CoreList{0}, CoreList{3}, CoreList{0, 1, 2, 3}, CoreList{0, 2, 4}, CoreList{1, 2, 5, 6, 7, 30}}) {
    REQUIRE(parse_cores(format_cores(cores)) == cores);
  }
}

TEST_CASE("core lists are sorted and free of repetitions") {
  REQUIRE(parse_cores("4,0-2,1") == CoreList{0, 1, 2, 4});
  REQUIRE(format_cores({0, 1, 2, 4}) == "0-2,4");
}

TEST_CASE("malformed core lists are refused") {
  for (const char* text : {"", "a", "1-", "-1", "3-1", "1,,2", "1;2", "0x1", "99999999999"}) {
    INFO(text);
    REQUIRE_THROWS_AS(parse_cores(text), InvalidArgument);
  }
}

}  // namespace steelyard::test_core_list
