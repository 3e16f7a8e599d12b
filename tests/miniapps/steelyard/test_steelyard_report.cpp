// What shows results: steelyard compare and report, and the main job's table.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "core/base/json_file.hpp"
#include "core/base/run_record.hpp"
#include "tests/catch.hpp"
#include "tests/miniapps/app_runs.hpp"

namespace steelyard::tests::test_steelyard_report {
namespace {

/// A result as a run of jacobi leaves it, whose repetitions took these seconds, and whose host and device this share of
/// them.
void write_result(const std::filesystem::path& folder, const std::vector<double>& times_s,
                  const std::string& partition = "even", const std::array<double, 2>& busy = {1.0, 1.0}) {
  RunRecord record;
  record.app = "jacobi";
  record.processors = {"A processor"};
  record.settings["partition"] = partition;
  record.computation_units = "rows";
  record.units = {{0, "host", "OpenMP", "0", 1.0, {}, {}}, {0, "device", "Serial", "1", 2.0, {}, {}}};
  record.distribution = partition == "even" ? std::vector<std::int64_t>{20, 20} : std::vector<std::int64_t>{30, 10};
  record.params["rows"] = 40.0;
  record.memory_bytes = {8.0 * (1 << 30)};
  record.blas = "A BLAS";
  record.median_time_s = times_s[times_s.size() / 2];
  for (std::size_t unit = 0; unit < 2; ++unit) record.units[unit].measured_s = busy[unit] * record.median_time_s;
  record.predicted_time_s = 0.5 * record.median_time_s;
  record.phases = {{"sweeps", record.median_time_s, record.predicted_time_s}};
  for (const double time_s : times_s) record.samples.push_back({{}, "time_s", time_s, {}});
  write_run_record(folder, record);
}

const std::vector<double> times_s{1.00, 1.01, 1.02, 1.03, 1.04};

void write_experiment(const TemporaryFolder& folder) {
  folder.write("experiment.json", R"json({"schema": "steelyard.experiment/1", "paper": "000", "figure": "fig9.9",
    "title": "Speeds & sizes", "question": "How fast?", "scale": "small", "date": "today", "commit": "c",
    "machine": "m", "complete": false, "columns": [{"name": "n", "label": "rows", "unit": ""},
      {"name": "t", "label": "time", "unit": "s"}], "points_file": "points.jsonl",
    "charts": [{"title": "Time", "kind": "line", "x": {"column": "n", "label": "rows", "scale": "log"},
        "y": {"label": "time (s)", "scale": "linear"}, "series": [
          {"label": "measured", "where": {"unit": "host"}, "y": "t", "from": "here"},
          {"label": "measured", "where": {}, "y": "t", "from": "paper"}]},
      {"title": "Bars", "kind": "stacked", "x": {"column": "unit", "label": "unit"}, "y": {"label": "time (s)"},
        "series": [{"label": "all", "where": {}, "y": "t"}]}],
    "tables": [{"title": "Times", "columns": ["unit", "n", "t"]}],
    "paper_points": [{"n": 16, "t": 99.5}], "paper_note": "Table 9.", "difference": "A smaller machine."})json");
  folder.write("points.jsonl",
               "{\"key\": \"1\", \"values\": {\"unit\": \"host\", \"n\": 8, \"t\": 1.5}}\n"
               "{\"key\": \"2\", \"values\": {\"unit\": \"device\", \"n\": 8, \"t\": 2.5}}\n");
}

}  // namespace

TEST_CASE("steelyard compare tells a change from noise, and says what else differs") {
  const TemporaryFolder folder;
  for (const char* const round : {"1", "2"}) {
    write_result(folder / "a" / "even" / round, times_s);
    write_result(folder / "b" / "even" / round, {1.21, 1.22, 1.20, 1.23, 1.24}, "exact");
    write_result(folder / "c" / "even" / round, {1.02, 1.00, 1.04, 1.01, 1.03});
  }
  const Outcome slower = good_tool(folder, "compare a b");
  CHECK(contains(slower.out, "slower"));
  CHECK(contains(slower.out, "settings.partition: \"even\" -> \"exact\""));
  CHECK(contains(good_tool(folder, "compare a c").out, "no difference seen"));
  CHECK(contains(good_tool(folder, "compare b a").out, "faster"));
}

TEST_CASE("steelyard report shows every run and every experiment on one page") {
  const TemporaryFolder folder;
  write_result(folder / "runs" / "even", times_s, "even", {0.5, 1.0});
  write_result(folder / "runs" / "exact", {0.50, 0.51, 0.52, 0.53, 0.54}, "exact");
  write_experiment(folder);
  for (const std::string format : {"html", "markdown"}) {
    const std::string page = good_tool(folder, "report runs . --format " + format).out;
    for (const char* const text :
         {"A processor", "30+10", "20+20", "sweeps", "ran 1.96 times as fast as even ones", "99 % of the gain",
          "2 predictions are off by a factor of 2.00 or less", "000, fig9.9: Speeds &", "not finished", "99.5"}) {
      INFO(text << " in " << format);
      CHECK(contains(page, text));
    }
  }
  good_tool(folder, "report runs --output page.html");
  CHECK(contains(folder.read("page.html"), "<!doctype html>"));
}

