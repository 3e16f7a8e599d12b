#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_floating_point.hpp>
#include <nlohmann/json.hpp>
#include <set>

#include "models/communication/platform_file.hpp"
#include "tests/miniapps/app_runs.hpp"

using Catch::Matchers::WithinRel;

namespace steelyard::tests::test_steelyard_cost {
namespace {

constexpr int most = 4;

/// What concurrent transfers take in relation to a single one; within the bounds that the model sets.
double slower(int concurrency) {
  return concurrency == 1 ? 1.0 : concurrency == 2 ? 1.5 : concurrency == 3 ? 2.0 : 2.5;
}

models::Channel channel(int id, std::vector<int> path, double overhead_s, double seconds_per_byte) {
  models::Channel channel;
  channel.id = id;
  channel.name = id == 0 ? "shared memory" : "network";
  channel.scope = id == 0 ? models::Channel::Scope::node : models::Channel::Scope::network;
  channel.path = std::move(path);
  std::vector<models::TransferPoint> points;
  for (int tau = 1; tau <= most; ++tau) {
    for (const double bytes : {1.0, 1e6}) points.push_back({bytes, tau, bytes * seconds_per_byte * slower(tau)});
  }
  channel.tau_lop = models::TauLopTables{models::SizeTable({{0.0, overhead_s}}, models::SizeTable::Outside::constant),
                                         models::TransferTable(points)};
  return channel;
}

/// A network whose messages also pass through shared memory twice.
std::string write_platform(const TemporaryFolder& folder) {
  models::Platform platform;
  platform.channels.push_back(channel(0, {0, 0}, 1e-6, 1e-9));
  platform.channels.push_back(channel(1, {0, 1, 0}, 5e-6, 8e-9));
  models::write_platform_file(folder / "two.platform.json", platform);
  return folder / "two.platform.json";
}

/// A || T^c(m) on that platform, by equations 1 and 2 of the paper.
double by_hand(int channel, double bytes, int concurrency = 1) {
  return channel == 0 ? 1e-6 + 2e-9 * slower(concurrency) * bytes : 5e-6 + 10e-9 * slower(concurrency) * bytes;
}

struct Solved {
  std::string reduced;
  double time_s = 0.0;
};

/// What is printed as JSON; checks that nothing else is printed and that the table says the same.
Solved cost(const std::string& expression, const Words& more = {}, int ranks = 1) {
  const TemporaryFolder folder;
  const Words arguments = Words{"cost", "--platform", write_platform(folder), "--expression", expression} + more;
  const std::vector<Outcome> outcomes =
      run_all({{ranks, steelyard_tool, arguments + Words{"--format", "json"}, folder.path()},
               {ranks, steelyard_tool, arguments, folder.path()}});
  for (const Outcome& outcome : outcomes) {
    INFO(expression << "\n" << outcome.out << outcome.err);
    REQUIRE(outcome.status == 0);
    CHECK(outcome.told_by("steelyard").empty());
  }
  const auto json = nlohmann::json::parse(outcomes[0].out);
  std::set<std::string> keys;
  for (const auto& [key, value] : json.items()) keys.insert(key);
  CHECK(keys == std::set<std::string>{"evaluation", "reduced", "time_s"});
  Solved solved{json.at("reduced"), json.at("time_s")};
  const std::vector<std::string> table = lines_of(outcomes[1].out);
  REQUIRE(table.size() == 2);
  CHECK(table[0] == "reduced    " + solved.reduced + "   (" + json.at("evaluation").get<std::string>() + ")");
  CHECK(table[1].rfind("time       ", 0) == 0);
  return solved;
}

TEST_CASE("LogGPH adds up transmissions in sequence and takes the longest of concurrent ones") {
  const TemporaryFolder folder;
  models::Platform platform;
  platform.channels = {channel(0, {0}, 0.0, 1e-9), channel(1, {1}, 0.0, 8e-9)};
  platform.channels[0].loggp = models::LogGP{1e-6, 0.0, 0.0, 0.0, 1e-9};
  platform.channels[1].loggp = models::LogGP{5e-6, 0.0, 0.0, 0.0, 8e-9};
  models::write_platform_file(folder / "loggp.platform.json", platform);
  const auto time_s = [&](const std::string& expression) {
    const Outcome outcome = good_run(1, steelyard_tool,
                                     {"cost", "--model", "loggph", "--platform", folder / "loggp.platform.json",
                                      "--format", "json", "--expression", expression},
                                     folder.path());
    INFO(outcome.err);
    return nlohmann::json::parse(outcome.out).at("time_s").get<double>();
  };
  const double near_s = platform.channels[0].loggp->time_s(500.0), far_s = platform.channels[1].loggp->time_s(20.0);
  CHECK_THAT(time_s("T0(500)"), WithinRel(near_s, 1e-12));
  CHECK_THAT(time_s("T0(500)+T1(20)"), WithinRel(near_s + far_s, 1e-12));
  CHECK_THAT(time_s("4||T0(500)||T1(20)"), WithinRel(std::max(near_s, far_s), 1e-12));
}

TEST_CASE("An iteration of SUMMA costs what equation 10 of the paper says, to the letter") {
  const int ranks = GENERATE(1, 3);
  const Solved ten = cost("(T0(134)+T1(158)) || (T0(116)+T1(104)) + T1(124) || T1(97) || T1(35)", {}, ranks);
  CHECK(ten.reduced == "3||T1(35)+2||T1(166)+T1(81)+2||T0(116)+T0(18)");
  CHECK_THAT(
      ten.time_s,
      WithinRel(by_hand(1, 35, 3) + by_hand(1, 166, 2) + by_hand(1, 81) + by_hand(0, 116, 2) + by_hand(0, 18), 1e-12));
}

TEST_CASE("Two sequences followed in time cost what equation 7 of the paper says") {
  // m_a = 100, m_b = 300, m_c = 140, m_d = 80.
  const Solved seven = cost("(T0(100)+T1(300)) || (T0(140)+T1(80))", {"--evaluation", "event"});
  CHECK(seven.reduced == "2||T0(100)+2||T1(80)+T1(220)");
  CHECK_THAT(seven.time_s, WithinRel(by_hand(0, 100, 2) + by_hand(1, 80, 2) + by_hand(1, 220), 1e-12));
}

TEST_CASE("Time for people has a unit; nothing to send takes none") {
  const TemporaryFolder folder;
  const Words arguments{"cost", "--platform", write_platform(folder), "--expression"};
  CHECK(run(1, steelyard_tool, arguments + Words{"T0(1000)"}, folder.path()).out ==
        "reduced    T0(1000)   (aligned)\ntime       3.00 us\n");
  const Solved nothing = cost("T0(0)||3||T1(0)");
  CHECK(nothing.reduced == "0");
  CHECK(nothing.time_s == 0.0);
}

TEST_CASE("Sizes count blocks of so many bytes") {
  const std::string expression = "(T0(134)+T1(158))||2||T0(116)";
  const Solved blocks = cost(expression, {"--block-bytes", "8192"});
  CHECK(blocks.reduced == cost(expression).reduced);
  CHECK(blocks.reduced == "3||T0(116)+T0(18)+T1(158)");
  CHECK_THAT(blocks.time_s,
             WithinRel(by_hand(0, 116 * 8192.0, 3) + by_hand(0, 18 * 8192.0) + by_hand(1, 158 * 8192.0), 1e-12));
  CHECK(cost("T0(7)", {"--block-bytes", "0.5"}).time_s == cost("T0(3.5)").time_s);
}

TEST_CASE("Messages are merged from the size on that is asked for, in bytes") {
  const std::string expression = "T0(16)+T0(1000)+T0(16)+T0(1000)";
  CHECK(cost(expression).reduced == "T0(2032)");
  CHECK(cost(expression, {"--merge-from", "100"}).reduced == "T0(2000)+T0(16)+T0(16)");
  CHECK(cost(expression, {"--merge-from", "16"}).reduced == "T0(2032)");
  const Solved apart = cost(expression, {"--merge-from", "inf"});
  CHECK(apart.reduced == "T0(1000)+T0(1000)+T0(16)+T0(16)");
  CHECK_THAT(apart.time_s, WithinRel(2.0 * by_hand(0, 1000) + 2.0 * by_hand(0, 16), 1e-12));
  const Words blocks{"--block-bytes", "100", "--merge-from"};
  CHECK(cost(expression, blocks + Words{"1601"}).reduced == "T0(2000)+T0(16)+T0(16)");
  CHECK(cost(expression, blocks + Words{"1600"}).reduced == "T0(2032)");
}

TEST_CASE("More concurrent transfers than were measured are refused by number, or taken in proportion") {
  const TemporaryFolder folder;
  const std::string platform = write_platform(folder);
  const Words nine{"cost", "--platform", platform, "--expression", "9||T0(1000)"};
  expect_refused(steelyard_tool, {{nine, "9 concurrent transfers (expected at most the 4 that were measured)"}});
  const Solved solved = cost("9||T0(1000)", {"--beyond-measured", "proportional"});
  CHECK(solved.reduced == "9||T0(1000)");
  CHECK_THAT(solved.time_s, WithinRel(1e-6 + 2e-9 * 1000 * slower(most) * 9 / most, 1e-12));
}

TEST_CASE("An expression that is none is refused with position and reason") {
  const TemporaryFolder folder;
  expect_refused(steelyard_tool,
                 {{{"cost", "--expression", "T0(134"}, "position 7: expected ')' after the size, found the end"},
                  {{"cost", "--expression", "+"}, "position 1: expected a transmission such as T0(134)"},
                  {{"cost", "--expression", ""}, "--expression has an empty value"}},
                 {"--platform", write_platform(folder)});
}

TEST_CASE("Costs without a platform that has them are refused by name") {
  const TemporaryFolder folder;
  const std::string platform = write_platform(folder);
  const auto in = [](const std::string& file, const std::string& expression, const Words& more = {}) {
    return Words{"cost", "--platform", file, "--expression", expression} + more;
  };
  const std::string broken = folder.write("broken", "{\n");
  const std::string other = folder.write("other", R"({"schema": "steelyard.fpm/1", "channels": []})");
  const std::string hockney = folder.write(
      "hockney",
      R"({"schema": "steelyard.platform/1", "channels": [{"id": 0, "name": "shared memory", "path": [0]}]})");
  expect_refused(steelyard_tool,
                 {{{"cost", "--expression", "T0(1)"}, "--platform"},
                  {{"cost", "--platform", platform}, "--expression"},
                  {in(folder / "missing", "T0(1)"), "missing"},
                  {in(folder.path().string(), "T0(1)"), folder.path().string()},
                  {in(broken, "T0(1)"), "broken: line 2"},
                  {in(other, "T0(1)"), "steelyard.platform/1"},
                  {in(hockney, "T0(1)"), "channel 0 (shared memory) has no tau-Lop parameters"},
                  {in(platform, "T0(1)+T7(1)"), "two.platform.json: has no channel 7 (expected one of 0, 1)"},
                  {in(platform, "T0(1)", {"--block-bytes", "0"}), "--block-bytes 0 (expected a finite number > 0)"},
                  {in(platform, "T0(1)", {"--block-bytes", "nan"}), "--block-bytes nan"},
                  {in(platform, "T0(1)", {"--block-bytes", "inf"}), "--block-bytes inf"},
                  {in(platform, "T0(1)", {"--block-bytes", "KiB"}), "--block-bytes KiB"},
                  {in(platform, "T0(1)", {"--merge-from", "-1"}), "--merge-from -1 (expected a number >= 0 or inf)"},
                  {in(platform, "T0(1)", {"--merge-from", "nan"}), "--merge-from nan"},
                  {in(platform, "T0(1e300)", {"--block-bytes", "1e300"}), "inf bytes"},
                  {in(platform, "T0(1)", {"--beyond-measured", "guess"}), "guess"},
                  {in(platform, "T0(1)", {"--evaluation", "fast"}), "fast"},
                  {in(platform, "T0(1)", {"--format", "xml"}), "xml"},
                  {in(platform, "T0(1)", {"--everything"}), "--everything"}},
                 {}, {1});
}

}  // namespace
}  // namespace steelyard::tests::test_steelyard_cost
