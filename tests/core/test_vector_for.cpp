#include <array>
#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>
#include <cstdint>

#include "core/spaces.hpp"
#include "core/sweep/vector_for.hpp"
#include "tests/core/unit_space.hpp"

namespace steelyard::test_vector_for {

namespace {

constexpr std::int64_t width = 301;

/// Team r counts its visits to [first(r), last(r)) of row r.
template <class Execution>
struct Visit {
  using Policy = Kokkos::TeamPolicy<Execution>;
  Kokkos::View<int**, Kokkos::LayoutRight, DeviceOf<Execution>> visits;

  static KOKKOS_FUNCTION std::int64_t first(std::int64_t row) { return row % 7; }
  static KOKKOS_FUNCTION std::int64_t last(std::int64_t row) { return width - row * 11; }

  KOKKOS_FUNCTION void operator()(const typename Policy::member_type& member) const {
    const std::int64_t row = member.league_rank();
    int* const counts = &visits(row, 0);
    vector_for(member, first(row), last(row), [=](const std::int64_t i) { counts[i] += static_cast<int>(1 + i); });
  }
};

}  // namespace

TEMPLATE_TEST_CASE("the body runs once for every index of the range, and never where the range is empty", "",
                   HostExecution, CompanionExecution) {
  const auto space = tests::unit_space<TestType>();
  using Visits = Visit<TestType>;
  // The last rows' ranges are empty or end before they begin.
  constexpr int rows = 40;
  const Visits visit{decltype(Visits::visits)("steelyard::tests::visits", rows, static_cast<std::size_t>(width))};
  const int vector_length = companion_is_device && std::is_same_v<TestType, CompanionExecution> ? 32 : 1;
  Kokkos::parallel_for("steelyard::tests::vector_for", typename Visits::Policy(space, rows, 1, vector_length), visit);
  space.fence();
  const auto counts = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), visit.visits);
  int wrong = 0, visited = 0;
  for (std::int64_t row = 0; row < rows; ++row) {
    for (std::int64_t i = 0; i < width; ++i) {
      const bool inside = i >= Visits::first(row) && i < Visits::last(row);
      wrong += counts(row, i) != (inside ? static_cast<int>(1 + i) : 0) ? 1 : 0;
      visited += inside ? 1 : 0;
    }
  }
  CHECK(wrong == 0);
  CHECK(visited > 0);
  CHECK(Visits::last(rows - 1) < Visits::first(rows - 1));
}

}  // namespace steelyard::test_vector_for
