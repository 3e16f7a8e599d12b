#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include "core/base/errors.hpp"
#include "tests/device/emulated/facts.hpp"

namespace steelyard::test_facts {

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;
using emulated::Facts;
using emulated::parse_facts;

TEST_CASE("an emulated device is what the environment says, and otherwise what it always is") {
  const Facts all = parse_facts("memory=64MiB,devices=2,scratch=32KiB,seed=7,mpi=aware");
  CHECK(all.memory_bytes == 64.0 * 1048576.0);
  CHECK(all.devices == 2);
  CHECK(all.scratch_bytes == 32768);
  CHECK(all.seed == 7);
  CHECK(all.mpi_aware);
  const Facts usual = parse_facts(""), one = parse_facts("memory=12345");
  CHECK(usual.devices == 1);
  CHECK_FALSE(usual.mpi_aware);
  CHECK(one.memory_bytes == 12345.0);
  CHECK(one.scratch_bytes == usual.scratch_bytes);
  CHECK(parse_facts("memory=1GiB").memory_bytes == 1073741824.0);
}

TEST_CASE("a word that is no fact of a device is refused, naming it and what was expected") {
  for (const char* const word : {"memory=64MB", "memory=", "memory", "devices=0", "devices=two", "scratch=-1", "seed=x",
                                 "mpi=yes", "colour=red", "=1"}) {
    CHECK_THROWS_MATCHES(parse_facts(std::string("seed=3,") + word), InvalidArgument,
                         MessageMatches(ContainsSubstring(std::string("\"") + word + "\" (expected ")));
  }
}

}  // namespace steelyard::test_facts
