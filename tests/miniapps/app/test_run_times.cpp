#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <vector>

#include "core/base/accuracy.hpp"
#include "core/base/errors.hpp"
#include "core/base/statistics.hpp"
#include "miniapps/app/run_times.hpp"
#include "tests/miniapps/app/described_run.hpp"

namespace steelyard::test_run_times {

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::StartsWith;
using namespace steelyard::tests;

namespace {

const std::vector<double> times{3e-3, 1e-3, 2e-3};

}  // namespace

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
  record.samples.push_back({{}, "another_metric", 1.0, {}});
  const std::string line = time_line(record, "for 7 steps");
  CHECK_THAT(line, StartsWith("time       2 ms for 7 steps (median of 3, 95 % interval +- "));
  CHECK_THAT(line, ContainsSubstring("coefficient of variation 50.0 %)\n"));
  CHECK_THAT(time_line(record, ""), StartsWith("time       2 ms (median of 3"));
  CHECK(predicted_line(record) == "predicted  5 ms, " + accuracy_text(2e-3, 5e-3) + "\n");
}

TEST_CASE("one repetition says nothing of its spread") {
  RunRecord record = described_run();
  record_times(record, std::vector<double>{2e-3}, 2e-3);
  CHECK(record.figures.at("confidence_s") == 0.0);
  CHECK(time_line(record, "for 7 steps") == "time       2 ms for 7 steps (measured once)\n");
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

}  // namespace steelyard::test_run_times
