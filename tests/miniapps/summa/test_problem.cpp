#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <set>

#include "core/base/errors.hpp"
#include "miniapps/summa/problem.hpp"

namespace steelyard::test_problem_of_summa {

using namespace steelyard::summa;

TEST_CASE("every way to communicate has a name of its own, which reads back as itself") {
  std::set<Communication> all;
  for (const std::string& name : communication_names()) {
    all.insert(parse_communication(name));
    CHECK(communication_name(parse_communication(name)) == name);
  }
  CHECK(all == std::set{Communication::paper, Communication::bcast, Communication::pipelined});
  CHECK(parse_communication("paper") == Communication::paper);
  CHECK(parse_communication("bcast") == Communication::bcast);
  CHECK(parse_communication("pipelined") == Communication::pipelined);
}

TEST_CASE("a way to communicate that there is not is refused with those that there are") {
  for (const char* name : {"", "Paper", "smoke"}) {
    CHECK_THROWS_MATCHES(
        parse_communication(name), InvalidArgument,
        Catch::Matchers::MessageMatches(Catch::Matchers::ContainsSubstring("paper, bcast, pipelined")));
  }
}

}  // namespace steelyard::test_problem_of_summa
