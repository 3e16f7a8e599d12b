// What a user of gemm can get wrong: exit code 2 and one line that names it.

#include <catch2/catch_test_macros.hpp>

#include "tests/miniapps/gemm/gemm_runs.hpp"

namespace steelyard::tests::test_gemm_errors {
namespace {

/// Inputs for runs of gemm that write C and results.
struct Inputs : WrongRuns {
  Inputs() : WrongRuns(gemm, {"--repetitions", "1", "--output", "product.npy", "--result", "result"}) {}
};

TEST_CASE("gemm refuses unknown options, words and impossible numbers by name and value") {
  const Inputs inputs;
  inputs.expect_refused({{{"--sise", "9"}, "--sise"},
                         {{"--size", "9", "more"}, "more"},
                         {{"--size", "9", "--steps", "3"}, "--steps"},
                         {{"--size", "9", "--platform", "here.json"}, "--platform"},
                         {{"--size", "9", "--partition", "fair"}, "fair"},
                         {{"--size", "9", "--units", "gpu"}, "gpu"},
                         {{"--size", "9", "--check", "sometimes"}, "sometimes"},
                         {{"--size", "9", "--m", "9"}, "--size excludes --m"},
                         {{"--k", "99999999999999999999"}, "99999999999999999999"},
                         {{"--size", "9", "--alpha", "nan"}, "--alpha nan"},
                         {{"--size", "9", "--device-memory", "40959"}, "--device-memory 40959 (expected at least"}},
                        inputs.with_model());
  tests::expect_refused(gemm, {{{"--size", "9", "--repetitions", "0"}, "--repetitions"}},
                        inputs.with_model() + Words{"--output", "product.npy"}, {1});
}

TEST_CASE("Input files that do not fit or cannot be used are refused by file and what was expected") {
  const Inputs inputs;
  const auto file = [&](const std::string& name) { return inputs.path(name + ".npy"); };
  const auto write = [&](const std::string& name, std::int64_t rows, std::int64_t columns) {
    write_grid(inputs.path(name + ".npy"), random_grid<double>(rows, columns, 1));
  };
  write("a", 5, 7);
  write("b", 7, 3);
  write("b8", 8, 3);
  write_grid(file("float"), random_grid<float>(7, 3, 1));
  const std::string whole = inputs.read("b.npy");
  inputs.write("short.npy", whole.substr(0, whole.size() - 1));
  inputs.expect_refused(
      {{{"--input", file("a"), file("b8")}, "b8.npy: shape: has k = 8 (expected 7 as in " + file("a") + ")"},
       {{"--m", "6", "--input", file("a"), file("b")}, "a.npy: shape: has m = 5 (expected 6 as in --m)"},
       {{"--beta", "1", "--input", file("a"), file("b")}, "--input names 2 files"},
       {{"--input", file("a"), file("missing")}, "missing.npy"},
       {{"--input", file("a"), file("short")}, "short.npy: data"},
       {{"--input", file("a"), file("float")}, "float.npy: descr: is '<f4' (expected '<f8')"}},
      inputs.with_model());
}

TEST_CASE("gemm refuses speed models of something else by file and key") {
  const Inputs inputs;
  const auto model = [&](const char* name, const std::string& facts) {
    return inputs.write(name,
                        R"({"schema": "steelyard.fpm/1", )" + facts + R"(, "points": [{"units": 1, "time_s": 1e-6}]})");
  };
  const auto parameter = [&](const std::string& name, const std::string& value) {
    return model((name + value).c_str(), R"("parameters": {")" + name + R"(": )" + value + "}");
  };
  inputs.expect_refused({{{"--model", parameter("n", "8")}, "n8: parameters.n: is 8 (expected 9)"},
                         {{"--model", parameter("k", "10")}, "k10: parameters.k: is 10 (expected 9)"},
                         {{"--model", parameter("block", "16")}, "block16: parameters.block: is 16 (expected 32)"},
                         {{"--model", model("element", R"("element": "float")")}, "element: element"},
                         {{"--model", model("app", R"("app": "wave2d")")}, "app: app: is wave2d (expected gemm)"},
                         {{"--model", inputs.path("missing")}, "missing"},
                         {Words{"--model"} + Words(7, inputs.model()), "--model"}},
                        {"--size", "9"});
  inputs.expect_refused({{{"--model", parameter("reads_c", "1")}, "reads_c1: parameters.reads_c"},
                         {{"--beta", "1", "--model", parameter("reads_c", "0")}, "reads_c0: parameters.reads_c"}},
                        {"--size", "9"}, {1});
}

TEST_CASE("gemm refuses slowdowns and layouts that cannot be") {
  const Inputs inputs;
  inputs.expect_refused({{{"--slowdown", "device=0.5"}, "0.5"},
                         {{"--slowdown", "rank7=2"}, "rank 7"},
                         {{"--layout", inputs.path("missing")}, "missing"},
                         {{"--layout", inputs.write("away", "elsewhere 0 0 host\n")}, "rank 0 on node"}},
                        Words{"--size", "9"} + inputs.with_model());
}

}  // namespace
}  // namespace steelyard::tests::test_gemm_errors
