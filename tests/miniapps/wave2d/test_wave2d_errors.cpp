// What a user can get wrong: exit code 2 and one line that names it.

#include <unistd.h>

#include <array>
#include <catch2/catch_test_macros.hpp>

#include "tests/miniapps/wave2d/wave2d_runs.hpp"

namespace steelyard::tests::test_wave2d_errors {
namespace {

std::string host_name() {
  std::array<char, 256> name{};
  ::gethostname(name.data(), name.size() - 1);
  return name.data();
}

/// Inputs for runs of wave2d that write a field and results.
struct Inputs : WrongRuns {
  Inputs() : WrongRuns(wave2d, {"--repetitions", "1", "--steps", "1", "--output", "field.npy", "--result", "result"}) {}
};

TEST_CASE("Unknown options, words that there are not and numbers that cannot be are refused by name or value") {
  const Inputs inputs;
  inputs.expect_refused({{{"--size", "2"}, "2 x 2"},
                         {{"--size", "0"}, "--size"},
                         {{"--rows", "9"}, "--columns"},
                         {{"--columns", "9"}, "--rows"},
                         {{"--size", "9", "--rows", "9"}, "--size"},
                         {{"--size", "2000000000"}, "2000000000"}},
                        inputs.with_model());
  inputs.expect_refused({{{"--sise", "9"}, "--sise"},
                         {{"more"}, "more"},
                         {{"--partition", "fair"}, "fair"},
                         {{"--partition", "columns"}, "dynamic, or column"},
                         {{"--boundary", "open"}, "open"},
                         {{"--check", "sometimes"}, "sometimes"},
                         {{"--courant", "-1"}, "-1"},
                         {{"--courant", "0"}, "--courant 0"},
                         {{"--courant", "nan"}, "nan"},
                         {{"--courant", "fast"}, "fast"},
                         {{"--order", "4", "--courant", "0.613"}, "--courant 0.613 (expected 0 < C <= 0.612"},
                         {{"--order", "2", "--courant", "0.708"}, "--courant 0.708 (expected 0 < C <= 0.707"},
                         {{"--order", "3"}, "--order 3 (expected 2 or 4)"},
                         {{"--order", "four"}, "--order"},
                         {{"--time-tile", "0"}, "--time-tile 0 (expected auto, or 1 to 64)"},
                         {{"--time-tile", "65"}, "--time-tile 65 (expected"},
                         {{"--time-tile", "1.5"}, "--time-tile 1.5 (expected"},
                         {{"--time-tile", "99999999999999999999"}, "--time-tile 99999999999999999999 (expected"},
                         {{"--time-tile", "Auto"}, "--time-tile Auto (expected"},
                         {{"--time-tile"}, "--time-tile"},
                         {{"--serialize", "often"}, "often"}},
                        Words{"--size", "9"} + inputs.with_model());
  inputs.expect_refused({{{"--balance", "fair"}, "--balance fair (expected model, binary, ternary or dynamic)"},
                         {{"--balance", "dynamic", "--partition", "column"}, "--partition column"},
                         {{"--balance-level", "internal"}, "--balance-level goes with --balance binary or ternary"},
                         {{"--balance", "binary", "--balance-level", "all"}, "--balance-level all"},
                         {{"--balance", "binary", "--partition", "dynamic"}, "--partition dynamic"},
                         {Words{"--partition", "dynamic"} + inputs.with_model(), "--model"},
                         {Words{"--balance", "ternary"} + inputs.with_model(), "--balance"}},
                        {"--size", "9"});
}

TEST_CASE("The largest Courant number that a refusal and the help name is allowed") {
  const TemporaryFolder folder;
  for (const char* order : {"2", "4"}) {
    const Words refused{"--size", "9", "--order", order, "--courant", "1"};
    const std::string told = run(1, wave2d, refused, folder.path()).err;
    const std::string before = "0 < C <= ";
    const std::size_t at = told.find(before);
    REQUIRE(at != std::string::npos);
    const std::string named = told.substr(at + before.size(), told.find(',', at) - at - before.size());
    INFO("order " << order << ": " << named);
    run_wave2d(1, {"--size", "9", "--steps", "1", "--order", order, "--courant", named}, folder);
    CHECK(run(1, wave2d, {"--help"}, folder.path()).out.find(named) != std::string::npos);
  }
}

TEST_CASE("Input fields that cannot be used are refused by file") {
  const Inputs inputs;
  const auto file = [&](const char* name) { return inputs.path(name); };
  write_grid(inputs.path("good.npy"), random_grid<double>(9, 7, 1));
  write_grid(inputs.path("other.npy"), random_grid<double>(9, 8, 1));
  write_grid(inputs.path("float.npy"), random_grid<float>(9, 7, 1));
  write_grid(inputs.path("tiny.npy"), random_grid<double>(2, 7, 1));
  const std::string good = inputs.read("good.npy");
  inputs.write("short.npy", good.substr(0, good.size() - 1));
  std::string flat = good;
  flat.replace(flat.find("(9, 7)"), 6, "(63, )");
  inputs.write("flat.npy", flat);
  inputs.expect_refused({{{"--input", file("missing.npy")}, "missing.npy"},
                         {{"--input", file("short.npy")}, "short.npy"},
                         {{"--input", file("float.npy")}, "float.npy"},
                         {{"--type", "float", "--input", file("good.npy")}, "good.npy"},
                         {{"--input", file("flat.npy")}, "flat.npy"},
                         {{"--input", file("tiny.npy")}, "2 x 7"},
                         {{"--size", "9", "--input", file("good.npy")}, "good.npy"},
                         {{"--input", file("good.npy"), file("other.npy")}, "other.npy"},
                         {{"--input", file("good.npy"), file("good.npy"), file("good.npy")}, "--input"},
                         {{"--input", inputs.path("")}, inputs.path("")}},
                        inputs.with_model());
}

TEST_CASE("Speed models that cannot be used are refused by file") {
  const Inputs inputs;
  const std::string start = R"({"schema": "steelyard.fpm/1", )";
  const std::string points = R"("points": [{"units": 1, "time_s": 1e-6}])";
  const auto model = [&](const char* name, const std::string& text) { return inputs.write(name, text); };
  inputs.expect_refused(
      {{{"--model", model("broken", start + "\n" + R"("points": [)")}, "broken: line 2"},
       {{"--model", model("columns", start + R"("parameters": {"columns": 999}, )" + points + "}")},
        "columns: parameters.columns: is 999 (expected 9)"},
       {{"--model", model("order", start + R"("parameters": {"order": 4}, )" + points + "}")},
        "order: parameters.order: is 4 (expected 2)"},
       {{"--time-tile", "2", "--model", model("tile", start + R"("parameters": {"time_tile": 4}, )" + points + "}")},
        "tile: parameters.time_tile: is 4 (expected 2)"},
       {{"--model", model("half", start + R"("parameters": {"time_tile": 2.5}, )" + points + "}")},
        "half: parameters.time_tile"},
       {{"--model", model("none", start + R"("parameters": {"time_tile": 0}, )" + points + "}")},
        "none: parameters.time_tile"},
       {{"--model", model("large", start + R"("parameters": {"time_tile": 65}, )" + points + "}")},
        "large: parameters.time_tile"},
       {{"--model", model("app", start + R"("app": "gemm", )" + points + "}")}, "gemm"},
       {Words{"--model"} + std::vector<std::string>(7, inputs.model()), "--model"}},
      {"--size", "9"});
}

TEST_CASE("Layouts, platforms and slowdowns that cannot be are refused by line, file or word") {
  const Inputs inputs;
  const std::string layout = inputs.write("short", "# written by hand\n" + host_name() + " 0 0 host\nhere 1 0\n");
  const std::string platform = inputs.write("empty", R"({"schema": "steelyard.platform/1", "channels": []})");
  inputs.expect_refused({{{"--layout", layout}, "short: line 3"},
                         {{"--layout", inputs.write("away", "elsewhere 0 0 host\n")}, "rank 0 on node " + host_name()},
                         {{"--platform", inputs.write("broken", "{\n\n]")}, "broken: line 3"},
                         {{"--platform", platform}, "no channel inside nodes"},
                         {{"--slowdown", "device=0.5"}, "0.5"},
                         {{"--slowdown", "rank7=2"}, "rank 7"}},
                        Words{"--size", "9"} + inputs.with_model(), {3});
}

TEST_CASE("More processing units than rows are refused with both numbers") {
  const Inputs inputs;
  inputs.expect_refused({{{"--units", "host+device", "--rows", "5", "--columns", "9"}, "6 processing units"},
                         {{"--units", "host+device", "--rows", "3", "--columns", "9"}, "3 rows"}},
                        inputs.with_model(), {3});
}

}  // namespace
}  // namespace steelyard::tests::test_wave2d_errors
