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
}

TEST_CASE("summa refuses impossible extents and numbers by value") {
  const Inputs inputs;
  inputs.expect_refused({{{"--size", "0"}, "--size 0"}, {{"--size", "9", "--block", "0"}, "--block 0"}},
                        inputs.with_model());
}

TEST_CASE("Matrices that no memory holds are refused before anything is allocated") {
  const Inputs inputs;
  inputs.expect_refused({{{"--size", "2000000000", "--block", "1000000"}, "expected at most"}}, inputs.with_model());
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
}

TEST_CASE("summa refuses platforms that cannot be") {
  const Inputs inputs;
  const Words problem = Words{"--size", "9"} + inputs.with_model();
  inputs.expect_refused({{{"--platform", inputs.path("missing")}, "missing"},
                         {{"--platform", inputs.write("broken", "{\n\n]")}, "broken: line 3"},
                         {{"--platform", inputs.write("empty", "{}")}, "empty: schema"}},
                        problem);
}

TEST_CASE("A platform without the channel that pivots travel on is refused naming it") {
  const Inputs inputs;
  const std::string empty = inputs.write("empty", R"({"schema": "steelyard.platform/1", "channels": []})");
  inputs.expect_refused({{{"--platform", empty}, "channel"}},
                        Words{"--size", "9", "--block", "2"} + inputs.with_model(), {3});
}

}  // namespace
}  // namespace steelyard::tests::test_summa_errors
