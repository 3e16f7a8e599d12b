#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_floating_point.hpp>
#include <limits>
#include <set>
#include <utility>

#include "core/base/errors.hpp"
#include "models/communication/tau_lop/tau_lop.hpp"
#include "tests/models/random_models.hpp"
#include "tests/models/similar_forms.hpp"
#include "tests/models/tau_lop_platforms.hpp"

namespace steelyard::test_reduced_form {

using namespace steelyard::models;
using namespace steelyard::tests;
using Catch::Matchers::WithinRel;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// Whole sizes, also 0, which add up without rounding.
ReducedForm random_terms(Random& random) {
  ReducedForm terms;
  for (int count = whole(random, 0, 12); count > 0; --count) {
    terms.push_back({whole(random, 1, 4), {whole(random, 0, 2), whole(random, 0, 1)}, 1.0 * whole(random, 0, 20)});
  }
  return terms;
}

}  // namespace

TEST_CASE("terms of one channel and multiplicity become one, the busiest channel first") {
  // Expressions 8 and 9 of the paper become expression 10.
  const ReducedForm sum{{2, {0}, 116}, {1, {0}, 18}, {2, {1}, 104}, {1, {1}, 54},
                        {3, {1}, 35},  {2, {1}, 62}, {1, {1}, 27}};
  CHECK(to_string(collected(sum)) == "3||T1(35)+2||T1(166)+T1(81)+2||T0(116)+T0(18)");
}

TEST_CASE("of channels as busy as each other the lower number comes first") {
  CHECK(to_string(collected({{2, {1}, 5}, {1, {0}, 1}, {2, {0}, 3}})) == "2||T0(3)+T0(1)+2||T1(5)");
  CHECK(to_string(collected({{1, {0, 2}, 5}, {1, {0, 1}, 3}, {1, {1}, 1}})) == "T0@1(3)+T0@2(5)+T1(1)");
  CHECK(to_string(collected({{1, {0}, 5}, {2, {0, 1}, 3}})) == "2||T0@1(3)+T0(5)");
}

TEST_CASE("instances of a channel are not brought together") {
  CHECK(collected({{1, {0, 0}, 5}, {1, {0, 1}, 3}}).size() == 2);
}

TEST_CASE("terms of size 0 are left out") {
  CHECK(collected({{2, {0}, 0.0}}).empty());
  CHECK(to_string(collected({{5, {0}, 0.0}, {1, {1}, 4.0}, {2, {1}, 0.0}}, infinity)) == "T1(4)");
}

TEST_CASE("messages below the limit of A1 stay on their own") {
  const ReducedForm terms{{2, {0}, 10}, {2, {0}, 3}, {2, {0}, 20}, {2, {0}, 9.5}};
  CHECK(similar(collected(terms, 10), {{2, {0}, 30}, {2, {0}, 3}, {2, {0}, 9.5}}));
  CHECK(similar(collected(terms, 10.5), {{2, {0}, 10}, {2, {0}, 20}, {2, {0}, 3}, {2, {0}, 9.5}}));
  CHECK(similar(collected(terms, infinity), terms));
}

TEST_CASE("collected terms are ordered, carry the same bytes and stay as they are when collected again") {
  Random random(1);
  for (int trial = 0; trial < 500; ++trial) {
    const ReducedForm terms = random_terms(random);
    const double merge_from = whole(random, 0, 2) == 0   ? 0.0
                              : whole(random, 0, 3) == 0 ? infinity
                                                         : whole(random, 1, 20);
    const ReducedForm once = collected(terms, merge_from);
    INFO(to_string(terms) << " from " << merge_from << ": " << to_string(once));
    REQUIRE(ordered_as_in_the_paper(once));
    REQUIRE(collected(once, merge_from) == once);
    auto bytes = carried(terms);
    std::erase_if(bytes, [](const auto& entry) { return entry.second == 0.0; });
    REQUIRE(carried(once) == bytes);
    std::size_t small = 0;
    std::set<std::pair<ChannelInstance, std::int64_t>> large;
    for (const Term& term : terms) {
      if (term.size == 0.0) continue;
      if (term.size < merge_from) ++small;
      if (term.size >= merge_from) large.insert({term.channel, term.multiplicity});
    }
    REQUIRE(once.size() == small + large.size());
  }
}

