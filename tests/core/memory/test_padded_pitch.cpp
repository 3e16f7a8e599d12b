#include <catch2/catch_test_macros.hpp>
#include <complex>
#include <cstddef>
#include <cstdint>

#include "core/memory/matrix.hpp"

namespace steelyard::test_padded_pitch {

using steelyard::padded_pitch;

namespace {

template <class Element>
void check_pitches() {
  constexpr auto line = static_cast<std::int64_t>(64 / sizeof(Element));
  for (std::int64_t length = 0; length < 5000; ++length) {
    const std::int64_t pitch = padded_pitch<Element>(length);
    REQUIRE(pitch >= length);
    REQUIRE(pitch < length + 2 * line);
    REQUIRE(pitch % line == 0);
    if (length >= 8 * line) REQUIRE(pitch / line % 2 == 1);
  }
}

TEST_CASE("Padded rows are whole cache lines, of long rows an odd number, and never two lines longer") {
  check_pitches<std::complex<double>>();
  check_pitches<std::complex<float>>();
  check_pitches<double>();
  check_pitches<std::byte>();
}

}  // namespace

}  // namespace steelyard::test_padded_pitch
