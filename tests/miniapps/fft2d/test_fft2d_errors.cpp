// What a user can get wrong: exit code 2 and one line that names it.

#include <catch2/catch_test_macros.hpp>
#include <complex>

#include "tests/miniapps/fft2d/fft2d_runs.hpp"
#include "tests/miniapps/grid.hpp"

namespace steelyard::tests::test_fft2d_errors {
namespace {

/// Inputs for runs of fft2d that write a spectrum and results.
struct Inputs : WrongRuns {
  Inputs() : WrongRuns(fft2d_program, {"--repetitions", "1", "--output", "spectrum.npy", "--result", "result"}) {}
};

TEST_CASE("Words that there are not, and that make no sense together, are refused by name") {
  const Inputs inputs;
  inputs.expect_refused({{{"--sise", "9"}, "--sise"},
                         {{"--size", "9", "--partition", "fair"}, "fair"},
                         {{"--size", "9", "--fft", "magic"}, "magic"},
                         {{"--size", "9", "--planner", "lazy"}, "lazy"},
                         {{"--size", "9", "--exchange", "slow"}, "slow"},
                         {{"--size", "9", "--type", "half"}, "half"},
                         {{"--size", "9", "--real", "--inverse"}, "--real with --inverse"},
                         {{"--size", "9", "--steps", "3"}, "--steps"}},
                        inputs.with_model(), {2});
  inputs.expect_refused({{{"--size", "9", "--column-model", inputs.model()}, "--column-model without --model"}}, {},
                        {1});
}

TEST_CASE("Extents that cannot be are refused by value") {
  const Inputs inputs;
  inputs.expect_refused({{{"--size", "0"}, "--size"},
                         {{"--rows", "9"}, "--columns"},
                         {{"--size", "3000000000"}, "3000000000 x 3000000000"}},
                        inputs.with_model(), {2});
}

TEST_CASE("Input matrices that cannot be used are refused by file") {
  const Inputs inputs;
  const auto file = [&](const char* name) { return inputs.path(name); };
  using Complex = std::complex<double>;
  write_grid(inputs.path("complex.npy"), Grid<Complex>(9, 7));
  write_grid(inputs.path("float.npy"), Grid<std::complex<float>>(9, 7));
  write_grid(inputs.path("real.npy"), Grid<double>(9, 7));
  write_grid(inputs.path("empty.npy"), Grid<Complex>(0, 7));
  const std::string good = inputs.read("complex.npy");
  inputs.write("short.npy", good.substr(0, good.size() - 1));
  inputs.expect_refused({{{"--input", file("missing.npy")}, "missing.npy"},
                         {{"--input", file("short.npy")}, "short.npy"},
                         {{"--input", file("float.npy")}, "is '<c8' (expected '<c16')"},
                         {{"--input", file("real.npy")}, "is '<f8' (expected '<c16')"},
                         {{"--input", file("complex.npy"), "--real"}, "is '<c16' (expected '<f8')"},
                         {{"--input", file("complex.npy"), "--type", "float"}, "complex.npy"},
                         {{"--input", file("empty.npy")}, "0 x 7"},
                         {{"--size", "9", "--input", file("complex.npy")}, "9 x 7"},
                         {{"--input", file("complex.npy"), file("complex.npy")}, "--input"}},
                        inputs.with_model(), {2});
}

TEST_CASE("Speed models of other rows are refused by file") {
  const Inputs inputs;
  const std::string start = R"({"schema": "steelyard.fpm/1", )";
  const std::string points = R"("points": [{"units": 1, "time_s": 1e-6}]})";
  const std::string nine = inputs.write("nine", start + R"("parameters": {"columns": 9}, )" + points);
  const std::string real = inputs.write("real", start + R"("parameters": {"real": 1}, )" + points);
  inputs.expect_refused(
      {{{"--rows", "9", "--columns", "8", "--model", nine}, "nine: parameters.columns: is 9 (expected 8)"},
       {{"--rows", "8", "--columns", "9", "--model", nine, "--column-model", nine},
        "nine: parameters.columns: is 9 (expected 8)"},
       {{"--size", "9", "--model", real}, "real: parameters.real"}},
      {}, {2});
}

}  // namespace
}  // namespace steelyard::tests::test_fft2d_errors
