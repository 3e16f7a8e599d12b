#include "core/base/npy.hpp"
#include "core/base/statistics.hpp"
#include "miniapps/app/outputs.hpp"
#include "tests/catch.hpp"
#include "tests/miniapps/app/collective_error.hpp"
#include "tests/miniapps/app/shared_folder.hpp"

namespace steelyard::test_outputs {

using namespace steelyard::tests;

namespace {

/// A run on three units, the second of which is emulated.
RunRecord described_run() {
  RunRecord record;
  record.app = "app";
  record.params = {{"ranks", 2.0}, {"size", 9.0}};
  record.settings = {{"partition", "geometric"}, {"cores", "even share"}};
  record.units = {
      {0, "host", "OpenMP", "0-3", 1.0}, {0, "device", "Serial", "4", 2.5}, {1, "host", "OpenMP", "5", 1.0}};
  record.distribution = {60, 30, 10};
  return record;
}

}  // namespace

TEST_CASE("a rank that fails is everyone's error, and a file that was there stays as it was") {
  const SharedFolder folder;
  const auto write = [&](const char* name, int failing, std::int64_t first_column = 0) {
    write_matrix<double>(session(), folder / name, 8, 3, [&](const BlockSink<double>& sink) {
      const std::vector<double> row{1.0, 2.0, 3.0};
      for (int i = session().rank(); i < 8; i += session().size()) sink(i, 0, 3, row);
      if (session().rank() != failing) return;
      if (first_column > 0) sink(0, first_column, 3, row);
      throw RuntimeFailure("cannot be read back");
    });
  };
  write("good.npy", -1);
  for (int failing = 0; failing < session().size(); ++failing) {
    for (const char* name : {"good.npy", "new.npy"}) {
      for (const std::int64_t first_column : {0, 1}) {
        const auto error = collective_error([&] { write(name, failing, first_column); });
        CHECK(error.has_value());
        if (error) CHECK(error->teller() == failing);
        // A block that is not inside the matrix is refused before anything else is wrong.
        if (error) CHECK((error->code() == ExitCode::wrong_input) == (first_column > 0));
        CHECK(folder.entries() == 1);
        CHECK(read_npy_matrix_header<double>(folder / "good.npy").shape.front() == 8);
      }
    }
  }
  CHECK(collective_error([&] { write("good.npy/below", -1); }).has_value());
  CHECK(folder.entries() == 1);
}

TEST_CASE("the table of units says what each is, gets and takes, and is refused without one of each") {
  const std::vector<double> predicted{1e-3, 2e-3, 0.0}, measured{1e-3, 6e-3, 3e-3}, two(2, 1.0);
  const UnitHeadings headings{"blocks", "/step", {{"rectangle", {"7 x 5", "2 x 5", "9 x 1"}}}};
  const std::string table = unit_table(described_run(), headings, predicted, measured);
  for (const char* text : {"rectangle", "blocks", "predicted/step", "measured/step", "rank 0 device", "2.5 (emulated)",
                           "7 x 5", "30.0 %", "2.00 ms", "6.00 ms", "mu 3.00"}) {
    CHECK_THAT(table, ContainsSubstring(text));
  }
  // The difference from no prediction.
  CHECK_THAT(table, !ContainsSubstring("200.0 %") && !ContainsSubstring("mu inf"));
  RunRecord record = described_run();
  record.distribution = {0, 0, 0};
  CHECK_THAT(unit_table(record, headings, predicted), !ContainsSubstring("nan") && !ContainsSubstring("measured"));
  record.distribution.pop_back();
  CHECK_THROWS_AS(unit_table(record, headings, predicted), InvalidArgument);
  CHECK_THROWS_AS(unit_table(described_run(), headings, two), InvalidArgument);
  CHECK_THROWS_AS(unit_table(described_run(), headings, predicted, two), InvalidArgument);
  CHECK_THROWS_AS(unit_table(described_run(), {"rows", "", {{"at", {"(0, 0)"}}}}, predicted), InvalidArgument);
}

TEST_CASE("a record has a sample for each repetition, their median and spread and how far the prediction is off") {
  const std::vector<double> times{3e-3, 1e-3, 2e-3};
  RunRecord record = described_run();
  record_times(record, times, 5e-3);
  CHECK(record.median_time_s == 2e-3);
  CHECK(record.predicted_time_s == 5e-3);
  CHECK(record.figures.at("confidence_s") == confidence_half_width(times, 0.95));
  CHECK(record.figures.at("coefficient_of_variation") == coefficient_of_variation(times));
  CHECK(record.figures.at("percentage_difference") == percentage_difference(5e-3, 2e-3));
  CHECK(record.figures.at("proportional_error") == proportional_error(2e-3, 5e-3));
  REQUIRE(record.samples.size() == times.size());
  for (std::size_t i = 0; i < times.size(); ++i) {
    auto params = record.params;
    params["repetition"] = static_cast<double>(i);
    CHECK(record.samples[i].metric == "time_s");
    CHECK(record.samples[i].value == times[i]);
    CHECK(record.samples[i].params == params);
    CHECK(record.samples[i].keys == record.settings);
  }
  CHECK_THAT(time_line(record, "for 7 steps"), ContainsSubstring("2.00 ms for 7 steps (median of 3"));
  record.predicted_interval_s = Interval{4e-3, 6e-3};
  CHECK_THAT(predicted_line(record), ContainsSubstring("5.00 ms (4.00 ms to 6.00 ms), mu 2.50"));

  RunRecord once = described_run();
  record_times(once, std::vector<double>{2e-3}, 0.0);
  CHECK(once.figures.at("confidence_s") == 0.0);
  CHECK_FALSE(once.figures.contains("percentage_difference"));
  CHECK_FALSE(once.figures.contains("proportional_error"));
  CHECK_THAT(time_line(once, ""), ContainsSubstring("measured once"));
  CHECK_THAT(predicted_line(once), !ContainsSubstring("difference"));
  CHECK_THROWS_AS(record_times(once, {}, 1.0), InvalidArgument);
}

}  // namespace steelyard::test_outputs
