#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <memory>

#include "miniapps/wave2d/field_slice.hpp"
#include "tests/miniapps/grid.hpp"
#include "tests/miniapps/leap_frog_on_paper.hpp"

namespace steelyard::wave2d {
namespace {

using tests::Grid;

template <class Execution, class Scalar>
struct On {
  using Space = Execution;
  using Element = Scalar;
};

/// A grid cut into slices that hand each other their borders, as the units of a run do.
template <class Execution, class Scalar>
class Slices {
 public:
  using Slice = FieldSlice<Execution, Scalar>;

  Slices(const Problem& problem, const std::vector<std::int64_t>& rows) : problem_(problem) {
    for (const partition::Slice& slice : partition::make_slices(rows)) {
      slices_.push_back(slice.count > 0 ? std::make_unique<Slice>(Execution(), problem, slice) : nullptr);
    }
  }

  void load(Level level, const Grid<Scalar>& field) {
    for (const auto& slice : slices_) {
      if (!slice) continue;
      const std::int64_t begin = std::max<std::int64_t>(0, slice->slice().first - 1);
      const std::int64_t end = std::min(problem_.rows, slice->slice().end() + 1);
      for (std::int64_t row = begin; row < end; ++row) {
        slice->load_row(level, row, field.values.data() + row * problem_.columns);
      }
    }
  }

  void advance(int steps) {
    for (int step = 0; step < steps; ++step) {
      const int parity = step % 2;
      for (const auto& slice : slices_) {
        if (!slice) continue;
        for (const auto side : {Slice::above, Slice::below}) {
          if (step > 0 && slice->has_neighbour(side))
            slice->take_halo(side, neighbour_border(*slice, side, 1 - parity));
        }
        slice->advance_borders(parity);
      }
      for (const auto& slice : slices_) {
        if (!slice) continue;
        slice->advance_interior();
        slice->rotate();
      }
    }
  }

  Grid<Scalar> read(Level level = Level::current) const {
    Grid<Scalar> field(problem_.rows, problem_.columns);
    for (const auto& slice : slices_) {
      if (!slice) continue;
      for (std::int64_t row = slice->slice().first; row < slice->slice().end(); ++row) {
        slice->store_row(level, row, field.values.data() + row * problem_.columns);
      }
    }
    return field;
  }

 private:
  const Scalar* neighbour_border(const Slice& slice, typename Slice::Side side, int parity) const {
    const bool up = side == Slice::above;
    const int neighbour = up ? slice.slice().above : slice.slice().below;
    return slices_[static_cast<std::size_t>(neighbour)]->border(up ? Slice::below : Slice::above, parity);
  }

  Problem problem_;
  std::vector<std::unique_ptr<Slice>> slices_;
};

template <class Execution, class Scalar>
void compare(const std::vector<std::int64_t>& rows, std::int64_t columns, Boundary boundary) {
  constexpr int steps = 5;
  std::int64_t all = 0;
  for (const std::int64_t count : rows) all += count;
  const Problem problem{all, columns, 0.65, boundary};
  const auto current = tests::random_grid<Scalar>(all, columns, 21);
  auto previous = tests::random_grid<Scalar>(all, columns, 22);
  for (std::int64_t i = 0; i < all; ++i) {
    for (std::int64_t j = 0; j < columns; ++j) {
      if (boundary == Boundary::dirichlet && current.is_edge(i, j)) previous(i, j) = current(i, j);
    }
  }
  const auto advance = [&](const std::vector<std::int64_t>& split) {
    Slices<Execution, Scalar> slices(problem, split);
    slices.load(Level::previous, previous);
    slices.load(Level::current, current);
    slices.advance(steps);
    return slices.read();
  };
  const Grid<Scalar> found = advance(rows);
  const Grid<Scalar> paper = tests::advanced(previous, current, steps, 0.65, boundary == Boundary::neumann);
  REQUIRE(tests::largest_difference(found, paper) <= 4.0 * tests::rounding<Scalar>(steps));
  if (rows.size() > 1) REQUIRE(found == advance({all}));
}

TEMPLATE_TEST_CASE("Slices of any number of rows advance as the whole grid does on paper", "",
                   (On<HostExecution, double>), (On<HostExecution, float>), (On<CompanionExecution, double>),
                   (On<CompanionExecution, float>)) {
  using Execution = typename TestType::Space;
  using Scalar = typename TestType::Element;
  const Boundary boundary = GENERATE(Boundary::dirichlet, Boundary::neumann);
  const std::int64_t columns = GENERATE(3, 5, 9, 17, 33, 65, 129);
  for (std::int64_t count = 1; count <= 20; ++count) {
    INFO(count << " rows of " << columns);
    if (count >= 3) compare<Execution, Scalar>({count}, columns, boundary);
    compare<Execution, Scalar>({count, 2}, columns, boundary);
    compare<Execution, Scalar>({2, count}, columns, boundary);
    compare<Execution, Scalar>({3, count, 4}, columns, boundary);
    compare<Execution, Scalar>({1, count, 1}, columns, boundary);
  }
}

TEMPLATE_TEST_CASE("Slices without rows are passed over by their neighbours", "", (On<HostExecution, double>),
                   (On<CompanionExecution, float>)) {
  const Boundary boundary = GENERATE(Boundary::dirichlet, Boundary::neumann);
  for (const std::vector<std::int64_t>& rows :
       {std::vector<std::int64_t>{0, 5, 4}, {5, 0, 4}, {5, 4, 0}, {0, 0, 9, 0}, {1, 0, 0, 1, 1, 0}}) {
    compare<typename TestType::Space, typename TestType::Element>(rows, 13, boundary);
  }
}

TEMPLATE_TEST_CASE("Rows come out of a slice as they went in", "", (On<HostExecution, double>),
                   (On<HostExecution, float>), (On<CompanionExecution, double>), (On<CompanionExecution, float>)) {
  using Scalar = typename TestType::Element;
  const std::int64_t columns = GENERATE(3, 16, 255, 1024);
  const auto previous = tests::random_grid<Scalar>(11, columns, 3);
  const auto current = tests::random_grid<Scalar>(11, columns, 4);
  Slices<typename TestType::Space, Scalar> slices({11, columns, 0.5, Boundary::dirichlet}, {4, 7});
  slices.load(Level::previous, previous);
  slices.load(Level::current, current);
  CHECK(slices.read(Level::previous) == previous);
  CHECK(slices.read(Level::current) == current);
}

}  // namespace
}  // namespace steelyard::wave2d
