#include <algorithm>
#include <catch2/catch_test_macros.hpp>

#include "partition/rectangles/rectangle.hpp"
#include "tests/partition/random_areas.hpp"

namespace steelyard::test_rectangle_neighbours {

using namespace steelyard::partition;
using tests::Random;
using tests::whole;

namespace {

std::int64_t sum(const std::vector<Overlap>& overlaps) {
  std::int64_t count = 0;
  for (const Overlap& overlap : overlaps) count += overlap.count;
  return count;
}

/// Whether `overlaps` has the same range with `unit`.
bool contains(const std::vector<Overlap>& overlaps, std::size_t unit, const Overlap& other) {
  return std::find(overlaps.begin(), overlaps.end(), Overlap{static_cast<int>(unit), other.first, other.count}) !=
         overlaps.end();
}

void for_each_random_partition(std::uint64_t seed, const std::function<void(const ColumnPartition&)>& visit) {
  Random random(seed);
  for (int trial = 0; trial < 200; ++trial) {
    const auto areas = tests::random_areas(random, whole(random, 1, 20));
    visit(column(areas, tests::random_extents(random, trial % 4 == 0 ? 5 : 60)));
  }
}

/// The partition of 001, figure 8, as far as the text tells: p1 sends 134 rows to p0, and 158 to p3 and p5, all that it
/// has to p3; p4 sends 116 to p5 and p3, and 104 to p2; columns of 124, 97 and 35.
std::vector<Rectangle> figure_8() {
  return {{0, 124, 134, 97}, {0, 0, 146, 124},   {152, 221, 104, 35},
          {0, 221, 152, 35}, {146, 0, 110, 124}, {134, 124, 122, 97}};
}

}  // namespace

TEST_CASE("contacts are mutual: who is left of one has it on the right, over the same rows") {
  for_each_random_partition(1, [](const ColumnPartition& partition) {
    const std::vector<Contacts> contacts = edge_contacts(partition.rectangles);
    for (std::size_t i = 0; i < contacts.size(); ++i) {
      const auto mutual = [&](const std::vector<Overlap>& edge, std::vector<Overlap> Contacts::*opposite) {
        for (const Overlap& overlap : edge) {
          REQUIRE(overlap.count > 0);
          REQUIRE(contains(contacts[static_cast<std::size_t>(overlap.unit)].*opposite, i, overlap));
        }
      };
      mutual(contacts[i].above, &Contacts::below);
      mutual(contacts[i].below, &Contacts::above);
      mutual(contacts[i].left, &Contacts::right);
      mutual(contacts[i].right, &Contacts::left);
    }
  });
}

TEST_CASE("contacts cover every edge of a rectangle, without gaps, except where the matrix ends") {
  for_each_random_partition(2, [](const ColumnPartition& partition) {
    const std::vector<Contacts> contacts = edge_contacts(partition.rectangles);
    for (std::size_t i = 0; i < contacts.size(); ++i) {
      const Rectangle& one = partition.rectangles[i];
      const auto covered = [](const std::vector<Overlap>& edge, std::int64_t first, std::int64_t count) {
        for (const Overlap& overlap : edge) {
          REQUIRE(overlap.first == first);
          first += overlap.count;
        }
        REQUIRE(sum(edge) == count);
      };
      covered(contacts[i].above, one.column, one.row > 0 ? one.columns : 0);
      covered(contacts[i].below, one.column, one.end_row() < partition.extents.rows ? one.columns : 0);
      covered(contacts[i].left, one.row, one.column > 0 ? one.rows : 0);
      covered(contacts[i].right, one.row, one.end_column() < partition.extents.columns ? one.rows : 0);
    }
  });
}

TEST_CASE("row and column overlaps are mutual") {
  for_each_random_partition(3, [](const ColumnPartition& partition) {
    for (const auto& overlaps : {row_overlaps(partition.rectangles), column_overlaps(partition.rectangles)}) {
      for (std::size_t i = 0; i < overlaps.size(); ++i) {
        for (const Overlap& overlap : overlaps[i]) {
          REQUIRE(contains(overlaps[static_cast<std::size_t>(overlap.unit)], i, overlap));
        }
      }
    }
  });
}

TEST_CASE("row overlaps cover a rectangle's rows once in every other column") {
  for_each_random_partition(4, [](const ColumnPartition& partition) {
    const auto others = static_cast<std::int64_t>(partition.columns.size()) - 1;
    const std::vector<std::vector<Overlap>> overlaps = row_overlaps(partition.rectangles);
    for (std::size_t i = 0; i < overlaps.size(); ++i) {
      const Rectangle& one = partition.rectangles[i];
      REQUIRE(sum(overlaps[i]) == (one.empty() ? 0 : others * one.rows));
      REQUIRE(std::is_sorted(overlaps[i].begin(), overlaps[i].end(),
                             [](const Overlap& a, const Overlap& b) { return a.first < b.first; }));
    }
  });
}

TEST_CASE("column overlaps are the others of the same column, over its whole width") {
  for_each_random_partition(5, [](const ColumnPartition& partition) {
    const std::vector<std::vector<Overlap>> overlaps = column_overlaps(partition.rectangles);
    for (const Column& column : partition.columns) {
      for (const int unit : column.units) {
        const std::vector<Overlap>& of_unit = overlaps[static_cast<std::size_t>(unit)];
        REQUIRE(of_unit.size() == column.units.size() - 1);
        for (const Overlap& overlap : of_unit) {
          REQUIRE(overlap.first == column.first);
          REQUIRE(overlap.count == column.count);
          REQUIRE(std::find(column.units.begin(), column.units.end(), overlap.unit) != column.units.end());
        }
      }
    }
  });
}

TEST_CASE("empty rectangles are nobody's neighbours") {
  for_each_random_partition(6, [](const ColumnPartition& partition) {
    const std::vector<Contacts> contacts = edge_contacts(partition.rectangles);
    const std::vector<std::vector<Overlap>> overlaps = row_overlaps(partition.rectangles);
    for (std::size_t i = 0; i < contacts.size(); ++i) {
      for (const auto* edge :
           {&contacts[i].above, &contacts[i].below, &contacts[i].left, &contacts[i].right, &overlaps[i]}) {
        if (partition.rectangles[i].empty()) REQUIRE(edge->empty());
        for (const Overlap& overlap : *edge) {
          REQUIRE(!partition.rectangles[static_cast<std::size_t>(overlap.unit)].empty());
        }
      }
    }
  });
}

TEST_CASE("rectangles that meet at a corner are not in contact") {
  const std::vector<Rectangle> board = {{0, 0, 2, 3}, {0, 3, 2, 3}, {2, 0, 2, 3}, {2, 3, 2, 3}};
  const std::vector<Contacts> contacts = edge_contacts(board);
  CHECK(contacts[0].right == std::vector<Overlap>{{1, 0, 2}});
  CHECK(contacts[0].below == std::vector<Overlap>{{2, 0, 3}});
  CHECK((contacts[0].left.empty() && contacts[0].above.empty()));
  CHECK(row_overlaps(board)[0] == std::vector<Overlap>{{1, 0, 2}});
  CHECK(column_overlaps(board)[3] == std::vector<Overlap>{{1, 3, 3}});
}

TEST_CASE("001, figure 8: whom the owners of the pivot column overlap, and by how many blocks") {
  const std::vector<Rectangle> rectangles = figure_8();
  const auto rows = row_overlaps(rectangles);
  CHECK(rows[1] == std::vector<Overlap>{{0, 0, 134}, {3, 0, 146}, {5, 134, 12}});
  CHECK(rows[4] == std::vector<Overlap>{{3, 146, 6}, {5, 146, 110}, {2, 152, 104}});
  // Equation 8: p1 and p0 share a node, as do p4, p5 and p3; equation 9: the pivot row goes down each column.
  CHECK(rows[1][1].count + rows[1][2].count == 158);
  CHECK(rows[4][0].count + rows[4][1].count == 116);
  const auto columns = column_overlaps(rectangles);
  CHECK(columns[1] == std::vector<Overlap>{{4, 0, 124}});
  CHECK(columns[0] == std::vector<Overlap>{{5, 124, 97}});
  CHECK(columns[3] == std::vector<Overlap>{{2, 221, 35}});
}

}  // namespace steelyard::test_rectangle_neighbours
