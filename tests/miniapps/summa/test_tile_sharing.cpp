#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <random>
#include <type_traits>
#include <utility>

#include "comm/collective.hpp"
#include "miniapps/gemm/freivalds.hpp"
#include "miniapps/summa/tile_sharing.hpp"
#include "tests/comm/started_session.hpp"
#include "tests/miniapps/app/collective_error.hpp"
#include "tests/miniapps/gemm/product.hpp"
#include "tests/miniapps/summa/random_rectangles.hpp"

namespace steelyard::test_tile_sharing {

using namespace steelyard::summa;
using gemm::Freivalds;
using namespace steelyard::tests;

namespace {

/// Random numbers of all ranks: the same, as are the matrices and tilings made from them.
using Random = std::mt19937_64;

std::vector<Tile> tiling_of(std::int64_t n, Random& random) { return random_tiling(n, session().size(), random); }

template <class Scalar>
ConstMatrix<HostExecution, Scalar> part(const RoomyMatrix<Scalar>& matrix, const Tile& tile) {
  return matrix_block(matrix.view(), tile.row, tile.rows, tile.column, tile.columns);
}

/// The matrices C = A B + C', whole and right, on every rank.
template <class Scalar>
Product<Scalar> right_product(std::int64_t n, Random& random, double low = -1.0) {
  Product<Scalar> x(problem_of(n, n, n, 1.0, 1.0), random, low);
  x.multiply(Order::forward);
  return x;
}

template <class Scalar>
Freivalds<Scalar> check_of(const Product<Scalar>& x, const std::vector<Tile>& tiles, std::uint64_t seed = 1) {
  const Tile& tile = own(tiles);
  return {x.problem, seed, tile_share(session().comm(), tile), part(x.a, tile), part(x.b, tile), part(x.before, tile)};
}

/// What this rank finds, which has only its tile of each matrix.
template <class Scalar>
double own_error(const Product<Scalar>& x, const std::vector<Tile>& tiles, std::uint64_t seed = 1) {
  const Tile& tile = own(tiles);
  return check_of(x, tiles, seed).check(part(x.c, tile));
}

/// What the ranks find together.
template <class Scalar>
double error_of(const Product<Scalar>& x, const std::vector<Tile>& tiles, std::uint64_t seed = 1) {
  return all_max(session().comm(), own_error(x, tiles, seed));
}

template <class Scalar>
double error_on_one_rank(const Product<Scalar>& x, std::uint64_t seed = 1) {
  const Freivalds<Scalar> freivalds(x.problem, seed, gemm::Share::whole(x.problem), x.a.view(), x.b.view(),
                                    x.before.view());
  return freivalds.check(x.c.view());
}

}  // namespace

TEMPLATE_TEST_CASE("right products of matrices of all kinds pass however they are cut into tiles", "", double, float) {
  Random random(1);
  for (const std::int64_t n : {1, 2, 3, 5, 8, 31, 64, 65, 100, 200}) {
    for (const double low : {-1.0, 0.0}) {
      const Product<TestType> x = right_product<TestType>(n, random, low);
      for (int round = 0; round < 6; ++round) {
        const std::vector<Tile> tiles = tiling_of(n, random);
        CAPTURE(n, low, round, own(tiles).rows, own(tiles).columns);
        CHECK(own_error(x, tiles) < 0.5);
      }
    }
  }
  for (const Kind<TestType>& kind : kinds_of_matrices<TestType>()) {
    Product<TestType> x(problem_of(70, 70, 70, 1.0, 1.0));
    kind.fill(x, random);
    for (const Order order : {Order::forward, Order::backward, Order::blocks}) {
      x.multiply(order);
      CAPTURE(kind.name);
      CHECK(own_error(x, tiling_of(70, random)) < 0.5);
    }
  }
}

TEMPLATE_TEST_CASE("a single wrong element anywhere is found by all ranks", "", double, float) {
  constexpr double change = std::is_same_v<TestType, float> ? 0.3 : 1e-8;
  Random random(3);
  for (const std::int64_t n : {1, 6, 64, 130}) {
    const Product<TestType> right = right_product<TestType>(n, random);
    for (int round = 0; round < 20; ++round) {
      const std::vector<Tile> tiles = tiling_of(n, random);
      const auto size = static_cast<std::uint64_t>(n);
      const auto i = static_cast<std::int64_t>(random() % size), j = static_cast<std::int64_t>(random() % size);
      Product<TestType> x = right;
      x.c.at(i, j) += static_cast<TestType>(change);
      CAPTURE(n, i, j, own(tiles).row, own(tiles).rows, own(tiles).column, own(tiles).columns);
      CHECK(own_error(x, tiles) > 1.0);
    }
  }
}

TEMPLATE_TEST_CASE("NaN and Inf pass where A, B and C before put them, and only there", "", double, float) {
  Random random(6);
  constexpr std::int64_t n = 70;
  for (const TestType special : {nan_of<TestType>, infinity_of<TestType>, -infinity_of<TestType>}) {
    for (int round = 0; round < 4; ++round) {
      const std::vector<Tile> tiles = tiling_of(n, random);
      Product<TestType> right(problem_of(n, n, n, 1.0, 1.0), random);
      right.a.at(2, 65) = special;
      right.b.at(0, 64) = special;
      right.b.at(30, 5) = special;
      right.before.at(6, 10) = special;
      right.before.at(6, 5) = special;
      right.before.at(69, 0) = special;
      right.multiply(Order::forward);
      CAPTURE(round, own(tiles).row, own(tiles).rows, own(tiles).column, own(tiles).columns);
      CHECK(own_error(right, tiles) < 0.5);
      // A number where there must be none.
      for (const auto& [i, j] : {std::pair{2, 0}, {2, 69}, {0, 64}, {69, 5}, {6, 5}, {6, 10}, {69, 0}}) {
        Product<TestType> x = right;
        x.c.at(i, j) = TestType{1};
        CHECK(own_error(x, tiles) == infinity_of<double>);
      }
      for (const auto& [i, j] : {std::pair{0, 0}, {1, 63}, {6, 11}, {69, 69}, {30, 65}}) {
        for (const TestType wrong : {nan_of<TestType>, infinity_of<TestType>}) {
          Product<TestType> x = right;
          x.c.at(i, j) = wrong;
          CHECK(own_error(x, tiles) == infinity_of<double>);
        }
      }
      // Rows and columns without any are checked as ever.
      Product<TestType> x = right;
      x.c.at(7, 20) += TestType{1};
      CHECK(own_error(x, tiles) > 1.0);
    }
  }
}

TEMPLATE_TEST_CASE("the ranks' verdict is that of one rank that has all of it", "", double, float) {
  Random random(7);
  const bool is_double = std::is_same_v<TestType, double>;
  for (const std::int64_t n : {3, 65, 150}) {
    const Product<TestType> right = right_product<TestType>(n, random);
    for (int round = 0; round < 10; ++round) {
      const std::vector<Tile> tiles = tiling_of(n, random);
      Product<TestType> x = right;
      const auto row = static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(n));
      const double scale = std::pow(10.0, -1.0 - 0.5 * round) * (is_double ? 1e-9 : 1.0);
      for (std::int64_t j = 0; j < n; j += 2) x.c.at(row, j) += static_cast<TestType>(scale);
      const auto seed = static_cast<std::uint64_t>(round);
      const double found = error_of(x, tiles, seed), alone = error_on_one_rank(x, seed);
      CAPTURE(n, round, found, alone);
      if (session().size() == 1) CHECK(found == alone);
      if (is_double) {
        CHECK(std::fabs(found - alone) < 1e-3 * alone + 1e-2);
      } else {
        // Partial sums across tiles are known by a bound.
        CHECK(found <= alone * (1.0 + 1e-6));
        CHECK(found >= alone / 3.0);
      }
      if (alone > 3.0 || alone < 0.9) CHECK((found > 1.0) == (alone > 1.0));
    }
  }
}

