#include <sys/stat.h>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <fstream>
#include <random>
#include <string>
#include <thread>

#include "core/base/errors.hpp"
#include "core/base/text_file.hpp"
#include "tests/base/temporary_folder.hpp"

namespace steelyard::test_text_file {

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;
using tests::TemporaryFolder;

TEST_CASE("what is written is read back byte for byte") {
  const TemporaryFolder folder;
  std::mt19937_64 random(1);
  std::uniform_int_distribution<int> byte(0, 255);
  for (const std::size_t size : {0U, 1U, 2U, 100U, 4096U, 65535U, 65536U, 65537U, 300000U}) {
    std::string text(size, '\0');
    for (char& letter : text) letter = static_cast<char>(byte(random));
    write_text_file(folder / "file", text);
    REQUIRE(read_text_file(folder / "file") == text);
    REQUIRE(folder.read("file") == text);
    REQUIRE(folder.entries() == 1);
  }
}

TEST_CASE("a written file replaces the one before it and leaves no temporary file") {
  const TemporaryFolder folder;
  write_text_file(folder / "file", "a long first text");
  write_text_file(folder / "file", "short");
  CHECK(read_text_file(folder / "file") == "short");
  CHECK(folder.entries() == 1);
}

TEST_CASE("a file that is open keeps its text while its name gets a new one") {
  const TemporaryFolder folder;
  write_text_file(folder / "file", "before");
  std::ifstream reader(folder / "file");
  write_text_file(folder / "file", "after");
  std::string seen;
  reader >> seen;
  CHECK(seen == "before");
  CHECK(read_text_file(folder / "file") == "after");
}

TEST_CASE("missing folders are made") {
  const TemporaryFolder folder;
  write_text_file(folder.path() / "a" / "b" / "file", "text");
  CHECK(read_text_file(folder.path() / "a" / "b" / "file") == "text");
  CHECK(folder.entries() == 3);
}

TEST_CASE("a folder behind a symbolic link can be written to") {
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder / "real");
  std::filesystem::create_directory_symlink(folder / "real", folder / "link");
  write_text_file(folder.path() / "link" / "file", "text");
  CHECK(read_text_file(folder.path() / "real" / "file") == "text");
}

TEST_CASE("a path below a regular file cannot be written and leaves nothing") {
  const TemporaryFolder folder;
  folder.write("file", "text");
  CHECK_THROWS_MATCHES(write_text_file(folder.path() / "file" / "below", "x"), RuntimeFailure,
                       MessageMatches(ContainsSubstring((folder / "file").string())));
  CHECK(folder.entries() == 1);
  CHECK(folder.read("file") == "text");
}

TEST_CASE("a folder's name cannot be written over and nothing is left beside it") {
  const TemporaryFolder folder;
  std::filesystem::create_directories(folder.path() / "taken" / "inner");
  CHECK_THROWS_MATCHES(write_text_file(folder / "taken", "x"), RuntimeFailure,
                       MessageMatches(ContainsSubstring((folder / "taken").string())));
  CHECK(folder.entries() == 2);
}

TEST_CASE("a file that is missing or a folder is refused with its name") {
  const TemporaryFolder folder;
  CHECK_THROWS_MATCHES(
      read_text_file(folder / "missing"), FileFormatError,
      MessageMatches(ContainsSubstring((folder / "missing").string()) && ContainsSubstring("No such file")));
  CHECK_THROWS_MATCHES(read_text_file(folder.path()), FileFormatError,
                       MessageMatches(ContainsSubstring(folder.path().string()) && ContainsSubstring("is a folder")));
}

TEST_CASE("a file that opens but cannot be read is refused rather than taken for empty") {
  const std::filesystem::path unmapped = "/proc/self/mem";  // reading address 0 fails
  if (!std::filesystem::exists(unmapped)) SKIP("no /proc here");
  CHECK_THROWS_MATCHES(read_text_file(unmapped), FileFormatError, MessageMatches(ContainsSubstring("/proc/self/mem")));
}

TEST_CASE("all that comes through a pipe is read") {
  const TemporaryFolder folder;
  REQUIRE(::mkfifo((folder / "pipe").c_str(), 0600) == 0);
  const std::string text(200000, 'x');
  std::thread writer([&] { std::ofstream(folder / "pipe") << text; });
  const std::string read = read_text_file(folder / "pipe");
  writer.join();
  CHECK(read == text);
}

TEST_CASE("a pipe that nothing is written to is refused and not waited for") {
  const TemporaryFolder folder;
  REQUIRE(::mkfifo((folder / "pipe").c_str(), 0600) == 0);
  CHECK_THROWS_MATCHES(read_text_file(folder / "pipe"), FileFormatError, MessageMatches(ContainsSubstring("pipe")));
}

TEST_CASE("a text is shown up to 60 bytes, and no character of it in part") {
  CHECK(excerpt("") == "");
  CHECK(excerpt(std::string(60, 'x')) == std::string(60, 'x'));
  CHECK(excerpt(std::string(61, 'x')) == std::string(60, 'x') + "\u2026 (61 bytes)");
  CHECK(excerpt(std::string(59, 'x') + "\u20ac") == std::string(59, 'x') + "\u2026 (62 bytes)");
}

TEST_CASE("a path can be written where its nearest folder can, and asking makes nothing") {
  const TemporaryFolder folder;
  REQUIRE_NOTHROW(require_writable(folder.path() / "new" / "deeper" / "file"));
  REQUIRE_FALSE(std::filesystem::exists(folder.path() / "new"));
  write_text_file(folder.path() / "file", "text");
  REQUIRE_NOTHROW(require_writable(folder.path() / "file"));
  REQUIRE_THROWS_AS(require_writable(folder.path() / "file" / "below"), RuntimeFailure);
  REQUIRE_THROWS_AS(require_writable(folder.path()), RuntimeFailure);
  REQUIRE_THROWS_AS(require_writable(folder.path() / "new" / ""), RuntimeFailure);
  REQUIRE_THROWS_AS(require_writable(folder.path() / std::string(300, 'n')), RuntimeFailure);
  REQUIRE_THROWS_AS(require_writable(folder.path() / std::string(300, 'n') / "file"), RuntimeFailure);
}

}  // namespace steelyard::test_text_file
