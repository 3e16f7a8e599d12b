#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>
#include <cstddef>
#include <cstdint>

#include "core/memory/host_array.hpp"

namespace steelyard::test_host_array {

TEMPLATE_TEST_CASE("rows of an array, as a matrix and as elements, are the same elements, without gaps", "", double,
                   float) {
  for (const std::int64_t rows : {1, 7, 20}) {
    for (const std::int64_t columns : {1, 6, 33}) {
      const HostArray<TestType> array(rows, columns);
      CHECK(array.row_count() == rows);
      const auto all = array.elements(0, rows);
      REQUIRE(all.size() == static_cast<std::size_t>(rows * columns));
      for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<TestType>(i);
      for (std::int64_t first = 0; first <= rows; ++first) {
        for (const std::int64_t count : {std::int64_t{0}, (rows - first) / 2, rows - first}) {
          const auto matrix = array.rows(first, count);
          REQUIRE(static_cast<std::int64_t>(matrix.extent(0)) == count);
          REQUIRE(static_cast<std::int64_t>(matrix.extent(1)) == columns);
          REQUIRE(array.elements(first, count).size() == static_cast<std::size_t>(count * columns));
          for (std::int64_t i = 0; i < count; ++i) {
            for (std::int64_t j = 0; j < columns; ++j) {
              REQUIRE(&matrix(i, j) == &all[static_cast<std::size_t>((first + i) * columns + j)]);
              REQUIRE(matrix(i, j) == static_cast<TestType>((first + i) * columns + j));
            }
          }
        }
      }
    }
  }
}

TEST_CASE("arrays may lack rows or columns, or all") {
  CHECK(HostArray<double>().row_count() == 0);
  CHECK(HostArray<double>().elements(0, 0).empty());
  CHECK(HostArray<double>(0, 5).rows(0, 0).extent(1) == 5);
  const HostArray<double> thin(5, 0);
  CHECK(thin.row_count() == 5);
  CHECK(thin.rows(1, 3).extent(0) == 3);
  CHECK(thin.elements(1, 3).empty());
}

TEST_CASE("copies of an array are the same memory") {
  const HostArray<float> array(3, 4);
  HostArray<float> copy;
  copy = array;
  CHECK(copy.elements(1, 2).data() == array.elements(1, 2).data());
}

}  // namespace steelyard::test_host_array
