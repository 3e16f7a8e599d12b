#include <catch2/catch_test_macros.hpp>
#include <random>

#include "core/sliced_gemm.hpp"
#include "tests/core/naive_gemm.hpp"
#include "tests/core/threads.hpp"
#include "tests/core/unit_matrix.hpp"

namespace steelyard::test_sliced_gemm {

using namespace steelyard::tests;

TEST_CASE("slices multiplied by one thread each make the whole product, and start no other thread") {
  std::mt19937_64 random(11);
  const HostExecution space;
  int threads = 0;
  for (const int m : {0, 1, 2, 13, 200}) {
    for (const int n : {0, 1, 3, 17, 201}) {
      for (const int k : {1, 5, 150}) {
        CAPTURE(m, n, k);
        const UnitMatrix<HostExecution, double> a(m, k, k + 3), b(k, n, n + 1), c(m, n, n + 2);
        for (const auto& matrix : {a, b, c}) {
          matrix.fill(random);
          matrix.send();
        }
        const auto expected = naive_gemm(m, n, k, 1.5, a, b, -0.5, c);
        const auto pointer = [](const auto& view) { return view.data(); };
        sliced_gemm(space, GemmCall<double>{m, n, k, 1.5, pointer(a.view()), k + 3, pointer(b.view()), n + 1, -0.5,
                                            pointer(c.view()), n + 2});
        c.fetch();
        std::size_t wrong = 0;
        for (int i = 0; i < m; ++i) {
          for (int j = 0; j < n; ++j)
            wrong += agrees(c.at(i, j), expected[static_cast<std::size_t>(i * n + j)]) ? 0 : 1;
        }
        CHECK(wrong == 0);
        CHECK(c.untouched_between_rows());
        if (threads == 0) threads = count_threads();
      }
    }
  }
  CHECK(count_threads() == threads);
}

}  // namespace steelyard::test_sliced_gemm
