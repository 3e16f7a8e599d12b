#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_floating_point.hpp>
#include <cmath>
#include <cstdint>
#include <vector>

#include "miniapps/jacobi/unit_system.hpp"

using Catch::Matchers::WithinRel;

namespace steelyard::jacobi::test_unit_system {

TEMPLATE_TEST_CASE("a unit's rows of a step are what the method says, whichever rows these are", "", HostExecution,
                   CompanionExecution) {
  for (const std::int64_t n : {1, 7, 64, 203}) {
    for (const std::int64_t first : {std::int64_t{0}, n / 3, n - 1}) {
      const TestType space;
      UnitSystem<TestType> system(space, n);
      for (const std::int64_t rows : {std::int64_t{0}, n - first}) system.assign(first, rows);
      system.sweep();
      Kokkos::deep_copy(space, system.x(), 0.5);
      system.sweep();
      space.fence();
      const std::vector<double> next = system.host_copy(system.next());
      REQUIRE(std::ssize(next) == n - first);
      for (std::int64_t row = 0; row < n - first; ++row) {
        const std::int64_t i = first + row;
        // (b_i - sum_{j != i} a_ij x_j) / a_ii, with b = A times the solution.
        long double sum = coefficient(n, i, i) * static_cast<long double>(solution(i));
        for (std::int64_t j = 0; j < n; ++j) {
          if (j != i) sum += static_cast<long double>(coefficient(n, i, j)) * (solution(j) - 0.5);
        }
        CHECK_THAT(next[static_cast<std::size_t>(row)],
                   WithinRel(static_cast<double>(sum / coefficient(n, i, i)), 1e-13));
      }
    }
  }
}

}  // namespace steelyard::jacobi::test_unit_system
