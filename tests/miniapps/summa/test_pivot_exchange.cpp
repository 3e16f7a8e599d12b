#include <array>
#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <random>
#include <thread>
#include <type_traits>
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
/// Every element of A, and of B, another number.
template <class Scalar>
Scalar element_of_a(std::int64_t n, std::int64_t i, std::int64_t j) {
  return static_cast<Scalar>(i * n + j + 1);
}
template <class Scalar>
Scalar element_of_b(std::int64_t n, std::int64_t i, std::int64_t j) {
  return static_cast<Scalar>(-(i * n + j + 1));
}

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
    if (own_.empty()) return;
    if (own_.column <= k && k < own_.end_column()) each_of_column(k, [](Scalar& at, Scalar value) { at = value; });
    if (own_.row <= k && k < own_.end_row()) each_of_row(k, [](Scalar& at, Scalar value) { at = value; });
  }
  void forget() {
    for (std::vector<Scalar>* part : {&column_, &row_}) part->assign(part->size(), unwritten<Scalar>);
  }
  PivotPanels panels() {
    if (own_.empty()) return {};
    return {column_.data(), row_.data()};
  }
  /// Elements of iteration k that are not as they should be, and elements behind them that have been written.
  int wrong(std::int64_t k) {
    int wrong = 0;
    const auto compare = [&wrong](const Scalar& at, Scalar value) { wrong += at == value ? 0 : 1; };
    if (!own_.empty()) {
      each_of_column(k, compare);
      each_of_row(k, compare);
    }
    const std::int64_t depth = own_.empty() ? 0 : problem_.depth(k);
    for (std::size_t i = static_cast<std::size_t>(tile_.rows * depth); i < column_.size(); ++i) {
      wrong += column_[i] == unwritten<Scalar> ? 0 : 1;
    }
    for (std::size_t i = static_cast<std::size_t>(tile_.columns * depth); i < row_.size(); ++i) {
      wrong += row_[i] == unwritten<Scalar> ? 0 : 1;
    }
    return wrong;
  }

 private:
  static constexpr std::size_t room = 40;

  template <class Visit>
  void each_of_column(std::int64_t k, const Visit& visit) {
    std::size_t next = 0;
    for (std::int64_t i = tile_.row; i < tile_.row + tile_.rows; ++i) {
      for (std::int64_t j = problem_.first_row(k); j < problem_.first_row(k + 1); ++j) {
        visit(column_[next++], element_of_a<Scalar>(problem_.n, i, j));
      }
    }
  }
  template <class Visit>
  void each_of_row(std::int64_t k, const Visit& visit) {
    std::size_t next = 0;
    for (std::int64_t i = problem_.first_row(k); i < problem_.first_row(k + 1); ++i) {
      for (std::int64_t j = tile_.column; j < tile_.column + tile_.columns; ++j) {
        visit(row_[next++], element_of_b<Scalar>(problem_.n, i, j));
      }
    }
  }

  Problem problem_;
  Rectangle own_;
  Tile tile_;
  std::vector<Scalar> column_, row_;
};

template <class Scalar>
std::unique_ptr<PivotExchange> exchange_of(Communication communication, const Problem& problem,
                                           const std::vector<Rectangle>& rectangles) {
  return make_pivot_exchange(communication, session().comm(), problem, rectangles, datatype<Scalar>);
}

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

/// Blocks that divide n or not, of one element, as large as the matrix and larger.
std::vector<Problem> problems() {
  return {{1, 1}, {1, 4}, {2, 1}, {5, 1}, {7, 2}, {8, 3}, {12, 4}, {20, 64}, {40, 7}, {90, 13}, {150, 32}};
}

}  // namespace

TEMPLATE_TEST_CASE(
    "every rank has its parts of every pivot, and nothing else is written, however blocks are shared out", "", double,
    float) {
  Random random(1);
  for (const Problem& problem : problems()) {
    for (int round = 0; round < 6; ++round) {
      const std::vector<Rectangle> rectangles = random_rectangles(problem.blocks(), session().size(), random);
      for (const Communication communication : communications) {
        const auto exchange = exchange_of<TestType>(communication, problem, rectangles);
        CAPTURE(problem.n, problem.block, round, communication_name(communication), own(rectangles).row,
                own(rectangles).column, own(rectangles).rows, own(rectangles).columns);
        CHECK(wrong_in_turns<TestType>(*exchange, problem, own(rectangles)) == 0);
        CHECK(wrong_ahead<TestType>(*exchange, problem, own(rectangles)) == 0);
        // The same exchange again.
        CHECK(wrong_ahead<TestType>(*exchange, problem, own(rectangles)) == 0);
      }
    }
  }
}

TEST_CASE("a rank that owns everything has the pivots already, and the others take part without a block") {
  const Problem problem{30, 4};
  for (int owner = 0; owner < session().size(); ++owner) {
    std::vector<Rectangle> rectangles(static_cast<std::size_t>(session().size()));
    rectangles[static_cast<std::size_t>(owner)] = {0, 0, problem.blocks(), problem.blocks()};
    for (const Communication communication : communications) {
      const auto exchange = exchange_of<float>(communication, problem, rectangles);
      CHECK(wrong_in_turns<float>(*exchange, problem, own(rectangles)) == 0);
      CHECK(wrong_ahead<float>(*exchange, problem, own(rectangles)) == 0);
    }
  }
}

TEST_CASE("another number of rectangles than ranks, and parts of 2^31 elements, are refused on every rank") {
  const int ranks = session().size();
  for (const Communication communication : communications) {
    for (const int count : {0, ranks - 1, ranks + 1}) {
      std::vector<Rectangle> rectangles(static_cast<std::size_t>(count));
      if (count > 0) rectangles[0] = {0, 0, 2, 2};
      CHECK_THROWS_AS(exchange_of<double>(communication, {8, 4}, rectangles), InvalidArgument);
    }
    std::vector<Rectangle> rectangles(static_cast<std::size_t>(ranks));
    rectangles.back() = {0, 0, 2, 2};
    constexpr std::int64_t block = std::int64_t{1} << 16;
    CHECK_THROWS_AS(exchange_of<double>(communication, {2 * block, block}, rectangles), InvalidArgument);
    constexpr std::int64_t square = 46341;  // of which there are just more than 2^31
    rectangles.back() = {0, 0, 1, 1};
    CHECK_THROWS_AS(exchange_of<double>(communication, {square, square}, rectangles), InvalidArgument);
    CHECK_NOTHROW(exchange_of<double>(communication, {square - 1, square - 1}, rectangles));
  }
}

}  // namespace steelyard::test_pivot_exchange
