#include <map>
#include <set>

#include "models/communication/tau_lop/tau_lop.hpp"
#include "partition/rectangles/rectangle.hpp"
#include "tests/catch.hpp"
#include "tests/models/tau_lop_platforms.hpp"
#include "tests/partition/random_rectangles.hpp"

namespace steelyard::test_rectangle {

using namespace steelyard::partition;
using namespace steelyard::tests;
using models::Message;
using models::MessagePattern;
using models::Phase;
using models::Placement;

namespace {

using Rectangles = std::vector<Rectangle>;

/// 001, figure 8, as far as the text tells: p0 to p5 in columns of 124, 97 and 35 blocks.
const Rectangles figure_8 = {{0, 124, 134, 97}, {0, 0, 146, 124},   {152, 221, 104, 35},
                             {0, 221, 152, 35}, {146, 0, 110, 124}, {134, 124, 122, 97}};
const std::vector<int> nodes_of_figure_8 = {0, 0, 0, 1, 1, 1};

/// Memory 0, contended for by all nodes as in the paper, and network 1.
models::Platform paper_platform() {
  models::Platform platform = tests::unit_platform(2);
  platform.channels[1].scope = models::Channel::Scope::network;
  return platform;
}

std::string aligned(const MessagePattern& pattern, const std::vector<int>& nodes) {
  const models::Platform platform = paper_platform();
  const Placement placement(platform, nodes, {}, Placement::Contention::per_channel);
  return to_string(aligned_form(models::expression(pattern, placement), models::TauLop(platform)));
}

bool has(const Rectangle& r, std::int64_t row, std::int64_t column) {
  return r.row <= row && row < r.end_row() && r.column <= column && column < r.end_column();
}

int owner_of(const Rectangles& rectangles, std::int64_t row, std::int64_t column) {
  const auto owns = [=](const Rectangle& r) { return has(r, row, column); };
  return static_cast<int>(std::find_if(rectangles.begin(), rectangles.end(), owns) - rectangles.begin());
}

/// Bytes by sender and receiver; every pair sends one message at most.
std::map<std::pair<int, int>, double> by_pair(const Phase& phase) {
  std::map<std::pair<int, int>, double> pairs;
  for (const Message& message : phase.messages) {
    REQUIRE(message.bytes > 0.0);
    REQUIRE(pairs.emplace(std::pair(message.from, message.to), message.bytes).second);
  }
  return pairs;
}

}  // namespace

TEST_CASE("an iteration of SUMMA on six rectangles comes to equations 8, 9 and 10 (001, figure 8)") {
  const MessagePattern pattern = summa_pattern(figure_8, 80, 1, 1.0);
  REQUIRE(pattern.phases.size() == 2);
  CHECK(by_pair(pattern.phases[0]) ==
        std::map<std::pair<int, int>, double>{
            {{1, 0}, 134}, {{1, 3}, 146}, {{1, 5}, 12}, {{4, 5}, 110}, {{4, 3}, 6}, {{4, 2}, 104}});
  CHECK(by_pair(pattern.phases[1]) == std::map<std::pair<int, int>, double>{{{1, 4}, 124}, {{0, 5}, 97}, {{3, 2}, 35}});
  const MessagePattern column{"pivot column", 6, {pattern.phases[0]}};
  const MessagePattern row{"pivot row", 6, {pattern.phases[1]}};
  CHECK(aligned(column, nodes_of_figure_8) == "2||T0(116)+T0(18)+2||T1(104)+T1(54)");
  CHECK(aligned(row, nodes_of_figure_8) == "3||T1(35)+2||T1(62)+T1(27)");
  CHECK(aligned(pattern, nodes_of_figure_8) == "3||T1(35)+2||T1(166)+T1(81)+2||T0(116)+T0(18)");
}

TEST_CASE("SUMMA sends what lies block by block in a row or column of the pivots") {
  Random random(1);
  for (int trial = 0; trial < 150; ++trial) {
    const int blocks = trial % 5 == 0 ? whole(random, 1, 4) : whole(random, 1, 24);
    const Rectangles rectangles = tests::random_rectangles(random, blocks, 12);
    using Pairs = std::map<std::pair<int, int>, double>;
    auto in_elements = rectangles;
    const std::int64_t depth = whole(random, 1, 5);
    for (Rectangle& each : in_elements) {
      each = {each.row * depth, each.column * depth, each.rows * depth, each.columns * depth};
    }
    const double block_bytes = 8.0 * static_cast<double>(depth * depth);
    for (std::int64_t k = 0; k < blocks; ++k) {
      // A block's owner sends it to all that have a block in the same row, or column.
      Pairs column, row;
      for (std::int64_t i = 0; i < blocks; ++i) {
        std::set<int> in_row, in_column;
        for (std::int64_t j = 0; j < blocks; ++j) {
          in_row.insert(owner_of(rectangles, i, j));
          in_column.insert(owner_of(rectangles, j, i));
        }
        const int column_owner = owner_of(rectangles, i, k), row_owner = owner_of(rectangles, k, i);
        for (const int to : in_row) {
          if (to != column_owner) column[{column_owner, to}] += block_bytes;
        }
        for (const int to : in_column) {
          if (to != row_owner) row[{row_owner, to}] += block_bytes;
        }
      }
      for (const MessagePattern& pattern :
           {summa_pattern(rectangles, k, 1, block_bytes), summa_pattern(in_elements, k * depth, depth, 8.0)}) {
        REQUIRE(pattern.processes == static_cast<int>(rectangles.size()));
        REQUIRE(pattern.phases.size() == 2);
        REQUIRE(by_pair(pattern.phases[0]) == column);
        REQUIRE(by_pair(pattern.phases[1]) == row);
        for (const Phase& phase : pattern.phases) REQUIRE(phase.sends == Phase::Sends::in_order);
      }
    }
  }
}

TEST_CASE("the common part of two rectangles is all blocks that both have, or nothing") {
  Random random(2);
  const auto any = [&]() -> Rectangle {
    return {whole(random, -2, 3), whole(random, -2, 3), whole(random, 0, 4), whole(random, 0, 4)};
  };
  for (int trial = 0; trial < 20000; ++trial) {
    const Rectangle a = any(), b = any(), part = common_part(a, b);
    std::int64_t blocks = 0;
    bool same = true;
    for (std::int64_t row = -2; row < 7; ++row) {
      for (std::int64_t column = -2; column < 7; ++column) {
        const bool in_both = has(a, row, column) && has(b, row, column);
        blocks += in_both ? 1 : 0;
        same = same && in_both == has(part, row, column);
      }
    }
    REQUIRE(same);
    REQUIRE((part.area() == blocks && (blocks > 0 || part == Rectangle{})));
  }
  const Rectangle largest{0, 0, most_blocks_per_side, most_blocks_per_side};
  CHECK(common_part(largest, {7, most_blocks_per_side - 3, 5, 9}) == Rectangle{7, most_blocks_per_side - 3, 5, 3});
}

}  // namespace steelyard::test_rectangle
