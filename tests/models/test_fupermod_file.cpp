#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <limits>
#include <string>

#include "core/base/errors.hpp"
#include "models/fpm_file.hpp"
#include "tests/base/temporary_folder.hpp"

namespace steelyard::test_fupermod_file {

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;
using Catch::Matchers::StartsWith;
using namespace steelyard::models;
using tests::TemporaryFolder;

namespace {

std::vector<MeasuredPoint> read(const std::string& text) {
  const TemporaryFolder folder;
  return read_fupermod_file(folder.write("a.fpm", text)).points;
}

/// The three points that many spellings below mean.
void check_points(const std::vector<MeasuredPoint>& points) {
  REQUIRE(points.size() == 3);
  CHECK(points[0].units == 10.0);
  CHECK(points[0].time_s == 0.5);
  CHECK(points[0].repetitions == 5);
  CHECK(points[0].confidence_s == 0.01);
  CHECK(points[1].units == 20.0);
  CHECK(points[1].time_s == 1.25);
  CHECK(points[1].repetitions == 3);
  CHECK(points[1].confidence_s == 0.0);
  CHECK(points[2].units == 1e6);
  CHECK(points[2].time_s == 3e4);
  CHECK(points[2].repetitions == 1);
  CHECK(points[2].confidence_s == 2.5);
}

}  // namespace

TEST_CASE("columns are d t reps ci, whatever separates them and ends a line") {
  const std::string text = GENERATE(
      // As it should be, with Windows' line ends, without an end, with tabs and blanks, and with empty lines.
      "10 0.5 5 0.01\n20 1.25 3 0\n1000000 3e4 1 2.5\n", "10 0.5 5 0.01\r\n20 1.25 3 0\r\n1000000 3e4 1 2.5\r\n",
      "10 0.5 5 0.01\n20 1.25 3 0\n1000000 3e4 1 2.5", "\t10\t0.5\t5\t0.01 \n  20   1.25 3\t0\n1e6 30000 1 2.5\n",
      "\n\n10 0.5 5 0.01\n \t\r\n20 1.25 3 0\n\n1000000 3e4 1 2.5\n\n\r\n");
  INFO(text);
  check_points(read(text));
}

TEST_CASE("comments are skipped wherever they are a line") {
  check_points(
      read("# made by builder\n#\n10 0.5 5 0.01\n   # the next one took long\n20 1.25 3 0\r\n#\r\n1e6 3e4 1 2.5\n#"));
}

TEST_CASE("a comment with the words d and t names the columns, in any order and among others") {
  const std::string text =
      GENERATE("#d t reps ci\n10 0.5 5 0.01\n20 1.25 3 0\n1e6 3e4 1 2.5\n",
               "# d\tt\treps\tci\r\n10 0.5 5 0.01\r\n20 1.25 3 0\r\n1e6 3e4 1 2.5\r\n",
               "## ci d reps t\n0.01 10 5 0.5\n0 20 3 1.25\n2.5 1e6 1 3e4\n",
               "# t name d reps speed ci\n0.5 a 10 5 20 0.01\n1.25 b 20 3 16 0\n3e4 c 1e6 1 1 2.5\n");
  INFO(text);
  check_points(read(text));
}

TEST_CASE("columns of a name that has no repetitions or interval are one run of unknown precision") {
  const auto points = read("# t d\n0.5 10\n1.25 20\n");
  REQUIRE(points.size() == 2);
  CHECK(points[1].units == 20.0);
  CHECK(points[1].time_s == 1.25);
  CHECK(points[1].repetitions == 1);
  CHECK(points[1].confidence_s == 0.0);
}

TEST_CASE("columns beyond those that have a name count for nothing") {
  check_points(read("10 0.5 5 0.01 20 words nan\n20 1.25 3 0 -1\n1e6 3e4 1 2.5 #\n"));
}

TEST_CASE("size and time alone are enough") {
  const auto points = read("10 0.5\n20 1.25 3\n");
  REQUIRE(points.size() == 2);
  CHECK(points[0].repetitions == 1);
  CHECK(points[1].repetitions == 3);
  CHECK(points[1].confidence_s == 0.0);
}

TEST_CASE("numbers are read to the last bit") {
  const auto points = read("0.1 0.30000000000000004 1 5e-324\n1.7976931348623157e308 2.2250738585072014e-308\n");
  REQUIRE(points.size() == 2);
  CHECK(points[0].units == 0.1);
  CHECK(points[0].time_s == 0.1 + 0.2);
  CHECK(points[0].confidence_s == std::numeric_limits<double>::denorm_min());
  CHECK(points[1].units == std::numeric_limits<double>::max());
  CHECK(points[1].time_s == std::numeric_limits<double>::min());
}

TEST_CASE("a description other than the points is not made up") {
  const TemporaryFolder folder;
  const FpmFile file = read_fupermod_file(folder.write("a.fpm", "1 1\n"));
  CHECK(file.app.empty());
  CHECK(file.imprecise.empty());
  CHECK(file.max_units == std::numeric_limits<double>::infinity());
}

TEST_CASE("a wrong line is refused with the file, the line and what is wrong") {
  struct Bad {
    const char* line;
    const char* says;
  };
  const auto bad = GENERATE(
      // Truncated.
      Bad{"30", "without t"}, Bad{"30 ", "without t"}, Bad{"30 1e", "t is \"1e\""}, Bad{"30 -", "t is \"-\""},
      // Words.
      Bad{"size time", "d is \"size\""}, Bad{"30 fast", "t is \"fast\""}, Bad{"30 1 many", "reps is \"many\""},
      Bad{"30 1 2 wide", "ci is \"wide\""}, Bad{"30 1,5", "t is \"1,5\""}, Bad{"30; 1", "d is \"30;\""},
      Bad{"30 1s", "t is \"1s\""}, Bad{"0x10 1", "d is \"0x10\""}, Bad{"30 1 # slow", "reps is \"#\""},
      // Numbers out of their range.
      Bad{"30 -1", "t is -1"}, Bad{"30 0", "t is 0"}, Bad{"30 nan", "t is \"nan\""}, Bad{"30 inf", "t is \"inf\""},
      Bad{"30 1e999", "t is \"1e999\""}, Bad{"-30 1", "d is -30"}, Bad{"0 1", "d is 0"}, Bad{"nan 1", "d is \"nan\""},
      Bad{"inf 1", "d is \"inf\""}, Bad{"30 1 0", "reps is 0"}, Bad{"30 1 -2", "reps is -2"},
      Bad{"30 1 2.5", "reps is 2.5"}, Bad{"30 1 1e30", "reps is 1e+30"}, Bad{"30 1 2 -0.1", "ci is -0.1"},
      Bad{"30 1 2 inf", "ci is \"inf\""}, Bad{"30 1 nan", "reps is \"nan\""},
      // Sizes that do not increase.
      Bad{"20 1", "d is 20 after 20"}, Bad{"19.5 1", "d is 19.5 after 20"});
  const TemporaryFolder folder;
  const std::string end = GENERATE("\n", "\r\n", "");
  const auto path = folder.write("a.fpm", std::string("# comment\n10 0.5\n\n20 1\n") + bad.line + end);
  INFO(bad.line);
  CHECK_THROWS_MATCHES(read_fupermod_file(path), FileFormatError,
                       MessageMatches(StartsWith(path.string() + ": line 5: ") && ContainsSubstring(bad.says)));
}

TEST_CASE("a mistake is found under columns of another order too") {
  const TemporaryFolder folder;
  const auto path = folder.write("a.fpm", "# t d\n0.5 10\n1 9\n");
  CHECK_THROWS_MATCHES(read_fupermod_file(path), FileFormatError,
                       MessageMatches(ContainsSubstring("line 3: d is 9 after 10")));
}

TEST_CASE("a file without points is refused with its name") {
  const TemporaryFolder folder;
  const std::string text = GENERATE("", "\n", "# d t reps ci\n", "\r\n# nothing\r\n\r\n");
  const auto path = folder.write("a.fpm", text);
  CHECK_THROWS_MATCHES(read_fupermod_file(path), FileFormatError,
                       MessageMatches(ContainsSubstring(path.string() + ": has no points")));
}

TEST_CASE("a missing file or a folder is refused with its name, whatever it ends in") {
  const TemporaryFolder folder;
  CHECK_THROWS_MATCHES(read_fupermod_file(folder / "none.fpm"), FileFormatError,
                       MessageMatches(ContainsSubstring((folder / "none.fpm").string())));
  CHECK_THROWS_MATCHES(read_fupermod_file(folder.path()), FileFormatError,
                       MessageMatches(ContainsSubstring(folder.path().string())));
}

TEST_CASE("bytes that are no text are refused") {
  const TemporaryFolder folder;
  const std::string bytes = GENERATE(std::string("\x00\x01\x02", 3), std::string("\xff\xfe\x31\x00", 4),
                                     std::string("10 0.5\n20 1\0 3\n", 15));
  CHECK_THROWS_AS(read_fupermod_file(folder.write("a.fpm", bytes)), FileFormatError);
}

}  // namespace steelyard::test_fupermod_file
