#include <array>
#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>
#include <chrono>
#include <cstdint>
#include <random>
#include <thread>
#include <vector>

#include "core/base/errors.hpp"
#include "miniapps/summa/pivot_exchange.hpp"
#include "tests/comm/started_session.hpp"
#include "tests/miniapps/summa/random_rectangles.hpp"

namespace steelyard::test_pivot_exchange {

using namespace steelyard::summa;
using namespace steelyard::tests;
using partition::Rectangle;

namespace {

/// Random numbers of all ranks: the same.
using Random = std::mt19937_64;

template <class Scalar>
constexpr Scalar unwritten{-7777};
/// A rank's parts of one iteration's pivots in memory of their own, with room behind that nobody may write to.
template <class Scalar>
class Parts {
 public:
  Parts(const Problem& problem, const Rectangle& own)
      : problem_(problem),
        own_(own),
        tile_(problem.tile(own)),
        column_(static_cast<std::size_t>(tile_.rows * problem.depth(0)) + room),
        row_(static_cast<std::size_t>(tile_.columns * problem.depth(0)) + room) {
    forget();
  }

  /// What the rank owns of iteration k is there, the rest is not.
  void prepare(std::int64_t k) {
    forget();
    if (owns(own_, Pivot::column, k)) column_ = right_column(k);
    if (owns(own_, Pivot::row, k)) row_ = right_row(k);
  }
  void forget() {
    for (std::vector<Scalar>* part : {&column_, &row_}) part->assign(part->size(), unwritten<Scalar>);
  }
  PivotPanels panels() {
    if (own_.empty()) return {};
    return {column_.data(), row_.data()};
  }
  /// Elements of iteration k that are not as they should be, and elements behind them that have been written.
  int wrong(std::int64_t k) const {
    const std::vector<Scalar> column = right_column(k), row = right_row(k);
    int wrong = 0;
    for (std::size_t i = 0; i < column.size(); ++i) wrong += column_[i] == column[i] ? 0 : 1;
    for (std::size_t i = 0; i < row.size(); ++i) wrong += row_[i] == row[i] ? 0 : 1;
    return wrong;
  }

 private:
  static constexpr std::size_t room = 40;

  std::vector<Scalar> right_column(std::int64_t k) const {
    std::vector<Scalar> right(column_.size(), unwritten<Scalar>);
    if (own_.empty()) return right;
    auto next = right.begin();
    for (std::int64_t i = tile_.row; i < tile_.row + tile_.rows; ++i) {
      for (std::int64_t j = problem_.first_row(k); j < problem_.first_row(k + 1); ++j) *next++ = element(i, j);
    }
    return right;
  }
  std::vector<Scalar> right_row(std::int64_t k) const {
    std::vector<Scalar> right(row_.size(), unwritten<Scalar>);
    if (own_.empty()) return right;
    auto next = right.begin();
    for (std::int64_t i = problem_.first_row(k); i < problem_.first_row(k + 1); ++i) {
      for (std::int64_t j = tile_.column; j < tile_.column + tile_.columns; ++j) *next++ = -element(i, j);
    }
    return right;
  }
  /// Every element of A, and of -B, another number.
  Scalar element(std::int64_t i, std::int64_t j) const { return static_cast<Scalar>(i * problem_.n + j + 1); }

