// What summa's options say, and its kernel by itself. That the kernel is right: `steelyard conformance`.

#include <CLI/CLI.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/base/errors.hpp"
#include "core/base/npy.hpp"
#include "core/spaces.hpp"
#include "miniapps/app/mini_app.hpp"
#include "miniapps/gemm/blocking.hpp"
#include "miniapps/gemm/unit_gemm.hpp"
#include "tests/base/temporary_folder.hpp"
#include "tests/miniapps/allocations.hpp"

namespace steelyard {
std::unique_ptr<MiniApp> make_summa();
}

namespace steelyard::tests::test_summa_kernel {
namespace {

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;
using Words = std::vector<std::string>;
using Kind = ProcessingUnit::Kind;

std::vector<Kind> kinds() { return has_companion ? std::vector{Kind::host, Kind::companion} : std::vector{Kind::host}; }

/// summa as these words ask for it, ready to run.
std::unique_ptr<MiniApp> typed(const Words& words) {
  std::unique_ptr<MiniApp> app = make_summa();
  CLI::App parser("Multiplies", "summa");
  const auto options = add_app_options(parser, *app, Verb::run);
  std::vector<const char*> arguments{"summa"};
  for (const std::string& word : words) arguments.push_back(word.c_str());
  parse_command_line(parser, static_cast<int>(arguments.size()), arguments.data());
  app->prepare();
  return app;
}

/// The line that says what is multiplied.
std::string problem(const Words& words) { return typed(words)->problem(); }

/// Words that make no problem; the message has all of `parts`.
template <class Refusal = InvalidArgument>
void check_refused(const Words& words, const Words& parts) {
  CAPTURE(words);
  for (const std::string& part : parts) {
    CHECK_THROWS_MATCHES(typed(words), Refusal, MessageMatches(ContainsSubstring(part)));
  }
}

/// A matrix file, of zeros.
template <class Element = double>
std::string matrix_file(const TemporaryFolder& folder, const std::string& name, std::int64_t rows,
                        std::int64_t columns) {
  const std::filesystem::path path = folder / name;
  const auto file = NpyMatrixFile::create<Element>(path, rows, columns);
  file.template write_rows<Element>(0, std::vector<Element>(static_cast<std::size_t>(rows * columns)));
  file.finish();
  return path.string();
}

std::shared_ptr<MeasurableKernel> kernel(std::int64_t block, const Words& more = {}) {
  Words words{"--block", std::to_string(block)};
  words.insert(words.end(), more.begin(), more.end());
  return typed(words)->kernel();
}

std::string bytes(double count) { return std::to_string(static_cast<std::int64_t>(count)); }

TEST_CASE("matrices have the size and blocks that were typed, those of the files, or the usual ones") {
  CHECK(problem({}) == "summa, 2048 x 2048 double in blocks of 128 x 128: 16 iterations, communication pipelined");
  CHECK_THAT(problem({"--size", "1"}), ContainsSubstring("1 x 1 double") && ContainsSubstring("1 iterations"));
  CHECK_THAT(problem({"--size", "2147483647", "--block", "1048576"}), ContainsSubstring("2048 iterations"));
  CHECK_THAT(problem({"--size", "5", "--block", "64"}), ContainsSubstring("5 x 5 double in blocks of 64 x 64: 1 "));
  const TemporaryFolder folder;
  const std::string a = matrix_file(folder, "a.npy", 6, 6), b = matrix_file(folder, "b.npy", 6, 6);
  CHECK_THAT(problem({"--input", a, b}), ContainsSubstring("6 x 6 double in blocks of 128"));
  CHECK_THAT(problem({"--input", a, b, a, "--size", "6", "--block", "4"}), ContainsSubstring("blocks of 4 x 4: 2 "));
  const std::string single = matrix_file<float>(folder, "single.npy", 9, 9);
  CHECK_THAT(problem({"--input", single, single, "--type", "float"}), ContainsSubstring("9 x 9 float"));
  for (const char* name : {"paper", "bcast", "pipelined"}) {
    CHECK_THAT(problem({"--communication", name}), ContainsSubstring("communication " + std::string(name)));
  }
}

TEST_CASE("files are refused by name: too few or many, not there, of another type or shape") {
  const TemporaryFolder folder;
  const std::string a = matrix_file(folder, "a.npy", 6, 6), other = matrix_file(folder, "other.npy", 7, 7);
  const std::string wide = matrix_file(folder, "wide.npy", 6, 7), high = matrix_file(folder, "high.npy", 7, 6);
  const std::string single = matrix_file<float>(folder, "single.npy", 6, 6);
  const std::string none = matrix_file(folder, "none.npy", 0, 0);
  // Without columns a file may claim any number of rows.
  const std::string endless = matrix_file(folder, "endless.npy", std::int64_t{1} << 31, 0);
  check_refused({"--input", a}, {"--input", "1 file (", "A.npy B.npy"});
  check_refused({"--input", a, a, a, a}, {"--input", "4 files"});
  const auto refuse = [](Words files, const Words& parts, const Words& more = {}) {
    files.insert(files.begin(), "--input");
    files.insert(files.end(), more.begin(), more.end());
    check_refused<FileFormatError>(files, parts);
  };
  refuse({a, other}, {"other.npy", "7 x 7", "expected 6 x 6"});
  refuse({other, a}, {"a.npy", "6 x 6", "expected 7 x 7"});
  refuse({a, a, other}, {"other.npy", "7 x 7", "expected 6 x 6"});
  refuse({a, wide}, {"wide.npy", "6 x 7", "expected 6 x 6"});
  refuse({a, high}, {"high.npy", "7 x 6", "expected 6 x 6"});
  refuse({wide, a}, {"wide.npy", "6 x 7", "expected 6 x 6"});
  refuse({a, a}, {"a.npy", "6 x 6", "expected 5 x 5"}, {"--size", "5"});
  refuse({none, none}, {"none.npy", "0 x 0"});
  refuse({endless, endless}, {"endless.npy", "2147483648 x 0"});
  refuse({a, (folder / "missing.npy").string()}, {"missing.npy"});
  refuse({a, folder.write("text.npy", "no matrix").string()}, {"text.npy"});
  refuse({a, single}, {"single.npy", "<f4", "<f8"});
  refuse({a, a}, {"a.npy", "<f8", "<f4"}, {"--type", "float"});
}

TEST_CASE("words that mean nothing, numbers out of range and options that do not go together are refused by name") {
  for (const char* value : {"0", "-1", "big", "2.5", "2147483648"}) check_refused({"--size", value}, {"--size"});
  for (const char* value : {"0", "-1", "x", "1048577"}) check_refused({"--block", value}, {"--block"});
  for (const char* value : {"x", "-1", "64 parsecs", "1000"}) {
    check_refused({"--device-memory", value}, {"--device-memory"});
  }
  for (const char* name : {"--alpha", "--beta", "--m"}) check_refused({name, "3"}, {name});
  check_refused({"--size", "2147483647", "--block", "2047"}, {"--size 2147483647", "1049089", "at most 1048576"});
  check_refused({"--communication", "pigeons"}, {"--communication", "pigeons"});
  check_refused({"--barrier"}, {"--barrier", "pipelined", "paper or bcast"});
  for (const char* name : {"paper", "bcast"}) CHECK_NOTHROW(typed({"--barrier", "--communication", name}));
  for (const char* name : {"column", "even", "geometric", "constant", "rectangles.json"}) {
    CHECK_NOTHROW(typed({"--partition", name}));
  }
  check_refused({"--partition", "diagonal"}, {"diagonal", "column", "even", "geometric", "*.json"});
  check_refused({"--partition", "rectangles.txt"}, {"rectangles.txt", "*.json"});
  CHECK_NOTHROW(typed({"--avoid-communication", "--partition", "exact"}));
  for (const char* name : {"even", "rectangles.json"}) {
    check_refused({"--avoid-communication", "--partition", name}, {"--avoid-communication", name, "columns"});
  }
}

TEST_CASE("a block's update takes 2 b^3 operations, reads a block of A and of B, and keeps one of C") {
  for (const std::int64_t block : {1, 31, 32, 128, 1000}) {
    for (const auto& [type, size] : {std::pair{"double", 8.0}, {"float", 4.0}}) {
      const KernelFacts facts = kernel(block, {"--type", type})->facts();
      const auto b = static_cast<double>(block);
      CHECK(facts.flops_per_unit == 2.0 * b * b * b);
      CHECK(facts.bytes_per_unit == 2.0 * size * b * b);
      CHECK(facts.memory_bytes_per_unit == size * b * b);
      CHECK(facts.app == "summa");
      CHECK(facts.kernel == "gemm");
      CHECK(facts.element == type);
      CHECK_FALSE(facts.computation_unit.empty());
      CHECK(facts.parameters == std::map<std::string, double>{{"block", b}});
      CHECK(facts.smallest == 1);
      CHECK(facts.largest >= 16);
    }
  }
  const KernelFacts capped = kernel(128, {"--device-memory", "1000000000"})->facts();
  CHECK(capped.device_memory_bytes == 1e9);
  CHECK(capped.runs_out_of_core == gemm::has_device_memory(1e9));
  CHECK(std::isinf(kernel(128)->facts().device_memory_bytes));
}

TEST_CASE("a device's memory that is too small for any rectangle is refused with option and values, and no more") {
  for (const auto& [type, size] : {std::pair{"double", 8.0}, {"float", 4.0}}) {
    for (const std::int64_t block : {1, 33, 128}) {
      const double least = gemm::least_memory_bytes(size, block);
      CAPTURE(block, least);
      for (const Kind kind : kinds()) {
        CHECK_NOTHROW(kernel(block, {"--type", type, "--device-memory", bytes(least)})->allocate(kind, 100)->run());
      }
      for (const double cap : {0.0, std::floor(least / 2.0), least - 1.0}) {
        check_refused({"--type", type, "--block", std::to_string(block), "--device-memory", bytes(cap)},
                      {"--device-memory", "blocks of " + std::to_string(block)});
      }
    }
  }
}

TEST_CASE("an instance updates a nearly square rectangle of as many elements as its blocks have") {
  for (const auto& [type, size] : {std::pair{"double", 8.0}, {"float", 4.0}}) {
    // Small enough for no huge pages, which arrays have room for.
    for (const std::int64_t block : {1, 7, 32}) {
      for (const std::int64_t units : {1, 2, 3, 5, 17, 64, 99}) {
        const auto b = static_cast<double>(block), area = static_cast<double>(units) * b * b, side = std::sqrt(area);
        CAPTURE(block, units, type);
        const Allocations operands("steelyard::core::host_array");
        const auto run = kernel(block, {"--type", type})->allocate(Kind::host, units);
        // C, and a column and a row of blocks of a square; its sides are whole numbers, and so are words of memory.
        CHECK(std::abs(operands.bytes() - size * (area + 2.0 * side * b)) <= size * (0.5 * side + b + 1.0) + 24.0);
      }
    }
  }
}

TEST_CASE("in core a companion's memory holds C, a column and a row of blocks; out of core no more than the cap") {
  if (!has_companion) return;
  for (const std::int64_t block : {7, 32, 64}) {
    for (const std::int64_t units : {1, 5, 40}) {
      const auto b = static_cast<double>(block);
      const double side = std::sqrt(static_cast<double>(units)) * b + 33.0;
      const Allocations in_core("steelyard::gemm::buffers");
      const auto run = kernel(block, {"--device-memory", "1000000000"})->allocate(Kind::companion, units);
      CHECK(in_core.bytes() >= 8.0 * b * b * static_cast<double>(units));
      CHECK(in_core.bytes() <= 8.0 * (side * side + 2.0 * side * b) + 128.0);
    }
    const double cap = std::floor(gemm::least_memory_bytes(8.0, block) * 1.5);
    const Allocations out_of_core("steelyard::gemm::buffers");
    const auto run = kernel(block, {"--device-memory", bytes(cap)})->allocate(Kind::companion, 200);
    CHECK(out_of_core.bytes() > 0.0);
    CHECK(out_of_core.bytes() <= cap + 128.0);
  }
}

TEST_CASE("a run allocates nothing once Kokkos and the BLAS have what they need themselves") {
  for (const Words& memory : {Words{}, {"--device-memory", "1000000000"}, {"--device-memory", "100000"}}) {
    for (const Kind kind : kinds()) {
      const std::unique_ptr<KernelRun> run = kernel(24, memory)->allocate(kind, 7);
      run->run();
      const Allocations allocations;
      for (int i = 0; i < 70; ++i) run->run();
      CHECK(allocations.bytes() == 0.0);
    }
  }
}

}  // namespace
}  // namespace steelyard::tests::test_summa_kernel
