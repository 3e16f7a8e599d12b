// steelyard model and steelyard partition print what the libraries compute, for random models from files.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "models/fpm_file.hpp"
#include "models/kinds/model_kinds.hpp"
#include "models/shape.hpp"
#include "partition/algorithms.hpp"
#include "partition/hierarchical.hpp"
#include "partition/rectangles/column.hpp"
#include "tests/catch.hpp"
#include "tests/miniapps/app_runs.hpp"
#include "tests/miniapps/rectangles.hpp"

namespace steelyard::tests::test_steelyard_models {
namespace {

using nlohmann::json;

double random_between(std::mt19937& random, double low, double high) {
  return low + (high - low) * static_cast<double>(random()) / 4294967295.0;
}

/// Writes points of irregular times at random sizes, every third of them imprecise, up to a memory limit.
void write_random(const TemporaryFolder& folder, const std::string& name, std::mt19937& random, int points = 12) {
  models::FpmFile file;
  file.app = "wave2d";
  file.flops_per_unit = 448.0;
  double units = 0.0;
  for (int i = 0; i < points; ++i) {
    units += std::floor(random_between(random, 1.0, 3000.0));
    const models::MeasuredPoint point{units, units * random_between(random, 1e-6, 3e-6), 9, 1e-9};
    (i % 3 == 1 ? file.imprecise : file.points).push_back(point);
  }
  file.max_units = units + 5000.0;
  models::write_fpm_file(folder / name, file);
}

/// The line of a table that starts with this word.
std::string line_of(const std::string& table, const std::string& word) {
  for (const std::string& line : lines_of(table)) {
    if (line.rfind(word + " ", 0) == 0) return line;
  }
  FAIL("no line " << word << " in\n" << table);
  return "";
}

/// Models from files in the folder, as an algorithm wants them.
struct Loaded {
  std::vector<models::SpeedModelPtr> owned;
  std::vector<const models::SpeedModel*> models;

  Loaded(const TemporaryFolder& folder, const std::string& names, const partition::Algorithm& algorithm) {
    for (const std::string& name : words(names)) {
      const models::FpmFile file = models::read_fpm_file(folder / name);
      owned.push_back(models::make_model(file, algorithm.model_kind, {algorithm.shape}));
      models.push_back(owned.back().get());
    }
  }
};

void expect_distribution(const json& printed, const partition::Distribution& expected) {
  CHECK(printed.at("units") == json(expected.units));
  CHECK(printed.at("predicted_s") == json(expected.predicted_s));
  CHECK(printed.at("makespan_s") == expected.makespan_s());
}

}  // namespace

TEST_CASE("steelyard model predicts, fits and draws by every kind what the library does, and marks what is imprecise") {
  const unsigned seed = GENERATE(1U, 2U, 3U);
  std::mt19937 random(seed);
  const TemporaryFolder folder;
  write_random(folder, "m.fpm.json", random, seed == 3 ? 1 : 12);
  const models::FpmFile file = models::read_fpm_file(folder / "m.fpm.json");
  std::vector<double> sizes{0.0, file.points.front().units, file.max_units, file.max_units + 1.0, 1e30};
  sizes.push_back(random_between(random, 1.0, file.max_units));
  std::string at = " --plot plot.svg --format json --at";
  for (const double size : sizes) at += " " + json(size).dump();
  for (const models::ModelKind& model_kind : models::model_kinds()) {
    const std::string &kind = model_kind.name, line = "model m.fpm.json --kind " + kind + at;
    INFO("seed " << seed << ", " << line);
    const json printed = json::parse(good_tool(folder, line).out);
    const models::SpeedModelPtr model = models::make_model(file, kind);
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      const double time_s = model->time_s(sizes[i]);
      CHECK(printed.at("at")[i].at("units") == sizes[i]);
      CHECK(printed.at("at")[i].at("speed") == model->speed(sizes[i]));
      CHECK(printed.at("at")[i].at("time_s") == (std::isfinite(time_s) ? json(time_s) : json()));
    }
    CHECK(printed.at("kind") == kind);
    CHECK(printed.at("parameters").size() == model->parameters().size());
    for (const auto& [name, value] : model->parameters()) CHECK(printed.at("parameters").at(name) == value);
    CHECK(printed.at("fit_error").at("rms") == model->fit_error().rms);
    CHECK(printed.at("variation").at("largest") == models::variation(file.points).largest);
    CHECK(printed.at("variation").at("bands").size() == file.points.size());
    const std::string svg = folder.read("plot.svg");
    CHECK((contains(svg, "</svg>") && !contains(svg, "nan") && !contains(svg, "inf")));
  }
  const std::string text = good_tool(folder, "model m.fpm.json", 3).out;
  for (const auto* const points : {&file.points, &file.imprecise}) {
    for (const models::MeasuredPoint& point : *points) {
      const std::string row = line_of(text, fmt::format("{:g}", point.units));
      CHECK(contains(row, "no, imprecise") == (points == &file.imprecise));
    }
  }
}

