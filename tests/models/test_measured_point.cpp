#include <catch2/catch_test_macros.hpp>

#include "core/base/errors.hpp"
#include "models/kinds/piecewise_linear_model.hpp"
#include "models/measured_point.hpp"

namespace steelyard::test_measured_point {

using steelyard::models::MeasuredPoint;

TEST_CASE("a point that nobody filled in is no measurement") {
  const MeasuredPoint point;
  CHECK(point.confidence_s == 0.0);
  CHECK(point.repetitions == 1);
  CHECK_THROWS_AS(steelyard::models::PiecewiseLinearModel({&point, 1}), steelyard::InvalidArgument);
}

TEST_CASE("a point is size then seconds then repetitions then confidence") {
  const MeasuredPoint point{3.0, 0.5, 7, 0.01};
  CHECK(point.units == 3.0);
  CHECK(point.time_s == 0.5);
  CHECK(point.repetitions == 7);
  CHECK(point.confidence_s == 0.01);
}

}  // namespace steelyard::test_measured_point
