#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <functional>
#include <map>
#include <vector>

#include "miniapps/fft2d/problem.hpp"

namespace steelyard::test_padding {

using namespace steelyard::fft2d;

namespace {

using Lengths = std::vector<std::int64_t>;

TEST_CASE("Lengths to pad to are the length itself and smooth ones up to an eighth larger") {
  for (const std::int64_t length : {1, 2, 31, 32, 37, 100, 127, 509, 1009, 2048, 4099, 10007, 100003}) {
    CAPTURE(length);
    const Lengths lengths = padded_lengths(length);
    CHECK(lengths.front() == length);
    CHECK(std::is_sorted(lengths.begin(), lengths.end(), std::less_equal<>()));
    CHECK(lengths.size() <= 5);
    CHECK((length < 32) == (lengths.size() == 1));
    CHECK(8 * (lengths.back() - length) <= length);
    for (std::size_t i = 1; i < lengths.size(); ++i) {
      std::int64_t rest = lengths[i];
      for (const std::int64_t factor : {2, 3, 5, 7}) {
        while (rest % factor == 0) rest /= factor;
      }
      CHECK(rest == 1);
    }
  }
  const Lengths near_power = padded_lengths(1009);
  CHECK(std::find(near_power.begin(), near_power.end(), 1024) != near_power.end());
}

TEST_CASE(
    "The fastest extents have the least time of both passes; where longer ones are not faster, nothing is added") {
  unsigned state = 1;
  std::map<std::pair<std::int64_t, bool>, double> speeds;
  const auto speed_of = [&](std::int64_t length, bool real) {
    state = state * 1664525U + 1013904223U;
    return speeds.try_emplace({length, real}, 1.0 + state % 1000).first->second;
  };
  for (int round = 0; round < 50; ++round) {
    speeds.clear();
    const Extents input{500 + 7 * round, 900 - 11 * round};
    const bool real = round % 2 == 1;
    const auto time_s = [&](std::int64_t rows, std::int64_t columns) {
      const std::int64_t spectrum = real ? columns / 2 + 1 : columns;
      return static_cast<double>(rows) / speeds.at({columns, real}) +
             static_cast<double>(spectrum) / speeds.at({rows, false});
    };
    const Extents found = fastest_extents(input, real, speed_of);
    for (const std::int64_t m : padded_lengths(input.rows)) {
      for (const std::int64_t n : padded_lengths(input.columns)) {
        CHECK(time_s(found.rows, found.columns) <= time_s(m, n) * (1.0 + 1e-12));
      }
    }
    CHECK(fastest_extents(input, real, [](std::int64_t, bool) { return 5.0; }) == input);
  }
}

}  // namespace

}  // namespace steelyard::test_padding
