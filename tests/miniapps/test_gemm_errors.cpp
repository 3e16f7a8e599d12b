// What a user of gemm can get wrong: exit code 2 and one line that names it.

#include <catch2/catch_test_macros.hpp>

#include "tests/miniapps/gemm_runs.hpp"

namespace steelyard::tests::test_gemm_errors {
namespace {

/// Inputs for runs of gemm that write C and results.
struct Inputs : WrongRuns {
  Inputs() : WrongRuns(gemm, {"--repetitions", "1", "--output", "product.npy", "--result", "result"}) {}
};

TEST_CASE("gemm refuses unknown options and words by name") {
  const Inputs inputs;
  inputs.expect_refused({{{"--sise", "9"}, "--sise"},
                         {{"--size", "9", "more"}, "more"},
                         {{"--size", "9", "--steps", "3"}, "--steps"},
                         {{"--size", "9", "--platform", "here.json"}, "--platform"},
                         {{"--size", "9", "--partition", "fair"}, "fair"},
                         {{"--size", "9", "--units", "gpu"}, "gpu"},
                         {{"--size", "9", "--type", "half"}, "half"},
                         {{"--size", "9", "--check", "sometimes"}, "sometimes"}},
                        inputs.with_model());
}

TEST_CASE("gemm refuses impossible extents and numbers by value") {
  const Inputs inputs;
  inputs.expect_refused(
      {{{"--size", "-1"}, "--size: Value -1"},
       {{"--size", "2147483648"}, "2147483648"},
       {{"--size", "9", "--m", "9"}, "--size excludes --m"},
       {{"--n", "-7"}, "--n: Value -7"},
       {{"--k", "99999999999999999999"}, "99999999999999999999"},
       {{"--size", "9", "--alpha", "nan"}, "--alpha nan"},
       {{"--size", "9", "--device-memory", "40959"}, "--device-memory 40959 (expected at least 40960"},
       {{"--size", "9", "--block", "0"}, "--block: Value 0"}},
      inputs.with_model());
  inputs.expect_refused({{{"--size", "many"}, "many"},
                         {{"--size", "1.5"}, "1.5"},
                         {{"--size"}, "--size"},
                         {{"--m", "9", "--size", "9"}, "--size"},
                         {{"--size", "9", "--k", "9"}, "--k"},
                         {{"--m", "2147483648"}, "2147483648"},
                         {{"--size", "9", "--alpha", "inf"}, "--alpha inf"},
                         {{"--size", "9", "--alpha", "half"}, "half"},
                         {{"--size", "9", "--beta", "nan"}, "--beta nan"},
                         {{"--size", "9", "--beta", "-inf"}, "--beta -inf"},
                         {{"--size", "9", "--block", "-4"}, "--block: Value -4"},
                         {{"--size", "9", "--block", "1048577"}, "1048577"},
                         {{"--size", "9", "--warmups", "-1"}, "--warmups"},
                         {{"--size", "9", "--device-memory", "0"}, "--device-memory 0"},
                         {{"--size", "9", "--device-memory", "-5"}, "-5"},
                         {{"--size", "9", "--device-memory", "much"}, "much"},
                         {{"--size", "9", "--device-memory", "4 parsecs"}, "parsecs"},
                         {{"--size", "9", "--device-memory", "nan"}, "nan"},
                         {{"--size", "9", "--device-memory", "99999999999GiB"}, "--device-memory"},
                         {{"--size", "9", "--type", "float", "--device-memory", "20479"}, "at least 20480"}},
                        inputs.with_model(), {1});
  tests::expect_refused(gemm, {{{"--size", "9", "--repetitions", "0"}, "--repetitions"}},
                        inputs.with_model() + Words{"--output", "product.npy"}, {1});
}

TEST_CASE("Input matrices that do not fit are refused by file, extent and both values") {
  const Inputs inputs;
  const auto file = [&](const std::string& name) { return inputs.path(name + ".npy"); };
  const auto write = [&](const std::string& name, std::int64_t rows, std::int64_t columns) {
    write_grid(inputs.path(name + ".npy"), random_grid<double>(rows, columns, 1));
  };
  write("a", 5, 7);
  write("b", 7, 3);
  write("c", 5, 3);
  write("b8", 8, 3);
  write("c4", 4, 3);
  write("c2", 5, 2);
  const Words good{"--input", file("a"), file("b"), file("c")};
  inputs.expect_refused(
      {{{"--input", file("a"), file("b8")}, "b8.npy: shape: has k = 8 (expected 7 as in " + file("a") + ")"},
       {{"--beta", "1", "--input", file("a"), file("b"), file("c4")},
        "c4.npy: shape: has m = 4 (expected 5 as in " + file("a") + ")"},
       {{"--input", file("a"), file("b"), file("c2")}, "c2.npy: shape: has n = 2 (expected 3 as in " + file("b") + ")"},
       {Words{"--m", "6"} + good, "a.npy: shape: has m = 5 (expected 6 as in --m)"},
       {{"--input", file("a")}, "--input names 1 file "},
       {good + Words{file("a")}, "--input names 4 files"},
       {{"--beta", "1", "--input", file("a"), file("b")}, "--input names 2 files"}},
      inputs.with_model());
  inputs.expect_refused({{Words{"--n", "2"} + good, "b.npy: shape: has n = 3 (expected 2 as in --n)"},
                         {Words{"--k", "0"} + good, "a.npy: shape: has k = 7 (expected 0 as in --k)"},
                         {Words{"--size", "5"} + good, "a.npy: shape: has k = 7 (expected 5 as in"},
                         {{"--beta", "1", "--input", file("a")}, "C.npy"}},
                        inputs.with_model(), {1});
}

TEST_CASE("Input files that cannot be used are refused by file") {
  const Inputs inputs;
  const std::string a = inputs.path("a.npy");
  write_grid(inputs.path("a.npy"), random_grid<double>(5, 5, 1));
  write_grid(inputs.path("float.npy"), random_grid<float>(5, 5, 1));
  const std::string good = inputs.read("a.npy");
  inputs.write("short.npy", good.substr(0, good.size() - 1));
  inputs.write("header.npy", good.substr(0, 40));
  inputs.write("garbage.npy", "this is no matrix");
  inputs.write("empty.npy", "");
  const auto with_header = [&](const char* name, const std::string& from, const std::string& to) {
    std::string text = good;
    text.replace(text.find(from), from.size(), to);
    return inputs.write(name, text);
  };
  with_header("flat.npy", "(5, 5)", "(25, )");
  with_header("integers.npy", "<f8", "<i8");
  with_header("fortran.npy", "False", "True ");
  inputs.expect_refused({{{"--input", a, inputs.path("missing.npy")}, "missing.npy"},
                         {{"--input", a, inputs.path("short.npy")}, "short.npy: data"},
                         {{"--input", a, inputs.path("float.npy")}, "float.npy: descr: is '<f4' (expected '<f8')"},
                         {{"--type", "float", "--input", inputs.path("float.npy"), a}, "a.npy: descr"}},
                        inputs.with_model());
  std::vector<Mistake> as_c{{{"--input", inputs.path(""), a}, inputs.path("")}};
  for (const std::string& name : Words{"header", "garbage", "empty", "flat", "integers", "fortran"}) {
    as_c.push_back({{"--beta", "1", "--input", a, a, inputs.path(name + ".npy")}, name + ".npy"});
  }
  inputs.expect_refused(as_c, inputs.with_model(), {1});
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
