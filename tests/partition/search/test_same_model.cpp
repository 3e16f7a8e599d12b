#include <catch2/catch_test_macros.hpp>

#include "models/kinds/akima_model.hpp"
#include "models/kinds/constant_model.hpp"
#include "models/kinds/out_of_core_model.hpp"
#include "models/kinds/piecewise_linear_model.hpp"
#include "partition/distribution.hpp"

namespace steelyard::test_same_model {

using namespace steelyard::partition;
using models::AkimaModel;
using models::ConstantModel;
using models::OutOfCoreModel;
using models::PiecewiseLinearModel;
using models::Shape;

TEST_CASE("models of equal points, kind and limits are the same and answer alike") {
  const std::vector<models::MeasuredPoint> points = {{1, 1.0}, {2, 3.0}, {3, 2.0}, {5, 4.0}};
  const AkimaModel one(points), twin(points), limited(points, 4.0);
  CHECK(same_model(one, one));
  CHECK(same_model(one, twin));
  CHECK_FALSE(same_model(one, limited));
  CHECK_FALSE(same_model(one, PiecewiseLinearModel(points)));
  CHECK_FALSE(same_model(one, AkimaModel(std::span(points).first(3))));
}

TEST_CASE("models that differ in shape or in what is in core are not the same") {
  const std::vector<models::MeasuredPoint> points = {{1, 1.0}, {2, 3.0}, {3, 2.0}, {5, 4.0}};
  CHECK_FALSE(same_model(PiecewiseLinearModel(points, Shape::increasing_time),
                         PiecewiseLinearModel(points, Shape::as_measured)));
  const auto build = [](auto part, double limit) {
    return std::make_unique<PiecewiseLinearModel>(part, Shape::as_measured, limit);
  };
  CHECK(same_model(OutOfCoreModel(points, 2.5, 9.0, build), OutOfCoreModel(points, 2.5, 9.0, build)));
  CHECK_FALSE(same_model(OutOfCoreModel(points, 2.5, 9.0, build), OutOfCoreModel(points, 2.6, 9.0, build)));
}

TEST_CASE("models given as formulas are the same only where they are one") {
  const ConstantModel one(1.0), twin(1.0);
  CHECK(same_model(one, one));
  CHECK_FALSE(same_model(one, twin));
}

}  // namespace steelyard::test_same_model
