#include <bit>
#include <span>
#include <type_traits>

#include "core/spaces.hpp"
#include "core/sweep/compensated_sum.hpp"
#include "core/sweep/vector_for.hpp"
#include "tests/catch.hpp"
#include "tests/core/started_units.hpp"

namespace steelyard::test_rounding {

namespace {

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

/// Team r computes [r piece, (r + 1) piece) of all results in a vector loop, some teams nothing of a range that ends
/// before it begins.
template <class Execution, class Scalar>
struct Pieces {
  using Policy = Kokkos::TeamPolicy<Execution>;
  using View = Kokkos::View<Scalar*, DeviceOf<Execution>>;
  View a, b, c, result;
  Kokkos::View<int*, DeviceOf<Execution>> visits;
  std::int64_t piece = 1;

  KOKKOS_FUNCTION void operator()(const typename Policy::member_type& member) const {
    const std::int64_t begin = member.league_rank() * piece;
    const auto count = static_cast<std::int64_t>(result.extent(0));
    const std::int64_t end = begin + piece < count ? begin + piece : count;
    const Scalar *const x = a.data(), *const y = b.data(), *const z = c.data();
    Scalar* const to = result.data();
    int* const visited = visits.data();
    vector_for(member, begin, end, [=](const std::int64_t i) {
      to[i] = multiply_add(x[i], y[i], z[i]);
      visited[i] += 1;
    });
  }
};

template <class Execution, class Scalar>
std::vector<Scalar> in_pieces(const Operands<Scalar>& operands, std::int64_t piece) {
  const auto space = Execution();
  using Kernel = Pieces<Execution, Scalar>;
  using HostView = Kokkos::View<const Scalar*, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
  const auto copy = [](const std::vector<Scalar>& values) {
    typename Kernel::View view("steelyard::tests::operand", values.size());
    Kokkos::deep_copy(view, HostView(values.data(), values.size()));
    return view;
  };
  const auto count = static_cast<std::int64_t>(operands.a.size());
  const decltype(Kernel::visits) visits("steelyard::tests::visits", operands.a.size());
  const Kernel kernel{copy(operands.a), copy(operands.b), copy(operands.c), copy(operands.c), visits, piece};
  const int lanes = runs_on_host<Execution> ? 1 : 32;
  const auto teams = static_cast<int>((count + piece - 1) / piece) + 3;
  Kokkos::parallel_for("steelyard::tests::multiply_add", typename Kernel::Policy(space, teams, 1, lanes), kernel);
  space.fence();
  const auto visited = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), visits);
  CHECK(std::all_of(visited.data(), visited.data() + count, [](int times) { return times == 1; }));
  const auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), kernel.result);
  return {host.data(), host.data() + count};
}

template <class Execution, class Scalar>
void check_roundings() {
  const Operands<Scalar> operands(1003);
  const auto single = in_pieces<Execution>(operands, 1);
  for (const std::int64_t piece : {2, 3, 5, 7, 8, 13, 16, 17, 31, 33, 64, 100, 1003}) {
    const auto found = in_pieces<Execution>(operands, piece);
    REQUIRE(std::equal(single.begin(), single.end(), found.begin(), found.end(),
                       [](Scalar x, Scalar y) { return bits(x) == bits(y); }));
  }
  std::size_t once = 0, twice = 0, differing = 0;
  for (std::size_t i = 0; i < single.size(); ++i) {
    const Scalar a = operands.a[i], b = operands.b[i], c = operands.c[i];
    if (runs_on_host<Execution>) REQUIRE(bits(multiply_add(a, b, c)) == bits(single[i]));
    const Scalar one = std::fma(a, b, c), two = rounded_twice(a, b, c);
    once += bits(single[i]) == bits(one) ? 1 : 0;
    twice += bits(single[i]) == bits(two) ? 1 : 0;
    differing += bits(one) != bits(two) ? 1 : 0;
  }
  CHECK((once == single.size() || twice == single.size()));
  // Otherwise this test could not tell.
  CHECK(differing > single.size() / 4);
}

}  // namespace

TEMPLATE_TEST_CASE("vector loops come to each index once, and multiply_add is rounded once or twice all over them", "",
                   HostExecution, CompanionExecution) {
  check_roundings<TestType, double>();
  check_roundings<TestType, float>();
}

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

TEST_CASE("a compensated sum rounds to nearest where terms far below decide, or are left when all others cancel") {
  CHECK(sum_of(std::vector<double>{}) == 0.0);
  CHECK(sum_of(std::vector<double>{1e300, 1.0, -1e300}) == 1.0);
  CHECK(sum_of(std::vector<double>{1e16, 1e-16, 1.0, -1e16, -1.0}) == 1e-16);
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

TEST_CASE("what is not finite stays visible in a compensated sum") {
  const double infinity = std::numeric_limits<double>::infinity();
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double largest = std::numeric_limits<double>::max();
  CHECK(std::isnan(sum_of(std::vector<double>{infinity, 1.0, -infinity})));
  CHECK(sum_of(std::vector<double>{largest, largest}) == infinity);
  for (const double bad : {infinity, -infinity, nan}) {
    const double found = sum_of(std::vector<double>{1.0, bad, -3.0});
    CHECK((found == bad || (std::isnan(bad) && std::isnan(found))));
    CompensatedSum sum, other;
    sum.add(1.0);
    other.add(bad);
    sum.add(other);
    CHECK(!std::isfinite(sum.value()));
    other.add(sum);
    CHECK(!std::isfinite(other.value()));
  }
}

}  // namespace steelyard::test_rounding