TEST_CASE("the order of terms that are brought together does not matter") {
  Random random(2);
  for (int trial = 0; trial < 200; ++trial) {
    ReducedForm terms = random_terms(random);
    const ReducedForm once = collected(terms);
    std::ranges::shuffle(terms, random);
    REQUIRE(collected(terms) == once);
  }
}

TEST_CASE("a reduced form costs what its terms cost together") {
  Random random(3);
  for (int trial = 0; trial < 100; ++trial) {
    const Platform platform = measured_platform(random, 3);
    const TauLop model(platform);
    const ReducedForm terms = random_terms(random);
    const double block = uniform(random, 0.5, 8.0);
    double sum_s = 0.0;
    for (const Term& term : terms) {
      sum_s += model.transmission_s(term.channel.channel, term.size * block, term.multiplicity);
    }
    REQUIRE_THAT(cost_s(terms, model, {0.0, block}), WithinRel(sum_s, 1e-12));
    REQUIRE(cost_s(terms, model) == cost_s(terms, model, {0.0, 1.0}));
  }
  const Platform platform = unit_platform(1);
  CHECK(cost_s({}, TauLop(platform)) == 0.0);
}

TEST_CASE("the cost by hand: overhead once, transfers with contention") {
  Platform platform;
  Channel memory, network;
  memory.id = 0;
  memory.path = {0, 0};
  memory.tau_lop = TauLopTables{SizeTable({{1.0, 0.5}}, SizeTable::Outside::constant),
                                TransferTable({{10.0, 1, 1.0}, {10.0, 2, 1.5}})};
  network.id = 1;
  network.path = {0, 1, 0};
  network.tau_lop = TauLopTables{SizeTable({{1.0, 2.0}}, SizeTable::Outside::constant),
                                 TransferTable({{10.0, 1, 4.0}, {10.0, 2, 8.0}})};
  platform.channels = {memory, network};
  const TauLop model(platform);
  // o0 + 2 L0(20, 2) + o1 + 2 L0(5, 1) + L1(5, 1)
  CHECK_THAT(cost_s({{2, {0}, 20}, {1, {1}, 5}}, model), WithinRel(0.5 + 2 * 3.0 + 2.0 + 2 * 0.5 + 2.0, 1e-12));
}

TEST_CASE("a term on a channel that is not there, or with more at a time than was measured, is refused") {
  const Platform platform = unit_platform(2, 4);
  const TauLop model(platform);
  CHECK_THROWS_AS(cost_s({{1, {7}, 5}}, model), InvalidArgument);
  CHECK_THROWS_AS(cost_s({{5, {0}, 5}}, model), InvalidArgument);
  CHECK_THAT(cost_s({{5, {0}, 5}}, TauLop(platform, BeyondMeasured::proportional)), WithinRel(25.0, 1e-12));
}

TEST_CASE("a reduced form is printed as the paper writes it") {
  CHECK(to_string(ReducedForm{}) == "0");
  CHECK(to_string(ReducedForm{{2, {0}, 116}, {1, {0}, 18}}) == "2||T0(116)+T0(18)");
  CHECK(to_string(ReducedForm{{1, {1, 3}, 5}}) == "T1@3(5)");
  CHECK(to_string(ReducedForm{{1, {0}, 123456789.0}}) == "T0(123456789)");
  CHECK(to_string(ReducedForm{{1, {0}, 1.0 / 3.0}}) == "T0(0.333333)");
  CHECK(to_string(ReducedForm{{1, {0}, 1234.5678}}) == "T0(1234.57)");
}

}  // namespace steelyard::test_reduced_form