TEST_CASE("steelyard model says what does not fit, and draws no plot in place of a model") {
  std::mt19937 random(1);
  const TemporaryFolder folder;
  write_random(folder, "m.fpm.json", random);
  const std::string before = folder.read("m.fpm.json"), at = good_tool(folder, "model m.fpm.json --at 10 100000").out;
  CHECK(contains(line_of(at, "100000"), "does not fit"));
  CHECK_FALSE(contains(line_of(at, "10"), "does not fit"));
  CHECK(run(1, steelyard_tool, words("model m.fpm.json --plot m.fpm.json"), folder.path()).status == 2);
  CHECK(folder.read("m.fpm.json") == before);
}

TEST_CASE("steelyard partition distributes by every algorithm what the library does, in numbers for programs too") {
  const unsigned seed = GENERATE(1U, 2U);
  std::mt19937 random(seed);
  const TemporaryFolder folder;
  for (const char* name : {"a.fpm.json", "b.fpm.json", "c.fpm.json"}) write_random(folder, name, random);
  const std::string files = "a.fpm.json b.fpm.json c.fpm.json";
  const Words names = partition_names();
  std::string compare = "partition --total 7001 --models " + files + " --compare";
  for (const std::string& name : names) compare += " " + name;
  const json compared = json::parse(good_tool(folder, compare + " --format json").out).at("algorithms");
  const Loaded judges(folder, files, partition::find_algorithm("geometric"));
  for (std::size_t i = 0; i < names.size(); ++i) {
    const partition::Algorithm algorithm = partition::find_algorithm(names[i]);
    const Loaded own(folder, files, algorithm);
    for (const auto& [total, granularity] : {std::pair{0, 1}, {1, 1}, {7001, 1}, {4096, 64}}) {
      const std::string line = fmt::format(
          "partition --algorithm {} --total {} --granularity {} --format json --models ", names[i], total, granularity);
      INFO("seed " << seed << ", " << line);
      const json printed = json::parse(good_tool(folder, line + files).out);
      const auto expected = partition::distribute_in_multiples(total, own.models, algorithm, granularity);
      expect_distribution(printed, expected);
      CHECK(printed.at("algorithm") == names[i]);
      CHECK(printed.at("total") == total);
      if (total != 7001) continue;
      // By one model for all, be it not the one that an algorithm splits by.
      expect_distribution(compared.at(i), partition::predict(expected.units, judges.models));
    }
  }
  CHECK(lines_that_start(good_tool(folder, "partition --csv --total 1000 --models " + files, 3).out, "a.fpm.json,") ==
        1);
}

TEST_CASE("steelyard partition arranges columns, and distributes on two levels, as the library does") {
  std::mt19937 random(3);
  const TemporaryFolder folder;
  for (const char* name : {"a.fpm.json", "b.fpm.json"}) write_random(folder, name, random);
  const std::string files = "a.fpm.json b.fpm.json a.fpm.json b.fpm.json";
  const auto printed = [&](const std::string& options) {
    return json::parse(
        good_tool(folder, "partition --algorithm exact --format json " + options + " --models " + files).out);
  };
  const partition::Algorithm exact = partition::find_algorithm("exact");
  const Loaded loaded(folder, files, exact);
  const json columns = printed("--columns --total 3600");
  const partition::Distribution areas = exact.distribute(3600, loaded.models);
  const std::vector<double> wanted(areas.units.begin(), areas.units.end());
  const Rectangles rectangles = partition::column(wanted, {60, 60}).rectangles;
  CHECK(json_of(rectangles_of(columns)) == json_of(rectangles));
  std::vector<std::int64_t> blocks;
  for (const partition::Rectangle& rectangle : rectangles) blocks.push_back(rectangle.area());
  expect_distribution(columns, partition::predict(blocks, loaded.models));
  const partition::Algorithm popta{"popta", "", partition::popta};
  const std::vector<int> nodes{0, 0, 1, 1};
  for (const std::string outer : {"exact", "popta", "geometric"}) {
    const json levels = printed("--total 1001 --levels 2 --per-node 2 --outer " + outer);
    const partition::Algorithm over = outer == "popta" ? popta : partition::find_algorithm(outer);
    const auto expected = partition::hierarchical(1001, loaded.models, nodes, over, exact);
    expect_distribution(levels, expected.units);
    CHECK(levels.at("nodes") == json(expected.groups));
  }
}

}  // namespace steelyard::tests::test_steelyard_models