TEST_CASE("matrices are not needed after the prediction, and C may be checked again and again") {
  Random random(8);
  Product<double> x = right_product<double>(50, random);
  const std::vector<Tile> tiles = tiling_of(50, random);
  x.c.at(10, 30) += 1e-3;
  const double error = own_error(x, tiles);
  const Freivalds<double> check = check_of(x, tiles);
  for (RoomyMatrix<double>* matrix : {&x.a, &x.b, &x.before}) matrix->fill([](auto, auto) { return nan_of<double>; });
  for (int round = 0; round < 3; ++round) {
    CHECK(check.check(part(x.c, own(tiles))) == error);
  }
}

TEST_CASE("a matrix that does not fit one rank's tile is everyone's error") {
  Random random(9);
  const Product<double> x = right_product<double>(30, random);
  const std::vector<Tile> tiles = tiling_of(30, random);
  const Tile& tile = own(tiles);
  const RoomyMatrix<double> other(tile.rows + 1, tile.columns), wider(tile.rows, tile.columns + 1);
  for (int failing = 0; failing < session().size(); ++failing) {
    const bool fails = session().rank() == failing;
    for (int which = 0; which < 4; ++which) {
      for (const RoomyMatrix<double>* wrong : {&other, &wider}) {
        const auto pick = [&](int matrix, const RoomyMatrix<double>& right) {
          return fails && matrix == which ? wrong->view() : part(right, tile);
        };
        const auto error = collective_error([&] {
          const Freivalds<double> check(x.problem, 1, tile_share(session().comm(), tile), pick(0, x.a), pick(1, x.b),
                                        pick(2, x.before));
          check.check(pick(3, x.c));
        });
        CHECK(error.has_value());
        if (error) CHECK(error->teller() == failing);
        if (error) CHECK(error->code() == ExitCode::wrong_input);
      }
    }
  }
}

}  // namespace steelyard::test_tile_sharing
