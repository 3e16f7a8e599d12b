#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_floating_point.hpp>
#include <vector>

#include "miniapps/cavity/coefficients.hpp"

namespace steelyard::test_coefficients {

using namespace steelyard::cavity;
using Catch::Matchers::WithinRel;

namespace {

Problem problem(TimeScheme scheme) {
  Problem problem;
  problem.rows = 5;
  problem.columns = 4;
  problem.height = 2.0;
  problem.reynolds = 50.0;
  problem.time_step = 0.1;
  problem.scheme = scheme;
  return problem;
}

}  // namespace

TEST_CASE("a diagonal is what neighbours take and what time adds, twice as much at a wall alongside") {
  const Coefficients euler(problem(TimeScheme::euler));
  const double x = 0.02 * 16.0, y = 0.02 / (0.4 * 0.4);
  CHECK_THAT(euler.row_diagonal[2], WithinRel(10.0 + 2.0 * x + 2.0 * y, 1e-15));
  CHECK_THAT(euler.row_diagonal[0], WithinRel(10.0 + 2.0 * x + 3.0 * y, 1e-15));
  CHECK_THAT(euler.row_diagonal[4], WithinRel(10.0 + 2.0 * x + 3.0 * y, 1e-15));
  CHECK_THAT(euler.column_diagonal[1], WithinRel(10.0 + 2.0 * x + 2.0 * y, 1e-15));
  CHECK_THAT(euler.column_diagonal[3], WithinRel(10.0 + 3.0 * x + 2.0 * y, 1e-15));
  CHECK_THAT(euler.lid_source, WithinRel(2.0 * y, 1e-15));
}

TEST_CASE("walls have no flux") {
  const Coefficients all(problem(TimeScheme::euler));
  for (const auto* const faces : {&all.row_diffusion, &all.column_diffusion, &all.row_faces, &all.column_faces}) {
    CHECK(faces->front() == 0.0);
    CHECK(faces->back() == 0.0);
    CHECK((*faces)[1] > 0.0);
  }
  CHECK(all.row_faces.size() == 6);
  CHECK(all.column_faces.size() == 5);
}

TEST_CASE("all columns but the first and the last have the same coefficients") {
  Problem wide = problem(TimeScheme::crank_nicolson);
  wide.columns = 50;
  const Coefficients all(wide);
  for (const auto* const values :
       {&all.column_diagonal, &all.column_unknown, &all.column_weights, &all.column_diffusion, &all.column_faces}) {
    const bool of_faces = values->size() == 51;
    REQUIRE((of_faces || values->size() == 50));
    for (std::size_t i = 1; i + 1 < values->size(); ++i) CHECK((*values)[i] == (*values)[25]);
  }
}

TEST_CASE("velocities in the first column's and the first row's walls are no unknowns") {
  const Coefficients all(problem(TimeScheme::euler));
  CHECK(all.column_unknown == std::vector{0.0, 1.0, 1.0, 1.0});
  CHECK(all.row_unknown == std::vector{0.0, 1.0, 1.0, 1.0, 1.0});
}

TEST_CASE("Crank-Nicolson takes half of convection and diffusion, but not of time and of the lid") {
  const Coefficients euler(problem(TimeScheme::euler)), half(problem(TimeScheme::crank_nicolson));
  CHECK_THAT(half.row_diagonal[0] - 10.0, WithinRel(0.5 * (euler.row_diagonal[0] - 10.0), 1e-14));
  CHECK_THAT(half.quarter_x, WithinRel(0.5 * euler.quarter_x, 1e-15));
  CHECK_THAT(half.quarter_y, WithinRel(0.5 * euler.quarter_y, 1e-15));
  CHECK_THAT(half.diffusion_x, WithinRel(0.5 * euler.diffusion_x, 1e-15));
  CHECK(half.lid_source == euler.lid_source);
  CHECK(half.row_faces == euler.row_faces);
}

TEST_CASE("the pressure's weights are edges over momentum's diagonal") {
  const Coefficients all(problem(TimeScheme::euler));
  for (std::size_t j = 0; j < 5; ++j) CHECK_THAT(all.row_weights[j] * all.row_diagonal[j], WithinRel(0.4, 1e-15));
  for (std::size_t i = 0; i < 4; ++i)
    CHECK_THAT(all.column_weights[i] * all.column_diagonal[i], WithinRel(0.25, 1e-15));
}

}  // namespace steelyard::test_coefficients