TEST_CASE(
    "However units' speeds vary from run to run, no gain of sizing slices is above its ideal, on page and table") {
  const unsigned seed = GENERATE(1U, 2U, 3U);
  std::mt19937 random(seed);
  const auto luck = [&] { return 1.0 + static_cast<double>(random() % 1000) / 1000.0; };
  const TemporaryFolder folder;
  // A device three times slower than the host, which takes 1 s for half of the rows; each slows down by chance.
  for (const std::string round : {"1", "2", "3"}) {
    const double host_s = luck(), device_s = 3.0 * luck(), even_s = std::max(host_s, device_s);
    write_result(folder / "job" / "even-slow-device" / round, {even_s}, "even", {host_s / even_s, device_s / even_s});
    write_result(folder / "job" / "geometric-slow-device" / round, {1.5 * luck()}, "geometric");
  }
  const std::string table = good_run(1, built("steelyard-main-table"), {"job"}, folder.path()).out;
  INFO("seed " << seed << "\n" << table);
  CHECK(lines_that_start(table, "difference of predictions") == 1);
  const std::string row = lines_of(table).at(4);
  REQUIRE(contains(row, "geometric"));
  const double of_ideal = std::stod(words(row.substr(row.find(')'))).at(1));
  CHECK((of_ideal >= 0.0 && of_ideal <= 1.0));
  CHECK(contains(good_tool(folder, "report job").out, fmt::format(">{:.0f} %<", 100.0 * of_ideal)));
}

TEST_CASE("Folders without results, of no common run and with broken points are refused by name") {
  const TemporaryFolder folder;
  write_result(folder / "a" / "even", times_s);
  write_result(folder / "b" / "exact", times_s);
  std::filesystem::create_directory(folder / "empty");
  write_experiment(folder);
  folder.write("points.jsonl", "no point\n");
  write_result(folder / "c" / "even", times_s);
  std::string other = folder.read("c/even/run.json");
  other.replace(other.find("\"rows\": 40"), 10, "\"rows\": 80");
  folder.write("c/even/run.json", other);
  expect_refused(steelyard_tool,
                 {{{"compare", folder / "a", folder / "b"}, "share no run"},
                  {{"compare", folder / "a", folder / "c"}, "even: rows is 40 in one and 80 in the other"},
                  {{"compare", folder / "a", folder / "nowhere"}, "nowhere"},
                  {{"compare", folder / "a"}, "DIR"},
                  {{"report", folder / "empty"}, "empty"},
                  {{"report", folder.path()}, "points.jsonl"}},
                 {}, {1});
}

TEST_CASE("The main job's table shows a plain result under its folder's name, predicted and checked or not") {
  const TemporaryFolder folder;
  write_model(folder, "unit.fpm.json", 1e-6);
  for (const std::string more : {"--partition dynamic", "--partition dynamic --check none", "--model unit.fpm.json"}) {
    const Words arguments = words("--size 32 --steps 3 --units host --repetitions 2 --result plain " + more);
    good_run(1, built("jacobi"), arguments, folder.path());
    for (const char* place : {"plain", "."}) {
      const std::string table = good_run(1, built("steelyard-main-table"), {place}, folder.path()).out;
      INFO(table);
      CHECK(lines_that_start(table, "32 x 32, 3 steps  plain") == 1);
      CHECK(contains(table, contains(more, "none") ? "not done" : "passed"));
      CHECK(contains(table, "difference of predictions") == contains(more, "--model"));
      CHECK_FALSE(contains(table, "1.00x"));
    }
  }
  // Beside the predictions, and beside the other rounds.
  nlohmann::json json = read_json_file(folder / "plain/run.json");
  json["predicted_time_s"] = 1.0;
  json["predicted_interval_s"] = {0.9, 1.15};
  for (const double time_s : {1.0, 1.1, 1.2}) {
    json["median_time_s"] = time_s;
    const std::filesystem::path round = folder / fmt::format("job/jacobi/32/host/{:.0f}", 10.0 * time_s);
    std::filesystem::create_directories(round);
    write_json_file(round / "run.json", json);
    std::filesystem::copy(folder / "plain/samples.jsonl", round);
  }
  const std::string table = good_run(1, built("steelyard-main-table"), {"job"}, folder.path()).out;
  INFO(table);
  CHECK(contains(table, "2 of 3 runs within their 90 % intervals, median half width 13.0 %"));
  // Of 1.0, 1.1 and 1.2 s: from 1 s, and from 1.15, 1.1 and 1.05 s.
  CHECK(contains(table, "half are within 9.5 % of their predictions and 13.3 % of the median of their other rounds"));
  CHECK(contains(table, "nine of ten within 18.2 % and 14.0 %"));
}

}  // namespace steelyard::tests::test_steelyard_report
