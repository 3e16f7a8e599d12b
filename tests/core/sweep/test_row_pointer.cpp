#include <array>
#include <catch2/catch_test_macros.hpp>

#include "core/sweep/row_pointer.hpp"

namespace steelyard::test_row_pointer {

TEST_CASE("a row, what lies behind one of its elements, and a part of it share the elements") {
  std::array<int, 8> numbers{0, 1, 2, 3, 4, 5, 6, 7};
  const RowPointer<int> row = row_pointer(numbers.data() + 1, -1, 7);
  CHECK(row[-1] == 0);
  CHECK(row[6] == 7);
  CHECK((row + 2)[-3] == 0);
  CHECK((row + 2)[4] == 7);
  const RowPointer<int> part = part_of_row(row, 3, -1, 2);
  part[-1] = 30;
  part[1] = 50;
  CHECK(numbers == std::array<int, 8>{0, 1, 2, 30, 4, 50, 6, 7});
}

TEST_CASE("rows of a matrix and elements of a vector are those of the View") {
  const Kokkos::View<double**, Kokkos::LayoutRight, Kokkos::HostSpace> matrix("matrix", 3, 4);
  const Kokkos::View<double*, Kokkos::HostSpace> vector("vector", 5);
  CHECK(&row_of(matrix, 2)[3] == &matrix(2, 3));
  CHECK(&elements_of(vector)[4] == &vector(4));
}

}  // namespace steelyard::test_row_pointer
