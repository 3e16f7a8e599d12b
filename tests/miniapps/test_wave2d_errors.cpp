// What a user can get wrong: exit code 2 and one line that names it.

#include <unistd.h>

#include <array>
#include <catch2/catch_test_macros.hpp>

#include "tests/miniapps/grid.hpp"
#include "tests/miniapps/wave2d_runs.hpp"

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

TEST_CASE("Unknown options and words are refused by name") {
  const Inputs inputs;
  inputs.expect_refused({{{"--sise", "9"}, "--sise"},
                         {{"--size", "9", "more"}, "more"},
                         {{"--size", "9", "--partition", "fair"}, "fair"},
                         {{"--size", "9", "--partition", "columns"}, "or column"},
                         {{"--size", "9", "--units", "gpu"}, "gpu"},
                         {{"--size", "9", "--boundary", "open"}, "open"},
                         {{"--size", "9", "--type", "half"}, "half"},
                         {{"--size", "9", "--check", "sometimes"}, "sometimes"}},
                        inputs.with_model());
}

TEST_CASE("Impossible sizes and numbers are refused by value") {
  const Inputs inputs;
  inputs.expect_refused({{{"--size", "2"}, "2 x 2"},
                         {{"--size", "0"}, "--size"},
                         {{"--size", "many"}, "many"},
                         {{"--rows", "9"}, "--columns"},
                         {{"--columns", "9"}, "--rows"},
                         {{"--size", "9", "--rows", "9"}, "--size"},
                         {{"--size", "2000000000"}, "2000000000"},
                         {{"--size", "9", "--warmups", "-1"}, "--warmups"},
                         {{"--size", "9", "--courant", "0.9"}, "0.9"},
                         {{"--size", "9", "--courant", "-1"}, "-1"},
                         {{"--size", "9", "--courant", "0"}, "--courant 0"},
                         {{"--size", "9", "--courant", "nan"}, "nan"},
                         {{"--size", "9", "--courant", "fast"}, "fast"}},
                        inputs.with_model());
}

