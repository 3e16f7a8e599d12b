#include <catch2/catch_test_macros.hpp>
#include <cstdint>
#include <vector>

#include "core/sweep/unit_table.hpp"
#include "tests/core/sweep/unit_values.hpp"

namespace steelyard::test_unit_table {

TEST_CASE("a table has its values in the unit's memory, and copies of the first and the last one as padding") {
  const std::vector<std::int32_t> values{7, -3, 5};
  for (const std::size_t padding : {0, 1, 4}) {
    std::vector<std::int32_t> expected(padding, 7);
    expected.insert(expected.end(), values.begin(), values.end());
    expected.resize(expected.size() + padding, 5);
    tests::on_both_units([&]<class Execution>(const Execution& space) {
      const UnitTable<Execution, std::int32_t> table(space, values, padding);
      std::vector<std::int32_t> found(expected.size());
      copy_to_host(space, found.data(), &table.data()[-static_cast<std::int64_t>(padding)], found.size());
      space.fence();
      CHECK(found == expected);
    });
  }
}

}  // namespace steelyard::test_unit_table
