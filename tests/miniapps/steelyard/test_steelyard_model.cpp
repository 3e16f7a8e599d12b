#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "models/fpm_file.hpp"
#include "models/kinds/model_kinds.hpp"
#include "tests/miniapps/app_runs.hpp"

namespace steelyard::tests::test_steelyard_model {
namespace {

/// Fast in cache, slower in memory, 100 units at most; one size was not precise.
models::FpmFile cached() {
  models::FpmFile file;
  file.app = "wave2d";
  file.kernel = "leap_frog";
  file.element = "double";
  file.unit_kind = "host";
  file.unit_cores = "0-3";
  file.unit_device = "OpenMP";
  file.computation_unit = "one grid row";
  file.parameters["columns"] = 64.0;
  file.flops_per_unit = 448.0;
  file.bytes_per_unit = 1536.0;
  file.max_units = 100.0;
  file.machine = "somewhere";
  file.points = {{5.0, 6e-4, 9, 1e-5, 1},
                 {10.0, 1e-3, 9, 1e-5, 0},
                 {20.0, 1.5e-3, 9, 1e-5, 0},
                 {40.0, 4e-3, 9, 1e-5, 0},
                 {80.0, 8e-3, 9, 1e-5, 0}};
  file.imprecise = {{60.0, 7e-3, 9, 5e-3, 0}};
  return file;
}

std::string write_cached(const TemporaryFolder& folder) {
  models::write_fpm_file(folder / "cached.fpm.json", cached());
  return "cached.fpm.json";
}

std::set<std::string> keys_of(const nlohmann::json& json) {
  std::set<std::string> keys;
  for (const auto& [key, value] : json.items()) keys.insert(key);
  return keys;
}

std::string points_json(const std::string& points) {
  return R"({"schema": "steelyard.fpm/1", "points": [)" + points + "]}";
}

TEST_CASE("steelyard model says where a model comes from and has a line for each point, once") {
  const int ranks = GENERATE(1, 3);
  const TemporaryFolder folder;
  const Outcome outcome = good_run(ranks, steelyard_tool, {"model", write_cached(folder)}, folder.path());
  INFO(outcome.out << outcome.err);
  for (const char* part : {"wave2d leap_frog double, columns 64", "one grid row", "host OpenMP, cores 0-3", "somewhere",
                           "100 units", "piecewise_linear", "fit error"}) {
    CAPTURE(part);
    CHECK(contains(outcome.out, part));
  }
  for (const char* size : {"5 ", "10 ", "20 ", "40 ", "60 ", "80 "}) CHECK(lines_that_start(outcome.out, size) == 1);
  for (const std::string& line : lines_of(outcome.out)) {
    if (line.rfind("60 ", 0) == 0) CHECK(contains(line, "imprecise"));
  }
  CHECK(folder.entries() == 1);
}

TEST_CASE("Every kind is shown, and predicts in one JSON object what the library predicts") {
  const TemporaryFolder folder;
  const std::string file = write_cached(folder);
  const std::vector<double> sizes{0.0, 5.0, 30.0, 80.0, 100.0, 101.0, 1e30};
  Words at{"--format", "json", "--at"};
  for (const char* size : {"0", "5", "30", "80", "100", "101", "1e30"}) at.push_back(size);
  std::vector<Start> starts;
  for (const models::ModelKind& kind : models::model_kinds()) {
    starts.push_back({1, steelyard_tool, Words{"model", file, "--kind", kind.name} + at, folder.path()});
    starts.push_back({1, steelyard_tool, {"model", file, "--kind", kind.name}, folder.path()});
  }
  const std::vector<Outcome> outcomes = run_all(starts);
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    const std::string& kind = models::model_kinds()[i / 2].name;
    INFO(kind << "\n" << outcomes[i].out << outcomes[i].err);
    REQUIRE(outcomes[i].status == 0);
    if (i % 2 == 1) {
      CHECK(lines_that_start(outcomes[i].out, "kind ") == 1);
      CHECK(contains(outcomes[i].out, kind));
      continue;
    }
    const auto json = nlohmann::json::parse(outcomes[i].out);
    CHECK(keys_of(json) == std::set<std::string>{"kind", "at", "parameters", "variation", "fit_error"});
    CHECK(json.at("variation").at("bands").size() == cached().points.size());
    CHECK(json.at("kind") == kind);
    CHECK(json.at("fit_error").at("rms").is_number());
    REQUIRE(json.at("at").size() == sizes.size());
    const models::SpeedModelPtr model = models::make_model(cached(), kind);
    CHECK(json.at("parameters").size() == model->parameters().size());
    for (const auto& [name, value] : model->parameters()) CHECK(json.at("parameters").at(name).get<double>() == value);
    for (std::size_t s = 0; s < sizes.size(); ++s) {
      const auto& prediction = json.at("at")[s];
      CHECK(keys_of(prediction) == std::set<std::string>{"units", "time_s", "speed"});
      CHECK(prediction.at("units") == sizes[s]);
      CHECK(prediction.at("speed").get<double>() == model->speed(sizes[s]));
      const double time_s = model->time_s(sizes[s]);
      CHECK(prediction.at("time_s").is_null() == !std::isfinite(time_s));
      if (std::isfinite(time_s)) CHECK(prediction.at("time_s").get<double>() == time_s);
    }
    CHECK(json.at("at").back().at("time_s").is_null());
  }
}

TEST_CASE("Predictions in a table are one line a size, and say what does not fit") {
  const TemporaryFolder folder;
  const Outcome outcome =
      good_run(1, steelyard_tool, {"model", write_cached(folder), "--at", "10", "101"}, folder.path());
  CHECK(lines_that_start(outcome.out, "10 ") == 1);
  for (const std::string& line : lines_of(outcome.out)) {
    if (line.rfind("10 ", 0) == 0) CHECK(contains(line, "1.00 ms"));
    if (line.rfind("101 ", 0) == 0) CHECK(contains(line, "does not fit"));
  }
  CHECK(lines_that_start(outcome.out, "101 ") == 1);
}

TEST_CASE("Shapes and degrees are those that were asked for") {
  const TemporaryFolder folder;
  // Time that falls from 20 to 30 units.
  const std::string dip = folder.write(
      "dip.fpm.json", points_json(R"({"units": 10, "time_s": 1}, {"units": 20, "time_s": 3}, {"units": 30, "time_s": 2},
                                     {"units": 40, "time_s": 5})"));
  const auto show = [&](const Words& words) {
    return Start{1, steelyard_tool, Words{"model", dip} + words, folder.path()};
  };
  const Words at{"--format", "json", "--at", "20", "30"};
  const std::vector<Outcome> outcomes =
      run_all({show(at), show(at + Words{"--shape", "as_measured"}), show(at + Words{"--shape", "increasing_time"}),
               show(at + Words{"--shape", "unimodal"}), show({"--kind", "polynomial", "--degree", "1"}),
               show({"--kind", "polynomial", "--degree", "2"}), show({"--kind", "polynomial", "--degree", "3"})});
  std::vector<std::vector<double>> times;
  for (std::size_t i = 0; i < 4; ++i) {
    INFO(outcomes[i].out << outcomes[i].err);
    REQUIRE(outcomes[i].status == 0);
    times.emplace_back();
    const auto json = nlohmann::json::parse(outcomes[i].out);
    for (const auto& prediction : json.at("at")) {
      times.back().push_back(prediction.at("time_s").get<double>());
    }
  }
  CHECK(times[1] == std::vector<double>{3.0, 2.0});
  CHECK(times[2][0] <= times[2][1]);
  CHECK(times[0] == times[2]);
  CHECK(times[3][0] > 0.0);
  for (std::size_t degree = 1; degree <= 3; ++degree) {
    CHECK(contains(outcomes[3 + degree].out, "degree = " + std::to_string(degree)));
  }
}

TEST_CASE("A comparison has a line for each kind, whatever the number of points") {
  const TemporaryFolder folder;
  const std::string one = folder.write("one.fpm.json", points_json(R"({"units": 10, "time_s": 1e-3})"));
  for (const std::string& file : {write_cached(folder), one}) {
    const Outcome outcome = good_run(1, steelyard_tool, {"model", file, "--compare"}, folder.path());
    INFO(outcome.out << outcome.err);
    for (const models::ModelKind& kind : models::model_kinds())
      CHECK(lines_that_start(outcome.out, kind.name + " ") == 1);
    CHECK_FALSE(contains(outcome.out, "nan"));
    CHECK_FALSE(contains(outcome.out, "inf"));
  }
}

TEST_CASE("A plot is an SVG document of its own, for every kind and any number of points") {
  const TemporaryFolder folder;
  const std::string one = folder.write("one.fpm.json", points_json(R"({"units": 10, "time_s": 1e-3})"));
  std::vector<Start> starts;
  std::vector<std::string> plots;
  for (const models::ModelKind& kind : models::model_kinds()) {
    for (const std::string& file : {write_cached(folder), one}) {
      plots.push_back("plot" + std::to_string(plots.size()) + ".svg");
      starts.push_back(
          {1, steelyard_tool, {"model", file, "--kind", kind.name, "--plot", plots.back()}, folder.path()});
    }
  }
  const std::vector<Outcome> outcomes = run_all(starts);
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    INFO(outcomes[i].out << outcomes[i].err);
    CHECK(outcomes[i].status == 0);
    const std::string svg = folder.read(plots[i]);
    CHECK(svg.rfind("<svg ", 0) == 0);
    CHECK(contains(svg, "</svg>"));
    CHECK_FALSE(contains(svg, "nan"));
    CHECK_FALSE(contains(svg, "inf"));
  }
  CHECK(folder.entries() == static_cast<int>(plots.size()) + 2);
}

TEST_CASE("A plot never takes the place of a model") {
  const TemporaryFolder folder;
  const std::string file = write_cached(folder);
  const std::string before = folder.read(file);
  const Outcome outcome = run(1, steelyard_tool, {"model", file, "--plot", file}, folder.path());
  CHECK(outcome.status == 2);
  CHECK(outcome.told_by("steelyard").size() == 1);
  CHECK(folder.read(file) == before);
}

TEST_CASE("Fupermod's text is read too") {
  const TemporaryFolder folder;
  folder.write("old.fpm", "# d t reps ci\n10 0.001 5 0.00001\n20 0.0015 5 0.00001\n40 0.003 5 0.00001\n");
  const Outcome outcome =
      good_run(1, steelyard_tool, {"model", "old.fpm", "--at", "20", "--format", "json"}, folder.path());
  INFO(outcome.out << outcome.err);
  CHECK(nlohmann::json::parse(outcome.out).at("at")[0].at("time_s").get<double>() == 0.0015);
  const Outcome table = run(1, steelyard_tool, {"model", "old.fpm", "--plot", "old.svg"}, folder.path());
  CHECK(table.status == 0);
  CHECK_FALSE(contains(table.out, "Gflop"));
  CHECK_FALSE(contains(folder.read("old.svg"), "model  on"));
}

TEST_CASE("Models that cannot be shown are refused by file and key, and no plot is drawn") {
  const TemporaryFolder files;
  const auto bad = [&](const std::string& name, const std::string& text) { return files.write(name, text).string(); };
  const std::string whole = points_json(R"({"units": 10, "time_s": 1e-3}, {"units": 20, "time_s": 2e-3})");
  const std::string good = bad("good.fpm.json", whole);
  const auto show = [](const std::string& file) { return Words{"model", file, "--plot", "plot.svg"}; };
  expect_refused(steelyard_tool,
                 {{show(bad("truncated.fpm.json", whole.substr(0, whole.size() / 2))), "truncated.fpm.json: line 1"},
                  {show(bad("negative.fpm.json", points_json(R"({"units": 10, "time_s": -1e-3})"))),
                   "negative.fpm.json: points[0].time_s"},
                  {{"model", good, "--kind", "cubic"}, "cubic"},
                  {{"model", good, "--at", "-1"}, "-1"}});
  expect_refused(steelyard_tool,
                 {{show("missing.fpm.json"), "missing.fpm.json"},
                  {show(bad("old.fpm", "10 0.001\n10 0.002\n")), "old.fpm: line 2"},
                  {{"model"}, "FILE"},
                  {{"model", good, "--shape", "round"}, "round"},
                  {{"model", good, "--degree", "0"}, "--degree"},
                  {{"model", good, "--at", "nan"}, "nan"},
                  {{"model", good, "--at", "inf"}, "inf"},
                  {{"model", good, "--format", "xml"}, "xml"},
                  {{"model", good, "--plot", "picture.png"}, "picture.png"},
                  {{"model", good, good}, "good.fpm.json"}},
                 {}, {1});
}

}  // namespace
}  // namespace steelyard::tests::test_steelyard_model
