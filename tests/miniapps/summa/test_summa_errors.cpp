// What a user of summa can get wrong: exit code 2 and one line that names it.

#include <catch2/catch_test_macros.hpp>

#include "tests/miniapps/summa/summa_runs.hpp"

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

TEST_CASE("summa refuses words that mean nothing, impossible numbers and matrices that no memory holds") {
  const Inputs inputs;
  const std::string bands = inputs.partition("bands.json", {{0, 0, 3, 8}, {3, 0, 3, 8}, {6, 0, 2, 8}});
  inputs.expect_refused({{{"--sise", "9"}, "--sise"},
                         {{"--size", "9", "--communication", "foo"}, "foo"},
                         {{"--size", "9", "--partition", "fair"}, "fair"},
                         {{"--size", "9", "--avoid-communication", "--partition", "even"}, "--avoid-communication"},
                         {{"--size", "0"}, "--size 0"},
                         {{"--size", "9", "--block", "0"}, "--block 0"},
                         {{"--size", "2000000000", "--block", "1000000"}, "expected at most"}},
                        inputs.with_model());
  // Rectangles of 3 ranks and 8 x 8 blocks.
  inputs.expect_refused({{{"--size", "64"}, "bands.json"}},
                        Words{"--block", "8", "--partition", bands} + inputs.with_model(), {1, 2});
  inputs.expect_refused({{{"--size", "65"}, "bands.json"}},
                        Words{"--block", "8", "--partition", bands} + inputs.with_model(), {3});
}

TEST_CASE("summa refuses platforms that cannot be, and one without the channel that pivots travel on") {
  const Inputs inputs;
  const Words problem = Words{"--size", "9", "--block", "2"} + inputs.with_model();
  const std::string none = inputs.write("none", R"({"schema": "steelyard.platform/1", "channels": []})");
  inputs.expect_refused({{{"--platform", inputs.path("missing")}, "missing"},
                         {{"--platform", inputs.write("broken", "{\n\n]")}, "broken: line 3"},
                         {{"--platform", inputs.write("empty", "{}")}, "empty: schema"}},
                        problem);
  inputs.expect_refused({{{"--platform", none}, "channel"}}, problem, {3});
}

}  // namespace
}  // namespace steelyard::tests::test_summa_errors
