#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <limits>
#include <string>

#include "core/base/errors.hpp"
#include "partition/time_table.hpp"
#include "tests/models/random_models.hpp"

namespace steelyard::test_time_table {

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;
using namespace steelyard::partition;
using models::ConstantModel;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

/// A second a unit, and no answer at sizes divisible by three.
class Patchy : public models::SpeedModel {
 public:
  Patchy() : SpeedModel(infinity) {}
  std::string kind() const override { return "patchy"; }

 private:
  double fitted_speed(double units) const override { return static_cast<int>(units) % 3 == 0 ? 0.0 : 1.0; }
  void refit() override {}
};

}  // namespace

TEST_CASE("a table knows listed sizes and nothing, and no other") {
  const TimeTable table{{{2, 0.5}, {5, 0.25}}};
  CHECK(table.time_s(0) == 0.0);
  CHECK(table.time_s(2) == 0.5);
  CHECK(table.time_s(5) == 0.25);
  for (const std::int64_t units : {-1, 1, 3, 6}) CHECK(table.time_s(units) == infinity);
  CHECK(TimeTable{}.time_s(0) == 0.0);
  CHECK(TimeTable{}.time_s(1) == infinity);
}

TEST_CASE("tabulating a model asks it at every multiple of the granularity up to the total") {
  const ConstantModel model(2.0);
  CHECK(tabulate(model, 3).entries == std::vector<TimeTable::Entry>{{1, 0.5}, {2, 1.0}, {3, 1.5}});
  CHECK(tabulate(model, 11, 4).entries == std::vector<TimeTable::Entry>{{4, 2.0}, {8, 4.0}});
  CHECK(tabulate(model, 3, 4).entries.empty());
  CHECK(tabulate(model, 0).entries.empty());
}

TEST_CASE("tabulating leaves out what does not fit and what was not measured") {
  CHECK(tabulate(ConstantModel(1.0, 2.5), 10).entries == std::vector<TimeTable::Entry>{{1, 1.0}, {2, 2.0}});
  CHECK(tabulate(Patchy(), 5).entries == std::vector<TimeTable::Entry>{{1, 1.0}, {2, 2.0}, {4, 4.0}, {5, 5.0}});
}

TEST_CASE("tabulating refuses a negative total and a granularity below one") {
  const ConstantModel model(1.0);
  CHECK_THROWS_MATCHES(tabulate(model, -3), InvalidArgument, MessageMatches(ContainsSubstring("-3")));
  CHECK_THROWS_MATCHES(tabulate(model, 3, 0), InvalidArgument, MessageMatches(ContainsSubstring("granularity 0")));
}

TEST_CASE("tables too large to be kept are refused with the granularity that would do") {
  const ConstantModel model(1.0);
  const std::vector<const models::SpeedModel*> models(2, &model);
  CHECK_THROWS_MATCHES(tabulate(models, std::int64_t{1} << 40), InvalidArgument,
                       MessageMatches(ContainsSubstring("granularity >= 16385")));
  CHECK_THROWS_AS(tabulate(std::vector<const models::SpeedModel*>{}, 1), InvalidArgument);
}

TEST_CASE("tables are refused unless sizes increase from above zero and times are finite and not negative") {
  const auto refuses = [](std::vector<TimeTable::Entry> entries, const std::string& value) {
    const std::vector<TimeTable> tables{{{{5, 1.0}}}, {std::move(entries)}};
    CHECK_THROWS_MATCHES(require_feasible(1, tables), InvalidArgument,
                         MessageMatches(ContainsSubstring("unit 1") && ContainsSubstring(value)));
  };
  refuses({{0, 1.0}}, "size 0");
  refuses({{-2, 1.0}}, "size -2");
  refuses({{3, 1.0}, {3, 2.0}}, "size 3 after 3");
  refuses({{4, 1.0}, {2, 2.0}}, "size 2 after 4");
  refuses({{4, -0.5}}, "-0.5");
  refuses({{4, not_a_number}}, "nan");
  refuses({{4, infinity}}, "inf");
}

TEST_CASE("a negative total, no tables and a total above all largest sizes are refused") {
  const std::vector<TimeTable> tables{{{{5, 1.0}}}, {{{1, 1.0}, {7, 1.0}}}, {}};
  CHECK_NOTHROW(require_feasible(12, tables));
  CHECK_THROWS_MATCHES(require_feasible(13, tables), InvalidArgument,
                       MessageMatches(ContainsSubstring("13") && ContainsSubstring("12")));
  CHECK_THROWS_MATCHES(require_feasible(-1, tables), InvalidArgument, MessageMatches(ContainsSubstring("-1")));
  CHECK_THROWS_AS(require_feasible(0, TimeTables{}), InvalidArgument);
  CHECK_NOTHROW(require_feasible(0, std::vector<TimeTable>(1)));
}

TEST_CASE("a prediction by tables takes as many slices as tables") {
  const std::vector<TimeTable> tables{{{{5, 1.5}}}, {{{7, 2.5}}}};
  CHECK(predict({5, 0}, tables).predicted_s == std::vector<double>{1.5, 0.0});
  CHECK_THROWS_AS(predict({5}, tables), InvalidArgument);
}

}  // namespace steelyard::test_time_table
