#include <type_traits>

#include "comm/collective.hpp"
#include "miniapps/gemm/freivalds.hpp"
#include "miniapps/summa/multiplication.hpp"
#include "tests/catch.hpp"
#include "tests/comm/started_session.hpp"
#include "tests/miniapps/gemm/product.hpp"
#include "tests/partition/random_rectangles.hpp"

namespace steelyard::test_tile_sharing {

using namespace steelyard::summa;
using gemm::Freivalds;
using namespace steelyard::tests;

namespace {

/// A tile of n x n matrices for each rank, the same on all as random numbers are; some are empty.
std::vector<Tile> random_tiling(std::int64_t n, Random& random) {
  std::vector<Tile> tiles;
  cut_at_random(random, {0, 0, n, n}, session().size(), tiles);
  tiles.resize(static_cast<std::size_t>(session().size()));
  std::ranges::shuffle(tiles, random);
  return tiles;
}
const Tile& own(const std::vector<Tile>& tiles) { return tiles[static_cast<std::size_t>(session().rank())]; }

template <class Scalar>
ConstMatrix<HostExecution, Scalar> part(const PinnedMatrix<Scalar>& matrix, const Tile& tile) {
  return matrix_block(matrix.view(), tile.row, tile.rows, tile.column, tile.columns);
}

/// What ranks find that have their tiles of the matrices alone, which is what one rank finds that has all of them.
/// @param is_near the errors, not their verdict alone: roundings of the check's own sums are small
template <class Scalar>
double error_of(const Product<Scalar>& x, Random& random, bool is_near) {
  const std::uint64_t seed = random();
  const Freivalds<Scalar> whole(x.problem, seed, x.a.view(), x.b.view(), x.before.view());
  const std::vector<Tile> tiles = random_tiling(x.problem.n, random);
  const Tile& tile = own(tiles);
  const Freivalds<Scalar> shared(x.problem, seed, part(x.a, tile), part(x.b, tile), part(x.before, tile),
                                 tile_share(session().comm(), tile));
  const double alone = whole.check(x.c.view()), found = shared.check(part(x.c, tile));
  CAPTURE(x.problem.n, seed, found, alone, tile.row, tile.rows, tile.column, tile.columns);
  CHECK(all_max(session().comm(), found) == found);
  CHECK(std::isinf(found) == std::isinf(alone));
  if (session().size() == 1) CHECK(found == alone);
  if (std::isinf(alone)) return found;
  if (is_near && std::is_same_v<Scalar, double>) {
    CHECK(std::fabs(found - alone) < 1e-3 * alone + 1e-2);
  } else if (is_near) {
    // Partial sums across tiles are known by a bound.
    CHECK(found <= alone * (1.0 + 1e-6));
    CHECK(found >= alone / 3.0);
  }
  if (alone > 3.0 || alone < 0.9) CHECK((found > 1.0) == (alone > 1.0));
  return found;
}

}  // namespace

TEMPLATE_TEST_CASE(
    "the ranks' verdict is that of one rank that has all of it, on right products and wrong ones, with NaN and Inf", "",
    double, float) {
  Random random(1);
  const auto kinds = kinds_of_matrices<TestType>();
  for (int trial = 0; trial < 120; ++trial) {
    const std::int64_t n = any_of(random, 1, 130);
    const auto any = [&] { return any_of(random, 0, n - 1); };
    Product<TestType> right(gemm::Problem{n, n, n, 1.0, 1.0});
    const bool is_random = trial % 2 == 0, is_near = is_random && n > 30;
    const MatrixKind<TestType>& kind = is_random ? kinds[0] : kinds[static_cast<std::size_t>(trial / 2) % kinds.size()];
    kind.fill(right, random);
    if (trial % 3 == 0) {
      for (PinnedMatrix<TestType>* matrix : {&right.a, &right.b, &right.before, &right.before}) {
        matrix->at(any(), any()) = trial % 4 < 2 ? nan_of<TestType> : infinity_of<TestType>;
      }
    }
    right.multiply(trial % 4 < 2 ? Order::forward : Order::blocks);
    CAPTURE(trial, kind.name);
    CHECK(error_of(right, random, is_near) < 0.5);
    for (int round = 0; round < 6; ++round) {
      // A NaN, a single wrong element, and half a row that is more or less wrong.
      Product<TestType> x = right;
      TestType& element = x.c.at(any(), any());
      const bool has_been_special = !std::isfinite(element);
      element = has_been_special ? TestType{1} : nan_of<TestType>;
      // Not where norms leave the range of double.
      const bool is_checked = !std::string(kind.name).starts_with("rows of B and columns of A");
      CHECK((error_of(x, random, is_near) == infinity_of<double> || !is_checked));
      if (!has_been_special) element = 2 * right.c.at(any(), any()) + 1;
      error_of(x, random, is_near);
      x = right;
      const double change = std::pow(10.0, -1.0 - round) * (std::is_same_v<TestType, float> ? 1.0 : 1e-9);
      const std::int64_t row = any();
      for (std::int64_t j = 0; j < n; j += 2) x.c.at(row, j) *= static_cast<TestType>(1.0 + change);
      error_of(x, random, is_near);
    }
  }
}

}  // namespace steelyard::test_tile_sharing
