#include <algorithm>
#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>
#include <cstdint>
#include <limits>
#include <random>
#include <span>
#include <type_traits>
#include <vector>

#include "core/spaces.hpp"
#include "miniapps/gemm/unit_gemm.hpp"
#include "miniapps/summa/multiplication.hpp"
#include "tests/comm/started_session.hpp"
#include "tests/core/naive_gemm.hpp"
#include "tests/miniapps/summa/random_rectangles.hpp"

namespace steelyard::test_multiplication {

using namespace steelyard::summa;
using namespace steelyard::tests;
using gemm::MatrixName;
using partition::Rectangle;

namespace {

/// Random numbers of all ranks: the same.
using Random = std::mt19937_64;

constexpr double infinity = std::numeric_limits<double>::infinity();

template <class Scalar>
Scalar element(MatrixName name, std::int64_t row, std::int64_t column) {
  return static_cast<Scalar>(gemm::RandomMatrix(3, name).element(row, column));
}

template <class Scalar>
void fill(MatrixName name, const Tile& tile, std::span<Scalar> elements) {
  std::size_t next = 0;
  for (std::int64_t i = 0; i < tile.rows; ++i) {
    for (std::int64_t j = 0; j < tile.columns; ++j) {
      elements[next++] = element<Scalar>(name, tile.row + i, tile.column + j);
    }
  }
}

/// What C is in a tile, after so many multiplications.
template <class Scalar>
std::vector<NaiveElement> expected_of(const Problem& problem, const Tile& tile, int times) {
  struct At {
    MatrixName name;
    std::int64_t row, column;
    Scalar at(std::int64_t i, std::int64_t j) const { return element<Scalar>(name, row + i, column + j); }
  };
  return naive_gemm(tile.rows, tile.columns, problem.n, static_cast<Scalar>(times), At{MatrixName::a, tile.row, 0},
                    At{MatrixName::b, 0, tile.column}, Scalar{1}, At{MatrixName::c, tile.row, tile.column});
}

template <class Scalar>
int wrong_elements(std::span<const Scalar> found, const std::vector<NaiveElement>& expected) {
  if (found.size() != expected.size()) return std::numeric_limits<int>::max();
  int wrong = 0;
  for (std::size_t i = 0; i < found.size(); ++i) wrong += agrees(found[i], expected[i]) ? 0 : 1;
  return wrong;
}

/// A rank's block rows, shared by its units anyhow.
UnitRows split(const Rectangle& rectangle, Random& random) {
  const auto cut = static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(rectangle.rows + 1));
  if (!started_units().companion) return {rectangle.rows, 0};
  if (!started_units().host) return {0, rectangle.rows};
  return {cut, rectangle.rows - cut};
}

void check_durations(const Durations& durations, const Problem& problem, const Tile& tile, const UnitRows& rows) {
  CHECK(static_cast<std::int64_t>(durations.communication_s.size()) == problem.blocks());
  CHECK(std::all_of(durations.communication_s.begin(), durations.communication_s.end(),
                    [](double seconds) { return seconds >= 0.0; }));
  CHECK((durations.update_s.host_s > 0.0) == (!tile.empty() && rows.host > 0));
  CHECK((durations.update_s.companion_s > 0.0) == (!tile.empty() && rows.companion > 0));
}

/// What this rank multiplies with.
struct Started {
  CoExecution co_execution{session().machine(), started_units()};
  UnitGroup group{session().comm(), co_execution, started_units(), gather_slots(session(), started_units())};
};

/// Multiplies in every way that there is: the product is right, and has the same bits.
template <class Scalar>
void check_product(const Problem& problem, const std::vector<Rectangle>& rectangles, const UnitRows& rows,
                   double device_memory_bytes) {
  const Rectangle& rectangle = own(rectangles);
  CAPTURE(problem.n, problem.block, rectangle.row, rectangle.column, rectangle.rows, rectangle.columns, rows.host,
          rows.companion, device_memory_bytes);
  Started started;
  Multiplication<Scalar> multiplication(started.group, problem, rectangle, rows, device_memory_bytes, fill<Scalar>);
  const Tile tile = problem.tile(rectangle);
  CHECK(multiplication.tile() == tile);
  const std::vector<NaiveElement> expected = expected_of<Scalar>(problem, tile, 1);
  std::vector<Scalar> first;
  for (const Communication communication : communications) {
    PivotExchange exchange(communication, session().comm(), problem, rectangles, datatype<Scalar>);
    for (const MPI_Comm barrier : {MPI_COMM_NULL, session().comm()}) {
      multiplication.load_c(fill<Scalar>);
      const bool ahead = communication == Communication::pipelined;
      check_durations(multiplication.run(exchange, ahead, barrier), problem, tile, rows);
      const std::span<const Scalar> c = multiplication.c_elements();
      CAPTURE(communication_name(communication), barrier == MPI_COMM_NULL);
      CHECK(wrong_elements(c, expected) == 0);
      if (first.empty()) first.assign(c.begin(), c.end());
      CHECK(std::equal(c.begin(), c.end(), first.begin(), first.end()));
    }
  }
}

}  // namespace