  Problem problem_;
  Rectangle own_;
  Tile tile_;
  std::vector<Scalar> column_, row_;
};

/// Some rank comes late now and then.
void dawdle(std::int64_t k) {
  if ((k + session().rank()) % 5 == 0) std::this_thread::sleep_for(std::chrono::microseconds(100));
}

/// One iteration at a time.
template <class Scalar>
int wrong_in_turns(PivotExchange& exchange, const Problem& problem, const Rectangle& rectangle) {
  Parts<Scalar> parts(problem, rectangle);
  int wrong = 0;
  for (std::int64_t k = 0; k < problem.blocks(); ++k) {
    parts.prepare(k);
    dawdle(k);
    exchange.start(k, parts.panels());
    exchange.wait();
    wrong += parts.wrong(k);
    exchange.release(k);
  }
  return wrong;
}

/// The next iteration's messages travel while one is used; what is released is overwritten at once.
template <class Scalar>
int wrong_ahead(PivotExchange& exchange, const Problem& problem, const Rectangle& rectangle) {
  std::array<Parts<Scalar>, 2> parts{Parts<Scalar>(problem, rectangle), Parts<Scalar>(problem, rectangle)};
  const auto of = [&parts](std::int64_t k) -> Parts<Scalar>& { return parts[static_cast<std::size_t>(k % 2)]; };
  const std::int64_t last = problem.blocks() - 1;
  int wrong = 0;
  of(0).prepare(0);
  exchange.start(0, of(0).panels());
  for (std::int64_t k = 0; k <= last; ++k) {
    dawdle(k);
    exchange.wait();
    if (k < last) {
      if (k > 0) {
        exchange.release(k - 1);
        of(k - 1).forget();
      }
      of(k + 1).prepare(k + 1);
      exchange.start(k + 1, of(k + 1).panels());
    }
    exchange.progress();
    wrong += of(k).wrong(k);
    exchange.progress();
  }
  if (last > 0) exchange.release(last - 1);
  exchange.release(last);
  // Everything is there and gone.
  wrong += exchange.progress() ? 1 : 0;
  return wrong;
}

/// Every rank has its parts of every pivot by every way of travelling, again and again.
template <class Scalar>
void check_exchanges(const Problem& problem, const std::vector<Rectangle>& rectangles) {
  for (const Communication communication : communications) {
    PivotExchange exchange(communication, session().comm(), problem, rectangles, datatype<Scalar>);
    CAPTURE(problem.n, problem.block, communication_name(communication), own(rectangles).row, own(rectangles).column,
            own(rectangles).rows, own(rectangles).columns);
    CHECK(wrong_in_turns<Scalar>(exchange, problem, own(rectangles)) == 0);
    CHECK(wrong_ahead<Scalar>(exchange, problem, own(rectangles)) == 0);
    CHECK(wrong_ahead<Scalar>(exchange, problem, own(rectangles)) == 0);
  }
}

}  // namespace

TEMPLATE_TEST_CASE(
    "every rank has its parts of every pivot, and nothing else is written, however blocks are shared out", "", double,
    float) {
  Random random(1);
  // Blocks that divide n or not, of one element, as large as the matrix and larger.
  for (const Problem& problem : std::vector<Problem>{
           {1, 1}, {1, 4}, {2, 1}, {5, 1}, {7, 2}, {8, 3}, {12, 4}, {20, 64}, {40, 7}, {90, 13}, {150, 32}}) {
    for (int round = 0; round < 6; ++round) {
      check_exchanges<TestType>(problem, random_rectangles(problem.blocks(), session().size(), random));
    }
  }
  // A rank that owns everything has the pivots already, and the others take part without a block.
  std::vector<Rectangle> rectangles(static_cast<std::size_t>(session().size()));
  rectangles[random() % rectangles.size()] = {0, 0, 8, 8};
  check_exchanges<TestType>({30, 4}, rectangles);
}

TEST_CASE("another number of rectangles than ranks, and parts of 2^31 elements, are refused on every rank") {
  const auto ranks = static_cast<std::size_t>(session().size());
  const auto make = [](const Problem& problem, std::size_t count, const Rectangle& last) {
    std::vector<Rectangle> rectangles(count);
    if (count > 0) rectangles.back() = last;
    const PivotExchange exchange(Communication::bcast, session().comm(), problem, rectangles, MPI_DOUBLE);
  };
  for (const std::size_t count : {std::size_t{0}, ranks - 1, ranks + 1}) {
    CHECK_THROWS_AS(make({8, 4}, count, {0, 0, 2, 2}), InvalidArgument);
  }
  constexpr std::int64_t block = std::int64_t{1} << 16, square = 46341;  // whose square is just more than 2^31
  CHECK_THROWS_AS(make({2 * block, block}, ranks, {0, 0, 2, 2}), InvalidArgument);
  CHECK_THROWS_AS(make({square, square}, ranks, {0, 0, 1, 1}), InvalidArgument);
  CHECK_NOTHROW(make({square - 1, square - 1}, ranks, {0, 0, 1, 1}));
}

}  // namespace steelyard::test_pivot_exchange
