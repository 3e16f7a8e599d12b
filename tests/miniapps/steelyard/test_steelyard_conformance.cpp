#include <catch2/catch_test_macros.hpp>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <utility>

#include "tests/miniapps/app_runs.hpp"

namespace steelyard::tests::test_steelyard_conformance {
namespace {

const Words apps{"gemm", "summa", "wave2d", "fft2d", "cavity", "jacobi"};

TEST_CASE("steelyard conformance finds nothing wrong in this build and has speeds of every app on every unit") {
  const TemporaryFolder folder;
  const Outcome outcome =
      good_run(1, steelyard_tool, {"conformance", "--units", "host+device", "--format", "json"}, folder.path());
  INFO(outcome.out << outcome.err);
  const auto json = nlohmann::json::parse(outcome.out);
  CHECK(json.at("passed") == true);
  REQUIRE(json.at("units").size() == 2);
  for (const auto& unit : json.at("units")) {
    for (const char* kernel : {"copy", "scale", "add", "triad"}) {
      CHECK(unit.at("stream_bytes_per_s").at(kernel) > 0.0);
    }
    for (const char* type : {"double", "float"}) CHECK(unit.at("gemm_flops_per_s").at(type) > 0.0);
  }
  std::set<std::pair<std::string, std::string>> seen;
  for (const auto& one : json.at("cases")) {
    CAPTURE(one.dump());
    seen.emplace(one.at("app"), one.at("unit"));
    CHECK(one.at("passed") == true);
    CHECK(one.at("wrong").get<std::string>().empty());
    CHECK(one.at("error_roundings") <= one.at("tolerance_roundings"));
    // Cases of small memories only are not timed.
    if (one.at("options").get<std::string>().find("--device-memory") == std::string::npos) {
      CHECK(one.at("bytes_per_s") > 0.0);
      CHECK(one.at("flops_per_s") > 0.0);
    }
  }
  for (const std::string& app : apps) {
    for (const char* unit : {"host", "device"}) CHECK(seen.contains({app, unit}));
  }
}

TEST_CASE("steelyard conformance prints a table with a row for each case of the units that are asked for") {
  const TemporaryFolder folder;
  const Outcome outcome = good_run(1, steelyard_tool, {"conformance", "--units", "host"}, folder.path());
  INFO(outcome.out << outcome.err);
  for (const std::string& app : apps) CHECK(lines_that_start(outcome.out, app + " ") > 0);
  CHECK(outcome.out.find("WRONG") == std::string::npos);
  CHECK(outcome.out.find("  device  ") == std::string::npos);
  CHECK(outcome.out.find("\n0 of ") != std::string::npos);
}

TEST_CASE("steelyard units --measure adds a row of rates for each unit of each rank") {
  const TemporaryFolder folder;
  for (const int ranks : {1, 2}) {
    const Outcome plain = run(ranks, steelyard_tool, {"units", "--units", "host"}, folder.path());
    const Outcome measured = run(ranks, steelyard_tool, {"units", "--units", "host", "--measure"}, folder.path());
    INFO(measured.out << measured.err);
    REQUIRE(plain.status == 0);
    REQUIRE(measured.status == 0);
    CHECK(plain.out.find("triad") == std::string::npos);
    REQUIRE(measured.out.starts_with(plain.out));
    const std::string table = measured.out.substr(plain.out.size());
    CHECK(table.find("triad") != std::string::npos);
    CHECK(table.find("GEMM") != std::string::npos);
    int rows = 0;
    for (const std::string& line : lines_of(table)) rows += line.find("  host  ") != std::string::npos ? 1 : 0;
    CHECK(rows == ranks);
  }
}

TEST_CASE("checks that cannot be made are refused by name") {
  expect_refused(steelyard_tool, {{{"conformance", "--format", "xml"}, "xml"},
                                  {{"conformance", "--units", "gpus"}, "gpus"},
                                  {{"conformance", "wave2d"}, "wave2d"},
                                  {{"units", "--measure", "--units", "gpus"}, "gpus"}});
}

}  // namespace
}  // namespace steelyard::tests::test_steelyard_conformance
