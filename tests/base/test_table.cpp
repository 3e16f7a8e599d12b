#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_floating_point.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cmath>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "core/base/errors.hpp"
#include "core/base/table.hpp"

namespace steelyard::test_table {

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;
using Catch::Matchers::WithinRel;

namespace {

std::vector<std::string> lines_of(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

/// Seconds that a text such as `1.5 ms` stands for.
double seconds_of(const std::string& text) {
  std::istringstream stream(text);
  double value = 0.0;
  std::string unit;
  stream >> value >> unit;
  if (unit == "ns") return 1e-9 * value;
  if (unit == "us") return 1e-6 * value;
  if (unit == "ms") return 1e-3 * value;
  REQUIRE(unit == "s");
  return value;
}

}  // namespace

TEST_CASE("a table is a line of headings and a rule and a line for each row") {
  Table table({"unit", "share"});
  table.add_row({"host", "10"});
  table.add_row({"device", "9000"});
  const std::string text = table.text();
  CHECK(text.back() == '\n');
  const auto lines = lines_of(text);
  REQUIRE(lines.size() == 4);
  CHECK(lines[1] == std::string(lines[1].size(), '-'));
}

TEST_CASE("text starts and numbers end in the same place on every line") {
  Table table({"unit", "share", "space"});
  table.add_row({"host", "10", "OpenMP"});
  table.add_row({"device", "-9000.5", "Cuda"});
  table.add_row({"x", "-", "a"});
  const auto lines = lines_of(table.text());
  CHECK(lines[0] == "unit      share  space");
  CHECK(lines[2] == "host         10  OpenMP");
  CHECK(lines[3] == "device  -9000.5  Cuda");
  CHECK(lines[4] == "x             -  a");
}

TEST_CASE("no line is wider than the rule and the rule is as wide as the widest line") {
  std::mt19937_64 random(1);
  std::uniform_int_distribution<int> size(1, 12);
  std::uniform_int_distribution<int> count(1, 6);
  for (int trial = 0; trial < 200; ++trial) {
    const int columns = count(random);
    const auto cells = [&](char letter) {
      std::vector<std::string> row;
      for (int c = 0; c < columns; ++c) row.emplace_back(static_cast<std::size_t>(size(random)), letter);
      return row;
    };
    Table table(cells('h'));
    const int rows = count(random);
    for (int r = 0; r < rows; ++r) table.add_row(cells(r % 2 == 0 ? '7' : 'x'));
    const auto lines = lines_of(table.text());
    REQUIRE(lines.size() == static_cast<std::size_t>(rows) + 2);
    std::size_t widest = 0;
    for (const std::string& line : lines) {
      REQUIRE((line.empty() || line.back() != ' '));
      if (&line != &lines[1]) widest = std::max(widest, line.size());
    }
    REQUIRE(lines[1].size() == widest);
  }
}

TEST_CASE("one text cell makes its whole column flush left") {
  Table table({"a", "value"});
  table.add_row({"1", "12"});
  table.add_row({"2", "none"});
  const auto lines = lines_of(table.text());
  CHECK(lines[2] == "1  12");
  CHECK(lines[3] == "2  none");
}

TEST_CASE("the first column is flush left even when it holds numbers") {
  Table table({"size", "n"});
  table.add_row({"8", "1"});
  table.add_row({"1024", "2"});
  const auto lines = lines_of(table.text());
  CHECK(lines[2] == "8     1");
  CHECK(lines[3] == "1024  2");
}

TEST_CASE("a table without rows is its headings and a rule") {
  CHECK(Table({"a", "bc"}).text() == "a  bc\n-----\n");
  CHECK(Table({"one"}).text() == "one\n---\n");
  CHECK_NOTHROW(Table({}).text());
}

TEST_CASE("a row needs one cell per heading") {
  Table table({"a", "b"});
  CHECK_THROWS_MATCHES(table.add_row({"1", "2", "3"}), InvalidArgument,
                       MessageMatches(ContainsSubstring("3 cells") && ContainsSubstring("expected 2")));
  CHECK_THROWS_AS(table.add_row({"1"}), InvalidArgument);
  CHECK_THROWS_AS(table.add_row({}), InvalidArgument);
  CHECK(lines_of(table.text()).size() == 2);
}

TEST_CASE("as comma-separated values a table has numbers in SI units, quoted words and empty cells") {
  Table table({"unit", "time", "share", "size"});
  table.add_row({"host, \"fast\"", "12.5 ms", "40.0 %", "2 KiB"});
  table.add_row({"device", "-", "7", "2 x 3"});
  CHECK(table.csv() == "unit,time,share,size\n\"host, \"\"fast\"\"\",0.0125,0.4,2048\ndevice,,7,2 x 3\n");
}

TEST_CASE("every table that is made into text is passed to the function that was set, until none is set") {
  std::string seen;
  Table::on_text([&](const Table& table) { seen += table.headings().front(); });
  CHECK_FALSE(Table({"a"}).text().empty());
  CHECK_FALSE(Table({"b"}).text().empty());
  Table::on_text(nullptr);
  CHECK_FALSE(Table({"c"}).text().empty());
  CHECK(seen == "ab");
}

TEST_CASE("times are given with the unit that fits and three significant digits") {
  CHECK(format_seconds(0.0) == "0 ns");
  CHECK(format_seconds(1.5e-9) == "1.50 ns");
  CHECK(format_seconds(2.345e-6) == "2.35 us");
  CHECK(format_seconds(0.012) == "12.0 ms");
  CHECK(format_seconds(1.0) == "1.00 s");
  CHECK(format_seconds(-0.25) == "-250 ms");
}

TEST_CASE("a printed time is within half a percent of the time and has no exponent") {
  for (double seconds = 1.0e-9; seconds < 1e5; seconds *= 1.0037) {
    const std::string text = format_seconds(seconds);
    INFO(seconds << " -> " << text);
    REQUIRE(text.find('e') == std::string::npos);
    REQUIRE_THAT(seconds_of(text), WithinRel(seconds, 0.00501));
  }
  const double edge = GENERATE(0.99999e-6, 0.99999e-3, 0.99999, 999.99);
  const std::string text = format_seconds(edge);
  CHECK(text.find('e') == std::string::npos);
  CHECK_THAT(seconds_of(text), WithinRel(edge, 0.001));
}

TEST_CASE("bytes are given in powers of 1024") {
  CHECK(format_bytes(0.0) == "0 B");
  CHECK(format_bytes(1023.0) == "1023 B");
  CHECK(format_bytes(1024.0) == "1 KiB");
  CHECK(format_bytes(1536.0) == "1.5 KiB");
  CHECK(format_bytes(std::pow(2.0, 20)) == "1 MiB");
  CHECK(format_bytes(6.0 * std::pow(2.0, 30)) == "6 GiB");
  CHECK(format_bytes(std::pow(2.0, 30) - 1.0) == "1024 MiB");
  CHECK(format_bytes(96.0 * std::pow(2.0, 60)) == "96 EiB");
  CHECK(Table::number("96 EiB") == 96.0 * std::pow(2.0, 60));
}

}  // namespace steelyard::test_table
