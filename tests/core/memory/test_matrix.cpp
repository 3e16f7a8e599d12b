#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>
#include <cstddef>
#include <cstdint>
#include <random>
#include <type_traits>
#include <vector>

#include "core/memory/matrix.hpp"

namespace steelyard::test_matrix {

TEST_CASE("a matrix begins where its data does and steps from row to row by its leading dimension") {
  double data[40] = {};
  const auto matrix = matrix_at<HostExecution>(data, 4, 7, 10);
  CHECK(matrix.extent(0) == 4);
  CHECK(matrix.extent(1) == 7);
  CHECK(matrix.stride(0) == 10);
  for (int i = 0; i < 4; ++i) {
    for (int j = 0; j < 7; ++j) CHECK(&matrix(i, j) == data + 10 * i + j);
  }
  const ConstMatrix<HostExecution, double> read_only = matrix;
  CHECK(read_only.data() == data);
  CHECK(read_only.stride(0) == 10);
}

TEST_CASE("whole matrices and their blocks convert to matrices") {
  const Kokkos::View<float**, Kokkos::LayoutRight, DeviceOf<HostExecution>> whole("whole", 6, 5);
  const Matrix<HostExecution, float> all = whole;
  CHECK(all.stride(0) == 5);
  const Matrix<HostExecution, float> block = Kokkos::subview(whole, Kokkos::make_pair(2, 5), Kokkos::make_pair(1, 3));
  CHECK(block.extent(0) == 3);
  CHECK(block.extent(1) == 2);
  CHECK(block.stride(0) == 5);
  CHECK(block.data() == &whole(2, 1));
}

TEST_CASE("matrices may lack rows or columns") {
  double data[10] = {};
  CHECK(matrix_at<HostExecution>(data, 0, 3, 5).size() == 0);
  const auto thin = matrix_at<HostExecution>(data, 2, 0, 5);
  CHECK(thin.extent(0) == 2);
  CHECK(thin.size() == 0);
}

TEST_CASE("a block shares its elements and its leading dimension with its matrix, and so do blocks of it") {
  std::mt19937_64 random(1);
  const auto up_to = [&random](std::int64_t most) {
    return std::uniform_int_distribution<std::int64_t>(0, most)(random);
  };
  for (int trial = 0; trial < 200; ++trial) {
    const std::int64_t rows = up_to(9), columns = up_to(9), leading = columns + up_to(3);
    std::vector<double> data(static_cast<std::size_t>(rows * leading) + 1);
    const auto matrix = matrix_at<HostExecution>(data.data(), rows, columns, leading);
    CHECK(matrix_block(matrix, 0, rows, 0, columns) == matrix);

    const std::int64_t first_row = up_to(rows), first_column = up_to(columns);
    const auto block =
        matrix_block(matrix, first_row, up_to(rows - first_row), first_column, up_to(columns - first_column));
    const auto block_rows = static_cast<std::int64_t>(block.extent(0));
    const auto block_columns = static_cast<std::int64_t>(block.extent(1));
    CAPTURE(rows, columns, leading, first_row, block_rows, first_column, block_columns);
    // Nothing has no leading dimension in Kokkos 5.
    if (block.size() == 0) continue;
    CHECK(static_cast<std::int64_t>(block.stride(0)) == leading);
    for (std::int64_t i = 0; i < block_rows; ++i) {
      for (std::int64_t j = 0; j < block_columns; ++j) {
        CHECK(&block(i, j) == &matrix(first_row + i, first_column + j));
      }
    }

    const std::int64_t inner_row = up_to(block_rows), inner_column = up_to(block_columns);
    const std::int64_t inner_rows = up_to(block_rows - inner_row), inner_columns = up_to(block_columns - inner_column);
    if (inner_rows == 0 || inner_columns == 0) continue;
    CHECK(matrix_block(block, inner_row, inner_rows, inner_column, inner_columns) ==
          matrix_block(matrix, first_row + inner_row, inner_rows, first_column + inner_column, inner_columns));
  }
}

TEST_CASE("a block has the extents that are asked for") {
  double data[40] = {};
  const auto block = matrix_block(matrix_at<HostExecution>(data, 4, 7, 10), 1, 2, 3, 4);
  CHECK(block.extent(0) == 2);
  CHECK(block.extent(1) == 4);
  CHECK(block.data() == data + 13);
  const auto no_rows = matrix_block(matrix_at<HostExecution>(data, 4, 7, 10), 4, 0, 0, 7);
  CHECK(no_rows.size() == 0);
  CHECK(no_rows.extent(1) == 7);
  const auto no_columns = matrix_block(matrix_at<HostExecution>(data, 4, 7, 10), 0, 4, 7, 0);
  CHECK(no_columns.size() == 0);
  CHECK(no_columns.extent(0) == 4);
  CHECK(matrix_block(matrix_at<HostExecution>(data, 4, 0, 0), 1, 3, 0, 0).extent(0) == 3);
}

TEMPLATE_TEST_CASE("a block of a matrix is a matrix of the same unit, as constant as that", "", HostExecution,
                   CompanionExecution) {
  using Whole = Matrix<TestType, float>;
  using Constant = ConstMatrix<TestType, float>;
  STATIC_REQUIRE(std::is_same_v<decltype(matrix_block(Whole(), 0, 0, 0, 0)), Whole>);
  STATIC_REQUIRE(std::is_same_v<decltype(matrix_block(Constant(), 0, 0, 0, 0)), Constant>);
}

}  // namespace steelyard::test_matrix