TEMPLATE_TEST_CASE(
    "C becomes C + A B with the same bits however pivots travel, blocks are shared out and units share "
    "a rank's rows",
    "", double, float) {
  Random random(1);
  // Blocks that divide n or not, of one element, as large as the matrix and larger.
  for (const Problem& problem :
       std::vector<Problem>{{1, 1}, {1, 4}, {5, 1}, {7, 2}, {12, 4}, {20, 64}, {40, 7}, {70, 13}, {100, 32}}) {
    for (int round = 0; round < 3; ++round) {
      const std::vector<Rectangle> rectangles = random_rectangles(problem.blocks(), session().size(), random);
      check_product<TestType>(problem, rectangles, split(own(rectangles), random), infinity);
    }
  }
  if (!has_companion) return;
  // A companion with a memory of its own, in core and out of it.
  for (const Problem& problem : {Problem{40, 7}, Problem{100, 32}, Problem{130, 20}}) {
    for (const double bytes : {gemm::least_memory_bytes(8.0, problem.block), 1e5, 1e7}) {
      const std::vector<Rectangle> rectangles = random_rectangles(problem.blocks(), session().size(), random);
      check_product<TestType>(problem, rectangles, split(own(rectangles), random), bytes);
    }
  }
}

TEST_CASE("a tile higher than the pieces between which messages move has the same bits as without looking ahead") {
  const Problem problem{800, 160};
  std::vector<Rectangle> rectangles;
  // Columns of blocks, so that every rank with some has all rows.
  for (std::int64_t i = 0; i < session().size(); ++i) {
    const std::int64_t first = 5 * i / session().size(), end = 5 * (i + 1) / session().size();
    rectangles.push_back(first == end ? Rectangle{} : Rectangle{0, first, 5, end - first});
  }
  const std::int64_t all = own(rectangles).rows;
  check_product<float>(problem, rectangles, started_units().host ? UnitRows{all, 0} : UnitRows{0, all}, infinity);
}

TEST_CASE("a second multiplication adds the product again") {
  Random random(5);
  const Problem problem{50, 8};
  const std::vector<Rectangle> rectangles = random_rectangles(problem.blocks(), session().size(), random);
  Started started;
  Multiplication<double> multiplication(started.group, problem, own(rectangles), split(own(rectangles), random),
                                        infinity, fill<double>);
  PivotExchange exchange(Communication::pipelined, session().comm(), problem, rectangles, MPI_DOUBLE);
  multiplication.load_c(fill<double>);
  for (int times = 1; times <= 3; ++times) {
    multiplication.run(exchange, true);
    const std::vector<NaiveElement> expected = expected_of<double>(problem, multiplication.tile(), times);
    CHECK(wrong_elements(multiplication.c_elements(), expected) == 0);
  }
}

}  // namespace steelyard::test_multiplication
