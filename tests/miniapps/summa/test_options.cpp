#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "core/base/errors.hpp"
#include "miniapps/gemm/out_of_core/blocking.hpp"
#include "miniapps/summa/options.hpp"
#include "tests/miniapps/gemm/parsed_options.hpp"

namespace steelyard::test_options {

using Catch::Matchers::ContainsSubstring;
using summa::Communication;
using summa::make_problem;
using summa::Options;
using summa::Problem;
using tests::input;
using tests::matrix_file;
using tests::TemporaryFolder;
using Parsed = tests::Parsed<Options>;
using Words = std::vector<std::string>;

namespace {

constexpr std::int64_t usual = 2048;

}  // namespace

TEST_CASE("matrices have the size and blocks that were typed, or the usual ones") {
  CHECK(Parsed::problem_of({}).n == usual);
  CHECK(Parsed::problem_of({}).block == Problem().block);
  CHECK(Parsed::problem_of({"--size", "12"}).n == 12);
  CHECK(Parsed::problem_of({"--size", "1"}).n == 1);
  CHECK(Parsed::problem_of({"--size", "2147483647"}).n == 2147483647);
  CHECK(Parsed::problem_of({"--block", "77"}).block == 77);
  CHECK(Parsed::problem_of({"--block", "77"}).n == usual);
  // One block may be more than the matrix.
  const Problem small = Parsed::problem_of({"--size", "5", "--block", "64"});
  CHECK(small.blocks() == 1);
  CHECK(small.depth(0) == 5);
}

TEST_CASE("the size is that of A, B and C where there are files, which may be named beside it") {
  const TemporaryFolder folder;
  const std::string a = matrix_file(folder, "a.npy", 6, 6), b = matrix_file(folder, "b.npy", 6, 6);
  const std::string c = matrix_file(folder, "c.npy", 6, 6);
  CHECK(Parsed::problem_of(input({a, b})).n == 6);
  CHECK(Parsed::problem_of(input({a, b, c})).n == 6);
  CHECK(Parsed::problem_of(input({a, b, c}, {"--size", "6", "--block", "4"})).n == 6);
  CHECK(Parsed::problem_of(input({a, b, c}, {"--block", "4"})).block == 4);
  const std::string single = matrix_file<float>(folder, "single.npy", 9, 9);
  CHECK(Parsed::problem_of(input({single, single}, {"--type", "float"})).n == 9);
}

TEST_CASE("shapes that are not square, or not alike, are refused with file, shape and what was expected") {
  const TemporaryFolder folder;
  const std::string a = matrix_file(folder, "a.npy", 6, 6), other = matrix_file(folder, "other.npy", 7, 7);
  const std::string wide = matrix_file(folder, "wide.npy", 6, 7), high = matrix_file(folder, "high.npy", 7, 6);
  Parsed::check_refused<FileFormatError>(input({a, other}), {"other.npy", "7 x 7", "expected 6 x 6"});
  Parsed::check_refused<FileFormatError>(input({other, a}), {"a.npy", "6 x 6", "expected 7 x 7"});
  Parsed::check_refused<FileFormatError>(input({a, a, other}), {"other.npy", "7 x 7", "expected 6 x 6"});
  Parsed::check_refused<FileFormatError>(input({a, wide}), {"wide.npy", "6 x 7", "expected 6 x 6"});
  Parsed::check_refused<FileFormatError>(input({a, high}), {"high.npy", "7 x 6", "expected 6 x 6"});
  Parsed::check_refused<FileFormatError>(input({wide, a}), {"wide.npy", "6 x 7", "expected 6 x 6"});
  Parsed::check_refused<FileFormatError>(input({a, a}, {"--size", "5"}), {"a.npy", "6 x 6", "expected 5 x 5"});
}

TEST_CASE("files that are too few or many, not there, of another type or no matrices are refused by name") {
  const TemporaryFolder folder;
  const std::string a = matrix_file(folder, "a.npy", 6, 6), single = matrix_file<float>(folder, "single.npy", 6, 6);
  Parsed::check_refused(input({a}), {"--input", "1 file (", "A.npy B.npy"});
  Parsed::check_refused(input({a, a, a, a}), {"--input", "4 files"});
  Parsed::check_refused<FileFormatError>(input({a, (folder / "missing.npy").string()}), {"missing.npy"});
  Parsed::check_refused<FileFormatError>(input({a, folder.write("text.npy", "no matrix").string()}), {"text.npy"});
  Parsed::check_refused<FileFormatError>(input({a, single}), {"single.npy", "<f4", "<f8"});
  Parsed::check_refused<FileFormatError>(input({a, a}, {"--type", "float"}), {"a.npy", "<f8", "<f4"});
}

TEST_CASE("files of matrices without an element, or with too many rows, are refused with their name") {
  const TemporaryFolder folder;
  const std::string none = matrix_file(folder, "none.npy", 0, 0);
  Parsed::check_refused<FileFormatError>(input({none, none}), {"none.npy", "0 rows", "1 to 2147483647"});
  // Without columns a file may claim any number of rows.
  const std::string high = matrix_file(folder, "high.npy", std::int64_t{1} << 31, 0);
  Parsed::check_refused<FileFormatError>(input({high, high}), {"high.npy", "2147483648"});
}

TEST_CASE("pivots travel as typed, in a pipeline without a word; a barrier goes with communication of its own only") {
  CHECK(Parsed({}).options.communication == Communication::pipelined);
  CHECK_FALSE(Parsed({}).options.barrier);
  for (const std::string& name : summa::communication_names()) {
    const Options options = Parsed({"--communication", name}).options;
    CHECK(summa::communication_name(options.communication) == name);
    CHECK_NOTHROW(make_problem(options));
  }
  for (const char* name : {"paper", "bcast"}) {
    const Options options = Parsed({"--barrier", "--communication", name}).options;
    CHECK(options.barrier);
    CHECK_NOTHROW(make_problem(options));
  }
  Parsed::check_refused({"--barrier"}, {"--barrier", "pipelined", "paper or bcast"});
  Parsed::check_refused({"--barrier", "--communication", "pipelined"}, {"--barrier", "pipelined"});
  Parsed::check_refused({"--communication", "pigeons"}, {"--communication", "pigeons"});
}

TEST_CASE("partitions are those of summa, of slices by area, or a file; others are refused with all names") {
  CHECK(Parsed({}).options.run.partition == "column");
  for (const char* name : {"column", "even", "geometric", "constant", "rectangles.json"}) {
    CHECK_NOTHROW(Parsed::problem_of({"--partition", name}));
  }
  Parsed::check_refused({"--partition", "diagonal"}, {"diagonal", "column", "even", "geometric", "*.json"});
  Parsed::check_refused({"--partition", "rectangles.txt"}, {"rectangles.txt", "*.json"});
}

TEST_CASE("device memory that holds no buffers for a block is refused; what just holds them is not") {
  for (const std::int64_t block : {1, 100, 128}) {
    for (const char* type : {"double", "float"}) {
      const double bytes = std::string(type) == "double" ? 8.0 : 4.0;
      const auto least = static_cast<std::int64_t>(gemm::least_panel_memory_bytes(bytes, block));
      const auto words = [&](std::int64_t memory) {
        return Words{"--block", std::to_string(block), "--type", type, "--device-memory", std::to_string(memory)};
      };
      CHECK_NOTHROW(Parsed::problem_of(words(least)));
      Parsed::check_refused(words(least - 1), {"--device-memory", std::to_string(least), std::to_string(block)});
    }
  }
  CHECK(Parsed({"--device-memory", "64MiB"}).options.device_memory_bytes == 64.0 * 1048576.0);
  CHECK(Parsed({}).options.device_memory_bytes == std::numeric_limits<double>::infinity());
}

TEST_CASE("numbers that are negative, not numbers or out of range are refused with the option") {
  for (const char* value : {"0", "-1", "big", "2.5", "2147483648"})
    Parsed::check_refused({"--size", value}, {"--size"});
  for (const char* value : {"0", "-1", "x", "1048577"}) Parsed::check_refused({"--block", value}, {"--block"});
  for (const char* value : {"x", "-1", "64 parsecs"})
    Parsed::check_refused({"--device-memory", value}, {"--device-memory"});
}

TEST_CASE("help names the options of summa alone, and those of gemm alone are refused") {
  const std::optional<std::string> help = Parsed({"--help"}).text;
  REQUIRE(help.has_value());
  for (const char* name : {"--size", "--block", "--communication", "--barrier", "--device-memory"}) {
    CHECK_THAT(*help, ContainsSubstring(name));
  }
  for (const char* name : {"--alpha", "--beta", "--m"}) Parsed::check_refused({name, "3"}, {name});
}

}  // namespace steelyard::test_options
