#include <catch2/catch_test_macros.hpp>
#include <vector>

#include "core/gemm_call.hpp"

namespace steelyard::test_gemm_call {

TEST_CASE("the parts of a multiplication cover each element of C once and read their own rows and columns") {
  constexpr int a_leading = 11, b_leading = 40, c_leading = 41;
  for (const int m : {0, 1, 2, 7, 31}) {
    for (const int n : {0, 1, 3, 8, 37}) {
      for (const int parts : {1, 2, 3, 16}) {
        CAPTURE(m, n, parts);
        const std::vector<double> a(32 * a_leading), b(11 * b_leading);
        std::vector<double> c(32 * c_leading);
        const GemmCall<double> whole{m, n, 10, 2.0, a.data(), a_leading, b.data(), b_leading, 3.0, c.data(), c_leading};
        std::vector<int> covered(c.size(), 0);
        for (int number = 0; number < parts; ++number) {
          const GemmCall<double> part = whole.part(number, parts);
          CHECK(part.k == whole.k);
          CHECK(part.alpha == whole.alpha);
          CHECK(part.beta == whole.beta);
          for (int i = 0; i < part.m; ++i) {
            for (int j = 0; j < part.n; ++j) ++covered[static_cast<std::size_t>(part.c - c.data() + i * c_leading + j)];
          }
          if (part.empty()) continue;
          const auto first = part.c - c.data();
          CHECK(part.a - a.data() == first / c_leading * a_leading);
          CHECK(part.b - b.data() == first % c_leading);
        }
        int wrong = 0;
        for (int i = 0; i < 32; ++i) {
          for (int j = 0; j < c_leading; ++j) {
            wrong += covered[static_cast<std::size_t>(i * c_leading + j)] != (i < m && j < n ? 1 : 0);
          }
        }
        CHECK(wrong == 0);
      }
    }
  }
}

TEST_CASE("the parts differ by a row or a column at most, also of the largest matrices") {
  GemmCall<float> call;
  call.m = 2147483647;
  call.n = 5;
  int sum = 0;
  for (int number = 0; number < 7; ++number) {
    const int rows = call.part(number, 7).m;
    CHECK(rows >= 2147483647 / 7);
    CHECK(rows <= 2147483647 / 7 + 1);
    sum += rows;
  }
  CHECK(sum == call.m);
}

}  // namespace steelyard::test_gemm_call
