// What callers get wrong: every row is a call that is refused with what and where, and the parts of its message.
#include <functional>

#include "partition/algorithms.hpp"
#include "partition/balancing/calibration.hpp"
#include "partition/balancing/load_balancer.hpp"
#include "partition/hierarchical.hpp"
#include "partition/rectangles/communication_aware.hpp"
#include "partition/rectangles/rectangle.hpp"
#include "partition/time_table.hpp"
#include "tests/catch.hpp"
#include "tests/partition/brute_force.hpp"

namespace steelyard::test_refusals {

using namespace steelyard::partition;
using models::ConstantModel;
using tests::infinity;

namespace {

const double not_a_number = std::nan("");

struct Refusal {
  std::function<void()> call;
  std::vector<std::string> parts;
};

void check(const std::vector<Refusal>& refusals) {
  for (std::size_t i = 0; i < refusals.size(); ++i) {
    std::string message = "nothing was refused";
    try {
      refusals[i].call();
    } catch (const InvalidArgument& error) {
      message = error.what();
    }
    for (const std::string& part : refusals[i].parts) {
      INFO("row " << i << ": " << message << "; expected: " << part);
      CHECK(message.find(part) != std::string::npos);
    }
  }
}

const ConstantModel roomy(1.0), limited(1.0, 10.5), faster(2.0);
const models::TableModel table_of_two(std::vector<models::MeasuredPoint>{{2.0, 2.0}, {5.0, 5.0}});
const std::vector<const models::SpeedModel*> one{&roomy}, two{&limited, &limited}, mixed{&roomy, &limited},
    unlike{&roomy, &faster}, tables{&table_of_two, &table_of_two};

}  // namespace

TEST_CASE("every algorithm refuses what nobody can hold, a negative total and no units") {
  for (const Algorithm& algorithm : algorithms()) {
    INFO(algorithm.name);
    CHECK_NOTHROW(algorithm.distribute(20, two));
    check({{[&] { algorithm.distribute(21, two); }, {"21 computation units do not fit", "hold 20 together"}},
           {[&] { algorithm.distribute(-3, two); }, {"-3 computation units"}},
           {[&] { algorithm.distribute(0, {}); }, {"no processing units"}},
           {[&] { distribute_in_multiples(19, two, algorithm, 10); }, {"granularity 10 for 19"}},
           {[&] { distribute_in_multiples(20, two, algorithm, 0); }, {"granularity 0"}}});
  }
  check({{[] { even(30, mixed); }, {"even share of 15", "unit 1", "10.5"}},
         {[] {
            predict({1, 2, 3}, two);
          },
          {"3 slices for 2 models"}},
         {[] {
            predict({3, -1}, two);
          },
          {"-1"}},
         {[] { constant(6, tables); }, {"table model of unit 0", "no speed at 3 computation units", "constant:N"}},
         {[] {
            constant_speeds(1, std::vector<double>{0.0, 0.0}, {});
          },
          {"no processing units"}}});
}

TEST_CASE("names of algorithms are refused with the names that there are, and numbers behind them with their text") {
  const auto named = [](const std::string& name) { return [name] { find_algorithm(name); }; };
  check({{named("Even"), {"\"Even\"", "even, constant, geometric, numerical, hpopta, exact"}},
         {named("even:1"), {"\"even:1\""}},
         {named("shares:"), {"\"shares:\""}},
         {named("shares:0:0"), {"above 0"}},
         {named("shares:1:x"), {"\"x\""}},
         {named("shares:-1:2"), {"\"-1\""}},
         {named("constant:"), {"N > 0"}},
         {named("constant:0"), {"N > 0"}},
         {named("constant:nan"), {"\"nan\""}},
         {[] { find_algorithm("shares:1:2:3").distribute(20, two); }, {"3 shares for 2 processing units"}},
         {[] { find_algorithm("shares:1:1").distribute(66, mixed); }, {"share of 33", "unit 1", "holds 10.5"}}});
}

TEST_CASE("tables are refused unless they are some and a sum of their sizes is the total") {
  const std::vector<TimeTable> sizes{{{{2, 1.0}, {4, 2.0}, {6, 3.0}}}, {{{2, 1.0}, {8, 3.0}}}, {}};
  CHECK(exact(14, sizes).distribution.units == std::vector<std::int64_t>{6, 8, 0});
  const auto invalid = [](std::vector<TimeTable::Entry> entries) {
    return [tables = std::vector<TimeTable>{{{{5, 1.0}}}, {std::move(entries)}}] { require_feasible(1, tables); };
  };
  const std::int64_t large = std::int64_t{1} << 40;
  check({{[&] { exact(7, sizes); }, {"7 computation units", "is 7"}},
         {[&] { hpopta(7, sizes); }, {"7 computation units", "is 7"}},
         {[&] { exact(16, sizes); }, {"16 computation units do not fit", "14 together"}},
         {[&] { exact(-1, sizes); }, {"-1 computation units"}},
         {[] { require_feasible(0, TimeTables{}); }, {"no time tables"}},
         {[&] { predict({5}, sizes); }, {"1 slices for 3 time tables"}},
         {invalid({{0, 1.0}}), {"unit 1", "size 0"}},
         {invalid({{3, 1.0}, {3, 2.0}}), {"size 3 after 3"}},
         {invalid({{4, 1.0}, {2, 2.0}}), {"size 2 after 4"}},
         {invalid({{4, -0.5}}), {"-0.5"}},
         {invalid({{4, not_a_number}}), {"nan"}},
         {invalid({{4, infinity}}), {"inf"}},
         {[] { tabulate(roomy, -3); }, {"-3"}},
         {[&] { tabulate(unlike, large); }, {"granularity of 32768 or more"}},
         {[] { popta(6, tables); }, {"6 computation units", "no 2 sizes"}},
         {[] { popta(11, tables); }, {"11 computation units do not fit"}},
         {[] { popta(-1, tables); }, {"-1 computation units"}},
         {[] { popta(4, {}); }, {"no processing units"}},
         {[&] { popta(large, one); }, {"expected at most"}},
         {[] { popta(4, unlike); }, {"model 1 differs"}}});
  CHECK(popta(0, tables).units == std::vector<std::int64_t>{0, 0});
}

TEST_CASE("groups are refused unless every unit is in one and there is room") {
  const std::vector<const models::SpeedModel*> models{&limited, &limited, &limited};
  const auto grouped = [&](std::int64_t total, std::vector<int> group_of_unit) {
    const Algorithm algorithm = find_algorithm("geometric");
    return [=] { hierarchical(total, models, group_of_unit, algorithm, algorithm); };
  };
  CHECK_NOTHROW(grouped(30, {0, 1, 0})());
  check({{grouped(31, {0, 1, 0}), {"31 computation units do not fit"}},
         {grouped(-1, {0, 1, 0}), {"-1 computation units"}},
         {grouped(3, {0, 1}), {"2 group numbers for 3 models"}},
         {[] { GroupModel({}, find_algorithm("even"), 1); }, {"without processing units"}}});
}

TEST_CASE("rectangles are refused of no areas, areas and extents that are none and columns that stay empty") {
  const Extents extents{4, 4};
  using Areas = std::vector<double>;
  const auto by = [=](Areas areas) { return [=] { column(areas, extents); }; };
  const Areas areas = {1.0, 0.0, 2.0, 3.0};
  const auto in_columns = [=](Extents of, int columns) { return [=] { column(areas, of, columns); }; };
  check({{by({}), {"no areas"}},
         {by({0.0, 0.0, 0.0}), {"all 3 areas are 0"}},
         {by({1.0, -0.5}), {"area -0.5 of unit 1"}},
         {by({1.0, 2.0, not_a_number}), {"area nan of unit 2"}},
         {by({infinity}), {"area inf of unit 0"}},
         {in_columns({9, 9}, 0), {"0 columns for 3 units"}},
         {in_columns({9, 9}, 4), {"4 columns for 3 units"}},
         {in_columns({9, 2}, 3), {"2 blocks in a row"}}});
  for (const std::int64_t bad : {std::int64_t{0}, std::int64_t{-3}, most_blocks_per_side + 1,
                                 std::numeric_limits<std::int64_t>::max(), std::numeric_limits<std::int64_t>::min()}) {
    for (const Extents& wrong : {Extents{bad, 17}, Extents{17, bad}}) {
      check({{[&] { require_extents(wrong); }, {std::to_string(bad), "17"}},
             {[&] { column(areas, wrong); }, {std::to_string(bad)}}});
    }
  }
  const auto costs = [](std::vector<double> cost_s) {
    return [=] { communication_aware({2, 5}, one, find_algorithm("even"), [=](const auto&) { return cost_s; }); };
  };
  check({{costs({}), {"0 communication costs for 1"}},
         {costs({1.0, 1.0}), {"2 communication costs for 1"}},
         {costs({-1.0}), {"cost -1 s of unit 0"}},
         {costs({not_a_number}), {"cost nan s"}}});
  const std::vector<Rectangle> whole{{0, 0, 4, 4}};
  for (const double bytes : {-1.0, infinity, not_a_number}) {
    check({{[&] { summa_pattern(whole, 0, 1, bytes); }, {"bytes"}}});
  }
  check({{[] { summa_pattern({}, 0, 1, 8.0); }, {"no rectangles"}},
         {[&] { summa_pattern(whole, 0, -1, 8.0); }, {"depth -1"}}});
}

TEST_CASE("balancing refuses repetitions, measurements and options out of range, and totals below 0") {
  using Points = std::vector<models::MeasuredPoint>;
  // Of two units, the first one has the larger half.
  const auto measured = [](Points points, std::int64_t total, std::size_t units = 2) {
    return [=] { throughput_balance(total, units, [=](auto) { return points; }); };
  };
  const auto repeated = [](Repetition repetition) { return [=] { throughput_balance(1, 1, {}, {0.0, repetition}); }; };
  const auto measure = [](std::span<const std::int64_t>) { return Points{}; };
  const auto iteration = [](std::span<const std::int64_t>) { return models::MeasuredPoint{1.0, 1.0}; };
  SearchOptions fine, rare;
  fine.resolution = 0;
  rare.repetition.most_rounds = 0;
  ThroughputOptions options;
  options.eps = -1.0;
  CHECK_NOTHROW(measured({{1, 1.0}, {2, 1.0}}, 1)());
  check({{[] { even_slices(1, 0); }, {"no processing units"}},
         {[] { even_slices(-1, 2); }, {"-1 computation units"}},
         {measured({{2, 1.0}, {3, 1.0}}, 3), {"unit 1 was measured at 3", "expected 1"}},
         {measured({{2, 1.0}, {1, 1.0}}, 6, 3), {"2 points of 3"}},
         {measured({{2, 1.0}, {1, 0.0}}, 3), {"unit 1 took 0 s"}},
         {measured({{2, infinity}, {1, 1.0}}, 3), {"unit 0 took inf s"}},
         {measured({{2, 1.0, 1, -1.0}, {1, 1.0}}, 3), {"+- -1 s"}},
         {repeated({0, 10}), {"0 rounds"}},
         {repeated({1, 0}), {"0 measurements"}},
         {[&] { equal_times_search(1000, measure, fine); }, {"resolution of 0"}},
         {[&] { equal_times_search(1000, measure, rare); }, {"0 rounds"}},
         {[&] { iteration_time_search(1000, iteration, fine); }, {"resolution of 0"}},
         {[&] { iteration_time_search(-1, iteration); }, {"-1 computation units"}},
         {[&] { throughput_balance(10, 2, measure, options); }, {"eps -1"}},
         {[&] { iterative_calibration(10, 2, measure, options); }, {"eps -1"}},
         {[&] { iterative_calibration(10, 0, measure); }, {"no processing units"}},
         {[&] { iterative_calibration(-1, 2, measure); }, {"-1 computation units"}}});
}

TEST_CASE("the load balancer refuses options out of range, starts that are no distribution and times that are none") {
  using Balancing = LoadBalancerOptions;
  using Slices = std::vector<std::int64_t>;
  const Algorithm algorithm = find_algorithm("geometric");
  const auto with = [&](auto Balancing::*option, auto value) {
    Balancing wrong;
    wrong.*option = value;
    return [=] { LoadBalancer(10, 2, algorithm, wrong); };
  };
  const auto recorded = [&](std::vector<double> times_s, double remaining) {
    return [=] { LoadBalancer(100, 2, algorithm).record(times_s, remaining); };
  };
  check({{with(&Balancing::window, 0), {"window of 0"}},
         {with(&Balancing::eps, -1.0), {"eps -1"}},
         {with(&Balancing::redistribution_s, not_a_number), {"redistribution nan s"}},
         {with(&Balancing::start, Slices{10}), {"no distribution of 10"}},
         {with(&Balancing::start, Slices{11, -1}), {"no distribution of 10"}},
         {with(&Balancing::start, Slices{5, 4}), {"no distribution of 10"}},
         {[&] { LoadBalancer(100, 0, algorithm); }, {"no processing units"}},
         {recorded({1.0}, 1.0), {"1 times of 2"}},
         {recorded({1.0, 0.0}, 1.0), {"unit 1 took 0 s"}},
         {recorded({not_a_number, 1.0}, 1.0), {"unit 0 took nan s"}},
         {recorded({1.0, 1.0}, -1.0), {"-1 iterations"}}});
}

}  // namespace steelyard::test_refusals
