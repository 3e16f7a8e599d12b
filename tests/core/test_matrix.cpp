#include <catch2/catch_test_macros.hpp>

#include "core/matrix.hpp"

using namespace steelyard;

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
