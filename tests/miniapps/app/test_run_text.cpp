#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "core/base/errors.hpp"
#include "core/base/statistics.hpp"
#include "miniapps/app/run_text.hpp"
#include "tests/miniapps/app/described_run.hpp"

namespace steelyard::test_run_text {

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;
using Catch::Matchers::StartsWith;
using namespace steelyard::tests;

namespace {

const std::vector<double> times{3e-3, 1e-3, 2e-3};

std::vector<std::string> lines_of(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

}  // namespace

TEST_CASE("nouns agree with their number") {
  CHECK(counted(0, "rank") == "0 ranks");
  CHECK(counted(1, "rank") == "1 rank");
  CHECK(counted(2, "node") == "2 nodes");
}

TEST_CASE("cores that are shared or loose are warned of in a line each, all others are not") {
  CHECK(core_notes(false, false).empty());
  const std::string shared = core_notes(true, false);
  const std::string loose = core_notes(false, true);
  CHECK_THAT(shared, StartsWith("note: ") && ContainsSubstring("more threads than cores"));
  CHECK_THAT(loose, StartsWith("note: ") && ContainsSubstring("bind"));
  CHECK(core_notes(true, true) == shared + loose);
  CHECK(shared.find('\n') == shared.size() - 1);
  CHECK(loose.find('\n') == loose.size() - 1);
}

TEST_CASE("libraries have a line for each unit that names one") {
  RunRecord record = described_run();
  record.settings["host_blas"] = "OpenBLAS";
  CHECK(library_lines(record, "blas") == "host       OpenBLAS\n");
  record.settings["device_blas"] = "cuBLAS";
  CHECK(library_lines(record, "blas") == "host       OpenBLAS\ndevice     cuBLAS\n");
  CHECK(library_lines(record, "fft").empty());
}

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
                             ContainsSubstring("1.00 ms") && !ContainsSubstring("emulated"));
    CHECK_THAT(lines[3], ContainsSubstring("rank 0 device") && ContainsSubstring("2.5 (emulated)") &&
                             ContainsSubstring(" 30  30.0 %") && ContainsSubstring("2.00 ms"));
    CHECK_THAT(lines[4], ContainsSubstring("rank 1 host") && ContainsSubstring(" 10  10.0 %"));
  }
}

TEST_CASE("measured times come with how far the prediction is from them, where both are times") {
  const std::vector<double> predicted{1e-3, 2e-3, 0.0};
  const std::vector<double> measured{1e-3, 6e-3, 3e-3};
  const std::vector<std::string> lines = lines_of(unit_table(described_run(), {"rows", "/step"}, predicted, measured));
  CHECK_THAT(lines[0], ContainsSubstring("measured/step  difference"));
  CHECK_THAT(lines[2], ContainsSubstring("1.00 ms        1.00 ms") && ContainsSubstring("0.0 %"));
  CHECK_THAT(lines[3], ContainsSubstring("6.00 ms") && ContainsSubstring("100.0 %"));
  CHECK_THAT(lines[4], ContainsSubstring("-        3.00 ms") && !ContainsSubstring("200.0 %"));
}

TEST_CASE("columns of the app's own stand before the computation units, in their order, with a cell in every line") {
  UnitHeadings headings{"blocks", "/iteration"};
  headings.columns = {{"rectangle", {"7 x 5", "2 x 5", "9 x 1"}}, {"at", {"(0, 0)", "(7, 0)", "(0, 5)"}}};
  const std::vector<double> predicted{1e-3, 2e-3, 5e-3};
  const std::vector<std::string> lines = lines_of(unit_table(described_run(), headings, predicted, predicted));
  REQUIRE(lines.size() == 5);
  const std::vector<std::vector<std::string>> in_order{{"slowdown", "rectangle", "at", "blocks", "predicted/iteration"},
                                                       {"rank 0 host", "7 x 5", "(0, 0)", " 60 "},
                                                       {"rank 0 device", "2 x 5", "(7, 0)", " 30 "},
                                                       {"rank 1 host", "9 x 1", "(0, 5)", " 10 "}};
  for (std::size_t i = 0; i < in_order.size(); ++i) {
    // Behind the headings is a rule.
    const std::string& line = lines[i == 0 ? 0 : i + 1];
    CAPTURE(line);
    std::size_t from = 0;
    for (const std::string& word : in_order[i]) {
      CAPTURE(word);
      const std::size_t at = line.find(word, from);
      REQUIRE(at != std::string::npos);
      from = at + word.size();
    }
  }
  // What else there is does not change.
  headings.columns.clear();
  for (const std::string& line : lines_of(unit_table(described_run(), headings, predicted, predicted))) {
    CHECK_THAT(line, !ContainsSubstring(" x ") && !ContainsSubstring("rectangle"));
  }
}

