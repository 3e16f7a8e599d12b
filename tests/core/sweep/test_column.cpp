#include <catch2/catch_test_macros.hpp>

#include "core/sweep/sweep_body.hpp"

namespace steelyard::test_column {

TEST_CASE("a column is its index, and an inner one only where that is said") {
  const Column column = 7, inner(7, true);
  CHECK(column == 7);
  CHECK(column + 1 == 8);
  CHECK_FALSE(column.is_inner());
  CHECK(inner.is_inner());
  const double numbers[] = {1.0, 2.0, 3.0};
  const RowPointer<const double> all = row_pointer(numbers, 0, 3);
  const ColumnValues values{all, 5.0};
  CHECK(values(Column(1)) == 2.0);
  CHECK(values(Column(1, true)) == 5.0);
  const ColumnFaces faces{all, 5.0};
  CHECK(faces.left(Column(1)) == 2.0);
  CHECK(faces.right(Column(1)) == 3.0);
  CHECK(faces.left(Column(1, true)) == 5.0);
  CHECK(faces.right(Column(1, true)) == 5.0);
}

}  // namespace steelyard::test_column
