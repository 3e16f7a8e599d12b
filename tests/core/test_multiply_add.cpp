#include <algorithm>
#include <bit>
#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <random>
#include <type_traits>
#include <vector>

#include "core/spaces.hpp"
#include "core/sweep/multiply_add.hpp"
#include "core/sweep/vector_for.hpp"
#include "tests/core/unit_space.hpp"

namespace steelyard::test_multiply_add {

namespace {

template <class Execution, class Scalar>
struct On {
  using Space = Execution;
  using Element = Scalar;
};

template <class Scalar>
auto bits(Scalar value) {
  using Bits = std::conditional_t<sizeof(Scalar) == sizeof(std::uint64_t), std::uint64_t, std::uint32_t>;
  return std::bit_cast<Bits>(value);
}

template <class Scalar>
struct Operands {
  std::vector<Scalar> a, b, c;

  /// Many sums nearly cancel: there one rounding and two differ most.
  explicit Operands(std::size_t count) {
    std::mt19937_64 random(1);
    const auto between = [&](double low, double high) {
      return static_cast<Scalar>(low + (high - low) * static_cast<double>(random() >> 11U) / 9007199254740992.0);
    };
    for (std::size_t i = 0; i < count; ++i) {
      a.push_back(between(-2.0, 2.0));
      b.push_back(between(-2.0, 2.0));
      c.push_back(i % 2 == 0 ? between(-4.0, 4.0) : -a[i] * b[i] * between(0.999, 1.001));
    }
  }
};

template <class Scalar>
Scalar rounded_twice(Scalar a, Scalar b, Scalar c) {
  // Kept from being contracted.
  const volatile Scalar product = a * b;
  return product + c;
}

/// Team r computes [r piece, (r + 1) piece) of all results in a vector loop.
template <class Execution, class Scalar>
struct Pieces {
  using Policy = Kokkos::TeamPolicy<Execution>;
  using View = Kokkos::View<Scalar*, DeviceOf<Execution>>;
  View a, b, c, result;
  std::int64_t piece = 1;

  KOKKOS_FUNCTION void operator()(const typename Policy::member_type& member) const {
    const std::int64_t begin = member.league_rank() * piece;
    const auto count = static_cast<std::int64_t>(result.extent(0));
    const std::int64_t end = begin + piece < count ? begin + piece : count;
    const Scalar *const x = a.data(), *const y = b.data(), *const z = c.data();
    Scalar* const to = result.data();
    vector_for(member, begin, end, [=](const std::int64_t i) { to[i] = multiply_add(x[i], y[i], z[i]); });
  }
};

template <class Execution, class Scalar>
std::vector<Scalar> in_pieces(const Operands<Scalar>& operands, std::int64_t piece) {
  const auto space = tests::unit_space<Execution>();
  using Kernel = Pieces<Execution, Scalar>;
  using HostView = Kokkos::View<const Scalar*, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
  const auto copy = [](const std::vector<Scalar>& values) {
    typename Kernel::View view("steelyard::tests::operand", values.size());
    Kokkos::deep_copy(view, HostView(values.data(), values.size()));
    return view;
  };
  const auto count = static_cast<std::int64_t>(operands.a.size());
  const Kernel kernel{copy(operands.a), copy(operands.b), copy(operands.c), copy(operands.c), piece};
  const int lanes = runs_on_host<Execution> ? 1 : 32;
  const auto teams = static_cast<int>((count + piece - 1) / piece);
  Kokkos::parallel_for("steelyard::tests::multiply_add", typename Kernel::Policy(space, teams, 1, lanes), kernel);
  space.fence();
  const auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), kernel.result);
  return {host.data(), host.data() + count};
}

}  // namespace

TEMPLATE_TEST_CASE("multiply_add has the same bits in vector bodies, remainders and single calls", "",
                   (On<HostExecution, double>), (On<HostExecution, float>), (On<CompanionExecution, double>),
                   (On<CompanionExecution, float>)) {
  using Execution = typename TestType::Space;
  using Scalar = typename TestType::Element;
  const Operands<Scalar> operands(1003);
  const auto single = in_pieces<Execution>(operands, 1);
  for (const std::int64_t piece : {2, 3, 5, 7, 8, 13, 16, 17, 31, 33, 64, 100, 1003}) {
    const auto found = in_pieces<Execution>(operands, piece);
    REQUIRE(std::equal(single.begin(), single.end(), found.begin(), found.end(),
                       [](Scalar x, Scalar y) { return bits(x) == bits(y); }));
  }
  if (!runs_on_host<Execution>) return;
  for (std::size_t i = 0; i < single.size(); ++i) {
    REQUIRE(bits(multiply_add(operands.a[i], operands.b[i], operands.c[i])) == bits(single[i]));
  }
}

TEMPLATE_TEST_CASE("multiply_add is rounded once everywhere or twice everywhere", "", (On<HostExecution, double>),
                   (On<HostExecution, float>), (On<CompanionExecution, double>), (On<CompanionExecution, float>)) {
  using Scalar = typename TestType::Element;
  const Operands<Scalar> operands(1003);
  const auto found = in_pieces<typename TestType::Space>(operands, 37);
  std::size_t once = 0, twice = 0, differing = 0;
  for (std::size_t i = 0; i < found.size(); ++i) {
    const Scalar a = operands.a[i], b = operands.b[i], c = operands.c[i];
    const Scalar one = std::fma(a, b, c), two = rounded_twice(a, b, c);
    once += bits(found[i]) == bits(one) ? 1 : 0;
    twice += bits(found[i]) == bits(two) ? 1 : 0;
    differing += bits(one) != bits(two) ? 1 : 0;
  }
  CHECK((once == found.size() || twice == found.size()));
  // Otherwise this test could not tell.
  CHECK(differing > found.size() / 4);
}

TEMPLATE_TEST_CASE("multiply_add is within a rounding of the product and one of the sum", "", double, float) {
  const Operands<TestType> operands(1003);
  constexpr double half_unit = 0.5 * std::numeric_limits<TestType>::epsilon();
  for (std::size_t i = 0; i < operands.a.size(); ++i) {
    const TestType found = multiply_add(operands.a[i], operands.b[i], operands.c[i]);
    const long double product = static_cast<long double>(operands.a[i]) * static_cast<long double>(operands.b[i]);
    const long double error = static_cast<long double>(found) - (product + static_cast<long double>(operands.c[i]));
    // 0.1 % for the long double's own rounding.
    REQUIRE(std::abs(error) <= 1.001L * half_unit * (std::abs(product) + std::abs(static_cast<long double>(found))));
  }
}

TEMPLATE_TEST_CASE("multiply_add is exact where the result needs no rounding", "", double, float) {
  for (int a = -9; a <= 9; ++a) {
    for (int b = -9; b <= 9; ++b) {
      for (int c = -9; c <= 9; ++c) {
        const auto found =
            multiply_add(static_cast<TestType>(a) / 4, static_cast<TestType>(b), static_cast<TestType>(c) / 8);
        REQUIRE(found == static_cast<TestType>(2 * a * b + c) / 8);
      }
    }
  }
}

}  // namespace steelyard::test_multiply_add
