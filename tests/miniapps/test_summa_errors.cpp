// What a user of summa can get wrong: exit code 2 and one line that names it.

#include <catch2/catch_test_macros.hpp>

#include "tests/miniapps/summa_runs.hpp"

namespace steelyard::tests::test_summa_errors {
namespace {

/// Inputs for runs of summa that write C and results.
struct Inputs : WrongRuns {
  Inputs() : WrongRuns(summa, {"--repetitions", "1", "--output", "product.npy", "--result", "result"}) {}

  /// A file for `--partition`.
  std::string partition(const std::string& name, const Rectangles& rectangles) const {
    return write(name, json_of(rectangles));
  }
};

TEST_CASE("summa refuses unknown options and words by name") {
  const Inputs inputs;
  inputs.expect_refused({{{"--sise", "9"}, "--sise"},
                         {{"--size", "9", "--communication", "foo"}, "foo"},
                         {{"--size", "9", "--partition", "fair"}, "fair"}},
                        inputs.with_model());
  inputs.expect_refused({{{"--size", "9", "more"}, "more"},
                         {{"--size", "9", "--steps", "3"}, "--steps"},
                         {{"--size", "9", "--alpha", "2"}, "--alpha"},
                         {{"--size", "9", "--communication", "Paper"}, "Paper"},
                         {{"--size", "9", "--communication"}, "--communication"},
                         {{"--size", "9", "--partition", "fair", "--dry-run"}, "fair"},
                         {{"--size", "9", "--units", "gpu"}, "gpu"},
                         {{"--size", "9", "--type", "half"}, "half"},
                         {{"--size", "9", "--check", "sometimes"}, "sometimes"}},
                        inputs.with_model(), {1});
}

TEST_CASE("summa refuses impossible extents and numbers by value") {
  const Inputs inputs;
  inputs.expect_refused({{{"--size", "0"}, "--size: Value 0"}, {{"--size", "9", "--block", "0"}, "--block: Value 0"}},
                        inputs.with_model());
  inputs.expect_refused(
      {{{"--size", "-1"}, "--size: Value -1"},
       {{"--size", "99999999999999999999"}, "99999999999999999999"},
       {{"--size", "many"}, "many"},
       {{"--size", "1.5"}, "1.5"},
       {{"--size"}, "--size"},
       {{"--size", "9", "--block", "-4"}, "--block: Value -4"},
       {{"--size", "9", "--block", "1048577"}, "1048577"},
       {{"--size", "9", "--block", "some"}, "some"},
       {{"--size", "9", "--warmups", "-1"}, "--warmups"},
       {{"--size", "9", "--device-memory", "0"}, "--device-memory 0"},
       {{"--size", "99", "--block", "32", "--device-memory", "40959"},
        "--device-memory 40959 (expected at least 40960"},
       {{"--size", "99", "--block", "32", "--type", "float", "--device-memory", "20479"}, "at least 20480"},
       {{"--size", "9", "--device-memory", "much"}, "much"},
       {{"--size", "9", "--device-memory", "-5"}, "-5"}},
      inputs.with_model(), {1});
  tests::expect_refused(summa, {{{"--size", "9", "--repetitions", "0"}, "--repetitions"}},
                        inputs.with_model() + Words{"--output", "product.npy"}, {1});
}

TEST_CASE("Matrices that no memory holds are refused before anything is allocated") {
  const Inputs inputs;
  inputs.expect_refused({{{"--size", "2000000000", "--block", "1000000"}, "expected at most"}}, inputs.with_model());
}

TEST_CASE("Barriers with pivots that travel while units multiply are refused") {
  const Inputs inputs;
  inputs.expect_refused({{{"--size", "9", "--barrier", "--communication", "pipelined"}, "--barrier"}},
                        inputs.with_model());
  inputs.expect_refused(
      {{{"--size", "9", "--barrier"}, "--barrier"}, {{"--size", "9", "--barrier", "--dry-run"}, "--barrier"}},
      inputs.with_model(), {1});
}

TEST_CASE("Partition files that do not say who owns every block are refused by file") {
  const Inputs inputs;
  const Rectangles bands{{0, 0, 3, 8}, {3, 0, 3, 8}, {6, 0, 2, 8}};
  const auto changed = [&](std::size_t which, const partition::Rectangle& rectangle) {
    Rectangles rectangles = bands;
    rectangles[which] = rectangle;
    return rectangles;
  };
  REQUIRE(tile(bands, 8));
  const auto refused = [&](const std::string& name, const Rectangles& rectangles) {
    return Mistake{{"--partition", inputs.partition(name, rectangles)}, name};
  };
  const Words problem = Words{"--size", "64", "--block", "8"} + inputs.with_model();
  inputs.expect_refused(
      {refused("two.json", {{0, 0, 4, 8}, {4, 0, 4, 8}}), refused("overlap.json", changed(1, {2, 0, 4, 8})),
       refused("hole.json", changed(1, {3, 0, 3, 7})),
       // As many blocks as there are, but not the same.
       refused("both.json", {{0, 0, 8, 4}, {0, 3, 8, 1}, {0, 5, 8, 3}}),
       refused("beyond.json", changed(2, {6, 0, 3, 8})), refused("before.json", changed(0, {-1, 0, 4, 8})),
       refused("negative.json", changed(2, {6, 0, -2, -8})), refused("nothing.json", {{}, {}, {}})},
      problem, {3});
  // Right for 3 ranks and 8 x 8 blocks, but not for others.
  inputs.expect_refused({refused("ranks.json", bands)}, problem, {1, 2});
  inputs.expect_refused({refused("side.json", bands)}, Words{"--size", "65", "--block", "8"} + inputs.with_model(),
                        {3});
}

TEST_CASE("Partition files that cannot be read are refused by file") {
  const Inputs inputs;
  const auto refused = [&](const std::string& name, const std::string& text, const std::string& named) {
    return Mistake{{"--partition", inputs.write(name, text)}, named};
  };
  const Words problem = Words{"--size", "64", "--block", "64"} + inputs.with_model();
  inputs.expect_refused({{{"--partition", inputs.path("missing.json")}, "missing.json"},
                         refused("broken.json", "{\n\n]", "broken.json: line 3")},
                        problem);
  inputs.expect_refused(
      {refused("empty.json", "", "empty.json"),
       refused("list.json", "[1, 2]", "list.json"),
       refused("none.json", R"({"algorithm": "even"})", "none.json: rectangles"),
       refused("number.json", R"({"rectangles": 1})", "number.json: rectangles"),
       refused("no-rows.json", R"({"rectangles": [{"row": 0, "column": 0, "columns": 1}]})", "rows"),
       refused("words.json", R"({"rectangles": [{"row": "0", "column": 0, "rows": 1, "columns": 1}]})", "row"),
       refused("half.json", R"({"rectangles": [{"row": 0, "column": 0.5, "rows": 1, "columns": 1}]})", "column"),
       refused("huge.json", R"({"rectangles": [{"row": 0, "column": 0, "rows": 9223372036854775807, "columns": 2}]})",
               "huge.json"),
       {{"--partition", inputs.path("")}, inputs.path("")}},
      problem, {1});
}

TEST_CASE("Matrices that are not square, or not alike, are refused by file") {
  const Inputs inputs;
  const auto file = [&](const std::string& name) { return inputs.path(name + ".npy"); };
  const auto write = [&](const std::string& name, std::int64_t rows, std::int64_t columns) {
    write_grid(inputs.path(name + ".npy"), random_grid<double>(rows, columns, 1));
  };
  write("a", 5, 5);
  write("b", 5, 5);
  write("six", 6, 6);
  write("flat", 5, 6);
  write("tall", 6, 5);
  write_grid(inputs.path("float.npy"), random_grid<float>(5, 5, 1));
  inputs.expect_refused({{{"--input", file("flat"), file("tall")}, "flat.npy"},
                         {{"--input", file("a"), file("six")}, "six.npy"},
                         {{"--input", file("a"), file("float")}, "float.npy: descr"},
                         {{"--input", file("a")}, "--input"}},
                        inputs.with_model());
  inputs.expect_refused({{{"--input", file("a"), file("flat")}, "flat.npy"},
                         {{"--input", file("a"), file("tall")}, "tall.npy"},
                         {{"--input", file("a"), file("b"), file("six")}, "six.npy"},
                         {{"--input", file("a"), file("b"), file("flat")}, "flat.npy"},
                         {{"--input", file("six"), file("b"), file("a")}, ".npy: shape"},
                         {{"--input", file("a"), file("b"), file("a"), file("b")}, "--input names 4 files"},
                         {{"--size", "6", "--input", file("a"), file("b")}, "a.npy"},
                         {{"--input", file("a"), file("b"), file("float")}, "float.npy: descr"},
                         {{"--type", "float", "--input", file("float"), file("a")}, "a.npy: descr"},
                         {{"--type", "float", "--input", file("a"), file("b")}, "a.npy: descr"}},
                        inputs.with_model(), {1});
}

TEST_CASE("Input files that cannot be used by summa are refused by file") {
  const Inputs inputs;
  const std::string a = inputs.path("a.npy");
  write_grid(inputs.path("a.npy"), random_grid<double>(5, 5, 1));
  const std::string good = inputs.read("a.npy");
  const std::string cut = inputs.write("short.npy", good.substr(0, good.size() - 1));
  const auto with_header = [&](const char* name, const std::string& from, const std::string& to) {
    std::string text = good;
    text.replace(text.find(from), from.size(), to);
    return inputs.write(name, text);
  };
  write_grid(inputs.path("none.npy"), random_grid<double>(0, 0, 1));
  inputs.expect_refused(
      {{{"--input", a, inputs.path("missing.npy")}, "missing.npy"}, {{"--input", a, a, cut}, "short.npy"}},
      inputs.with_model());
  inputs.expect_refused({{{"--input", inputs.write("garbage.npy", "this is no matrix"), a}, "garbage.npy"},
                         {{"--input", a, a, inputs.write("empty.npy", "")}, "empty.npy"},
                         {{"--input", a, with_header("line.npy", "(5, 5)", "(25, )")}, "line.npy"},
                         {{"--input", a, with_header("integers.npy", "<f8", "<i8")}, "integers.npy"},
                         {{"--input", a, a, with_header("fortran.npy", "False", "True ")}, "fortran.npy"},
                         {{"--input", inputs.path("none.npy"), inputs.path("none.npy")}, "none.npy"},
                         {{"--input", inputs.path(""), a}, inputs.path("")}},
                        inputs.with_model(), {1});
}

TEST_CASE("summa refuses speed models of something else by file and key") {
  const Inputs inputs;
  const auto model = [&](const char* name, const std::string& facts) {
    return inputs.write(name,
                        R"({"schema": "steelyard.fpm/1", )" + facts + R"(, "points": [{"units": 1, "time_s": 1e-6}]})");
  };
  const Words problem{"--size", "90", "--block", "32"};
  inputs.expect_refused({{{"--model", model("block16", R"("parameters": {"block": 16})")},
                          "block16: parameters.block: is 16 (expected 32)"},
                         {{"--model", model("app", R"("app": "gemm")")}, "app: app: is gemm (expected summa)"},
                         {Words{"--model"} + Words(7, inputs.model()), "--model"}},
                        problem);
  inputs.expect_refused({{{"--model", model("element", R"("element": "float")")}, "element: element"},
                         {{"--type", "float", "--model", model("double", R"("element": "double")")}, "double: element"},
                         {{"--model", inputs.path("missing")}, "missing"},
                         {{"--model", inputs.write("broken", "{")}, "broken: line"},
                         {{"--model", inputs.path("missing"), "--dry-run"}, "missing"}},
                        problem, {1});
}

TEST_CASE("summa refuses slowdowns, layouts and platforms that cannot be") {
  const Inputs inputs;
  const Words problem = Words{"--size", "9"} + inputs.with_model();
  inputs.expect_refused({{{"--slowdown", "rank7=2"}, "rank 7"},
                         {{"--layout", inputs.write("away", "elsewhere 0 0 host\n")}, "rank 0 on node"},
                         {{"--platform", inputs.path("missing")}, "missing"}},
                        problem);
  inputs.expect_refused({{{"--slowdown", "device=0.5"}, "0.5"},
                         {{"--layout", inputs.path("missing")}, "missing"},
                         {{"--platform", inputs.write("broken", "{\n\n]")}, "broken: line 3"},
                         {{"--platform", inputs.write("empty", "{}")}, "empty: schema"}},
                        problem, {1});
}

TEST_CASE("A platform without the channel that pivots travel on is refused naming it") {
  const Inputs inputs;
  const std::string empty = inputs.write("empty", R"({"schema": "steelyard.platform/1", "channels": []})");
  inputs.expect_refused({{{"--platform", empty}, "channel"}},
                        Words{"--size", "9", "--block", "2"} + inputs.with_model(), {3});
}

}  // namespace
}  // namespace steelyard::tests::test_summa_errors
