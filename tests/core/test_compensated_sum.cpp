#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <span>
#include <vector>

#include "core/sweep/compensated_sum.hpp"

namespace steelyard::test_compensated_sum {

namespace {

__extension__ using Integer = __int128;

double sum_of(std::span<const double> terms) {
  CompensatedSum sum;
  for (const double term : terms) sum.add(term);
  return sum.value();
}

/// The terms summed up in random groups, which are then added to each other in random order.
double grouped_sum_of(std::span<const double> terms, std::mt19937_64& random) {
  std::vector<CompensatedSum> groups(1 + random() % 7);
  for (const double term : terms) groups[random() % groups.size()].add(term);
  std::shuffle(groups.begin(), groups.end(), random);
  CompensatedSum sum;
  for (const CompensatedSum& group : groups) sum.add(group);
  return sum.value();
}

/// A random integer of up to `bits` bits that a double holds.
std::int64_t random_integer(std::mt19937_64& random, int bits) {
  const auto magnitude = static_cast<std::int64_t>(random() >> (64 - std::min(bits, 53)));
  return random() % 2 == 0 ? magnitude : -magnitude;
}

/// Terms of sizes from 1e-5 to 1e15 that cancel but for their smallest.
std::vector<double> cancelling_terms(std::mt19937_64& random) {
  std::normal_distribution<double> normal;
  std::vector<double> terms;
  for (int i = 0; i < 100; ++i) {
    const double large = 1e15 * normal(random);
    terms.insert(terms.end(), {large, -large, 1e-5 * normal(random)});
  }
  return terms;
}

}  // namespace

TEST_CASE("a compensated sum is the exact sum of integers times powers of two, rounded once") {
  std::mt19937_64 random(11);
  int wrong = 0;
  for (int round = 0; round < 20000; ++round) {
    // All terms are multiples of 2^-40 below 2^60, so that their sum fits into 128 bits.
    std::vector<double> terms;
    Integer exact = 0;
    for (std::uint64_t i = 0, count = 1 + random() % 40; i < count; ++i) {
      const std::int64_t integer = random_integer(random, 1 + static_cast<int>(random() % 53));
      const int shift = static_cast<int>(random() % 48);
      exact += static_cast<Integer>(integer) << shift;
      terms.push_back(std::ldexp(static_cast<double>(integer), shift - 40));
      if (random() % 3 != 0) continue;
      exact -= static_cast<Integer>(integer) << shift;
      terms.push_back(-terms.back());
    }
    // Integers are converted to the nearest double.
    const double expected = std::ldexp(static_cast<double>(exact), -40);
    if (sum_of(terms) != expected || grouped_sum_of(terms, random) != expected) ++wrong;
  }
  CHECK(wrong == 0);
}

TEST_CASE("a compensated sum rounds to nearest where terms far below decide between two doubles") {
  const double one_digit = std::numeric_limits<double>::epsilon();
  for (const double sign : {1.0, -1.0}) {
    for (const double tiny : {1e-30, 1e-40, 1e-46}) {
      // Half way between two doubles, and a little more or less.
      for (const double first : {1.0, 1.0 + one_digit}) {
        const double above = first + one_digit;
        const std::vector<double> more = {sign * tiny, sign * first, sign * one_digit / 2.0};
        const std::vector<double> less = {sign * first, sign * one_digit / 2.0, -sign * tiny};
        CHECK(sum_of(more) == sign * above);
        CHECK(sum_of(less) == sign * first);
      }
    }
    CHECK(sum_of(std::vector<double>{sign, sign * one_digit / 2.0}) == sign);
  }
}

TEST_CASE("a compensated sum is the same in any order and grouping of its terms, also where they cancel") {
  std::mt19937_64 random(5);
  std::uniform_real_distribution<double> exponent(-15.0, 15.0);
  std::vector<double> positive, mixed;
  for (int i = 0; i < 300; ++i) {
    positive.push_back(std::pow(10.0, exponent(random)));
    mixed.push_back(random() % 2 == 0 ? std::pow(10.0, exponent(random)) : -std::pow(10.0, exponent(random)));
  }
  for (std::vector<double> terms : {positive, mixed, cancelling_terms(random)}) {
    const double first = sum_of(terms);
    int different = 0;
    for (int round = 0; round < 10000; ++round) {
      std::shuffle(terms.begin(), terms.end(), random);
      if (sum_of(terms) != first || grouped_sum_of(terms, random) != first) ++different;
    }
    CHECK(different == 0);
  }
}

TEST_CASE("a compensated sum gives what is left when everything large has cancelled") {
  CHECK(sum_of(std::vector<double>{}) == 0.0);
  CHECK(sum_of(std::vector<double>{1e300, 1.0, -1e300}) == 1.0);
  CHECK(sum_of(std::vector<double>{1e16, 1e-16, 1.0, -1e16, -1.0}) == 1e-16);
  CHECK(sum_of(std::vector<double>{1.0, 1e30, -1.0, -1e30}) == 0.0);
  CHECK(sum_of(std::vector<double>{0.1, -0.1}) == 0.0);
}

TEST_CASE("two compensated sums added either way round are the same bits") {
  std::mt19937_64 random(7);
  for (int round = 0; round < 1000; ++round) {
    CompensatedSum a, b;
    for (const double term : cancelling_terms(random)) (random() % 2 == 0 ? a : b).add(term);
    CompensatedSum left = a, right = b;
    left.add(b);
    right.add(a);
    CHECK((left.high == right.high && left.middle == right.middle && left.low == right.low));
  }
}

TEST_CASE("what is not finite stays visible in a compensated sum") {
  const double infinity = std::numeric_limits<double>::infinity();
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double largest = std::numeric_limits<double>::max();
  CHECK(sum_of(std::vector<double>{1.0, infinity, -3.0}) == infinity);
  CHECK(sum_of(std::vector<double>{-infinity, 1e300}) == -infinity);
  CHECK(std::isnan(sum_of(std::vector<double>{infinity, 1.0, -infinity})));
  CHECK(std::isnan(sum_of(std::vector<double>{1.0, nan, 2.0})));
  CHECK(sum_of(std::vector<double>{largest, largest}) == infinity);
  for (const double bad : {infinity, -infinity, nan}) {
    CompensatedSum sum, other;
    sum.add(1.0);
    other.add(bad);
    sum.add(other);
    CHECK(!std::isfinite(sum.value()));
    other.add(sum);
    CHECK(!std::isfinite(other.value()));
  }
}

}  // namespace steelyard::test_compensated_sum
