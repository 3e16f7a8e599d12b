#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_floating_point.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <limits>
#include <set>

#include "core/base/errors.hpp"
#include "models/kinds/model_kinds.hpp"
#include "models/kinds/out_of_core_model.hpp"
#include "tests/models/random_models.hpp"

namespace steelyard::test_model_kinds {

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;
using Catch::Matchers::WithinRel;
using namespace steelyard::models;
using tests::Random;
using tests::random_points;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// Ten sizes from 10 to 100, 100 units/s up to 50 and 20 units/s from there on.
FpmFile file_of_ten() {
  FpmFile file;
  for (int i = 1; i <= 10; ++i) file.points.push_back({10.0 * i, 10.0 * i / (i <= 5 ? 100.0 : 20.0)});
  return file;
}

}  // namespace

TEST_CASE("a file with times that no clock tells or nobody waits for is no model of any kind") {
  for (const double time_s : {1e-299, 9e-16, 2e15, 1e308}) {
    FpmFile file = file_of_ten();
    file.points[4].time_s = time_s;
    for (const ModelKind& kind : model_kinds()) {
      CHECK_THROWS_MATCHES(make_model(file, kind.name), InvalidArgument,
                           MessageMatches(ContainsSubstring("50 computation units in")));
    }
  }
}

TEST_CASE("every kind that is listed can be built, has its own name and keeps the limit") {
  Random random(1);
  const auto points = random_points(random, 8, 100.0);
  std::set<std::string> names;
  for (const ModelKind& kind : model_kinds()) {
    INFO(kind.name);
    CHECK(names.insert(kind.name).second);
    CHECK_FALSE(kind.description.empty());
    CHECK(&find_model_kind(kind.name) == &kind);
    const double limit = points[5].units;
    const SpeedModelPtr model = kind.build(points, limit, {});
    CHECK(model->kind() == kind.name);
    CHECK(model->max_units() == limit);
    CHECK(model->points().size() == points.size());
  }
  CHECK(names.contains("constant"));
  CHECK(names.contains("piecewise_linear"));
}

TEST_CASE("a kind that is not listed is refused with the names of those that are") {
  for (const char* bad : {"", "spline", "Constant", "out_of_core"}) {
    for (const ModelKind& kind : model_kinds()) {
      CHECK_THROWS_MATCHES(
          find_model_kind(bad), InvalidArgument,
          MessageMatches(ContainsSubstring(std::string("\"") + bad + "\"") && ContainsSubstring(kind.name)));
    }
    CHECK_THROWS_AS(make_model(file_of_ten(), bad), InvalidArgument);
  }
}

TEST_CASE("options of a kind reach its model") {
  Random random(2);
  auto points = random_points(random, 12, 100.0);
  points[4].time_s *= 100.0;
  const ModelKind& linear = find_model_kind("piecewise_linear");
  CHECK(linear.build(points, infinity, {.shape = Shape::as_measured})->dropped().empty());
  CHECK_FALSE(linear.build(points, infinity, {})->dropped().empty());
  const ModelKind& polynomial = find_model_kind("polynomial");
  for (const int degree : {1, 2, 11}) {
    const SpeedModelPtr model = polynomial.build(points, infinity, {.degree = degree});
    CHECK(dynamic_cast<const PolynomialModel&>(*model).degree() == degree);
  }
}

TEST_CASE("a model of a file without limits has none, and with points in core alone ends where memory does") {
  FpmFile file = file_of_ten();
  for (const ModelKind& kind : model_kinds()) {
    INFO(kind.name);
    const bool table = kind.name == "table";
    CHECK(make_model(file, kind.name)->max_units() == (table ? 100.0 : infinity));
    file.max_units = 150.0;
    CHECK(make_model(file, kind.name)->max_units() == (table ? 100.0 : 150.0));
    file.in_core_units = 120.0;
    CHECK(make_model(file, kind.name)->max_units() == (table ? 100.0 : 120.0));
    CHECK(make_model(file, kind.name)->kind() == kind.name);
    file.max_units = file.in_core_units = infinity;
  }
}

