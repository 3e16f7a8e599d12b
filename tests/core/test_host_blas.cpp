#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <thread>

#include "core/host_blas.hpp"
#include "core/spaces.hpp"
#include "tests/core/threads.hpp"

namespace steelyard::test_host_blas {

using namespace steelyard::tests;

namespace {

template <class Scalar>
void multiply_2_3_2() {
  // Rows are followed by elements that do not belong to the matrices.
  const Scalar a[] = {1, 2, 3, -1, 4, 5, 6, -1};
  const Scalar b[] = {1, 0, 0, 1, 2, 2};
  Scalar c[] = {1, 1, 7, 1, 1, 7};
  host_blas_gemm(GemmCall<Scalar>{2, 2, 3, Scalar{2}, a, 4, b, 2, Scalar{10}, c, 3});
  const Scalar expected[] = {2 * 7 + 10, 2 * 8 + 10, 7, 2 * 16 + 10, 2 * 17 + 10, 7};
  for (int i = 0; i < 6; ++i) CHECK(c[i] == expected[i]);
}

}  // namespace

TEST_CASE("the BLAS multiplies matrices that lie row after row") {
  multiply_2_3_2<double>();
  multiply_2_3_2<float>();
}

TEST_CASE("the BLAS has a name, and one of OpenBLAS' tells its version and threads") {
  CHECK_FALSE(host_blas().name.empty());
  if (openblas_threads() > 0) {
    CHECK_THAT(host_blas().name,
               Catch::Matchers::Matches(
                   "OpenBLAS [0-9.]+[^ ]* \\((OpenMP|pthreads|single-threaded)(, [A-Za-z0-9]+ kernels)?\\)"));
    CHECK(host_blas().uses_openmp == (host_blas().name.find("(OpenMP") != std::string::npos));
    if (!host_blas().uses_openmp) CHECK(openblas_threads() == 1);
  }
}

TEST_CASE("a BLAS that uses OpenMP takes a number of threads") {
  if (!host_blas().uses_openmp || openblas_threads() == 0) SKIP("this BLAS keeps no such number");
  const int before = openblas_threads();
  const OpenMpThreads two(2);
  set_blas_threads(2);
  CHECK(openblas_threads() == 2);
  set_blas_threads(before);
  CHECK(openblas_threads() == before);
}

TEST_CASE("the number of OpenMP's threads is the calling thread's, and as before afterwards") {
  if (openmp_threads() == 0) SKIP("this program has no OpenMP");
  const int before = openmp_threads();
  {
    const OpenMpThreads three(3);
    CHECK(openmp_threads() == 3);
    {
      const OpenMpThreads one(1);
      CHECK(openmp_threads() == 1);
      int others = 0;
      std::thread([&] {
        const OpenMpThreads two(2);
        others = openmp_threads();
      }).join();
      CHECK(others == 2);
      CHECK(openmp_threads() == 1);
    }
    CHECK(openmp_threads() == 3);
  }
  CHECK(openmp_threads() == before);
}

}  // namespace steelyard::test_host_blas