TEST_CASE("a column with more or fewer cells than units is refused by its heading") {
  const std::vector<double> predicted(3, 1.0);
  for (const std::size_t cells : {0, 2, 4}) {
    UnitHeadings headings{"blocks", ""};
    headings.columns = {{"right", {"1", "2", "3"}}, {"rectangle", std::vector<std::string>(cells, "1 x 1")}};
    CHECK_THROWS_MATCHES(
        unit_table(described_run(), headings, predicted), InvalidArgument,
        MessageMatches(ContainsSubstring("column rectangle") && ContainsSubstring(std::to_string(cells) + " cells")));
  }
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

TEST_CASE("a record has the median, its spread and how far the prediction is off") {
  RunRecord record = described_run();
  record_times(record, times, 5e-3);
  CHECK(record.median_time_s == 2e-3);
  CHECK(record.predicted_time_s == 5e-3);
  CHECK(record.figures.at("confidence_s") == confidence_half_width(times, 0.95));
  CHECK(record.figures.at("coefficient_of_variation") == coefficient_of_variation(times));
  CHECK(record.figures.at("percentage_difference") == percentage_difference(5e-3, 2e-3));
  CHECK(record.figures.at("proportional_error") == proportional_error(2e-3, 5e-3));
}

TEST_CASE("every repetition is a sample under the run's parameters and settings") {
  RunRecord record = described_run();
  record_times(record, times, 5e-3);
  REQUIRE(record.samples.size() == times.size());
  for (std::size_t i = 0; i < times.size(); ++i) {
    const Sample& sample = record.samples[i];
    CHECK(sample.metric == "time_s");
    CHECK(sample.value == times[i]);
    auto params = record.params;
    params["repetition"] = static_cast<double>(i);
    CHECK(sample.params == params);
    CHECK(sample.keys == record.settings);
  }
}

TEST_CASE("the lines tell what the record says") {
  RunRecord record = described_run();
  record_times(record, times, 5e-3);
  const std::string line = time_line(record, "for 7 steps");
  CHECK_THAT(line, StartsWith("time       2.00 ms for 7 steps (median of 3, 95 % interval +- "));
  CHECK_THAT(line, ContainsSubstring("coefficient of variation 50.0 %)\n"));
  CHECK_THAT(time_line(record, ""), StartsWith("time       2.00 ms (median of 3"));
  const std::string difference = ", " + accuracy_text(2e-3, 5e-3) + " (repetitions themselves vary by 50 %)\n";
  CHECK(predicted_line(record) == "predicted  5.00 ms" + difference);
  record.predicted_interval_s = Interval{4e-3, 6e-3};
  CHECK(predicted_line(record) == "predicted  5.00 ms (4.00 ms to 6.00 ms)" + difference);
  record.predicted_interval_s = Interval{5e-3, 5e-3};
  CHECK(predicted_line(record) == "predicted  5.00 ms" + difference);
}

TEST_CASE("one repetition says nothing of its spread") {
  RunRecord record = described_run();
  record_times(record, std::vector<double>{2e-3}, 2e-3);
  CHECK(record.figures.at("confidence_s") == 0.0);
  CHECK(time_line(record, "for 7 steps") == "time       2.00 ms for 7 steps (measured once)\n");
}

TEST_CASE("a prediction of nothing is compared with nothing") {
  RunRecord record = described_run();
  record_times(record, times, 0.0);
  CHECK(record.predicted_time_s == 0.0);
  CHECK_FALSE(record.figures.contains("percentage_difference"));
  CHECK_FALSE(record.figures.contains("proportional_error"));
  CHECK_THAT(predicted_line(record), StartsWith("predicted  0 ") && !ContainsSubstring("difference"));
}

TEST_CASE("a run without repetitions is refused") {
  RunRecord record = described_run();
  CHECK_THROWS_AS(record_times(record, {}, 1.0), InvalidArgument);
}

}  // namespace steelyard::test_run_text
