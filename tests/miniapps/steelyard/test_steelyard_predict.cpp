#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_floating_point.hpp>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "core/base/table.hpp"
#include "core/unit_plan.hpp"
#include "models/communication/platform_file.hpp"
#include "models/fpm_file.hpp"
#include "tests/miniapps/steelyard/predictions.hpp"

using Catch::Matchers::WithinRel;
using nlohmann::json;

namespace steelyard::tests::test_steelyard_predict {
namespace {

std::string write_summa_model(const TemporaryFolder& folder, const std::string& name, const models::FpmFile& facts) {
  models::FpmFile file = facts;
  for (const double units : {1.0, 1000.0}) file.points.push_back({units, units * 1e-3, 1, 0.0});
  models::write_fpm_file(folder / name, file);
  return folder / name;
}

double phase_s(const json& prediction, const std::string& name) {
  for (const json& phase : prediction.at("phases")) {
    if (phase.at("name") == name) return phase.at("time_s");
  }
  FAIL("no phase " << name);
  return 0.0;
}

long long area(const json& rectangle) {
  return rectangle.at("rows").get<long long>() * rectangle.at("columns").get<long long>();
}

TEST_CASE("Four processes on two nodes take what one gets by hand") {
  const TemporaryFolder folder;
  const std::string model = write_model(folder, "unit.fpm.json", 1e-4);
  const Words any{"--size", "64",          "--block", "16",         "--processes",          "4",       "--per-node",
                  "2",      "--partition", "even",    "--platform", write_platform(folder), "--model", model};
  const Words arguments = any + Words{"--communication", "paper"};
  const json paper = predicted(folder, arguments);
  // Rectangles of 2 x 2 blocks. In each of 4 iterations two processes send 32 x 16 elements inside their nodes, then
  // two as many across, at the same time.
  const double bytes = 32 * 16 * 8;
  const double computation_s = 4 * 4e-4;
  const double tau_lop_s = 4 * bytes * (memory_s + two_at_once * network_s);
  const double hockney_s = 4 * (memory_start_s + network_start_s + bytes * (memory_s + network_s));
  CHECK_THAT(phase_s(paper, "update"), WithinRel(computation_s, 1e-12));
  CHECK_THAT(phase_s(paper, "communication"), WithinRel(tau_lop_s, 1e-12));
  CHECK_THAT(paper.at("time_s").get<double>(), WithinRel(computation_s + tau_lop_s, 1e-12));
  CHECK(paper.at("communication_model") == "tau-Lop");
  const json& models = paper.at("models");
  CHECK(models.size() == 4);
  CHECK_THAT(models.at("tau-Lop").get<double>(), WithinRel(tau_lop_s, 1e-12));
  CHECK_THAT(models.at("tau-Lop event").get<double>(), WithinRel(tau_lop_s, 1e-12));
  CHECK_THAT(models.at("Hockney").get<double>(), WithinRel(hockney_s, 1e-12));
  CHECK_THAT(models.at("HLogGP").get<double>(), WithinRel(hockney_s - 4 * (memory_s + network_s), 1e-9));
  // Overlapped, only the first communication is seen beside the longer computation.
  const json pipelined = predicted(folder, any + Words{"--communication", "pipelined"});
  const double one_s = phase_s(pipelined, "communication");
  CHECK(one_s < 4e-4);
  CHECK_THAT(pipelined.at("time_s").get<double>(), WithinRel(computation_s + one_s, 1e-9));
  // With floats half the bytes; with 60 rows the last blocks have 12.
  CHECK_THAT(phase_s(predicted(folder, arguments + Words{"--type", "float"}), "communication"),
             WithinRel(0.5 * tau_lop_s, 1e-12));
  Words smaller = arguments;
  smaller[1] = "60";
  const json last = predicted(folder, smaller);
  CHECK_THAT(phase_s(last, "update"), WithinRel(3.75 * 4e-4, 1e-12));
  CHECK_THAT(last.at("models").at("Hockney").get<double>(),
             WithinRel(4 * (memory_start_s + network_start_s) + 60 * 32 * 8 * (memory_s + network_s), 1e-12));
}

TEST_CASE("The table for people says what the JSON says, whatever the number of ranks") {
  const TemporaryFolder folder;
  const Words arguments{"predict",     "summa",
                        "--size",      "64",
                        "--block",     "16",
                        "--processes", "4",
                        "--per-node",  "2",
                        "--platform",  write_platform(folder),
                        "--model",     write_model(folder, "unit.fpm.json", 1e-3)};
  const Outcome table = good_run(1, steelyard_tool, arguments, folder.path());
  INFO(table.out << table.err);
  for (const char* model : {"tau-Lop ", "tau-Lop event ", "HLogGP ", "Hockney "}) {
    CHECK(lines_that_start(table.out, model) >= 1);
  }
  CHECK(lines_that_start(table.out, "processes  4 with 4 processing units on 2 nodes") == 1);
  const json same = json::parse(run(1, steelyard_tool, arguments + Words{"--format", "json"}, folder.path()).out);
  CHECK(lines_that_start(table.out, "total      " + format_seconds(same.at("time_s")) + " (tau-Lop)") == 1);
  CHECK(run(3, steelyard_tool, arguments, folder.path()).out == table.out);
  const Outcome detail = run(1, steelyard_tool, arguments + Words{"--detail"}, folder.path());
  CHECK(lines_of(detail.out).size() == lines_of(table.out).size() + 2 + 4);
}

TEST_CASE(
    "A model is as much slower on a layout's unit as the line says beside what was measured, without one as slow") {
  const TemporaryFolder folder;
  const std::string layout = folder.write("two.layout",
                                          "a 0 0-5 host slowdown=2\n"
                                          "a 1 6 device device=0\n");
  models::FpmFile facts;
  facts.app = "summa";
  facts.element = "double";
  facts.parameters["block"] = 16;
  facts.slowdown = 4.0;
  const std::string model = write_summa_model(folder, "slow.fpm.json", facts);
  const json measured = predicted(folder, {"--size", "96", "--block", "16", "--model", model});
  CHECK_THAT(phase_s(measured, "update"), WithinRel(6 * 36 * 1e-3, 1e-12));
  const Words arguments{"--size", "96", "--block", "16", "--layout", layout, "--platform", write_platform(folder)};
  // 36 blocks: 12 for the unit that takes 0.5 ms a block, 24 for that which takes 0.25 ms.
  const json one = predicted(folder, arguments + Words{"--model", model});
  CHECK(area(one.at("rectangles")[0]) == 12);
  CHECK(area(one.at("rectangles")[1]) == 24);
  CHECK_THAT(phase_s(one, "update"), WithinRel(6 * 12 * 0.5e-3, 1e-12));
  facts.slowdown = 1.0;
  facts.unit_kind = "device";
  const std::string device = write_summa_model(folder, "device.fpm.json", facts);
  // Now 1 ms for the device, and 18 blocks each come to 9 ms and 18 ms.
  const json each = predicted(folder, arguments + Words{"--partition", "even", "--model", model, device});
  CHECK_THAT(phase_s(each, "update"), WithinRel(6 * 18 * 1e-3, 1e-12));
}

TEST_CASE("Without models only communication is predicted, and areas go by slowdown") {
  const TemporaryFolder folder;
  const std::string layout = folder.write("two.layout", "a 0 all host\nb 0 all host slowdown=3\n");
  const json prediction =
      predicted(folder, {"--size", "128", "--block", "16", "--layout", layout, "--platform", write_platform(folder)});
  REQUIRE(prediction.at("phases").size() == 1);
  CHECK(prediction.at("time_s") == phase_s(prediction, "communication"));
  CHECK(area(prediction.at("rectangles")[0]) == 48);
  CHECK(area(prediction.at("rectangles")[1]) == 16);
  // A column of the matrix for each process; whoever has the pivot column sends it across.
  CHECK_THAT(prediction.at("models").at("Hockney").get<double>(),
             WithinRel(8 * (network_start_s + 128 * 16 * 8 * network_s), 1e-12));
}

TEST_CASE("One process sends nothing and needs no platform") {
  const TemporaryFolder folder;
  const json prediction =
      predicted(folder, {"--size", "64", "--block", "16", "--model", write_model(folder, "unit.fpm.json", 1e-3)});
  CHECK(phase_s(prediction, "communication") == 0.0);
  CHECK_THAT(prediction.at("time_s").get<double>(), WithinRel(4 * 16e-3, 1e-12));
}

TEST_CASE("Rectangles of a prediction, given as a partition, make the same prediction") {
  const TemporaryFolder folder;
  const Words arguments{"--size",      "320",
                        "--block",     "16",
                        "--processes", "7",
                        "--per-node",  "3",
                        "--platform",  write_platform(folder),
                        "--model",     write_model(folder, "unit.fpm.json", 1e-3)};
  const json prediction = predicted(folder, arguments);
  const std::string file = folder.write("cut.json", prediction.dump());
  CHECK(predicted(folder, arguments + Words{"--partition", file}) == prediction);
  CHECK(predicted(folder, arguments + Words{"--partition", "even"}).at("rectangles") != prediction.at("rectangles"));
}

TEST_CASE("Where communication is avoided a prediction is no longer, and processes that do not pay get no blocks") {
  const TemporaryFolder folder;
  const Words any{"--size",     "256", "--block",         "16",    "--processes", "4",
                  "--per-node", "2",   "--communication", "paper", "--platform",  write_platform(folder)};
  for (const auto& [block_s, working] : {std::pair{1e-9, 1}, {1e-4, 0}, {1.0, 4}}) {
    CAPTURE(block_s);
    const Words arguments = any + Words{"--model", write_model(folder, "unit.fpm.json", block_s)};
    const json avoided = predicted(folder, arguments + Words{"--avoid-communication"});
    CHECK(avoided.at("time_s").get<double>() <= predicted(folder, arguments).at("time_s").get<double>() * (1 + 1e-12));
    const json& rectangles = avoided.at("rectangles");
    const auto with_blocks =
        std::count_if(rectangles.begin(), rectangles.end(), [](const json& rectangle) { return area(rectangle) > 0; });
    if (working > 0) CHECK(with_blocks == working);
  }
}

TEST_CASE("Nodes that the platform names are of their kinds") {
  const TemporaryFolder folder;
  models::Platform platform = made_up_platform();
  platform.nodes = {{"a", "fat", 12}, {"b", "thin", 8}};
  platform.channels[1].between = {"fat", "thin"};
  models::Channel slow = channel(2, 2 * network_start_s, 2 * network_s);
  slow.between = {"fat", "fat"};
  platform.channels.push_back(slow);
  const std::string file = write_platform(folder, platform);
  const auto hockney_s = [&](const std::string& hosts) {
    const std::string layout = folder.write("two.layout", hosts);
    return predicted(folder, {"--size", "128", "--block", "16", "--layout", layout, "--platform", file})
        .at("models")
        .at("Hockney")
        .get<double>();
  };
  const double expected_s = 8 * (network_start_s + 128 * 16 * 8 * network_s);
  CHECK_THAT(hockney_s("a 0 all host\nb 0 all host\n"), WithinRel(expected_s, 1e-12));
  // Of several kinds, an unknown one may be any.
  const Words one_unknown{
      "predict", "summa",      "--size", "128",      "--block",
      "16",      "--platform", file,     "--layout", folder.write("one.layout", "a 0 all host\nx 0 all host\n")};
  const Outcome refused = run(1, steelyard_tool, one_unknown, folder.path());
  CHECK(refused.status == 2);
  CHECK(contains(refused.err, "x is none of the platform's nodes"));
  // Unknown ones are all like the first that it names.
  CHECK_THAT(hockney_s("x 0 all host\ny 0 all host\n"), WithinRel(2 * expected_s, 1e-12));
}

TEST_CASE("Nodes that a platform of two hosts does not name are like those two where they are alike") {
  const TemporaryFolder folder;
  models::Platform platform = made_up_platform();
  platform.nodes = {{"a", "fat", 12}, {"b", "fat", 12}};
  for (models::Channel& channel : platform.channels) channel.between = {"fat", "fat"};
  const Words problem{"--size", "128", "--block", "16", "--platform", write_platform(folder, platform), "--layout"};
  const std::string known = folder.write("known.layout", "a 0 all host\na 1 all host\nb 0 all host\nb 1 all host\n");
  const std::string other = folder.write("other.layout", "a 0 all host\na 1 all host\nx 0 all host\nx 1 all host\n");
  CHECK(predicted(folder, problem + Words{known}) == predicted(folder, problem + Words{other}));
}

TEST_CASE("More processes of a node than transfers were measured at once are noted, fewer are not") {
  const TemporaryFolder folder;
  const Words arguments{"predict",    "jacobi",
                        "--size",     "512",
                        "--platform", write_platform(folder),
                        "--model",    write_model(folder, "unit.fpm.json", 1e-3),
                        "--scaling",  "strong",
                        "--processes"};
  const Outcome two = good_run(1, steelyard_tool, arguments + Words{"2"}, folder.path());
  CHECK(lines_that_start(two.out, "note ") == 0);
  const Outcome eight = good_run(1, steelyard_tool, arguments + Words{"8"}, folder.path());
  INFO(eight.out);
  CHECK(lines_that_start(eight.out, "note       shared memory was measured with up to 2 transfers at once; 8") == 1);
}

TEST_CASE("A thousand processes are predicted in seconds") {
  const TemporaryFolder folder;
  const std::string platform = write_platform(folder), model = write_model(folder, "unit.fpm.json", 1e-3);
  for (const char* communication : {"paper", "bcast", "pipelined"}) {
    const json prediction =
        predicted(folder, {"--size", "16384", "--block", "64", "--processes", "1000", "--per-node", "20", "--platform",
                           platform, "--model", model, "--communication", communication});
    long long blocks = 0;
    for (const json& rectangle : prediction.at("rectangles")) blocks += area(rectangle);
    CHECK(prediction.at("rectangles").size() == 1000);
    CHECK(blocks == 256LL * 256);
    CHECK(prediction.at("models").size() == 4);
    CHECK(prediction.at("time_s").get<double>() >= phase_s(prediction, "update"));
  }
}

std::string fermi(int number) { return std::string(STEELYARD_FERMI) + "/M" + std::to_string(number) + ".layout"; }

TEST_CASE("Fermi's layouts are predicted as they are: GPUs get the largest rectangles") {
  const TemporaryFolder folder;
  const std::string platform = write_platform(folder), model = write_model(folder, "gpu.fpm.json", 1e-5);
  for (const int number : {1, 10, 16}) {
    const json prediction = predicted(folder, {"--size", "8192", "--block", "32", "--layout", fermi(number),
                                               "--platform", platform, "--model", model});
    const Layout layout = read_layout(fermi(number));
    const json& rectangles = prediction.at("rectangles");
    REQUIRE(rectangles.size() == layout.entries.size());
    long long least_gpu = std::numeric_limits<long long>::max(), most_host = 0, blocks = 0;
    for (std::size_t i = 0; i < layout.entries.size(); ++i) {
      blocks += area(rectangles[i]);
      if (layout.entries[i].units == UnitChoice::device) {
        least_gpu = std::min(least_gpu, area(rectangles[i]));
      } else {
        most_host = std::max(most_host, area(rectangles[i]));
      }
    }
    CHECK(blocks == 256LL * 256);
    CHECK(least_gpu > 8 * most_host);
    CHECK(prediction.at("models").at("tau-Lop").get<double>() > 0.0);
  }
}

TEST_CASE("gemm's processes send nothing: its slowest slice is predicted from models alone") {
  const TemporaryFolder folder;
  const std::string model = write_model(folder, "unit.fpm.json", 1e-3);
  const std::string layout = folder.write("two.layout", "a 0 all host\nb 0 all host+device host_slowdown=2\n");
  const Words problem{"--m", "640", "--n", "96", "--k", "64", "--block", "16", "--model", model};
  // 40 block rows: 16 for each of two units, 8 for the one that is twice as slow.
  const json uneven = predicted(folder, problem + Words{"--layout", layout}, "gemm");
  CHECK(uneven.at("distribution") == json({16, 8, 16}));
  CHECK_THAT(uneven.at("time_s").get<double>(), WithinRel(16e-3, 1e-12));
  CHECK_THAT(phase_s(uneven, "multiply"), WithinRel(16e-3, 1e-12));
  CHECK(uneven.at("phases").size() == 1);
  CHECK(uneven.at("models").size() == 1);
  const json even = predicted(folder, problem + Words{"--partition", "even", "--layout", layout}, "gemm");
  CHECK_THAT(even.at("time_s").get<double>(), WithinRel(2 * 13e-3, 1e-12));
  // Any number of processes, for as much work in all, and for as much work each.
  for (const char* scaling : {"strong", "weak"}) {
    const json runs = predicted(folder, problem + Words{"--processes", "8", "--scaling", scaling}, "gemm").at("runs");
    REQUIRE(runs.size() == 4);
    for (std::size_t i = 0; i < 4; ++i) {
      CHECK_THAT(runs[i].at("speedup").get<double>(), WithinRel(static_cast<double>(1 << i), 1e-12));
      const double time_s = scaling == std::string("weak") ? 40e-3 : 40e-3 / (1 << i);
      CHECK_THAT(runs[i].at("time_s").get<double>(), WithinRel(time_s, 1e-12));
    }
  }
  // As a dry run says on one process, to which the time of starting its units is added.
  const Outcome dry = good_run(1, STEELYARD_GEMM, problem + Words{"--units", "host", "--dry-run"}, folder.path());
  INFO(dry.out << dry.err);
  CHECK(dry.out.find(format_seconds(40e-3)) != std::string::npos);
  expect_refused(steelyard_tool,
                 {{{"predict", "gemm", "--processes", "2"}, "--model is missing (expected speed models, for gemm"},
                  {{"predict", "gemm", "--platform", "any.platform.json"}, "--platform"},
                  {{"predict", "gemm", "--model", model, "--partition", "fair"}, "partition \"fair\" is unknown"},
                  {{"predict", "gemm", "--model", model, "--size", "64", "--m", "64"}, "--size"},
                  {{"predict", "gemm", "--model", model, "--beta", "nan"}, "--beta"}},
                 {}, {1});
}

TEST_CASE("Predictions that cannot be made are refused by name") {
  const TemporaryFolder folder;
  const std::string platform = write_platform(folder);
  models::Platform memory_alone = made_up_platform();
  memory_alone.channels.pop_back();
  models::write_platform_file(folder / "memory.platform.json", memory_alone);
  const std::string layout = folder.write("two.layout", "a 0 all host\na 1 all device\n");
  const std::string wrong_layout = folder.write("wrong.layout", "a 0 all host slowness=3\n");
  const std::string cut = folder.write("cut.json", R"({"rectangles": []})");
  models::FpmFile facts;
  facts.app = "summa";
  facts.element = "double";
  facts.parameters["block"] = 32;
  facts.unit_kind = "host";
  const std::string model = write_summa_model(folder, "host.fpm.json", facts);
  models::FpmFile other = facts;
  other.app = "gemm";
  const std::string gemm = write_summa_model(folder, "gemm.fpm.json", other);
  const auto summa = [](const Words& more) { return Words{"predict", "summa", "--size", "64"} + more; };
  expect_refused(
      steelyard_tool,
      {{{"predict"}, "An app to predict"},
       {{"predict", "chess"}, "chess"},
       {summa({"--processes", "2"}), "--platform is missing (expected measured channels for 2 processes)"},
       {summa({"--processes", "0"}), "--processes"},
       {summa({"--size", "0"}), "--size"},
       {{"predict", "summa", "--size", "1073741824", "--block", "1"}, "1073741824 iterations"},
       {summa({"--layout", layout, "--processes", "2"}), "--processes"},
       {summa({"--layout", layout, "--per-node", "2"}), "--per-node"},
       {summa({"--layout", folder / "missing", "--platform", platform}), "missing"},
       {summa({"--layout", wrong_layout}), "wrong.layout: rank 0 of a: suboption \"slowness\""},
       {summa({"--processes", "2", "--platform", folder / "none"}), "none"},
       {summa({"--block", "16", "--processes", "2", "--per-node", "1", "--platform", folder / "memory.platform.json"}),
        "no channel between nodes"},
       {summa({"--partition", "fair"}), "partition \"fair\" is unknown (expected one of even"},
       {summa({"--model", model, "--kind", "round"}), "model kind \"round\" is unknown"},
       {summa({"--partition", cut}), "cut.json: rectangles"},
       {summa({"--communication", "pigeons"}), "pigeons"},
       {summa({"--avoid-communication"}), "--avoid-communication without --model"},
       {summa({"--format", "xml"}), "xml"},
       {summa({"--units", "gpu"}), "--units"},
       {summa({"--layout", layout, "--units", "device"}), "--units"},
       {summa({"--advise"}), "--advise needs --model"},
       {summa({"--model", model, "--advise", "--partition", "even"}), "--partition"},
       {summa({"--block", "32", "--model", model, "--advise", "--processes", "2"}), "--platform is missing"},
       {summa({"--block", "16", "--model", model}), "parameters.block: is 32 (expected 16)"},
       {summa({"--block", "32", "--type", "float", "--model", model}), "element: is double (expected float)"},
       {summa({"--block", "32", "--model", gemm}), "app: is gemm (expected summa)"},
       {summa({"--block", "32", "--model", model, model}), "--model names 2 files for 1 processing units"},
       {summa({"--block", "32", "--layout", layout, "--platform", platform, "--model", model, model}),
        "unit.kind: is host (expected device"}},
      {}, {1});
  expect_refused(steelyard_tool, {{summa({"--processes", "2"}), "--platform is missing"}}, {}, {3});
}

}  // namespace
}  // namespace steelyard::tests::test_steelyard_predict
