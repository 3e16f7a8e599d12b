#include <catch2/catch_test_macros.hpp>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>

#include "core/base/errors.hpp"
#include "miniapps/summa/options.hpp"
#include "tests/miniapps/gemm/parsed_options.hpp"

namespace steelyard::test_options {

using summa::Communication;
using summa::make_problem;
using summa::Options;
using summa::Problem;
using tests::input;
using tests::matrix_file;
using tests::TemporaryFolder;
using Parsed = tests::Parsed<Options>;

namespace {

constexpr std::int64_t usual = 2048;

}  // namespace

TEST_CASE("matrices have the size and blocks that were typed, those of the files, or the usual ones") {
  CHECK(Parsed::problem_of({}).n == usual);
  CHECK(Parsed::problem_of({}).block == Problem().block);
  CHECK(Parsed::problem_of({"--size", "1"}).n == 1);
  CHECK(Parsed::problem_of({"--size", "2147483647"}).n == 2147483647);
  CHECK(Parsed::problem_of({"--block", "77"}).block == 77);
  // One block may be more than the matrix.
  const Problem small = Parsed::problem_of({"--size", "5", "--block", "64"});
  CHECK(small.blocks() == 1);
  CHECK(small.depth(0) == 5);
  const TemporaryFolder folder;
  const std::string a = matrix_file(folder, "a.npy", 6, 6), b = matrix_file(folder, "b.npy", 6, 6);
  CHECK(Parsed::problem_of(input({a, b})).n == 6);
  const Problem named = Parsed::problem_of(input({a, b, a}, {"--size", "6", "--block", "4"}));
  CHECK(named.n == 6);
  CHECK(named.block == 4);
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

TEST_CASE("files that are too few or many, not there, of another type, no or empty matrices are refused by name") {
  const TemporaryFolder folder;
  const std::string a = matrix_file(folder, "a.npy", 6, 6), single = matrix_file<float>(folder, "single.npy", 6, 6);
  const std::string none = matrix_file(folder, "none.npy", 0, 0);
  // Without columns a file may claim any number of rows.
  const std::string high = matrix_file(folder, "high.npy", std::int64_t{1} << 31, 0);
  Parsed::check_refused(input({a}), {"--input", "1 file (", "A.npy B.npy"});
  Parsed::check_refused(input({a, a, a, a}), {"--input", "4 files"});
  Parsed::check_refused<FileFormatError>(input({a, (folder / "missing.npy").string()}), {"missing.npy"});
  Parsed::check_refused<FileFormatError>(input({a, folder.write("text.npy", "no matrix").string()}), {"text.npy"});
  Parsed::check_refused<FileFormatError>(input({a, single}), {"single.npy", "<f4", "<f8"});
  Parsed::check_refused<FileFormatError>(input({a, a}, {"--type", "float"}), {"a.npy", "<f8", "<f4"});
  Parsed::check_refused<FileFormatError>(input({none, none}), {"none.npy", "0 rows", "1 to 2147483647"});
  Parsed::check_refused<FileFormatError>(input({high, high}), {"high.npy", "2147483648"});
}

TEST_CASE("pivots travel as typed, in a pipeline without a word; a barrier goes with communication of its own only") {
  CHECK(Parsed({}).options.choices.communication == Communication::pipelined);
  CHECK_FALSE(Parsed({}).options.run.barrier);
  CHECK(summa::communication_names.size() == 3);
  for (const auto& [communication, name] : {std::pair{Communication::paper, "paper"},
                                            {Communication::bcast, "bcast"},
                                            {Communication::pipelined, "pipelined"}}) {
    CHECK(Parsed({"--communication", name}).options.choices.communication == communication);
    CHECK(summa::communication_name(communication) == name);
    if (communication == Communication::pipelined) continue;
    const Options options = Parsed({"--barrier", "--communication", name}).options;
    CHECK(options.run.barrier);
    CHECK_NOTHROW(make_problem(options));
  }
  Parsed::check_refused({"--barrier"}, {"--barrier", "pipelined", "paper or bcast"});
  Parsed::check_refused({"--communication", "pigeons"}, {"--communication", "pigeons"});
}

TEST_CASE("partitions are those of summa, of slices by area, or a file; others are refused with all names") {
  CHECK(Parsed({}).options.run.partition == "column");
  for (const char* name : {"column", "even", "geometric", "constant", "rectangles.json"}) {
    CHECK_NOTHROW(Parsed::problem_of({"--partition", name}));
  }
  Parsed::check_refused({"--partition", "diagonal"}, {"diagonal", "column", "even", "geometric", "*.json"});
  Parsed::check_refused({"--partition", "rectangles.txt"}, {"rectangles.txt", "*.json"});
  for (const char* option : {"--node-order", "--avoid-communication"}) {
    CHECK_NOTHROW(Parsed::problem_of({option, "--partition", "exact"}));
    for (const char* name : {"even", "rectangles.json"}) {
      Parsed::check_refused({option, "--partition", name}, {option, name, "columns"});
    }
  }
}

TEST_CASE("numbers that are negative, not numbers or out of range, and gemm's own options, are refused by name") {
  for (const char* value : {"0", "-1", "big", "2.5", "2147483648"})
    Parsed::check_refused({"--size", value}, {"--size"});
  for (const char* value : {"0", "-1", "x", "1048577"}) Parsed::check_refused({"--block", value}, {"--block"});
  // The last holds no buffers for a block, see test_measured_kernel.cpp.
  for (const char* value : {"x", "-1", "64 parsecs", "1000"})
    Parsed::check_refused({"--device-memory", value}, {"--device-memory"});
  CHECK(Parsed({"--device-memory", "64MiB"}).options.device_memory_bytes == 64.0 * 1048576.0);
  CHECK(Parsed({}).options.device_memory_bytes == std::numeric_limits<double>::infinity());
  for (const char* name : {"--alpha", "--beta", "--m"}) Parsed::check_refused({name, "3"}, {name});
}

}  // namespace steelyard::test_options
