#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <sstream>
#include <vector>

#include "core/base/errors.hpp"
#include "miniapps/app/unit_table.hpp"
#include "tests/miniapps/app/described_run.hpp"

using Catch::Matchers::ContainsSubstring;
using namespace steelyard;
using namespace steelyard::tests;

namespace {

std::vector<std::string> lines_of(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

}  // namespace

TEST_CASE("every unit has a line with what it is, gets and is predicted to take, under the app's own headings") {
  const std::vector<double> predicted{1e-3, 2e-3, 5e-3};
  for (const UnitHeadings& headings : {UnitHeadings{"rows", "/step"}, UnitHeadings{"block rows", ""}}) {
    const std::vector<std::string> lines = lines_of(unit_table(described_run(), headings, predicted));
    CHECK(lines.size() == 5);
    CHECK_THAT(lines[0], ContainsSubstring(headings.computation_units));
    CHECK_THAT(lines[0], ContainsSubstring("predicted" + headings.per));
    CHECK_THAT(lines[0], !ContainsSubstring("measured"));
    CHECK_THAT(lines[0], !ContainsSubstring("difference"));
    CHECK_THAT(lines[2], ContainsSubstring("rank 0 host") && ContainsSubstring(" 60  60.0 %") &&
                             ContainsSubstring("1 ms") && !ContainsSubstring("emulated"));
    CHECK_THAT(lines[3], ContainsSubstring("rank 0 device") && ContainsSubstring("2.5 (emulated)") &&
                             ContainsSubstring(" 30  30.0 %") && ContainsSubstring("2 ms"));
    CHECK_THAT(lines[4], ContainsSubstring("rank 1 host") && ContainsSubstring(" 10  10.0 %"));
  }
}

TEST_CASE("measured times come with how far the prediction is from them, where both are times") {
  const std::vector<double> predicted{1e-3, 2e-3, 0.0};
  const std::vector<double> measured{1e-3, 6e-3, 3e-3};
  const std::vector<std::string> lines = lines_of(unit_table(described_run(), {"rows", "/step"}, predicted, measured));
  CHECK_THAT(lines[0], ContainsSubstring("measured/step  difference"));
  CHECK_THAT(lines[2], ContainsSubstring("1 ms           1 ms") && ContainsSubstring("0.0 %"));
  CHECK_THAT(lines[3], ContainsSubstring("6 ms") && ContainsSubstring("100.0 %"));
  CHECK_THAT(lines[4], ContainsSubstring("3 ms") && !ContainsSubstring("200.0 %"));
}

TEST_CASE("nothing to distribute is a share of nothing") {
  RunRecord record = described_run();
  record.distribution = {0, 0, 0};
  const std::string text = unit_table(record, {"rows", ""}, std::vector<double>(3, 0.0));
  CHECK_THAT(text, ContainsSubstring("0.0 %") && !ContainsSubstring("nan"));
}

TEST_CASE("times that are not one per unit are refused") {
  const std::vector<double> two(2, 1.0);
  const std::vector<double> three(3, 1.0);
  CHECK_THROWS_AS(unit_table(described_run(), {"rows", ""}, two), InvalidArgument);
  CHECK_THROWS_AS(unit_table(described_run(), {"rows", ""}, three, two), InvalidArgument);
  RunRecord record = described_run();
  record.distribution.pop_back();
  CHECK_THROWS_AS(unit_table(record, {"rows", ""}, three), InvalidArgument);
}
