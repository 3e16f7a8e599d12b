#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_floating_point.hpp>
#include <cmath>
#include <functional>
#include <limits>

#include "models/speed_model.hpp"
#include "tests/models/random_models.hpp"

namespace steelyard::test_largest_size {

using Catch::Matchers::WithinRel;
using namespace steelyard::models;
using tests::Random;
using tests::uniform;
using tests::whole;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
using Time = std::function<double(double units)>;

/// Any function of the size.
class Given : public SpeedModel {
 public:
  explicit Given(Time time, double max_units = infinity) : SpeedModel(max_units), time_(std::move(time)) {}
  std::string kind() const override { return "given"; }

 private:
  double fitted_speed(double units) const override { return units / time_(units); }
  void refit() override {}
  Time time_;
};

std::vector<double> even_breakpoints(int count, double last) {
  std::vector<double> breakpoints;
  for (int i = 1; i <= count; ++i) breakpoints.push_back(last * i / count);
  return breakpoints;
}

/// Grows in all, with waves of several lengths on it, none of them shorter than `shortest`.
Time wavy(Random& random, double shortest) {
  std::vector<std::array<double, 3>> waves;
  for (int i = 0; i < 4; ++i) {
    waves.push_back({uniform(random, 5.0, 40.0), uniform(random, shortest, 400.0), uniform(random, 0.0, 6.0)});
  }
  return [waves](double units) {
    double time_s = 0.3 * units + 200.0;
    for (const auto& [height, length, phase] : waves) time_s += height * std::sin(6.28 * units / length + phase);
    return time_s;
  };
}

}  // namespace

TEST_CASE("where time grows, the largest size within it is its inverse, with any breakpoints or none") {
  Random random(1);
  for (int trial = 0; trial < 200; ++trial) {
    const double power = uniform(random, 0.2, 3.0), scale = std::exp(uniform(random, -20.0, 20.0));
    const Given model([=](double units) { return scale * std::pow(units, power); });
    const double units = std::exp(uniform(random, -8.0, 12.0));
    const auto breakpoints = even_breakpoints(whole(random, 0, 12), 1000.0);
    const double found = largest_size_within(model, model.time_s(units), breakpoints);
    INFO("size " << units << ", power " << power << ", " << breakpoints.size() << " breakpoints");
    REQUIRE_THAT(found, WithinRel(units, 1e-12));
  }
}

TEST_CASE("where time has hills and valleys, no larger size fits than the one that is found") {
  Random random(2);
  constexpr double last = 1000.0;
  for (int trial = 0; trial < 100; ++trial) {
    const int count = whole(random, 5, 20);
    const Time time = wavy(random, 2.0 * last / count);  // half a gap up and down
    const double limit = tests::random_limit(random, 100.0, 1000.0);
    const Given model(time, limit);
    const auto breakpoints = even_breakpoints(count, last);
    for (int i = 0; i < 10; ++i) {
      const double time_s = time(uniform(random, 0.0, last)) * uniform(random, 0.8, 1.1);
      const double found = largest_size_within(model, time_s, breakpoints);
      REQUIRE(found <= limit);
      REQUIRE((found == 0.0 || model.time_s(found) <= time_s));
      // Beyond the last breakpoint time has to grow, so stop there; a dip may lie between two parts of a gap.
      const double end = std::min(limit, last);
      const double shallow = 1e-2 * time_s;
      double shortest = infinity;
      for (double units = found * (1.0 + 1e-9) + 1e-9; units < end; units += last / 20000.0) {
        shortest = std::min(shortest, model.time_s(units));
      }
      REQUIRE(shortest > time_s - shallow);
    }
  }
}

TEST_CASE("a valley that is wider than a part of its gap is found") {
  // 1 s a unit but for a dip to half of that around 70, in one gap from 0 to 100.
  const Given model([](double units) {
    const double x = (units - 70.0) / 4.0;
    return units * (1.0 - 0.5 * std::exp(-x * x));
  });
  const auto breakpoints = even_breakpoints(1, 100.0);
  const double found = largest_size_within(model, 50.0, breakpoints);
  CHECK(found > 70.0);
  CHECK_THAT(model.time_s(found), WithinRel(50.0, 1e-9));
  CHECK(largest_size_within(model, 30.0, breakpoints) < 35.0);
}

TEST_CASE("all that fits is found where the limit takes no longer, however slow it is before") {
  const Given model([](double units) { return units < 90.0 ? units : 180.0 - units; }, 100.0);
  CHECK(largest_size_within(model, 80.0, even_breakpoints(3, 90.0)) == 100.0);
  CHECK(largest_size_within(model, 79.0, even_breakpoints(3, 90.0)) == 79.0);
  CHECK(largest_size_within(model, infinity, {}) == 100.0);
}

TEST_CASE("breakpoints beyond the limit do not count") {
  const Given model([](double units) { return 2.0 * units; }, 10.0);
  CHECK_THAT(largest_size_within(model, 15.0, even_breakpoints(10, 1000.0)), WithinRel(7.5, 1e-12));
  CHECK(largest_size_within(model, 25.0, even_breakpoints(10, 1000.0)) == 10.0);
}

TEST_CASE("a jump at a breakpoint is found from both of its sides") {
  // Twice as fast after 50.
  const double jump = std::nextafter(50.0, 100.0);
  const Given model([](double units) { return units <= 50.0 ? units : 0.5 * units; });
  const std::vector<double> breakpoints{50.0, jump};
  CHECK_THAT(largest_size_within(model, 30.0, breakpoints), WithinRel(60.0, 1e-12));
  CHECK(largest_size_within(model, 25.0 * (1.0 + 1e-15), breakpoints) >= 50.0);
  CHECK_THAT(largest_size_within(model, 24.0, breakpoints), WithinRel(24.0, 1e-12));
}

TEST_CASE("a start that takes longer than the time leaves nothing, and no time does not either") {
  const Given model([](double units) { return 1.0 + units; });
  CHECK(largest_size_within(model, 0.999, even_breakpoints(4, 10.0)) == 0.0);
  CHECK(largest_size_within(model, 0.0, {}) == 0.0);
  CHECK(largest_size_within(model, -1.0, {}) == 0.0);
  CHECK(largest_size_within(model, std::numeric_limits<double>::quiet_NaN(), {}) == 0.0);
  CHECK_THAT(largest_size_within(model, 3.0, {}), WithinRel(2.0, 1e-12));
}

TEST_CASE("a size far beyond the breakpoints is found") {
  const Given model([](double units) { return 1e-9 * units; });
  CHECK_THAT(largest_size_within(model, 1e6, even_breakpoints(3, 10.0)), WithinRel(1e15, 1e-12));
  CHECK(largest_size_within(model, infinity, {}) == infinity);
}

}  // namespace steelyard::test_largest_size
