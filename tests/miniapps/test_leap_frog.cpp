#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

#include "core/spaces.hpp"
#include "miniapps/wave2d/leap_frog.hpp"
#include "tests/miniapps/grid.hpp"

namespace steelyard::wave2d {
namespace {

using tests::Grid;

template <class Execution, class Scalar>
struct On {
  using Space = Execution;
  using Element = Scalar;
};

/// Rows of a pitch in the unit's own memory.
template <class Execution, class Scalar>
class Memory {
 public:
  explicit Memory(const Grid<Scalar>& grid) : grid_(grid), view_("field", grid.values.size()) {
    Kokkos::deep_copy(view_, host_view(grid_));
  }
  Scalar* data() const { return view_.data(); }
  Grid<Scalar> read() {
    Kokkos::deep_copy(host_view(grid_), view_);
    return grid_;
  }

 private:
  using HostView = Kokkos::View<Scalar*, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
  static HostView host_view(Grid<Scalar>& grid) { return HostView(grid.values.data(), grid.values.size()); }

  Grid<Scalar> grid_;
  Kokkos::View<Scalar*, DeviceOf<Execution>> view_;
};

/// Runs the kernel on rows [first, first + count) of a field with `margin` elements behind each row, and compares every
/// element, those that must not be touched too.
template <class Execution, class Scalar>
void compare(std::int64_t columns, std::int64_t first, std::int64_t count, bool neumann, bool mirror_above,
             bool mirror_below) {
  constexpr std::int64_t margin = 3;
  const std::int64_t rows = first + count + 2;
  const auto older = tests::random_grid<Scalar>(rows, columns + margin, 1);
  const auto current = tests::random_grid<Scalar>(rows, columns + margin, 2);
  const Problem problem{1000, columns, 0.6, neumann ? Boundary::neumann : Boundary::dirichlet};

  Memory<Execution, Scalar> older_memory(older);
  const Memory<Execution, Scalar> current_memory(current);
  const Execution space;
  LeapFrog<Execution, Scalar>(problem, {older_memory.data(), columns + margin},
                              {current_memory.data(), columns + margin}, first, count, mirror_above, mirror_below)
      .launch(space, "test");
  space.fence();
  const Grid<Scalar> found = older_memory.read();

  const auto centre = static_cast<Scalar>(2.0 - 4.0 * 0.6 * 0.6);
  const auto neighbour = static_cast<Scalar>(0.6 * 0.6);
  for (std::int64_t i = 0; i < rows; ++i) {
    for (std::int64_t j = 0; j < columns + margin; ++j) {
      const bool side = j == 0 || j == columns - 1;
      if (i < first || i >= first + count || j >= columns || (side && !neumann)) {
        REQUIRE(found(i, j) == older(i, j));
        continue;
      }
      const Scalar up = current(mirror_above ? i + 1 : i - 1, j);
      const Scalar down = current(mirror_below ? i - 1 : i + 1, j);
      const Scalar left = current(i, j == 0 ? 1 : j - 1);
      const Scalar right = current(i, j == columns - 1 ? columns - 2 : j + 1);
      const Scalar expected = centre * current(i, j) - older(i, j) + neighbour * (up + down + left + right);
      REQUIRE(std::abs(found(i, j) - expected) <= 8 * std::numeric_limits<Scalar>::epsilon());
    }
  }
}

TEMPLATE_TEST_CASE("Every number of rows and columns is advanced and nothing else touched", "",
                   (On<HostExecution, double>), (On<HostExecution, float>), (On<CompanionExecution, double>),
                   (On<CompanionExecution, float>)) {
  const bool neumann = GENERATE(false, true);
  for (std::int64_t count = 0; count <= 20; ++count) {
    for (const std::int64_t columns : {3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 33, 65, 127, 511, 513, 1025}) {
      compare<typename TestType::Space, typename TestType::Element>(columns, 1, count, neumann, false, false);
    }
  }
}

TEMPLATE_TEST_CASE("More rows than a team sweeps are advanced", "", (On<HostExecution, double>),
                   (On<CompanionExecution, float>)) {
  for (const std::int64_t count : {47, 48, 49, 95, 97, 101}) {
    compare<typename TestType::Space, typename TestType::Element>(29, 2, count, true, false, false);
  }
}

TEMPLATE_TEST_CASE("A row at the edge of the grid sees its only neighbour twice", "", (On<HostExecution, double>),
                   (On<CompanionExecution, float>)) {
  for (const std::int64_t columns : {3, 17, 64}) {
    compare<typename TestType::Space, typename TestType::Element>(columns, 1, 1, true, true, false);
    compare<typename TestType::Space, typename TestType::Element>(columns, 4, 1, true, false, true);
  }
}

}  // namespace
}  // namespace steelyard::wave2d
