#include <span>
#include <unordered_set>

#include "miniapps/gemm/random_matrix.hpp"
#include "tests/catch.hpp"

namespace steelyard::test_random_matrix {

using namespace steelyard::gemm;

namespace {

using Numbers = std::vector<double>;
constexpr std::int64_t extent = 100;

/// Whether the mean of the products of two sequences is that, within six standard deviations.
void check_mean(const Numbers& x, const Numbers& y, double mean, double variance) {
  double sum = 0.0;
  for (std::size_t i = 0; i < x.size(); ++i) sum += x[i] * y[i];
  const auto count = static_cast<double>(x.size());
  CHECK(std::abs(sum / count - mean) < 6.0 * std::sqrt(variance / count));
}

}  // namespace

TEST_CASE(
    "elements are uniform from -1 to 1, signs are +1 and -1, and no element or sign tells another one, of a neighbour, "
    "far away, of another matrix, vector or seed") {
  constexpr std::int64_t far = (std::int64_t{1} << 31) - extent;
  std::vector<Numbers> matrices, signs;
  std::unordered_set<double> seen;
  for (const std::uint64_t seed : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{12345}, ~std::uint64_t{0}}) {
    for (const MatrixName name : {MatrixName::a, MatrixName::b, MatrixName::c}) {
      const RandomMatrix matrix(seed, name);
      // The last two are the first one's neighbours.
      for (const auto& [row, column] :
           {std::pair{std::int64_t{0}, far}, {far, std::int64_t{0}}, {far, far}, {0, 0}, {0, 1}, {1, 0}}) {
        matrices.emplace_back();
        for (std::int64_t i = 0; i < extent * extent; ++i) {
          matrices.back().push_back(matrix.element(row + i / extent, column + i % extent));
        }
      }
      for (auto first = matrices.end() - 6; first != matrices.end() - 2; ++first) {
        seen.insert(first->begin(), first->end());
      }
    }
    for (const int vector : {0, 1, 7, 63, 64, 200}) {
      for (const std::int64_t column : {0, 1}) {
        signs.emplace_back();
        for (std::int64_t i = 0; i < extent * extent; ++i)
          signs.back().push_back(random_sign(seed, column + i, vector));
      }
    }
  }
  // Of 53 random bits, 480000 numbers hardly ever share all.
  CHECK(seen.size() == matrices.size() * 4 / 6 * static_cast<std::size_t>(extent * extent));
  const Numbers ones(extent * extent, 1.0);
  for (const Numbers& x : matrices) {
    CHECK(std::ranges::all_of(x, [](double element) {
      return element >= -1.0 && element < 1.0 && std::ldexp(element, 52) == std::trunc(std::ldexp(element, 52));
    }));
    check_mean(x, ones, 0.0, 1.0 / 3.0);
    check_mean(x, x, 1.0 / 3.0, 1.0 / 5.0 - 1.0 / 9.0);
    for (const Numbers& other : matrices) {
      if (&other < &x) check_mean(x, other, 0.0, 1.0 / 9.0);
    }
    for (const Numbers& sign : signs) check_mean(x, sign, 0.0, 1.0 / 3.0);
  }
  for (const Numbers& x : signs) {
    CHECK(std::ranges::all_of(x, [](double sign) { return std::abs(sign) == 1.0; }));
    check_mean(x, ones, 0.0, 1.0);
    for (const Numbers& other : signs) {
      if (&other < &x) check_mean(x, other, 0.0, 1.0);
    }
  }
}

TEMPLATE_TEST_CASE("rows are the same in whatever parts and on whatever host threads they are filled", "", double,
                   float) {
  std::mt19937_64 random(8);
  for (const std::int64_t columns : {1, 3, 64, 257}) {
    constexpr std::int64_t rows = 101;
    const RandomMatrix matrix(9, MatrixName::a);
    std::vector<TestType> expected, filled(static_cast<std::size_t>(rows * columns));
    for (std::int64_t i = 0; i < rows * columns; ++i) {
      expected.push_back(static_cast<TestType>(matrix.element(i / columns, 5 + i % columns)));
    }
    for (std::int64_t first = 0; first < rows;) {
      const std::int64_t count = std::min<std::int64_t>(rows - first, static_cast<std::int64_t>(random() % 10));
      fill_random(matrix, first, 5, columns,
                  std::span(filled.data() + first * columns, static_cast<std::size_t>(count * columns)));
      first += count;
    }
    CHECK(filled == expected);
  }
}

}  // namespace steelyard::test_random_matrix