TEST_CASE("Orders that there are not, and Courant numbers that are too large for them, are refused") {
  const Inputs inputs;
  inputs.expect_refused({{{"--order", "3"}, "--order: 3 not in {2,4}"},
                         {{"--order", "0"}, "--order: 0 "},
                         {{"--order", "-4"}, "--order"},
                         {{"--order", "four"}, "--order"},
                         {{"--order"}, "--order"},
                         {{"--order", "4", "--courant", "0.7"}, "--courant 0.7 (expected 0 < C <= 0.612"},
                         {{"--order", "4", "--courant", "0.613"}, "--courant 0.613 (expected 0 < C <= 0.612"},
                         {{"--order", "2", "--courant", "0.708"}, "--courant 0.708 (expected 0 < C <= 0.707"}},
                        Words{"--size", "9"} + inputs.with_model());
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

TEST_CASE("Time tiles that cannot be are refused by value") {
  const Inputs inputs;
  inputs.expect_refused({{{"--time-tile", "0"}, "--time-tile: 0 (expected auto, or 1 to 64)"},
                         {{"--time-tile", "-2"}, "--time-tile: -2 (expected"},
                         {{"--time-tile", "65"}, "--time-tile: 65 (expected"},
                         {{"--time-tile", "1.5"}, "--time-tile: 1.5 (expected"},
                         {{"--time-tile", "4x"}, "--time-tile: 4x (expected"},
                         {{"--time-tile", "99999999999999999999"}, "--time-tile: 99999999999999999999 (expected"},
                         {{"--time-tile", "Auto"}, "--time-tile: Auto (expected"},
                         {{"--time-tile"}, "--time-tile"},
                         {{"--serialize", "often"}, "often"}},
                        Words{"--size", "9"} + inputs.with_model());
}

TEST_CASE("Ways to balance that cannot be are refused by name") {
  const Inputs inputs;
  inputs.expect_refused({{{"--balance", "fair"}, "--balance: fair not in {model,binary,ternary,dynamic}"},
                         {{"--balance", "dynamic", "--partition", "column"}, "--partition column"},
                         {{"--balance", "binary", "--partition", "column"}, "--balance"},
                         {Words{"--balance", "dynamic"} + inputs.with_model(), "--model"},
                         {Words{"--balance", "ternary"} + inputs.with_model(), "--balance"}},
                        {"--size", "9"});
}

TEST_CASE("Repetitions and steps that cannot be are refused by name") {
  const Inputs inputs;
  tests::expect_refused(wave2d,
                        {{{"--size", "9", "--steps", "-1"}, "--steps"},
                         {{"--size", "9", "--steps", "1.5"}, "--steps"},
                         {{"--size", "9", "--repetitions", "0"}, "--repetitions"}},
                        {"--model", inputs.model(), "--result", "result"});
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
  inputs.write("header.npy", good.substr(0, 40));
  inputs.write("garbage.npy", "this is no field");
  inputs.write("empty.npy", "");
  const auto with_header = [&](const char* name, const std::string& from, const std::string& to) {
    std::string text = good;
    text.replace(text.find(from), from.size(), to);
    return inputs.write(name, text);
  };
  with_header("flat.npy", "(9, 7)", "(63, )");
  with_header("integers.npy", "<f8", "<i8");
  with_header("fortran.npy", "False", "True ");
  inputs.expect_refused({{{"--input", file("missing.npy")}, "missing.npy"},
                         {{"--input", file("short.npy")}, "short.npy"},
                         {{"--input", file("header.npy")}, "header.npy"},
                         {{"--input", file("garbage.npy")}, "garbage.npy"},
                         {{"--input", file("empty.npy")}, "empty.npy"},
                         {{"--input", file("float.npy")}, "float.npy"},
                         {{"--type", "float", "--input", file("good.npy")}, "good.npy"},
                         {{"--input", file("integers.npy")}, "integers.npy"},
                         {{"--input", file("flat.npy")}, "flat.npy"},
                         {{"--input", file("fortran.npy")}, "fortran.npy"},
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
      {{{"--model", inputs.path("missing")}, "missing"},
       {{"--model", model("broken", start + "\n" + R"("points": [)")}, "broken: line 2"},
       {{"--model", model("unknown", R"({"schema": "steelyard.fpm/9", )" + points + "}")}, "unknown: schema"},
       {{"--model", model("columns", start + R"("parameters": {"columns": 999}, )" + points + "}")},
        "columns: parameters.columns: is 999 (expected 9)"},
       {{"--model", model("order", start + R"("parameters": {"order": 4}, )" + points + "}")},
        "order: parameters.order: is 4 (expected 2)"},
       {{"--time-tile", "2", "--model", model("tile", start + R"("parameters": {"time_tile": 4}, )" + points + "}")},
        "tile: parameters.time_tile: is 4 (expected 2)"},
       {{"--model", model("half", start + R"("parameters": {"time_tile": 2.5}, )" + points + "}")},
        "half: parameters.time_tile"},
       {{"--model", model("element", start + R"("element": "float", )" + points + "}")}, "element: element"},
       {{"--model", model("app", start + R"("app": "gemm", )" + points + "}")}, "gemm"},
       {{"--model", model("none", start + R"("points": []})")}, "none: points"},
       {{"--model", model("negative", start + R"("points": [{"units": 1, "time_s": -1}]})")}, "points[0].time_s"},
       {Words{"--model"} + std::vector<std::string>(7, inputs.model()), "--model"}},
      {"--size", "9"});
}

TEST_CASE("Time tiles that cannot be are refused in models too") {
  const Inputs inputs;
  std::vector<Mistake> mistakes;
  for (const char* tile : {"0", "-3", "65", "1e300", "-1e300"}) {
    const std::string model = inputs.write(
        std::string("tile") + tile, std::string(R"({"schema": "steelyard.fpm/1", "parameters": {"time_tile": )") +
                                        tile + R"(}, "points": [{"units": 1, "time_s": 1e-6}]})");
    mistakes.push_back({{"--model", model}, std::string("tile") + tile + ": parameters.time_tile"});
  }
  inputs.expect_refused(mistakes, {"--size", "9"});
}

TEST_CASE("Layouts that cannot be followed are refused by line") {
  const Inputs inputs;
  const std::string host = host_name();
  const auto layout = [&](const char* name, const std::string& third_line) {
    return inputs.write(name, "# written by hand\n" + host + " 0 0 host\n" + third_line + "\n");
  };
  inputs.expect_refused({{{"--layout", inputs.path("missing")}, "missing"},
                         {{"--layout", inputs.write("nobody", "# nothing\n")}, "nobody"},
                         {{"--layout", layout("short", host + " 1 0")}, "short: line 3"},
                         {{"--layout", layout("rank", host + " one 0 host")}, "rank: line 3"},
                         {{"--layout", layout("bind", host + " 1 0-x host")}, "bind: line 3"},
                         {{"--layout", layout("device", host + " 1 0 tpu")}, "device: line 3"},
                         {{"--layout", layout("words", host + " 1 0 host fast")}, "words: line 3"},
                         {{"--layout", layout("twice", host + " 0 0 host")}, "twice: line 3"},
                         {{"--layout", inputs.write("away", "elsewhere 0 0 host\n")}, "rank 0 on node " + host},
                         {{"--layout", inputs.write("core", host + " 0 0,9999 host\n")}, "9999"},
                         {{"--layout", inputs.write("option", host + " 0 0 host slowness=2\n")}, "slowness"}},
                        Words{"--size", "9"} + inputs.with_model(), {1, 3});
}

TEST_CASE("A layout without a line for some rank is refused naming that rank") {
  const Inputs inputs;
  const std::string one = inputs.write("one", host_name() + " 0 0 host\n");
  inputs.expect_refused({{{"--layout", one}, "rank 1 on node " + host_name()}},
                        Words{"--size", "9"} + inputs.with_model(), {3});
}

TEST_CASE("Platforms that cannot be used are refused by file") {
  const Inputs inputs;
  inputs.expect_refused({{{"--platform", inputs.path("missing")}, "missing"},
                         {{"--platform", inputs.write("broken", "{\n\n]")}, "broken: line 3"},
                         {{"--platform", inputs.write("empty", "{}")}, "empty: schema"}},
                        Words{"--size", "9"} + inputs.with_model());
}

TEST_CASE("A platform without a channel between ranks is refused") {
  const Inputs inputs;
  const std::string empty = inputs.write("empty", R"({"schema": "steelyard.platform/1", "channels": []})");
  inputs.expect_refused({{{"--platform", empty}, "no channel inside nodes"}},
                        Words{"--size", "9"} + inputs.with_model(), {3});
}

TEST_CASE("Slowdowns that cannot be are refused by word") {
  const Inputs inputs;
  inputs.expect_refused({{{"--slowdown", "device=0.5"}, "0.5"},
                         {{"--slowdown", "rank7=2"}, "rank 7"},
                         {{"--slowdown", "rankle=2"}, "rankle=2"},
                         {{"--slowdown", "sideways"}, "sideways"},
                         {{"--slowdown", "host="}, "host"},
                         {{"--slowdown", "host=nan"}, "nan"},
                         {{"--slowdown", "rank99999999999=2"}, "rank99999999999"}},
                        Words{"--size", "9"} + inputs.with_model());
}

TEST_CASE("More processing units than rows are refused with both numbers") {
  const Inputs inputs;
  inputs.expect_refused({{{"--units", "host+device", "--rows", "5", "--columns", "9"}, "6 processing units"},
                         {{"--units", "host+device", "--rows", "3", "--columns", "9"}, "3 rows"}},
                        inputs.with_model(), {3});
}

}  // namespace
}  // namespace steelyard::tests::test_wave2d_errors
