#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <cstdint>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "core/base/errors.hpp"
#include "miniapps/gemm/options.hpp"
#include "tests/miniapps/gemm/parsed_options.hpp"

namespace steelyard::test_options {

using gemm::Options;
using gemm::Problem;
using tests::input;
using tests::matrix_file;
using tests::TemporaryFolder;
using Parsed = tests::Parsed<Options>;
using Words = std::vector<std::string>;

namespace {

constexpr std::int64_t usual = 2048;

void check_extents(const Problem& problem, std::int64_t m, std::int64_t n, std::int64_t k) {
  CHECK(problem.m == m);
  CHECK(problem.n == n);
  CHECK(problem.k == k);
}

}  // namespace

TEST_CASE("block rows cover every row once, and all but the last have full height") {
  std::mt19937_64 random(1);
  for (int trial = 0; trial < 500; ++trial) {
    Problem problem;
    problem.m = std::uniform_int_distribution<std::int64_t>(0, 200)(random);
    problem.block = std::uniform_int_distribution<std::int64_t>(1, 70)(random);
    const std::int64_t count = problem.block_rows();
    CAPTURE(problem.m, problem.block);
    REQUIRE(problem.first_row(0) == 0);
    REQUIRE(problem.first_row(count) == problem.m);
    for (std::int64_t i = 0; i < count; ++i) {
      const std::int64_t height = problem.first_row(i + 1) - problem.first_row(i);
      REQUIRE(height > 0);
      REQUIRE(height <= problem.block);
      if (i + 1 < count) REQUIRE(height == problem.block);
    }
    REQUIRE(problem.first_row(count + 7) == problem.m);
  }
}

TEST_CASE("the largest extents of a BLAS have as many block rows and operations as they should") {
  Problem problem;
  problem.m = problem.n = problem.k = 2147483647;
  problem.block = 1;
  CHECK(problem.block_rows() == problem.m);
  CHECK(problem.first_row(problem.m) == problem.m);
  problem.block = 1 << 20;
  CHECK(problem.block_rows() == 2048);
  const double extent = 2147483647.0;
  CHECK(problem.flops() == 2.0 * extent * extent * extent);
}

TEST_CASE("C is read unless beta is 0") {
  Problem problem;
  CHECK_FALSE(problem.reads_c());
  for (const double beta : {1.0, -1.0, 1e-300, 0.5}) {
    problem.beta = beta;
    CHECK(problem.reads_c());
  }
  problem.beta = -0.0;
  CHECK_FALSE(problem.reads_c());
}

TEST_CASE("extents come from --size, or one by one from --m, --n and --k; what nobody names is as usual") {
  check_extents(Parsed::problem_of({}), usual, usual, usual);
  check_extents(Parsed::problem_of({"--size", "12"}), 12, 12, 12);
  check_extents(Parsed::problem_of({"--m", "3"}), 3, usual, usual);
  check_extents(Parsed::problem_of({"--n", "4"}), usual, 4, usual);
  check_extents(Parsed::problem_of({"--k", "5"}), usual, usual, 5);
  check_extents(Parsed::problem_of({"--k", "5", "--m", "3", "--n", "4"}), 3, 4, 5);
  check_extents(Parsed::problem_of({"--size", "0"}), 0, 0, 0);
  check_extents(Parsed::problem_of({"--size", "2147483647"}), 2147483647, 2147483647, 2147483647);
}

TEST_CASE("option --size excludes the others, in any order, and the message names both") {
  for (const char* other : {"--m", "--n", "--k"}) {
    Parsed::check_refused({"--size", "4", other, "5"}, {"--size", other});
    Parsed::check_refused({other, "5", "--size", "4"}, {"--size", other});
  }
}

TEST_CASE("numbers that are negative, not numbers or out of range, and unknown algorithms, are refused by name") {
  const struct {
    const char* option;
    Words values;
  } cases[] = {{"--size", {"-1", "big", "2.5", "2147483648"}},
               {"--m", {"-1", "big", "2147483648"}},
               {"--n", {"-1", "big", "2147483648"}},
               {"--k", {"-1", "big", "2147483648"}},
               {"--block", {"0", "-1", "x", "1048577"}},
               {"--alpha", {"x", "inf", "-inf", "nan"}},
               {"--beta", {"x", "inf", "-inf", "nan"}},
               {"--device-memory", {"x", "-1", "-64MiB", "64 parsecs", "99999999999GiB"}}};
  for (const auto& [option, values] : cases) {
    for (const std::string& value : values) Parsed::check_refused({option, value}, {option});
  }
  Parsed::check_refused({"--partition", "bogus"}, {"bogus"});
  CHECK_NOTHROW(Parsed::problem_of({"--partition", "even"}));
}

TEST_CASE("factors and block are what was typed") {
  const Problem plain = Parsed::problem_of({});
  CHECK(plain.alpha == 1.0);
  CHECK(plain.beta == 0.0);
  CHECK(plain.block == Problem().block);
  const Problem problem = Parsed::problem_of({"--alpha", "-0.5", "--beta", "2e-3", "--block", "77"});
  CHECK(problem.alpha == -0.5);
  CHECK(problem.beta == 2e-3);
  CHECK(problem.block == 77);
}

TEST_CASE("memory is given in bytes or with a unit of 1024") {
  const auto bytes = [](const std::string& word) {
    return Parsed({"--device-memory", word}).options.device_memory_bytes;
  };
  CHECK(bytes("64MiB") == 64.0 * 1048576.0);
  CHECK(bytes("64MB") == 64.0 * 1048576.0);
  CHECK(bytes("64 MiB") == 64.0 * 1048576.0);
  CHECK(bytes("3KiB") == 3072.0);
  CHECK(bytes("2GiB") == 2147483648.0);
  CHECK(bytes("123456789") == 123456789.0);
  CHECK(std::isinf(Parsed({}).options.device_memory_bytes));
}

TEST_CASE("memory for less than five blocks of 32 x 32 is refused with what was given and what is needed") {
  for (const auto& [type, least] : {std::pair("double", 40960), std::pair("float", 20480)}) {
    CHECK_NOTHROW(Parsed::problem_of({"--type", type, "--device-memory", std::to_string(least)}));
    for (const int less : {least - 1, 1, 0}) {
      Parsed::check_refused({"--type", type, "--device-memory", std::to_string(less)},
                            {"--device-memory", std::to_string(less), std::to_string(least)});
    }
  }
}

TEST_CASE("extents come from the shapes of A, B and C where there are files") {
  const TemporaryFolder folder;
  const std::string a = matrix_file(folder, "a.npy", 3, 5), b = matrix_file(folder, "b.npy", 5, 7);
  const std::string c = matrix_file(folder, "c.npy", 3, 7);
  check_extents(Parsed::problem_of(input({a, b})), 3, 7, 5);
  check_extents(Parsed::problem_of(input({a, b, c})), 3, 7, 5);
  check_extents(Parsed::problem_of(input({a, b, c}, {"--beta", "1"})), 3, 7, 5);
  check_extents(Parsed::problem_of(input({a, b}, {"--m", "3", "--n", "7", "--k", "5"})), 3, 7, 5);
  const std::string none = matrix_file(folder, "none.npy", 0, 5);
  check_extents(Parsed::problem_of(input({none, b})), 0, 7, 5);
  const std::string square = matrix_file(folder, "square.npy", 6, 6);
  check_extents(Parsed::problem_of(input({square, square}, {"--size", "6"})), 6, 6, 6);
}

TEST_CASE("where beta is not 0 C is needed; without files all three are random") {
  const TemporaryFolder folder;
  const std::string a = matrix_file(folder, "a.npy", 3, 5), b = matrix_file(folder, "b.npy", 5, 7);
  Parsed::check_refused(input({a, b}, {"--beta", "0.5"}), {"--input", "2 files", "C.npy", "--beta"});
  Parsed::check_refused(input({a}), {"--input", "1 file (", "A.npy B.npy"});
  Parsed::check_refused(input({a, b, a, b}), {"--input", "4 files"});
  CHECK(Parsed::problem_of({"--beta", "0.5"}).reads_c());
}

TEST_CASE("shapes that disagree are refused with file, extent, value and what was expected, and from where") {
  const TemporaryFolder folder;
  const std::string a = matrix_file(folder, "a.npy", 3, 5), b = matrix_file(folder, "b.npy", 5, 7);
  const std::string c = matrix_file(folder, "c.npy", 3, 7);
  const struct {
    Words words, parts;
  } cases[] = {
      {input({a, matrix_file(folder, "shallow.npy", 4, 7)}), {"shallow.npy", "k = 4", "expected 5", "a.npy"}},
      {input({a, b, matrix_file(folder, "tall.npy", 4, 7)}), {"tall.npy", "m = 4", "expected 3", "a.npy"}},
      {input({a, b, matrix_file(folder, "wide.npy", 3, 8)}), {"wide.npy", "n = 8", "expected 7", "b.npy"}},
      {input({a, b}, {"--m", "4"}), {"a.npy", "m = 3", "expected 4", "--m"}},
      {input({a, b}, {"--k", "6"}), {"a.npy", "k = 5", "expected 6", "--k"}},
      {input({a, b}, {"--n", "6"}), {"b.npy", "n = 7", "expected 6", "--n"}},
      {input({a, b}, {"--size", "5"}), {"a.npy", "m = 3", "expected 5", "command line"}},
      {input({b, a}), {"a.npy", "k = 3", "expected 7", "b.npy"}},
  };
  for (const auto& [words, parts] : cases) Parsed::check_refused<FileFormatError>(words, parts);
}

TEST_CASE("files that are not there, of another type or no matrices are refused by name") {
  const TemporaryFolder folder;
  const std::string a = matrix_file(folder, "a.npy", 3, 5), b = matrix_file(folder, "b.npy", 5, 7);
  const std::string singles = matrix_file<float>(folder, "singles.npy", 5, 7);
  const std::string text = folder.write("text.npy", "no matrix").string();
  Parsed::check_refused<FileFormatError>(input({a, (folder / "missing.npy").string()}), {"missing.npy"});
  Parsed::check_refused<FileFormatError>(input({a, singles}), {"singles.npy", "<f4", "<f8"});
  Parsed::check_refused<FileFormatError>(input({a, b}, {"--type", "float"}), {"a.npy", "<f8", "<f4"});
  Parsed::check_refused<FileFormatError>(input({a, text}), {"text.npy"});
  check_extents(Parsed::problem_of(input({matrix_file<float>(folder, "x.npy", 2, 5), singles}, {"--type", "float"})), 2,
                7, 5);
}

TEST_CASE("extents beyond those that a BLAS counts are refused with file and value") {
  const TemporaryFolder folder;
  const std::string b = matrix_file(folder, "b.npy", 0, 7);
  // Without columns a file may claim any number of rows.
  const std::string a = matrix_file(folder, "a.npy", std::int64_t{1} << 31, 0);
  Parsed::check_refused<FileFormatError>(input({a, b}), {"a.npy", "m = 2147483648", "at most 2147483647"});
}

}  // namespace steelyard::test_options