TEST_CASE("points beyond what fits in core make a second regime that ends where all memory does") {
  FpmFile file = file_of_ten();
  file.in_core_units = 55.0;
  file.max_units = 150.0;
  for (const ModelKind& kind : model_kinds()) {
    INFO(kind.name);
    const SpeedModelPtr model = make_model(file, kind.name);
    CHECK(dynamic_cast<const OutOfCoreModel*>(model.get()) != nullptr);
    CHECK(model->kind() == kind.name);
    CHECK(model->max_units() == (kind.name == "table" ? 100.0 : 150.0));
    if (kind.name == "saturating") continue;
    CHECK_THAT(model->speed(50.0), WithinRel(100.0, 1e-6));
    CHECK_THAT(model->speed(60.0), WithinRel(20.0, 1e-6));
  }
}

TEST_CASE("points out of core alone make one model for all sizes up to where all memory ends") {
  FpmFile file = file_of_ten();
  file.points.erase(file.points.begin(), file.points.begin() + 5);
  file.in_core_units = 55.0;
  file.max_units = 150.0;
  for (const ModelKind& kind : model_kinds()) {
    INFO(kind.name);
    const SpeedModelPtr model = make_model(file, kind.name);
    const SpeedModelPtr one = kind.build(file.points, 150.0, {});
    CHECK(model->max_units() == one->max_units());
    for (const double units : {1.0, 55.0, 60.0, 75.0, 100.0, 150.0}) CHECK(model->speed(units) == one->speed(units));
    // A point in core gives that regime a model of its own and leaves the other one as it was.
    file.points.insert(file.points.begin(), {10.0, 0.1});
    CHECK(make_model(file, kind.name)->speed(60.0) == one->speed(60.0));
    file.points.erase(file.points.begin());
  }
}

TEST_CASE("memory that ends in core has no second regime") {
  FpmFile file = file_of_ten();
  file.in_core_units = 55.0;
  file.max_units = 45.0;
  CHECK(make_model(file)->max_units() == 45.0);
  file.max_units = 55.0;
  CHECK(make_model(file)->max_units() == 55.0);
}

TEST_CASE("options reach both regimes") {
  FpmFile file = file_of_ten();
  file.in_core_units = 55.0;
  file.points[2].time_s *= 50.0;
  file.points[7].time_s *= 50.0;
  CHECK(make_model(file, "piecewise_linear", {.shape = Shape::as_measured})->dropped().empty());
  CHECK(make_model(file, "piecewise_linear")->dropped().size() == 2);
}

TEST_CASE("the error of leaving one out is that of models of the other points, each at the point left out") {
  Random random(3);
  for (const ModelKind& kind : model_kinds()) {
    if (kind.name == "table") continue;
    INFO(kind.name);
    const auto points = random_points(random, 9, 100.0);
    double squares = 0.0, largest = 0.0, at_units = 0.0;
    for (std::size_t left_out = 1; left_out < 8; ++left_out) {
      std::vector<MeasuredPoint> others;
      for (std::size_t i = 0; i < 9; ++i) {
        if (i != left_out) others.push_back(points[i]);
      }
      const double predicted = kind.build(others, infinity, {})->time_s(points[left_out].units);
      const double deviation = std::abs(predicted - points[left_out].time_s) / points[left_out].time_s;
      squares += deviation * deviation;
      if (deviation > largest) at_units = points[left_out].units;
      largest = std::max(largest, deviation);
    }
    const FitError error = leave_one_out_error(points, kind);
    CHECK_THAT(error.rms, WithinRel(std::sqrt(squares / 7.0), 1e-9));
    CHECK_THAT(error.largest, WithinRel(largest, 1e-9));
    CHECK(error.at_units == at_units);
  }
}

TEST_CASE("a table cannot tell a size that is left out, and two points leave nothing to tell") {
  Random random(4);
  const auto points = random_points(random, 5, 100.0);
  CHECK(leave_one_out_error(points, find_model_kind("table")).rms == infinity);
  for (const ModelKind& kind : model_kinds()) {
    const FitError error = leave_one_out_error(std::span(points).first(2), kind);
    CHECK(error.rms == 0.0);
    CHECK(error.largest == 0.0);
  }
}

}  // namespace steelyard::test_model_kinds
